// The programs of docs/by_example/elementwise.md, one for each function. On 2 ranks.
// SHOWN: docs
// ALONE: it calls all functions of a family, which checks of all examples would read again
// RANKS: 2
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include <shardtype/shardtype.hpp>

using namespace shardtype;

namespace {

// docs: names
struct X : Axis<"X", 2> {};  // two ranks
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using Complex = Kokkos::complex<double>;
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
// docs: end

bool first = true;  // of the ranks
void say(std::string const& line) {
  if (first) std::printf("%s\n", line.c_str());
}
void part(char const* name) { say(std::string("== ") + name); }

void choices(Mesh<X> const& mesh) {
  {
    part("map");
    // docs: map
    struct Sum {
      KOKKOS_FUNCTION double operator()(double a, double b) const { return a + 10 * b; }
    };
    auto const a = from_host<double, Dim<I, X>>(mesh, {2}, std::vector<double>{3.0, 5.0});
    auto const b = from_host<double, Dim<I, X>>(mesh, {2}, std::vector<double>{4.0, 12.0});
    print(map(Sum{}, a, b));
    // docs: end
  }
  {
    part("where");
    // docs: where
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, -2.0, 3.0, -4.0});
    print(where(a > 0.0, a, 10.0));
    // docs: end
  }
  {
    part("cast");
    // docs: cast
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.7, -1.7, 2.0, 0.0});
    print(cast<std::int32_t>(a));  // towards zero
    print(cast<bool>(a));          // all but 0 are true
    // docs: end
  }
  {
    part("max");
    // docs: max
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 5.0, 2.0, nan});
    auto const b = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{4.0, 3.0, 2.0, 1.0});
    print(max(a, b));
    print(max(a, 2.5));
    // docs: end
  }
  {
    part("min");
    // docs: min
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 5.0, 2.0, nan});
    auto const b = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{4.0, 3.0, 2.0, 1.0});
    print(min(a, b));
    print(min(a, 2.5));
    // docs: end
  }
  {
    part("clip");
    // docs: clip
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{-3.0, 0.5, 2.0, 7.0});
    print(clip(a, 0.0, 5.0));
    // docs: end
  }
  {
    part("isnan");
    // docs: isnan
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, nan, inf, -inf});
    print(isnan(a));
    // docs: end
  }
  {
    part("isfinite");
    // docs: isfinite
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, nan, inf, -inf});
    print(isfinite(a));
    // docs: end
  }
  {
    part("isinf");
    // docs: isinf
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, nan, inf, -inf});
    print(isinf(a));
    // docs: end
  }
  {
    part("nan_to_num");
    // docs: nan_to_num
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, nan, inf, -inf});
    print(nan_to_num(a, 0.0, 100.0, -100.0));
    // docs: end
  }
  {
    part("isclose");
    // docs: isclose
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, nan, inf});
    auto const b =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0000001, 2.1, nan, inf});
    print(isclose(a, b));
    print(isclose(a, b, 0.1, 0.0, true));  // within 10 %; a NaN is like a NaN
    // docs: end
  }
  {
    part("allclose");
    // docs: allclose
    auto const a = from_host<double, Dim<I, X>>(mesh, {2}, std::vector<double>{1.0, 2.0});
    auto const b = from_host<double, Dim<I, X>>(mesh, {2}, std::vector<double>{1.0000001, 2.1});
    bool const near = allclose(a, b);
    bool const nearer = allclose(a, b, 0.1);
    say(std::string(near ? "near" : "not near") + (nearer ? ", near" : ", not near"));
    // docs: end
  }
  {
    part("array_equal");
    // docs: array_equal
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    bool const same = array_equal(a, square(sqrt(a)));
    bool const itself = array_equal(a, a);
    say(std::string(same ? "equal" : "not equal") + (itself ? ", equal" : ", not equal"));
    // docs: end
  }
}

