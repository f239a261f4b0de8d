// Elementary functions in vectors: accuracy against long double, special values, and that an
// element has one value wherever it lies. Without the library, the same of the C library's
// functions.
// OPTIMIZE: 2
// COMPILERS: both
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <shardtype/kernels/vector_functions.hpp>

#include "harness/catch.hpp"

namespace kernels = shardtype::kernels;
namespace functions = shardtype::functions;
namespace vectors = shardtype::kernels::vectors;
using Wide = long double;

namespace {

template <class F>
struct Function;
#define FUNCTION(Tag, low, high, expression)      \
  template <>                                     \
  struct Function<Tag> {                          \
    static constexpr char const* name = #Tag;     \
    static constexpr double from = low;           \
    static constexpr double to = high;            \
    static Wide of(Wide x) { return expression; } \
  };
constexpr double huge = 1e300;
FUNCTION(functions::Exp, -750, 720, expl(x))
FUNCTION(functions::Exp2, -1080, 1030, exp2l(x))
FUNCTION(functions::Expm1, -50, 720, expm1l(x))
FUNCTION(functions::Log, 0, huge, logl(x))
FUNCTION(functions::Log2, 0, huge, log2l(x))
FUNCTION(functions::Log10, 0, huge, log10l(x))
FUNCTION(functions::Log1p, -1, huge, log1pl(x))
FUNCTION(functions::Sin, -1e5, 1e5, sinl(x))
FUNCTION(functions::Cos, -1e5, 1e5, cosl(x))
FUNCTION(functions::Tan, -1e5, 1e5, tanl(x))
FUNCTION(functions::Asin, -1, 1, asinl(x))
FUNCTION(functions::Acos, -1, 1, acosl(x))
FUNCTION(functions::Atan, -huge, huge, atanl(x))
FUNCTION(functions::Sinh, -720, 720, sinhl(x))
FUNCTION(functions::Cosh, -720, 720, coshl(x))
FUNCTION(functions::Tanh, -30, 30, tanhl(x))
FUNCTION(functions::Erf, -7, 7, erfl(x))
FUNCTION(functions::Erfc, -7, 28, erfcl(x))
FUNCTION(functions::Cbrt, -huge, huge, cbrtl(x))
FUNCTION(functions::Sqrt, 0, huge, sqrtl(x))
FUNCTION(functions::Rsqrt, 0, huge, 1 / sqrtl(x))
FUNCTION(functions::Sigmoid, -750, 750, x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x)))
#undef FUNCTION

template <class... Fs>
struct Each {};
using All = Each<functions::Exp, functions::Exp2, functions::Expm1, functions::Log, functions::Log2,
                 functions::Log10, functions::Log1p, functions::Sin, functions::Cos, functions::Tan,
                 functions::Asin, functions::Acos, functions::Atan, functions::Sinh,
                 functions::Cosh, functions::Tanh, functions::Erf, functions::Erfc, functions::Cbrt,
                 functions::Sqrt, functions::Rsqrt, functions::Sigmoid>;
using Others = Each<functions::Silu, functions::Softplus, functions::Gelu, functions::GeluTanh>;

template <class... Fs, class Body>
void for_each(Each<Fs...>, Body const& body) {
  (body.template operator()<Fs>(), ...);
}

template <class F, class T, class... Xs>
void compute(std::vector<T>& y, std::vector<Xs> const&... x) {
  auto const n = static_cast<std::int64_t>(y.size());
  if constexpr (vectors::vectorised<F, T>) {
    for (std::int64_t k = 0; k < n; k += vectors::block)
      vectors::run<F>(std::min(n - k, vectors::block), y.data() + k, (x.data() + k)...);
  } else {
    for (std::size_t k = 0; k < y.size(); ++k) y[k] = kernels::call(F{}, x[k]...);
  }
}

template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
template <class T>
bool same(T a, T b) {
  return std::bit_cast<Bits<T>>(a) == std::bit_cast<Bits<T>>(b) || (a != a && b != b);
}

