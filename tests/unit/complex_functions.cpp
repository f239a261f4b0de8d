// OPTIMIZE: 1
// Functions of complex numbers beside those of long double, at drawn points: on the axes and on
// both sides of the branch cuts with both zeros, near zeros, poles and branch points, tiny, huge,
// infinite and NaN. Errors are at most 8 epsilons of the absolute value, of powers times 1 + |b log
// a|; zeros have the same signs, and infinities and NaN are those of annex G of the C standard.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include <shardtype/kernels/functions.hpp>

#include "harness/catch.hpp"

using namespace shardtype;

namespace {

using Wide = long double;
using WideComplex = std::complex<Wide>;
template <class R>
using Complex = Kokkos::complex<R>;

template <class R>
WideComplex wide(Complex<R> const& z) {
  return {z.real(), z.imag()};
}

/// All pairs of special numbers, then drawn ones, 10000 in all.
template <class R>
std::vector<Complex<R>> points(unsigned seed) {
  using Of = std::numeric_limits<R>;
  std::vector<R> numbers;
  for (R const x : {R(0),
                    Of::denorm_min(),
                    Of::min(),
                    std::sqrt(Of::min()),
                    Of::epsilon(),
                    R(1e-5),
                    R(0.25),
                    R(0.5),
                    R(0.7),
                    1 - Of::epsilon() / 2,
                    R(1),
                    1 + Of::epsilon(),
                    R(1.5),
                    R(2),
                    R(1.5707963267948966),
                    R(3.141592653589793),
                    R(10),
                    R(25),
                    R(88.5),
                    R(103),
                    R(616.47),
                    R(710),
                    R(800),
                    R(1400),
                    R(1e5),
                    R(1e15),
                    std::sqrt(Of::max()),
                    Of::max() / 4,
                    Of::max(),
                    Of::infinity(),
                    Of::quiet_NaN()})
    numbers.insert(numbers.end(), {x, -x});
  std::vector<Complex<R>> out;
  for (R const x : numbers)
    for (R const y : numbers) out.emplace_back(x, y);
  std::mt19937_64 engine(seed);
  auto const within = [&](double a, double b) {
    return std::uniform_real_distribution<double>(a, b)(engine);
  };
  auto const sign = [&] { return (engine() & 1U) != 0 ? 1.0 : -1.0; };
  auto const any = [&](double low, double high) { return sign() * std::exp2(within(low, high)); };
  double const least = Of::min_exponent - Of::digits;
  auto const near_one = [&] { return 1 + any(-55, 0); };
  while (out.size() < 10000) {
    double x = within(-4, 4);
    double y = within(-4, 4);
    switch (engine() % 8) {
      case 0:
        break;
      case 1:
        x = any(least, Of::max_exponent - 0.1), y = any(least, Of::max_exponent - 0.1);
        break;
      case 2:
        x = any(-60, 10), y = any(-60, 10);
        break;
      case 3: {
        double const size = near_one();
        y = size * std::sin(x), x = size * std::cos(x);
        break;
      }
      case 4:
        x = sign() * near_one(), y = any(least, 3);
        break;
      case 5:
        x = any(least, 3), y = sign() * near_one();
        break;
      case 6:
        x *= 375, y *= 375;
        break;
      default:
        ((engine() & 1U) != 0 ? x : y) = std::copysign(0.0, sign());
    }
    out.emplace_back(static_cast<R>(x), static_cast<R>(y));
  }
  return out;
}

/// The same as `want` rounded: a NaN, the same infinity, the same zero, or any other number.
template <class R>
bool same_kind(R got, Wide want) {
  R const rounded = static_cast<R>(want);
  if (std::isnan(rounded)) return std::isnan(got);
  if (std::isinf(rounded)) return got == rounded;
  if (want == 0) return got == 0 && std::signbit(got) == std::signbit(want);
  return std::isfinite(got);
}

/// Counts points where a function is wrong, and says the first.
template <class R>
struct Judge {
  std::string name;
  int wrong = 0;

