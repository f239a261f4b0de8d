// Everyday operations on ranks: functions of neural networks, constructors, statistics along split
// dims, comparisons. They are compared with dense references, with uneven and empty extents; the
// shim counts the bytes.
// SOURCES: tests/shim/pmpi.cpp
// TIMEOUT: 300
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"
#include "shim/pmpi.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct Four : Index<"Four", 4> {};
struct Three : Index<"Three", 3> {};
using OnMesh = Mesh<X, Y>;

// Compares the elements of `got` with `expected`; an expected NaN matches any NaN.
template <class A>
void check_values(A const& got, std::vector<double> const& expected, double tolerance = 1e-14) {
  auto const whole = to_host(got);
  REQUIRE(whole.size() == expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) {
    INFO("element " << k << ": " << static_cast<double>(whole[k]) << ", not " << expected[k]);
    double const x = static_cast<double>(whole[k]);
    CHECK((std::isnan(expected[k]) ? std::isnan(x)
           : std::isinf(expected[k]) || expected[k] == 0
               ? x == expected[k]
               : std::abs(x - expected[k]) <= tolerance * std::abs(expected[k])));
  }
}

TEST_CASE("functions of neural networks: small values keep their digits, large ones stay finite") {
  OnMesh const mesh(MPI_COMM_WORLD, on_ranks::grids()[0]);
  static constexpr double inf = std::numeric_limits<double>::infinity();
  static constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  static constexpr double given[] = {-inf, -1000, -745, -40,  -3,  -0.5, 0,
                                     0.5,  3,     40,   1000, inf, nan};
  auto const a = from_function<double, Dim<I, X>>(mesh, {13}, [](auto i) { return given[i]; });
  // 1 + tanh and 1 + erf would lose all digits at -40, 1 / (1 + e^745) all digits at -745
  check_values(relu(a), {0, 0, 0, 0, 0, 0, 0, 0.5, 3, 40, 1000, inf, nan});
  check_values(sigmoid(a),
               {0, 0, std::exp(-745.), std::exp(-40.), 0.04742587317756678, 0.37754066879814543,
                0.5, 0.6224593312018546, 0.9525741268224334, 1, 1, 1, nan});
  check_values(silu(a), {0, 0, -745 * std::exp(-745.), -40 * std::exp(-40.), -0.14227761953270035,
                         -0.18877033439907272, 0, 0.3112296656009273, 2.8577223804672998, 40, 1000,
                         inf, nan});
  check_values(softplus(a),
               {0, 0, std::exp(-745.), std::exp(-40.), 0.04858735157374206, 0.47407698418010669,
                0.69314718055994531, 0.97407698418010669, 3.0485873515737421, 40, 1000, inf, nan});
  check_values(gelu(where(a == -40, -10.0, a)),
               {0, 0, 0, -7.619853024160526e-23, -0.004049694094890287, -0.15426876936299344, 0,
                0.34573123063700656, 2.99595030590511, 40, 1000, inf, nan},
               1e-12);
  check_values(gelu_tanh(where(a == -40, -6.0, a)),
               {0, 0, 0, -8.43964670076231e-11, -0.003637392081773019, -0.15428599017485609, 0,
                0.34571400982514394, 2.9963626079182273, 40, 1000, inf, nan},
               1e-12);
  check_values(clip(a, -3.0, 40.0), {-3, -3, -3, -3, -3, -0.5, 0, 0.5, 3, 40, 40, 40, nan});
  check_values(clip(a, -3.0, nan), std::vector<double>(13, nan));
  check_values(clip(a, 2.0, 1.0), {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, nan});
  check_values(isinf(a), {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0});
  check_values(isfinite(a), {0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0});
  check_values(floor_divide(a, 2.0), {nan, -500, -373, -20, -2, -1, 0, 0, 1, 20, 500, nan, nan});
  check_values(floor_divide(a, 0.0),
               {-inf, -inf, -inf, -inf, -inf, -inf, nan, inf, inf, inf, inf, inf, nan});
  check_values(floor_divide(a, inf), {nan, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, nan, nan});
  // float, which has another range
  auto const f = cast<float>(a);
  check_values(softplus(f),
               {0, 0, 0, std::exp(-40.), 0.04858735157374206, 0.47407698418010669,
                0.69314718055994531, 0.97407698418010669, 3.0485873515737421, 40, 1000, inf, nan},
               1e-6);
  check_values(sigmoid(f) * 0 + relu(f), {0, 0, 0, 0, 0, 0, 0, 0.5, 3, 40, 1000, inf, nan}, 0);
  check_values(gelu_tanh(f * 1e20F), {0, 0, 0, 0, 0, 0, 0, 0.5e20, 3e20, 40e20, 1000e20, inf, nan},
               1e-6);
  // integers
  auto const n = from_function<std::int32_t, Dim<I, X>>(mesh, {9}, [](auto i) {
    return i == 8 ? std::numeric_limits<std::int32_t>::min() + 1 : static_cast<std::int32_t>(i) - 4;
  });
  check_values(relu(n), {0, 0, 0, 0, 0, 1, 2, 3, 0});
  check_values(clip(n, -2, 1), {-2, -2, -2, -1, 0, 1, 1, 1, -2});
  check_values(floor_divide(n, 3), {-2, -1, -1, -1, 0, 0, 0, 1, -715827883});
  check_values(floor_divide(n, -3), {1, 1, 0, 0, 0, -1, -1, -1, 715827882});
  check_values(floor_divide(n, 0), {0, 0, 0, 0, 0, 0, 0, 0, 0});
  check_values(floor_divide(n, 3) * 3 + n % 3 - n, std::vector<double>(9, 0));
  check_values((n - 1) % -1, std::vector<double>(9, 0));  // also for the least integer
  check_values(isinf(n), std::vector<double>(9, 0));
  // complex numbers
  using C = Kokkos::complex<double>;
  auto const z = cast<C>(a) * C(0, 1);
  check_values(isinf(z), {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0});
  auto const w = where(abs(a) < 4, cast<C>(where(abs(a) < 4, a, 0.0)) * C(0, 1) + C(1, 0), C(1, 0));
  check_values(abs(real(log2(w)) - log2(abs(w))) < 1e-15, std::vector<double>(13, 1));
  check_values(abs(log10(exp2(w)) - w * std::log10(2.0)) < 1e-15, std::vector<double>(13, 1));
  check_values(abs(rsqrt(w) * sqrt(w) - C(1, 0)) < 1e-15, std::vector<double>(13, 1));
}