/// The distance of `got` from the exact value in units of the last place of the latter, or infinity
/// if one is NaN, infinite or a zero of the other sign and the other is not.
template <class T>
double ulps(T got, Wide exact) {
  constexpr double wrong = std::numeric_limits<double>::infinity();
  auto const want = static_cast<T>(exact);
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want) ? 0 : wrong;
  if (got == want)
    return std::signbit(got) == std::signbit(want) ? (std::isinf(got) ? 0 : 0.5) : wrong;
  // next to the largest number, infinity is one unit off
  Wide const given =
      std::isinf(got)
          ? std::copysign(std::ldexp(Wide(1), std::numeric_limits<T>::max_exponent), Wide(got))
          : Wide(got);
  if (std::isinf(want) && std::isinf(exact)) return wrong;
  int exponent = 0;
  std::frexp(exact, &exponent);
  exponent = std::min(exponent, std::numeric_limits<T>::max_exponent);
  int const last =
      std::max(exponent, std::numeric_limits<T>::min_exponent) - std::numeric_limits<T>::digits;
  return static_cast<double>(std::fabs(given - exact) / std::ldexp(Wide(1), last));
}

/// Numbers from `from` to `to`: half of them evenly, half with evenly distributed exponents.
template <class T>
std::vector<T> drawn(std::mt19937_64& engine, std::size_t n, double from, double to) {
  double const least = std::numeric_limits<T>::denorm_min();
  double const most = std::min<double>(std::numeric_limits<T>::max(), to);
  double const lower = std::max<double>(std::numeric_limits<T>::lowest(), from);
  std::uniform_real_distribution<double> even(std::max(lower, -1e5), std::min(most, 1e5));
  std::uniform_real_distribution<double> exponent(std::log2(least),
                                                  std::log2(std::max(most, -lower)));
  std::vector<T> x(n);
  for (std::size_t k = 0; k < n; ++k) {
    double value = k % 2 == 0 ? even(engine) : std::exp2(exponent(engine));
    if (k % 4 == 3 && from < 0) value = -value;
    if (value < lower || value > most) value = even(engine);
    x[k] = static_cast<T>(value);
  }
  return x;
}

template <class T>
std::vector<T> special_values() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> x;
  for (T const value : {T(0),
                        Limits::denorm_min(),
                        Limits::min() / 2,
                        Limits::min(),
                        Limits::epsilon(),
                        T(0.5),
                        std::nextafter(T(1), T(0)),
                        T(1),
                        std::nextafter(T(1), T(2)),
                        T(1.5),
                        T(2),
                        T(3),
                        T(3.14159265358979),
                        T(88.72),
                        T(88.73),
                        T(103.9),
                        T(104.1),
                        T(709.7),
                        T(709.8),
                        T(745.2),
                        T(746),
                        T(1e5),
                        T(1e10),
                        T(1e30),
                        Limits::max(),
                        Limits::infinity()}) {
    x.push_back(value);
    x.push_back(-value);
  }
  x.push_back(Limits::quiet_NaN());
  return x;
}

constexpr double allowed = 4;
// a million points per function: of one instruction set header-only, of all together in the
// compiled part
#ifdef SHARDTYPE_COMPILED
constexpr std::size_t points = std::size_t{1} << 19;
#else
constexpr std::size_t points = std::size_t{1} << 20;
#endif

template <class T>
void check_accuracy(char const* type) {
  std::mt19937_64 engine(7);
  for_each(All{}, [&]<class F>() {
    using Of = Function<F>;
    std::vector<T> x = drawn<T>(engine, points, Of::from, Of::to);
    std::vector<T> const special = special_values<T>();
    x.insert(x.end(), special.begin(), special.end());
    std::vector<T> y(x.size());
    compute<F>(y, x);
    double worst = 0;
    T at{};
    for (std::size_t k = 0; k < x.size(); ++k) {
      double const off = ulps(y[k], Of::of(x[k]));
      if (!(off <= worst)) {
        worst = off;
        at = x[k];
      }
    }
    std::printf("%-7s %-24s %5.2f at %.9g\n", type, Of::name, worst, static_cast<double>(at));
    INFO(Of::name << " of " << type << " " << static_cast<double>(at));
    CHECK(worst <= allowed);
  });
}