void parts_of_numbers(Mesh<X> const& mesh) {
  {
    part("abs");
    // docs: abs
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.5, -2.0, 0.0, -inf});
    auto const z =
        from_host<Complex, Dim<I, X>>(mesh, {2}, std::vector<Complex>{{3.0, 4.0}, {0.0, -1.0}});
    print(abs(a));
    print(abs(z));  // real
    // docs: end
  }
  {
    part("sign");
    // docs: sign
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.5, -2.0, 0.0, -inf});
    print(sign(a));
    // docs: end
  }
  {
    part("conj");
    // docs: conj
    auto const z =
        from_host<Complex, Dim<I, X>>(mesh, {2}, std::vector<Complex>{{3.0, 4.0}, {0.0, -1.0}});
    print(conj(z));
    // docs: end
  }
  {
    part("real");
    // docs: real
    auto const z =
        from_host<Complex, Dim<I, X>>(mesh, {2}, std::vector<Complex>{{3.0, 4.0}, {0.0, -1.0}});
    print(real(z));
    // docs: end
  }
  {
    part("imag");
    // docs: imag
    auto const z =
        from_host<Complex, Dim<I, X>>(mesh, {2}, std::vector<Complex>{{3.0, 4.0}, {0.0, -1.0}});
    print(imag(z));
    // docs: end
  }
  {
    part("floor");
    // docs: floor
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.5, -1.5, 2.0, -0.2});
    print(floor(a));
    // docs: end
  }
  {
    part("ceil");
    // docs: ceil
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.5, -1.5, 2.0, -1.2});
    print(ceil(a));
    // docs: end
  }
  {
    part("round");
    // docs: round
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{0.5, 1.5, 2.5, -1.7});
    print(round(a));  // halves to even
    // docs: end
  }
  {
    part("floor_divide");
    // docs: floor_divide
    auto const a =
        from_host<std::int32_t, Dim<I, X>>(mesh, {4}, std::vector<std::int32_t>{7, -7, 7, -7});
    auto const b =
        from_host<std::int32_t, Dim<I, X>>(mesh, {4}, std::vector<std::int32_t>{2, 2, -2, -2});
    print(floor_divide(a, b));
    print(a / b);  // towards zero
    // docs: end
  }
}

void powers(Mesh<X> const& mesh) {
  {
    part("square");
    // docs: square
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, -2.0, 0.5, 3.0});
    print(square(a));
    // docs: end
  }
  {
    part("sqrt");
    // docs: sqrt
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{0.0, 1.0, 2.0, 9.0});
    print(sqrt(a));
    // docs: end
  }
  {
    part("rsqrt");
    // docs: rsqrt
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 4.0, 0.25});
    print(rsqrt(a));
    // docs: end
  }
  {
    part("cbrt");
    // docs: cbrt
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{8.0, -27.0, 2.0, 0.0});
    print(cbrt(a));
    // docs: end
  }
  {
    part("pow");
    // docs: pow
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{2.0, 3.0, 4.0, 2.0});
    auto const b =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{3.0, 2.0, 0.5, -1.0});
    print(pow(a, b));
    print(pow(a, 2.0));
    // docs: end
  }
  {
    part("exp");
    // docs: exp
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{-1.0, 0.0, 1.0, 2.0});
    print(exp(a));
    // docs: end
  }
  {
    part("exp2");
    // docs: exp2
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{-1.0, 0.0, 0.5, 5.0});
    print(exp2(a));
    // docs: end
  }
  {
    part("expm1");
    // docs: expm1
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{-1.0, 0.0, 0.01, 1.0});
    print(expm1(a));  // exp(a) - 1, exact near 0
    // docs: end
  }
  {
    part("log");
    // docs: log
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{0.5, 1.0, 2.0, 10.0});
    print(log(a));
    // docs: end
  }
  {
    part("log2");
    // docs: log2
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{0.5, 1.0, 3.0, 1024.0});
    print(log2(a));
    // docs: end
  }
  {
    part("log10");
    // docs: log10
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{0.1, 1.0, 2.0, 1000.0});
    print(log10(a));
    // docs: end
  }
  {
    part("log1p");
    // docs: log1p
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{-0.5, 0.0, 0.01, 1.0});
    print(log1p(a));  // log(1 + a), exact near 0
    // docs: end
  }
  {
    part("logaddexp");
    // docs: logaddexp
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{5.0, 1.0, 800.0, -inf});
    auto const b =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{5.0, 2.0, 800.0, 3.0});
    print(logaddexp(a, b));  // log(exp(a) + exp(b)), without overflow
    // docs: end
  }
  {
    part("hypot");
    // docs: hypot
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{3.0, 5.0, 1e200, 0.0});
    auto const b =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{4.0, 12.0, 1e200, 2.0});
    print(hypot(a, b) / max(a, b));  // the squares of 1e200 would overflow
    // docs: end
  }
}