TEST_CASE(
    "special functions, lengths, numbers in place of NaN, bits: at zeros, poles, infinities") {
  OnMesh const mesh(MPI_COMM_WORLD, on_ranks::grids()[0]);
  static constexpr double inf = std::numeric_limits<double>::infinity();
  static constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  static constexpr double most = std::numeric_limits<double>::max();
  static constexpr double given[] = {-inf,  -1000, -3, -0.5, -1e-20, 0,
                                     1e-20, 0.5,   3,  1000, inf,    nan};
  auto const a = from_function<double, Dim<I, X>>(mesh, {12}, [](auto i) { return given[i]; });
  check_values(elu(a), {-1, -1, std::expm1(-3.), std::expm1(-0.5), -1e-20, 0, 1e-20, 0.5, 3, 1000,
                        inf, nan});
  check_values(elu(a, 0.5), {-0.5, -0.5, std::expm1(-3.) / 2, std::expm1(-0.5) / 2, -5e-21, 0,
                             1e-20, 0.5, 3, 1000, inf, nan});
  check_values(leaky_relu(a), {-inf, -10, -0.03, -0.005, -1e-22, 0, 1e-20, 0.5, 3, 1000, inf, nan});
  check_values(leaky_relu(a, full_like(a, 2.0)),
               {-inf, -2000, -6, -1, -2e-20, 0, 1e-20, 0.5, 3, 1000, inf, nan});
  check_values(lgamma(a),
               {inf, inf, inf, 1.2655121234846454, 46.051701859880914, inf, 46.051701859880914,
                0.57236494292470009, 0.69314718055994531, 5905.2204232091812, inf, nan});
  // a root is near -0.5, where the summands cancel
  check_values(digamma(a),
               {nan, nan, nan, 0.03648997397857652, 1e20, -inf, -1e20, -1.9635100260214235,
                0.92278433509846714, 6.9072551956488121, inf, nan},
               3e-14);
  check_values(erfinv(a), {nan, nan, nan, -0.47693627620446987, -8.8622692545275801e-21, 0,
                           8.8622692545275801e-21, 0.47693627620446987, nan, nan, nan, nan});
  check_values(erfinv(where(a == 3, 1.0, where(a == 1000, 1 - 0x1p-53, a / a * -1))),
               {nan, -inf, -inf, -inf, -inf, nan, -inf, -inf, inf, 5.8635847487551676, nan, nan},
               1e-13);
  check_values(erf(erfinv(where(abs(a) < 1, a, 0.999))),
               {0.999, 0.999, 0.999, -0.5, -1e-20, 0, 1e-20, 0.5, 0.999, 0.999, 0.999, 0.999});
  check_values(hypot(a, -4.0), {inf, std::hypot(1000, 4), 5, std::hypot(0.5, 4), 4, 4, 4,
                                std::hypot(0.5, 4), 5, std::hypot(1000, 4), inf, nan});
  check_values(hypot(a, inf), std::vector<double>(12, inf));
  check_values(hypot(where(a == 3, 3e300, 0.0), 4e300), {4e300, 4e300, 4e300, 4e300, 4e300, 4e300,
                                                         4e300, 4e300, 5e300, 4e300, 4e300, 4e300});
  check_values(nan_to_num(a), {-most, -1000, -3, -0.5, -1e-20, 0, 1e-20, 0.5, 3, 1000, most, 0});
  check_values(nan_to_num(a, -1, inf, -1e30),
               {-1e30, -1000, -3, -0.5, -1e-20, 0, 1e-20, 0.5, 3, 1000, inf, -1});
  // of float and bfloat16 the largest numbers of the type
  check_values(max<Tensor<float>>(nan_to_num(cast<float>(a))), {std::numeric_limits<float>::max()});
  check_values(cast<float>(min<Tensor<bfloat16>>(nan_to_num(cast<bfloat16>(a)))), {-0x1.fep127});
  check_values(cast<float>(elu(cast<bfloat16>(a), 0.5F)) >= -0.5F,
               {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0});
  using C = Kokkos::complex<double>;
  check_values(imag(nan_to_num(cast<C>(where(a == 3, a, 1.0)) * C(0, inf), 7, 1e300)),
               std::vector<double>(12, 1e300));
  check_values(erfinv(cast<float>(a)),
               {nan, nan, nan, -0.47693627620446987, -8.8622692545275801e-21, 0,
                8.8622692545275801e-21, 0.47693627620446987, nan, nan, nan, nan},
               1e-7);
  // bits
  using Int = std::int32_t;
  static constexpr Int least = std::numeric_limits<Int>::min();
  auto const n = from_function<Int, Dim<I, X>>(
      mesh, {7}, [](auto i) { return i == 6 ? least : static_cast<Int>(i) - 3; });
  auto const by = from_function<Int, Dim<I>>(mesh, {7}, [](auto i) {
    return static_cast<Int>(i == 5 ? 32 : i == 6 ? -1 : i);
  });
  check_values(n & 3, {1, 2, 3, 0, 1, 2, 0});
  check_values(n | 4, {-3, -2, -1, 4, 5, 6, static_cast<double>(least) + 4});
  check_values(n ^ by, {-3, -1, -3, 3, 5, 34, 2147483647});
  check_values(~n, {2, 1, 0, -1, -2, -3, 2147483647});
  check_values(n << by, {-3, -4, -4, 0, 16, 0, 0});
  check_values(n >> by, {-3, -1, -1, 0, 0, 0, -1});
  check_values(n >> 31, {-1, -1, -1, 0, 0, 0, -1});
  check_values(1 << (n & 7), {32, 64, 128, 1, 2, 4, 1});
  auto const p = n > 0;
  check_values(p ^ (n == 1), {0, 0, 0, 0, 0, 1, 0});
  check_values((p & true) | (n == 0), {0, 0, 0, 1, 1, 1, 0});
  check_values(~(n > 0), {1, 1, 1, 1, 0, 0, 1});
  check_values(nan_to_num(n) - n, std::vector<double>(7, 0));
  auto const none = zeros<double, Dim<I, X>>(mesh, {0});
  check_values(elu(lgamma(erfinv(hypot(none, none)))), {});
}