template <class F, class T, class Exact>
void check_pairs(char const* name, std::vector<T> a, std::vector<T> b, Exact exact) {
  for (T const x : special_values<T>())
    for (T const y : special_values<T>()) {
      a.push_back(x);
      b.push_back(y);
    }
  std::vector<T> c(a.size());
  compute<F>(c, a, b);
  double worst = 0;
  std::size_t at = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    double const off = ulps(c[k], exact(Wide(a[k]), Wide(b[k])));
    if (!(off <= worst)) {
      worst = off;
      at = k;
    }
  }
  std::printf("%-7s %-24s %5.2f at %.9g, %.9g\n", sizeof(T) == 4 ? "float" : "double", name, worst,
              static_cast<double>(a[at]), static_cast<double>(b[at]));
  INFO(name << " of " << static_cast<double>(a[at]) << ", " << static_cast<double>(b[at]) << " = "
            << static_cast<double>(c[at]));
  CHECK(worst <= allowed);
}

/// The power of a negative number is that of its magnitude, with the sign of the exponent's parity,
/// wherever it lies.
template <class T>
void check_parity(std::mt19937_64& engine) {
  constexpr T whole = T(1) / std::numeric_limits<T>::epsilon();
  std::vector<T> exponents{
      whole,     whole - 1,     whole / 2 - 1,      whole / 2 + 1,      2 * whole - 1,
      2 * whole, 2 * whole + 2, whole / 2 + T(0.5), whole / 4 + T(0.5), whole / 4 + T(0.25)};
  for (int k = 0; k < 50; ++k) exponents.push_back(static_cast<T>(k) / 2);
  std::vector<T> a(70);
  std::vector<T> b(a.size());
  bool good = true;
  for (std::size_t n = 1; n <= a.size(); ++n) {
    std::vector<T> power(n);
    for (std::size_t k = 0; k < n; ++k) {
      b[k] = exponents[engine() % exponents.size()] * static_cast<T>(engine() % 2 == 0 ? 1 : -1);
      // near 1 if the exponent is large, so that the power is finite
      T const off = static_cast<T>(engine() % 9) / (std::fabs(b[k]) < 99 ? T(16) : 4 * whole);
      a[k] = -(1 + off);
    }
    std::vector<T> const x(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n));
    std::vector<T> const y(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(n));
    compute<functions::Power>(power, x, y);
    for (std::size_t k = 0; k < n; ++k) {
      std::vector<T> size(1);
      compute<functions::Power>(size, std::vector<T>{-x[k]}, std::vector<T>{y[k]});
      Wide const sign = powl(-1, Wide(y[k]));
      T const want = sign == 1    ? size[0]
                     : sign == -1 ? -size[0]
                                  : std::numeric_limits<T>::quiet_NaN();
      good = good && same(power[k], want);
    }
  }
  CHECK(good);
}

template <class T>
void check_binary() {
  std::mt19937_64 engine(8);
  double const wide = sizeof(T) == 4 ? 80 : 700;
  std::vector<T> a = drawn<T>(engine, points, 0, 1e30);
  std::vector<T> b(points);
  std::uniform_real_distribution<double> power(-wide, wide);
  for (std::size_t k = 0; k < points; ++k) {
    double const log = std::fabs(std::log(static_cast<double>(a[k])));
    b[k] = static_cast<T>(std::isfinite(log) && log > 1e-3 ? power(engine) / log : power(engine));
  }
  check_pairs<functions::Power, T>("pow", a, b, [](Wide x, Wide y) { return powl(x, y); });
  // negative bases: of integers, odd and even, large and small, and of what is no integer
  std::vector<T> const negative = drawn<T>(engine, points / 4, -1e30, 0);
  std::vector<T> integers(negative.size());
  for (std::size_t k = 0; k < integers.size(); ++k)
    integers[k] = k % 9 == 0 ? std::trunc(b[k]) + T(0.5)
                             : std::trunc(b[k] * static_cast<T>(k % 7 == 0 ? 1000 : 1));
  check_pairs<functions::Power, T>("pow of negative", negative, integers,
                                   [](Wide x, Wide y) { return powl(x, y); });
  check_parity<T>(engine);
  check_pairs<functions::Atan2, T>("atan2", drawn<T>(engine, points, -1e30, 1e30),
                                   drawn<T>(engine, points, -1e30, 1e30),
                                   [](Wide x, Wide y) { return atan2l(x, y); });
}