  void operator()(Complex<R> const& got, WideComplex const& want, Wide growth, Complex<R> const& a,
                  Complex<R> const& b = {}) {
    using Of = std::numeric_limits<R>;
    bool good = same_kind(got.real(), want.real()) && same_kind(got.imag(), want.imag());
    WideComplex const apart = wide(got) - want;
    if (std::isfinite(got.real()) && std::isfinite(got.imag()))
      good = good && std::abs(apart) <= 8 * Wide{Of::epsilon()} * std::abs(want) * growth +
                                            2 * Wide{Of::denorm_min()};
    if (good) return;
    if (wrong++ != 0) return;
    UNSCOPED_INFO(name << " of " << a << ", " << b << " is " << got << ", not " << want.real()
                       << ", " << want.imag());
  }
};

template <class R, class F, class G>
void compare(char const* name, F function, G const& reference) {
  Judge<R> judge{name};
  for (Complex<R> const& z : points<R>(1)) {
    Complex<R> const got = kernels::call(function, z);
    judge(got, reference(wide(z)), 1, z);
  }
  CHECK(judge.wrong == 0);
}

WideComplex wide_expm1(WideComplex const& z) {
  Wide const x = z.real();
  Wide const y = z.imag();
  if (y == 0) return {std::expm1(x), y};
  if (!std::isfinite(x) || !std::isfinite(y)) return std::exp(z) - Wide{1};
  Wide const half = std::sin(y / 2);
  return {std::expm1(x) * std::cos(y) - 2 * half * half, std::exp(x) * std::sin(y)};
}
WideComplex wide_log1p(WideComplex const& z) {
  Wide const x = z.real();
  Wide const y = z.imag();
  Wide const beyond = x * (2 + x) + y * y;
  if (x < -0.5L || !(std::abs(beyond) < 0.5L)) return std::log(WideComplex(1 + x, y));
  return {std::log1p(beyond) / 2, std::atan2(y, 1 + x)};
}

template <class R>
void compare_all() {
  using namespace functions;
#define SHARDTYPE_COMPARE(F, f) compare<R>(#f, F{}, [](WideComplex const& z) { return std::f(z); })
  SHARDTYPE_COMPARE(Exp, exp);
  SHARDTYPE_COMPARE(Log, log);
  SHARDTYPE_COMPARE(Sqrt, sqrt);
  SHARDTYPE_COMPARE(Sin, sin);
  SHARDTYPE_COMPARE(Cos, cos);
  SHARDTYPE_COMPARE(Tan, tan);
  SHARDTYPE_COMPARE(Asin, asin);
  SHARDTYPE_COMPARE(Acos, acos);
  SHARDTYPE_COMPARE(Atan, atan);
  SHARDTYPE_COMPARE(Sinh, sinh);
  SHARDTYPE_COMPARE(Cosh, cosh);
  SHARDTYPE_COMPARE(Tanh, tanh);
#undef SHARDTYPE_COMPARE
  compare<R>("expm1", Expm1{}, wide_expm1);
  compare<R>("log1p", Log1p{}, wide_log1p);
  compare<R>("log2", Log2{},
             [](WideComplex const& z) { return std::log(z) / std::numbers::ln2_v<Wide>; });
  compare<R>("log10", Log10{},
             [](WideComplex const& z) { return std::log(z) / std::numbers::ln10_v<Wide>; });
  compare<R>("rsqrt", Rsqrt{}, [](WideComplex const& z) { return WideComplex(1) / std::sqrt(z); });
}

/// Powers and quotients of drawn pairs; exponents that are whole, real and complex.
template <class R>
void compare_pairs() {
  auto const a = points<R>(2);
  auto b = points<R>(3);
  std::mt19937_64 engine(4);
  std::shuffle(b.begin(), b.end(), engine);
  Judge<R> quotients{"quotient"};
  int wrong_powers = 0;
  auto const finite = [](Complex<R> const& z) {
    return std::isfinite(z.real()) && std::isfinite(z.imag());
  };
  int compared = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    quotients(kernels::call(functions::Divide{}, a[k], b[k]), wide(a[k]) / wide(b[k]), 1, a[k],
              b[k]);
    Complex<R> const whole(static_cast<R>(static_cast<int>(engine() % 41) - 20));
    for (Complex<R> const& exponent : {b[k], Complex<R>(b[k].real()), whole}) {
      if (!finite(a[k]) || !finite(exponent) || a[k] == R(0) || exponent == R(0)) continue;
      WideComplex const log = wide(exponent) * std::log(wide(a[k]));
      Wide const growth = 1 + std::abs(log);
      if (!(growth * std::numeric_limits<R>::epsilon() < 1e-3L)) continue;
      WideComplex const want = std::exp(log);
      Complex<R> const got = kernels::call(functions::Power{}, a[k], exponent);
      // beside the largest and the least numbers only the size is known
      if (!(std::abs(want) < std::numeric_limits<R>::max() / 2)) {
        if (finite(got) && std::abs(want) > Wide{2} * std::numeric_limits<R>::max()) ++wrong_powers;
        continue;
      }
      WideComplex const apart = wide(got) - want;
      bool const good =
          std::abs(apart) <= 8 * Wide{std::numeric_limits<R>::epsilon()} * std::abs(want) * growth +
                                 2 * Wide{std::numeric_limits<R>::denorm_min()};
      ++compared;
      if (!good && wrong_powers++ == 0)
        UNSCOPED_INFO("power of " << a[k] << ", " << exponent << " is " << got);
    }
  }
  CHECK(quotients.wrong == 0);
  CHECK(wrong_powers == 0);
  CHECK(compared > 10000);
}