TEST_CASE("ranges, identity matrices, tensors like another one") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using Int = std::int64_t;
  check_values(arange<float, Dim<I, X>>(mesh, 7), {0, 1, 2, 3, 4, 5, 6});
  check_values(arange<Int, Dim<I, Cyclic<X, 2>>>(mesh, 7), {0, 1, 2, 3, 4, 5, 6});
  check_values(arange<std::int32_t, Dim<I, X, Y>>(mesh, 3, -4, -3), {3, 0, -3});
  check_values(arange<Int, Dim<I, Y>>(mesh, 3, -3, -3), {3, 0});
  check_values(arange<double, Dim<I, X>>(mesh, 0, 1, 0.25), {0, 0.25, 0.5, 0.75});
  check_values(arange<double, Dim<I, X>>(mesh, 1, 1.01, 0.25), {1});
  check_values(arange<double, Dim<I, X>>(mesh, 1, 0), {});
  check_values(arange<Int, Dim<I, X>>(mesh, -5), {});
  check_values(all_reduce<X>(arange<float, Dim<I, Y>, Unreduced<X>>(mesh, 3)), {0, 1, 2});
  constexpr Int least = std::numeric_limits<Int>::min();
  constexpr Int most = std::numeric_limits<Int>::max();
  auto const wide = to_host(arange<Int, Dim<I, X>>(mesh, least, most, most));
  CHECK(wide == std::vector<Int>{least, -1, most - 1});
  CHECK(on_ranks::code_of([&] { arange<Int, Dim<I, X>>(mesh, least, -1); }) == "E20");
  CHECK(on_ranks::code_of([&] { arange<Int, Dim<I, X>>(mesh, 0, 5, 0); }) == "E20");
  CHECK(on_ranks::code_of([&] { arange<float, Dim<I, X>>(mesh, 0, 5, 0); }) == "E20");
  CHECK(on_ranks::code_of([&] { arange<float, Dim<Four, X>>(mesh, 5); }) == "E20");
  check_values(linspace<double, Dim<I, X>>(mesh, {5}, 1, 2), {1, 1.25, 1.5, 1.75, 2});
  check_values(linspace<float, Dim<Four, Y>>(mesh, 3, 0), {3, 2, 1, 0});
  check_values(linspace<std::int32_t, Dim<I, X>>(mesh, {4}, 0, -10), {0, -4, -7, -10});
  check_values(linspace<double, Dim<I, X>>(mesh, {1}, 1, 2), {1});
  check_values(linspace<double, Dim<I, X>>(mesh, {0}, 1, 2), {});
  check_values(linspace<double, Dim<I, X>>(mesh, {3}, 0.1, 0.7), {0.1, 0.4, 0.7});
  for (Int const k : {Int{0}, Int{1}, Int{-2}, Int{9}, std::numeric_limits<Int>::min()}) {
    for (std::array<Int, 2> const& n : {std::array<Int, 2>{5, 3}, {3, 6}, {0, 2}, {2, 0}, {1, 1}}) {
      std::vector<double> expected;
      for (Int i = 0; i < n[0]; ++i)
        for (Int j = 0; j < n[1]; ++j) expected.push_back(j - i == k ? 1 : 0);
      check_values(eye<float, Dim<I, X>, Dim<J, Y>>(mesh, n, k), expected);
      check_values(eye<bool, Dim<I>, Dim<J, Y, X>>(mesh, n, k), expected);
      check_values(real(eye<Kokkos::complex<float>, Dim<I, Cyclic<X, 1>>, Dim<J>>(mesh, n, k)),
                   expected);
    }
  }
  check_values(eye<float, Dim<Four, X>, Dim<Three>>(mesh), {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0});
  check_values(ones<float, Dim<I, X>>(mesh, {3}), {1, 1, 1});
  check_values(ones<bool, Dim<Three, X>>(mesh), {1, 1, 1});

  auto const a = arange<float, Dim<I, X>>(mesh, 3);
  check_values(zeros_like(a), {0, 0, 0});
  check_values(ones_like(a), {1, 1, 1});
  check_values(full_like(a, 2.5), {2.5, 2.5, 2.5});
  check_values(full_like(cast<Int>(a), 7), {7, 7, 7});
  check_values(full_like(a == 1, true), {1, 1, 1});
  auto e = a + 1;
  check_values(full_like(std::move(e), 4), {4, 4, 4});
  CHECK(!e.computed());
  check_values(all_reduce<Y>(ones_like(to_partial<Y>(a))), {1, 1, 1});
  auto const longer = arange<float, Dim<I, X>>(mesh, 4);
  CHECK(on_ranks::code_of([&] { zeros_like(a + longer); }) == "E24");
  auto const blocks = shard_map<Dim<I, X>>(
      [](auto const& block) { return full_like(block, 3) + zeros_like(block); },
      arange<float, Dim<I, X>>(mesh, 8));
  check_values(blocks, std::vector<double>(8, 3));
  // the plan of an operation without communication
  CHECK(plan_at(op::FullLike<int>{1}, a).collectives() == 0);
}