/// Computes arrays of every length from 0 to 70 at every position in a line of the cache and
/// compares with single elements, among any others, and in place.
template <class F, class T>
void check_one_value(std::vector<T> const& values) {
  if constexpr (vectors::vectorised<F, T>) {
    std::vector<T> alone(values.size());
    for (std::size_t k = 0; k < values.size(); ++k) alone[k] = vectors::one<F>(values[k]);
    std::vector<T> x(200);
    std::vector<T> y(200);
    std::mt19937 engine(9);
    bool good = true;
    for (std::size_t shift = 0; shift < 64 / sizeof(T); ++shift)
      for (std::size_t n = 0; n <= 70; ++n) {
        std::vector<std::size_t> which(n);
        for (std::size_t k = 0; k < n; ++k) {
          which[k] = engine() % values.size();
          x[shift + k] = values[which[k]];
        }
        std::fill(y.begin(), y.end(), T(99));
        vectors::run<F>(static_cast<std::int64_t>(n), y.data() + shift, x.data() + shift);
        for (std::size_t k = 0; k < n; ++k) good = good && same(y[shift + k], alone[which[k]]);
        for (std::size_t k = 0; k < y.size(); ++k)
          good = good && ((k >= shift && k < shift + n) || y[k] == T(99));
        vectors::run<F>(static_cast<std::int64_t>(n), x.data() + shift, x.data() + shift);
        for (std::size_t k = 0; k < n; ++k) good = good && same(x[shift + k], alone[which[k]]);
      }
    CHECK(good);
    // many more neighbours, of every size
    std::vector<T> many(std::size_t{1} << 14);
    std::vector<std::size_t> which(many.size());
    for (int round = 0; round < 8; ++round) {
      for (std::size_t k = 0; k < many.size(); ++k) {
        which[k] = engine() % values.size();
        many[k] = values[which[k]];
      }
      std::vector<T> got(many.size());
      compute<F>(got, many);
      for (std::size_t k = 0; k < many.size(); ++k) good = good && same(got[k], alone[which[k]]);
    }
    CHECK(good);
  }
}

template <class T>
void check_values() {
  std::mt19937_64 engine(10);
  std::vector<T> values = special_values<T>();
  std::vector<T> const small = drawn<T>(engine, 1000, -20, 20);
  std::vector<T> const any = drawn<T>(engine, 1000, -huge, huge);
  values.insert(values.end(), small.begin(), small.end());
  values.insert(values.end(), any.begin(), any.end());
  for_each(All{}, [&]<class F>() {
    INFO(Function<F>::name);
    check_one_value<F, T>(values);
  });
  for_each(Others{}, [&]<class F>() { check_one_value<F, T>(values); });
}

/// Exponentials of differences, of every length at every position: the values of single elements,
/// scaled, and their sums.
template <class T, bool Each>
void check_exponentials() {
  if constexpr (vectors::vectorised<functions::Exp, T>) {
    constexpr std::size_t lanes = vectors::formulas::sums_of_one;
    std::mt19937_64 engine(12);
    std::vector<T> x = drawn<T>(engine, 200, -20, 20);
    T const masked[] = {T(-1e30), -std::numeric_limits<T>::infinity(), T(-110), T(-760)};
    for (std::size_t k = 100; k < 200; k += 7) x[k] = masked[k % 4];
    std::vector<T> const base = drawn<T>(engine, 200, -20, 20);
    std::vector<T> const factor = drawn<T>(engine, 200, 0, 2);
    bool good = true;
    for (std::size_t shift = 0; shift < 64 / sizeof(T); ++shift)
      for (std::size_t n = 0; n <= 130; ++n) {
        auto const size = static_cast<std::int64_t>(n);
        std::vector<T> y(200, T(99));
        std::vector<T> sums(std::max(n, lanes), T(1));
        std::vector<T> want(sums);
        vectors::scaled_exponentials<Each>(size, y.data() + shift, x.data() + shift, base.data(),
                                           factor.data());
        vectors::add_exponentials<Each>(size, sums.data(), x.data() + shift, base.data());
        for (std::size_t k = 0; k < n; ++k) {
          std::size_t const at = Each ? k : 0;
          T const e = vectors::one<functions::Exp>(x[shift + k] - base[at]);
          good = good && same(y[shift + k], e * factor[at]);
          want[Each ? k : k % lanes] += e;
        }
        for (std::size_t k = 0; k < y.size(); ++k)
          good = good && ((k >= shift && k < shift + n) || y[k] == T(99));
        for (std::size_t k = 0; k < sums.size(); ++k) good = good && same(sums[k], want[k]);
      }
    CHECK(good);
  }
}