void angles(Mesh<X> const& mesh) {
  {
    part("sin");
    // docs: sin
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{0.0, 0.5, 1.0, 2.0});
    print(sin(a));
    // docs: end
  }
  {
    part("cos");
    // docs: cos
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{0.0, 0.5, 1.0, 2.0});
    print(cos(a));
    // docs: end
  }
  {
    part("tan");
    // docs: tan
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{0.0, 0.5, 1.0, 2.0});
    print(tan(a));
    // docs: end
  }
  {
    part("asin");
    // docs: asin
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{-1.0, 0.0, 0.5, 1.0});
    print(asin(a));
    // docs: end
  }
  {
    part("acos");
    // docs: acos
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{-1.0, 0.0, 0.5, 1.0});
    print(acos(a));
    // docs: end
  }
  {
    part("atan");
    // docs: atan
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{-1.0, 0.0, 1.0, inf});
    print(atan(a));
    // docs: end
  }
  {
    part("atan2");
    // docs: atan2
    auto const y =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 1.0, -1.0, -1.0});
    auto const x =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, -1.0, 1.0, -1.0});
    print(atan2(y, x));
    // docs: end
  }
  {
    part("sinh");
    // docs: sinh
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{-1.0, 0.0, 0.5, 2.0});
    print(sinh(a));
    // docs: end
  }
  {
    part("cosh");
    // docs: cosh
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{-1.0, 0.0, 0.5, 2.0});
    print(cosh(a));
    // docs: end
  }
  {
    part("tanh");
    // docs: tanh
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{-1.0, 0.0, 0.5, 2.0});
    print(tanh(a));
    // docs: end
  }
}

void special_functions(Mesh<X> const& mesh) {
  {
    part("erf");
    // docs: erf
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{-1.0, 0.0, 0.5, 2.0});
    print(erf(a));
    // docs: end
  }
  {
    part("erfc");
    // docs: erfc
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{-1.0, 0.0, 0.5, 2.0});
    print(erfc(a));  // 1 - erf(a)
    // docs: end
  }
  {
    part("erfinv");
    // docs: erfinv
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{-0.5, 0.0, 0.5, 1.0});
    print(erfinv(a));
    // docs: end
  }
  {
    part("lgamma");
    // docs: lgamma
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{0.5, 3.0, 5.0, 6.0});
    print(lgamma(a));
    print(exp(lgamma(a)));  // (a - 1)!
    // docs: end
  }
  {
    part("digamma");
    // docs: digamma
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{0.5, 1.0, 2.0, 10.0});
    print(digamma(a));
    // docs: end
  }
}

void activations(Mesh<X> const& mesh) {
  {
    part("relu");
    // docs: relu
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{-1.0, 0.0, 0.5, 2.0});
    print(relu(a));
    // docs: end
  }
  {
    part("sigmoid");
    // docs: sigmoid
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{-1.0, 0.0, 0.5, 2.0});
    print(sigmoid(a));
    // docs: end
  }
  {
    part("silu");
    // docs: silu
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{-1.0, 0.0, 0.5, 2.0});
    print(silu(a));  // a sigmoid(a)
    // docs: end
  }
  {
    part("softplus");
    // docs: softplus
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{-1.0, 0.0, 0.5, 50.0});
    print(softplus(a));  // log(1 + exp(a)), without overflow
    // docs: end
  }
  {
    part("gelu");
    // docs: gelu
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{-1.0, 0.0, 0.5, 2.0});
    print(gelu(a));
    // docs: end
  }
  {
    part("gelu_tanh");
    // docs: gelu_tanh
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{-1.0, 0.0, 0.5, 2.0});
    print(gelu_tanh(a));  // the approximation by tanh
    // docs: end
  }
  {
    part("elu");
    // docs: elu
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{-1.0, 0.0, 0.5, 2.0});
    print(elu(a));
    print(elu(a, 0.5));
    // docs: end
  }
  {
    part("leaky_relu");
    // docs: leaky_relu
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{-1.0, 0.0, 0.5, 2.0});
    print(leaky_relu(a));
    print(leaky_relu(a, 0.2));
    // docs: end
  }
}

}  // namespace

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  first = env.rank() == 0;
  // docs: mesh
  Mesh<X> const mesh(env.world());
  // docs: end
  choices(mesh);
  parts_of_numbers(mesh);
  powers(mesh);
  angles(mesh);
  special_functions(mesh);
  activations(mesh);
  return 0;
}