/// Runs `run`, the operation `op` on `a`, and checks that the bytes of the shim equal those of the
/// plan. The plan has at most `reductions` collectives, and only all_reduce or reduce_scatter; a
/// negative `reductions` skips this check.
template <class Op, class A, class Run>
auto as_planned(Op const& op, A const& a, int reductions, Run run) {
  Plan const p = plan_at(op, a);
  if (reductions >= 0) {
    CHECK(p.collectives() <= reductions);
    CHECK(p.count(Collective::all_reduce) + p.count(Collective::reduce_scatter) == p.collectives());
  }
  using R = checking::Resolve<Op, A>;
  core::Coords const me = runtime::map_axes(a.mesh().state(), R::S::names).coords;
  shim::reset();
  auto result = run();
  CHECK(shim::bytes() == p.bytes(me));
  return result;
}

double element_at(std::int64_t i, std::int64_t j, std::int64_t k) {
  return static_cast<double>((i * 5 + j * 3 + k * 7 + i * j) % 13) * 0.25 - 1;
}

/// Checks var and stddev over J of tensors with these dims, named as `Out...`, for small and large
/// means.
template <class T, class Row, class Middle, class Last, class... Out, class M>
void check_variances(M const& mesh, std::array<std::int64_t, 3> const& n, int reductions = 1) {
  for (double const offset : {0.0, sizeof(T) == 4 ? 4096.0 : 1e9}) {
    auto const a = from_function<T, Row, Middle, Last>(mesh, n, [=](auto i, auto j, auto k) {
      return static_cast<T>(offset + element_at(i, j, k));
    });
    for (double const ddof : {0.0, 1.0}) {
      std::vector<double> variances, deviations;
      for (std::int64_t i = 0; i < n[0]; ++i)
        for (std::int64_t k = 0; k < n[2]; ++k) {
          auto const count = static_cast<double>(n[1]);
          double mean = 0, squares = 0;
          for (std::int64_t j = 0; j < n[1]; ++j) mean += element_at(i, j, k) / count;
          for (std::int64_t j = 0; j < n[1]; ++j)
            squares += (element_at(i, j, k) - mean) * (element_at(i, j, k) - mean);
          double const var = count - ddof > 0 ? squares / (count - ddof) : std::nan("");
          variances.push_back(var < 1e-9 ? 0 : var);
          deviations.push_back(var < 1e-9 ? 0 : std::sqrt(var));
        }
      double const near = sizeof(T) == 4 ? 1e-6 : 1e-11;
      auto const squares =
          as_planned(op::Var<Out...>{{ddof}}, a, reductions, [&] { return var<Out...>(a, ddof); });
      check_values(squares, variances, near);
      auto const roots = as_planned(op::StdDev<Out...>{{ddof}}, a, reductions,
                                    [&] { return stddev<Out...>(a, ddof); });
      check_values(roots, deviations, near);
    }
  }
}