/// Results below the least normal number, down to 0, among those of usual arguments.
template <class T>
void check_small_exponentials() {
  double const least = sizeof(T) == 4 ? -104.5 : -746.5;
  std::vector<T> x;
  for (int k = 0; k < 40000; ++k) {
    x.push_back(static_cast<T>(least + k * 1e-3));
    if (k % 9 == 0) x.push_back(T(-1) - static_cast<T>(k % 5));
    if (k % 100 < 3) x.insert(x.end(), 40, T(-1e30));
  }
  std::vector<T> y(x.size());
  compute<functions::Exp>(y, x);
  double worst = 0;
  for (std::size_t k = 0; k < x.size(); ++k) worst = std::max(worst, ulps(y[k], expl(x[k])));
  std::printf("%-7s small exponentials %5.2f\n", sizeof(T) == 4 ? "float" : "double", worst);
  CHECK(worst <= allowed);
}

/// The functions composed of others agree with those of one element, without vectors.
template <class T>
void check_composed() {
  std::mt19937_64 engine(11);
  std::vector<T> x = drawn<T>(engine, 100000, -100, 100);
  std::vector<T> const special = special_values<T>();
  x.insert(x.end(), special.begin(), special.end());
  std::vector<T> y(x.size());
  // `size`: of the terms of which the result is the sum
  auto const check = [&](auto const& want, auto const& size) {
    for (std::size_t k = 0; k < x.size(); ++k) {
      T const w = want(k);
      T const near =
          T(16) * std::numeric_limits<T>::epsilon() * size(w, k) + std::numeric_limits<T>::min();
      if (same(y[k], w) || y[k] == w || std::fabs(y[k] - w) <= near) continue;
      FAIL("of " << double{x[k]} << ": " << double{y[k]} << " instead of " << double{w});
    }
  };
  for_each(Others{}, [&]<class F>() {
    compute<F>(y, x);
    check([&](std::size_t k) { return kernels::call(F{}, x[k]); },
          [](T want, std::size_t) { return std::fabs(want); });
  });
  std::vector<T> const b = drawn<T>(engine, x.size(), -100, 100);
  compute<functions::LogAddExp>(y, x, b);
  check([&](std::size_t k) { return kernels::call(functions::LogAddExp{}, x[k], b[k]); },
        [&](T want, std::size_t k) { return std::max(std::fabs(want), std::fabs(x[k])); });
}

}  // namespace

/// Calls `body` with each instruction set among which the compiled part chooses, the best one last;
/// header-only, once.
template <class Body>
void for_each_set(Body const& body) {
#ifdef SHARDTYPE_COMPILED
  using shardtype::runtime::Instructions;
  auto& used = shardtype::runtime::run_time.instructions;
  for (Instructions const set :
       {Instructions::sse2, Instructions::avx2, Instructions::avx512, Instructions::avx512_bf16}) {
    if (set > shardtype::runtime::best_instructions()) break;
    used = set;
    std::printf("instruction set %d\n", static_cast<int>(set));
    body();
  }
  used = shardtype::runtime::best_instructions();
#else
  body();
#endif
}

TEST_CASE("at most four units in the last place, special values included") {
  for_each_set([] {
    check_accuracy<float>("float");
    check_accuracy<double>("double");
    check_binary<float>();
    check_binary<double>();
  });
}