template <class R>
bool is(Complex<R> const& got, double re, double im) {
  auto const alike = [](double x, double y) {
    return std::isnan(y) ? std::isnan(x) : x == y && std::signbit(x) == std::signbit(y);
  };
  return alike(static_cast<double>(got.real()), re) && alike(static_cast<double>(got.imag()), im);
}

}  // namespace

TEST_CASE("functions of complex numbers are right at 10000 points") {
  compare_all<double>();
  compare_all<float>();
}

TEST_CASE("quotients and powers of complex numbers are right at 10000 pairs") {
  compare_pairs<double>();
  compare_pairs<float>();
}

TEST_CASE("powers of two of complex numbers: the angle is as exact as others") {
  using C = Complex<double>;
  std::mt19937_64 engine(5);
  std::uniform_real_distribution<double> size(-1, 1);
  Judge<double> judge{"exp2"};
  for (int k = 0; k < 10000; ++k) {
    C const z(1100 * size(engine), (k % 2 != 0 ? 5000 : 3) * size(engine));
    judge(kernels::call(functions::Exp2{}, z), std::exp(wide(z) * std::numbers::ln2_v<Wide>), 1, z);
  }
  CHECK(judge.wrong == 0);
  CHECK(is(kernels::call(functions::Exp2{}, C(10, -0.0)), 1024, -0.0));
  double const inf = HUGE_VAL;
  CHECK(is(kernels::call(functions::Exp2{}, C(inf, 0)), inf, 0));
  CHECK(is(kernels::call(functions::Exp2{}, C(-inf, inf)), 0, 0));
  CHECK(is(kernels::call(functions::Exp2{}, C(1, inf)), NAN, NAN));
}

TEST_CASE("complex powers: small whole ones are products, of zero as real ones") {
  using C = Complex<double>;
  auto const power = [](C const& a, C const& b) { return kernels::call(functions::Power{}, a, b); };
  CHECK(is(power(C(1, 2), C(2)), -3, 4));
  CHECK(is(power(C(1, 1), C(4)), -4, 0));
  CHECK(is(power(C(0, 2), C(-1)), 0, -0.5));
  CHECK(is(power(C(4, 0), C(0.5)), 2, 0));
  CHECK(is(power(C(0, 0), C(2)), 0, 0));
  CHECK(is(power(C(0, 0), C(0.5, 3)), 0, 0));
  CHECK(is(power(C(0, 0), C(0)), 1, 0));
  CHECK(is(power(C(NAN, 1), C(0)), 1, 0));
  CHECK(std::isinf(power(C(0, 0), C(-1)).real()));
  CHECK(std::isinf(power(C(1e200, 1e200), C(2)).imag()));
  CHECK(is(power(C(1e-200, 1e-200), C(-3)), power(C(1e200, -1e200), C(3)).real(),
           power(C(1e200, -1e200), C(3)).imag()));
}