TEST_CASE("variances and standard deviations, over split dims too") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::array<std::int64_t, 3> const& n : {std::array<std::int64_t, 3>{5, 7, 3},
                                               {4, 33, 1},
                                               {2, 1, 3},
                                               {3, 0, 2},
                                               {0, 4, 2},
                                               {1, 5000, 1}}) {
    INFO("extents " << n[0] << " " << n[1] << " " << n[2]);
    check_variances<double, Dim<I, X>, Dim<J>, Dim<K, Y>, J>(mesh, n);
    check_variances<float, Dim<I>, Dim<J>, Dim<K, Y>, Dim<I>, Dim<K, Y>>(mesh, n);
    check_variances<double, Dim<I>, Dim<J, X>, Dim<K, Y>, Dim<I>, Dim<K, Y>>(mesh, n);
    check_variances<float, Dim<I, X>, Dim<J, Y>, Dim<K>, Dim<I, X>, Dim<K>>(mesh, n);
    check_variances<double, Dim<I>, Dim<J, Y, X>, Dim<K>, Dim<I, Y>, Dim<K, X>>(mesh, n, 2);
    check_variances<double, Dim<I>, Dim<J, Cyclic<X, 2>>, Dim<K>, Dim<I>, Dim<K>>(mesh, n);
  }
  // of complex numbers: real results
  using C = Kokkos::complex<float>;
  auto const z = from_function<C, Dim<I, X>, Dim<J>>(mesh, {4, 2}, [](auto i, auto j) {
    return C(static_cast<float>(i), static_cast<float>(2 * j));
  });
  check_values(var<Dim<J>>(z), {1.25, 1.25}, 1e-6);
  check_values(var<Tensor<float>>(z), {2.25}, 1e-6);
  auto const a = arange<double, Dim<I, X>>(mesh, 4);
  check_values(var<Tensor<double>>(a * 2 + 1), {5});
  check_values(var<Tensor<double>>(where(a == 2, std::nan(""), a)), {std::nan("")});
  check_values(var<Tensor<double>>(where(a == 2, 1 / (a * 0), a)), {std::nan("")});
  // squares, distances and sums that overflow: inf, as NumPy
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (double const large : {1e300, 1.7e308})
    for (std::int64_t const n : {2, 7, 600}) {
      auto const b = from_function<double, Dim<I, X>>(
          mesh, {n}, [=](auto i) { return i % 3 == 1 ? large : -large; });
      check_values(var<Tensor<double>>(b), {inf});
      check_values(stddev<Tensor<double>>(b), {inf});
      check_values(var<I>(reshard<Dim<I>>(b)), {inf});
    }
  check_values(var<Tensor<double>>(where(a == 2, 1e200, a)), {inf});
  check_values(stddev<Tensor<double>>(full<double, Dim<I, X>>(mesh, {5}, 1e300)), {0});
}