TEST_CASE("exponentials that are nearly or quite 0") {
  for_each_set([] {
    check_small_exponentials<float>();
    check_small_exponentials<double>();
  });
}

TEST_CASE("an element has one value at any length, alignment and among any neighbours") {
  for_each_set([] {
    check_values<float>();
    check_values<double>();
  });
}

TEST_CASE("functions composed of others agree with those of single elements") {
  for_each_set([] {
    check_composed<float>();
    check_composed<double>();
  });
}

TEST_CASE("scaled and added exponentials have the values of single ones") {
  for_each_set([] {
    check_exponentials<float, false>();
    check_exponentials<float, true>();
    check_exponentials<double, false>();
    check_exponentials<double, true>();
  });
}

TEST_CASE("quotients rounded down and their remainders, by the C library's fmod") {
  std::mt19937_64 engine(13);
  bool good = true;
  auto const check = [&](float a, float b) {
    float const r = std::fmod(a, b);
    bool const apart = r != 0 && (r < 0) != (b < 0);
    float const down = b == 0 ? a / b : std::nearbyint((a - r) / b) - (apart ? 1.0F : 0.0F);
    good = good && same(kernels::detail::remainder(a, b), r) &&
           same(kernels::call(functions::FloorDivide{}, a, b), down) &&
           same(kernels::call(functions::Remainder{}, a, b), apart ? r + b : r);
  };
  std::vector<float> const special = special_values<float>();
  for (float const a : special)
    for (float const b : special) check(a, b);
  CHECK(good);
  std::size_t const n = 300000;
  std::vector<float> const any = drawn<float>(engine, n, -huge, huge);
  for (std::size_t k = 0; k < n; ++k) {
    check(any[k], any[n - 1 - k]);
    // quotients around every power of two, next to integers and at them
    float const b = any[k];
    auto const whole = static_cast<float>(
        std::ldexp(1 + static_cast<double>(engine() % 64) / 64, static_cast<int>(engine() % 30)));
    float const a = b * std::nearbyint(whole);
    for (float const near : {std::nextafter(a, 0.0F), a, std::nextafter(a, 2 * a)}) {
      check(near, b);
      check(near, -b);
    }
  }
  CHECK(good);
}

TEST_CASE("quotients of int32 are rounded down, and 0 by 0") {
  using Int = std::int32_t;
  constexpr Int least = std::numeric_limits<Int>::min();
  constexpr Int most = std::numeric_limits<Int>::max();
  std::vector<Int> some{least, least + 1, -65537, -7, -3,    -2,       -1,  0,
                        1,     2,         3,      7,  46341, most - 1, most};
  std::mt19937 engine(5);
  for (int k = 0; k < 300; ++k) {
    some.push_back(static_cast<Int>(engine()));
    some.push_back(static_cast<Int>(engine()) >> 20);
  }
  bool good = true;
  for (Int const a : some)
    for (Int const b : some) {
      Int want = 0;
      if (a == least && b == -1) {
        want = least;
      } else if (b != 0) {
        std::int64_t const q = std::int64_t{a} / b;
        want = static_cast<Int>(q * b != a && (a < 0) != (b < 0) ? q - 1 : q);
      }
      good = good && kernels::call(functions::FloorDivide{}, a, b) == want;
    }
  CHECK(good);
}

TEST_CASE("the absolute value of complex floats is the nearest float, or the next one") {
  using Complex = Kokkos::complex<float>;
  std::vector<float> some = special_values<float>();
  std::mt19937_64 engine(6);
  for (float const x : drawn<float>(engine, 300, -1, 1)) {
    some.push_back(x);
    some.push_back(x * 1e-38F);
    some.push_back(x * 3e38F);
  }
  bool good = true;
  for (float const re : some)
    for (float const im : some) {
      float const want = std::hypot(re, im);
      float const got = kernels::call(functions::Absolute{}, Complex(re, im));
      good = good && (same(got, want) || got == std::nextafter(want, 0.0F) ||
                      got == std::nextafter(want, HUGE_VALF));
    }
  CHECK(good);
}