/// Checks softmax and log_softmax along J with the result named as `Names...`.
template <class T, class Row, class Middle, class Last, class... Names, class M>
void check_softmax(M const& mesh, std::array<std::int64_t, 3> const& n, int reductions = 1) {
  for (double const offset : {0.0, 5000.0, -5000.0}) {
    auto const value = [=](auto i, auto j, auto k) {
      return static_cast<T>(offset + 4 * element_at(i, j, k));
    };
    auto const a = from_function<T, Row, Middle, Last>(mesh, n, value);
    // elements are small without the offset: no maximum is needed
    std::vector<double> sums(static_cast<std::size_t>(n[0] * n[2])), weights;
    auto const row = [&](std::int64_t i, std::int64_t k) -> double& {
      return sums[static_cast<std::size_t>(i * n[2] + k)];
    };
    for (std::int64_t i = 0; i < n[0]; ++i)
      for (std::int64_t j = 0; j < n[1]; ++j)
        for (std::int64_t k = 0; k < n[2]; ++k) row(i, k) += std::exp(4 * element_at(i, j, k));
    for (std::int64_t i = 0; i < n[0]; ++i)
      for (std::int64_t j = 0; j < n[1]; ++j)
        for (std::int64_t k = 0; k < n[2]; ++k)
          weights.push_back(std::exp(4 * element_at(i, j, k)) / row(i, k));
    double const near = sizeof(T) == 4 ? 2e-6 : 1e-12;
    check_values(
        as_planned(op::Softmax<Names...>{}, a, reductions, [&] { return softmax<Names...>(a); }),
        weights, near);
    check_values(exp(as_planned(op::LogSoftmax<Names...>{}, a, reductions,
                                [&] { return log_softmax<Names...>(a); })),
                 weights, 4 * near);
  }
}

TEST_CASE("softmax, over split dims too") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::array<std::int64_t, 3> const& n : {std::array<std::int64_t, 3>{5, 7, 3},
                                               {4, 33, 1},
                                               {2, 1, 3},
                                               {3, 0, 2},
                                               {0, 4, 2},
                                               {1, 5000, 1}}) {
    INFO("extents " << n[0] << " " << n[1] << " " << n[2]);
    check_softmax<double, Dim<I, X>, Dim<J>, Dim<K, Y>, J>(mesh, n, 0);
    check_softmax<float, Dim<I>, Dim<J, X>, Dim<K, Y>, J, Dim<I>, Dim<J, X>, Dim<K, Y>>(mesh, n);
    check_softmax<double, Dim<I, X>, Dim<J, Y>, Dim<K>, J, Dim<I, X>, Dim<J, Y>, Dim<K>>(mesh, n);
    check_softmax<float, Dim<I>, Dim<J, Y, X>, Dim<K>, J, Dim<I>, Dim<J, Y, X>, Dim<K>>(mesh, n);
    check_softmax<double, Dim<I>, Dim<J, Cyclic<X, 2>>, Dim<K>, J, Dim<I, Y>, Dim<J, Cyclic<X, 2>>,
                  Dim<K>>(mesh, n);
    check_softmax<double, Dim<I>, Dim<J>, Dim<K>, J, Dim<I, Y>, Dim<J, X>, Dim<K>>(mesh, n, 0);
    // resharded afterwards
    check_softmax<float, Dim<I>, Dim<J, X>, Dim<K>, J, Dim<I, X>, Dim<J>, Dim<K, Y>>(mesh, n, -1);
  }
  // over several dims, and over all
  auto const a = from_function<double, Dim<I, X>, Dim<J, Y>>(
      mesh, {3, 5}, [](auto i, auto j) { return element_at(i, j, 0); });
  check_values(sum<Tensor<double>>(softmax<I, J, Dim<I, X>, Dim<J, Y>>(a)), {1});
  check_values(
      abs(sum<Tensor<double>>(exp(log_softmax<I, J, Tensor<double, Dim<I, X>, Dim<J, Y>>>(a))) -
          1) < 1e-14,
      {1});
  // rows of infinities and NaNs, as in JAX
  constexpr double inf = std::numeric_limits<double>::infinity();
  double const nan = std::nan("");
  double const rows[5][3] = {
      {-inf, 0, 0}, {-inf, -inf, -inf}, {inf, 0, -inf}, {nan, 0, 1}, {1e308, -1e308, 1e308}};
  auto const b = from_function<double, Dim<I>, Dim<J, Y>>(
      mesh, {5, 3}, [&](auto i, auto j) { return rows[i][j]; });
  check_values(softmax<J, Dim<I>, Dim<J, Y>>(b),
               {0, 0.5, 0.5, nan, nan, nan, nan, nan, nan, nan, nan, nan, 0.5, 0, 0.5});
  double const half = -std::log(2.0);
  check_values(log_softmax<J, Dim<I>, Dim<J, Y>>(b),
               {-inf, half, half, nan, nan, nan, nan, nan, nan, nan, nan, nan, half, -inf, half});
}

TEST_CASE("softmax of blocks of manual mode") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = from_function<double, Dim<I, X>, Dim<J>>(
      mesh, {4, 3}, [](auto i, auto j) { return element_at(i, j, 1); });
  auto const blocks = shard_map<Dim<I, X>, Dim<J>>([](auto const& b) { return softmax<J>(b); }, a);
  check_values(abs(blocks - softmax<J>(a)) < 1e-15, std::vector<double>(12, 1));
  check_values(sum<J>(softmax<J>(a + 1)), {1, 1, 1, 1});
}

TEST_CASE("expm1 and log1p of complex numbers keep small ones; powers of truths") {
  using C = Kokkos::complex<double>;
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (double const size : {1e-9, 1e-3, 0.5, 3.0}) {
    auto const a = from_function<C, Dim<I, X>>(mesh, {7}, [&](auto i) {
      double const angle = 0.9 * static_cast<double>(i);
      return C(size * std::cos(angle), size * std::sin(angle));
    });
    // each is the inverse of the other inside the circle of log's values, up to the last digits
    check_values(cast<std::int64_t>(cast<double>(abs(log1p(expm1(a)) - a)) < 4e-15 * size),
                 {1, 1, 1, 1, 1, 1, 1});
    if (size > 0.4) {
      check_values(cast<std::int64_t>(abs(expm1(a) - (exp(a) - 1.0)) < 1e-13),
                   {1, 1, 1, 1, 1, 1, 1});
      check_values(cast<std::int64_t>(abs(log1p(a) - log(a + 1.0)) < 1e-14), {1, 1, 1, 1, 1, 1, 1});
    }
  }
  auto const base =
      from_function<bool, Dim<I>, Dim<J, Y>>(mesh, {2, 2}, [](auto i, auto) { return i == 1; });
  auto const by =
      from_function<bool, Dim<I>, Dim<J, Y>>(mesh, {2, 2}, [](auto, auto j) { return j == 1; });
  check_values(cast<std::int64_t>(pow(base, by)), {1, 0, 1, 1});
}

}  // namespace
