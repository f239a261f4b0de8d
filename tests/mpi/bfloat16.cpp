// Tensors of bfloat16: what is computed is what float gives, rounded once; what is sent is two
// bytes per element.
// SOURCES: tests/shim/pmpi.cpp
// RANKS: 1 2 3 4 8
// TIMEOUT: 300
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include <shardtype/io/npy.hpp>
#include <shardtype/shardtype.hpp>
#include <shardtype/visualize/print.hpp>

#include "harness/catch.hpp"
#include "harness/measured_plan.hpp"
#include "harness/on_ranks.hpp"
#include "shim/pmpi.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct V : Index<"V"> {};
using Int = std::int64_t;
using Half = bfloat16;

// Extents of a matrix: even, uneven, fewer than ranks, of one, empty.
constexpr std::array<std::array<Int, 2>, 6> sizes = {
    {{16, 24}, {13, 7}, {2, 33}, {1, 1}, {0, 5}, {6, 0}}};

// A multiple of 1/16 from -3 to 3: exact, and so are sums and products of a few hundred in float.
Half element(Int i, Int j) {
  return Half(static_cast<float>((i * 37 + j * 11 + i * j) % 97 - 48) / 16);
}
Half whole_number(Int i, Int j) { return Half((i * 5 + j * 3) % 7 - 3); }

template <class... Dims, class M>
auto matrix(M const& mesh, std::array<Int, 2> const& n) {
  return from_function<Half, Dims...>(mesh, n, element);
}

bool same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// How many elements of two tensors with the same sharding differ.
template <class A, class B>
int differences(A const& a, B const& b) {
  static_assert(std::is_same_v<typename A::element, typename B::element>);
  if (a.local_extents() != b.local_extents()) return 1000000;
  int n = 0;
  auto const ours = harness::host_block(a);
  auto const theirs = harness::host_block(b);
  for (Int k = 0; k < a.local_size(); ++k)
    n += same(static_cast<float>(ours.data()[k]), static_cast<float>(theirs.data()[k])) ? 0 : 1;
  return n;
}

// Tensors that are named before they are compared.
template <class A, class B>
int differ(A const& a, B const& b) {
  return differences(a.tensor(), b.tensor());
}

template <class Test>
void for_sizes(Test test) {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (auto const& n : sizes) {
    INFO("extents " << n[0] << " x " << n[1]);
    test(mesh, n);
  }
}

}  // namespace

TEST_CASE("creation, the host, names and text") {
  for_sizes([](auto const& mesh, auto const& n) {
    auto const a = matrix<Dim<I, Y>, Dim<J, X>>(mesh, n);
    static_assert(sizeof(*a.local().data()) == 2);
    std::vector<Half> const all = to_host(a);
    REQUIRE(static_cast<Int>(all.size()) == n[0] * n[1]);
    int bad = 0;
    for (Int i = 0; i < n[0]; ++i)
      for (Int j = 0; j < n[1]; ++j)
        if (all[static_cast<std::size_t>(i * n[1] + j)] != element(i, j)) ++bad;
    CHECK(bad == 0);
    CHECK(differ(from_host<Half, Dim<I, X, Y>, Dim<J>>(mesh, n, all),
                 matrix<Dim<I, X, Y>, Dim<J>>(mesh, n)) == 0);
    CHECK(differ(a.clone(), a) == 0);
  });
  auto const mesh = on_ranks::two_axes<X, Y>();
  CHECK(type_name(zeros<Half, Dim<I, X>>(mesh, {4})).starts_with("bf16[4@X"));
  CHECK(item(sum<Tensor<Half>>(full<Half, Dim<I, X>>(mesh, {4}, Half(1.5F)))) == 6);
}

TEST_CASE("text and ranges") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = arange<Half, Dim<I>>(mesh, Half(0), Half(2), Half(0.5F));
  CHECK(to_text(a) == "bf16[4]\n[0.  0.5 1.  1.5]");
  CHECK(to_text(full<Half, Dim<I>>(mesh, {1}, Half(0.1))) == "bf16[1]\n[0.10009766]");
  CHECK(to_text(linspace<Half, Dim<I, X>>(mesh, {3}, Half(-1), Half(1)).tensor())
            .ends_with("\n[-1.  0.  1.]"));
  CHECK(item(sum<Tensor<Half>>(eye<Half, Dim<I, X>, Dim<J>>(mesh, {5, 7}))) == 5);
  CHECK(item(sum<Tensor<Half>>(ones_like(a))) == 4);
}

TEST_CASE("a function is computed in float and rounded once") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  // all patterns of bits
  auto const a = from_function<Half, Dim<I, X>, Dim<J, Y>>(mesh, {256, 256}, [](Int i, Int j) {
    return Half::from_bits(static_cast<std::uint16_t>(256 * i + j));
  });
  auto const b = from_function<Half, Dim<I, X>, Dim<J, Y>>(
      mesh, {256, 256}, [](Int i, Int j) { return element(i, j + 5); });
  auto const x = cast<float>(a).tensor();
  auto const y = cast<float>(b).tensor();
  CHECK(differ(cast<Half>(x), a) == 0);
  auto const one = [&]<class F>(F) { return differ(map(F{}, a), cast<Half>(map(F{}, x))); };
  auto const two = [&]<class F>(F) { return differ(map(F{}, a, b), cast<Half>(map(F{}, x, y))); };
  using namespace shardtype::functions;
  CHECK(one(Negate{}) == 0);
  CHECK(one(Absolute{}) == 0);
  CHECK(one(Sign{}) == 0);
  CHECK(one(Square{}) == 0);
  CHECK(one(Sqrt{}) == 0);
  CHECK(one(Rsqrt{}) == 0);
  CHECK(one(Exp{}) == 0);
  CHECK(one(Exp2{}) == 0);
  CHECK(one(Expm1{}) == 0);
  CHECK(one(Log{}) == 0);
  CHECK(one(Log1p{}) == 0);
  CHECK(one(Sin{}) == 0);
  CHECK(one(Tanh{}) == 0);
  CHECK(one(Cbrt{}) == 0);
  CHECK(one(Erf{}) == 0);
  CHECK(one(Erfc{}) == 0);
  CHECK(one(Relu{}) == 0);
  CHECK(one(Sigmoid{}) == 0);
  CHECK(one(Silu{}) == 0);
  CHECK(one(Softplus{}) == 0);
  CHECK(one(Gelu{}) == 0);
  CHECK(one(GeluTanh{}) == 0);
  CHECK(one(Floor{}) == 0);
  CHECK(one(functions::Round{}) == 0);
  CHECK(two(Add{}) == 0);
  CHECK(two(Subtract{}) == 0);
  CHECK(two(Multiply{}) == 0);
  CHECK(two(Divide{}) == 0);
  CHECK(two(Maximum{}) == 0);
  CHECK(two(Minimum{}) == 0);
  CHECK(two(Power{}) == 0);
  CHECK(two(Remainder{}) == 0);
  CHECK(two(Atan2{}) == 0);
  CHECK(two(LogAddExp{}) == 0);
  CHECK(two(FloorDivide{}) == 0);
  CHECK(differ(map(Clip{}, a, b, Half(2)), cast<Half>(map(Clip{}, x, y, 2))) == 0);
  // bool where a comparison gives it
  CHECK(differ(cast<Int>(a < b), cast<Int>(x < y)) == 0);
  CHECK(differ(cast<Int>(isnan(a) || !(a == b)), cast<Int>(isnan(x) || !(x == y))) == 0);
  CHECK(differ(where(a < b, a, b), cast<Half>(where(x < y, x, y))) == 0);
  // a fused expression is rounded after each function
  CHECK(differ(a * b + b, cast<Half>(cast<float>(cast<Half>(x * y)) + y)) == 0);
  // numbers become bfloat16 first
  CHECK(differ(b * 0.1, cast<Half>(y * static_cast<float>(Half(0.1)))) == 0);
  CHECK(differ(2 + b, cast<Half>(2 + y)) == 0);
  CHECK(differ(Half(0.5F) * b, cast<Half>(0.5F * y)) == 0);
  CHECK(differ(y * Half(0.5F), y * 0.5F) == 0);
  auto c = b.clone();
  c += a;
  CHECK(differ(c, a + b) == 0);
  // casts round once
  auto const wide = full<double, Dim<I>>(mesh, {3}, 1 + 0x1p-8 + 0x1p-40);
  CHECK(item(max<Tensor<Half>>(cast<Half>(wide))) == 1 + 0x1p-7F);
  CHECK(item(max<Tensor<std::int32_t>>(
            cast<std::int32_t>(full<Half, Dim<I>>(mesh, {3}, Half(-2.5F))))) == -2);
  CHECK(item(max<Tensor<Half>>(cast<Half>(full<Int, Dim<I>>(mesh, {3}, 257)))) == 256);
  // a function of one's own
  CHECK(differ(map([](Half v) { return v + 1; }, b), b + 1) == 0);
  CHECK(differ(map([](Half v) { return v * 0.5F; }, b), y * 0.5F) == 0);
}

TEST_CASE("reductions accumulate in float and round once") {
  for_sizes([](auto const& mesh, auto const& n) {
    auto const a = matrix<Dim<I, X, Y>, Dim<J>>(mesh, n);
    auto const x = cast<float>(a).tensor();
    // sums of multiples of 1/16 are exact in float
    CHECK(differ(sum<J>(a), cast<Half>(sum<J>(x))) == 0);
    CHECK(differ(max<J>(a), cast<Half>(max<J>(x))) == 0);
    CHECK(differ(min<J>(a), cast<Half>(min<J>(x))) == 0);
    CHECK(differ(argmax<J>(a), argmax<J>(x)) == 0);
    CHECK(differ(argmin<J>(a), argmin<J>(x)) == 0);
    CHECK(differ(norm_1<J>(a), cast<Half>(norm_1<J>(x))) == 0);
    CHECK(differ(norm_inf<J>(a), cast<Half>(norm_inf<J>(x))) == 0);
    CHECK(differ(sum<J>(a, reproducible), cast<Half>(sum<J>(x, reproducible))) == 0);
    // the others are rounded from double, as those of double are
    auto const wide = cast<double>(a).tensor();
    auto const close = [](auto const& ours, auto const& exact) {
      auto const mine = harness::host_block(ours);
      auto const right = harness::host_block(exact);
      int bad = 0;
      for (Int k = 0; k < ours.local_size(); ++k) {
        double const v = static_cast<double>(mine.data()[k]);
        double const w = right.data()[k];
        // half a unit in the last place of 8 digits, and the error of float
        if (!(v == w || (std::isnan(v) && std::isnan(w)) ||
              std::abs(v - w) <= 0x1.01p-9 * std::abs(w) * 2))
          ++bad;
      }
      return bad;
    };
    CHECK(close(norm<J>(a), norm<J>(wide)) == 0);
    CHECK(close(logsumexp<J>(a), logsumexp<J>(wide)) == 0);
    CHECK(close(prod<J>(a), prod<J>(wide)) == 0);
    CHECK(close(softmax<J>(a), softmax<J>(wide)) == 0);
    CHECK(close(log_softmax<J>(a), log_softmax<J>(wide)) == 0);
    CHECK(close(cumprod<J>(a), cumprod<J>(wide)) == 0);
    // two roundings: of the sum, and of the quotient
    auto const near = [](auto const& ours, auto const& exact) {
      auto const mine = harness::host_block(ours);
      auto const right = harness::host_block(exact);
      int bad = 0;
      for (Int k = 0; k < ours.local_size(); ++k) {
        double const v = static_cast<double>(mine.data()[k]);
        double const w = right.data()[k];
        if (!(v == w || (std::isnan(v) && std::isnan(w)) ||
              std::abs(v - w) <= 0x1.02p-8 * std::abs(w) * 2))
          ++bad;
      }
      return bad;
    };
    CHECK(near(mean<J>(a), mean<J>(wide)) == 0);
    CHECK(near(var<J>(a), var<J>(wide)) == 0);
    CHECK(near(stddev<J>(a), stddev<J>(wide)) == 0);
    // running values
    CHECK(differ(cumsum<J>(a), cast<Half>(cumsum<J>(x))) == 0);
    CHECK(differ(cummax<J>(a), cast<Half>(cummax<J>(x))) == 0);
    auto const whole = from_function<Half, Dim<I, X, Y>, Dim<J>>(mesh, n, whole_number);
    CHECK(differ(cumsum<I>(whole), cast<Half>(cumsum<I>(cast<float>(whole)))) == 0);
    CHECK(differ(cummin<I>(a), cast<Half>(cummin<I>(x))) == 0);
    // over split dims, named: totals are exchanged, except for sums and extremes
    auto const held = cast<double>(matrix<Dim<I, X, Y>, Dim<J>>(mesh, n)).tensor();
    CHECK(close(norm<Dim<J>>(a), norm<Dim<J>>(held)) == 0);
    CHECK(close(logsumexp<Dim<J>>(a), logsumexp<Dim<J>>(held)) == 0);
    CHECK(differ(argmax<Dim<J>>(a), argmax<Dim<J>>(x)) == 0);
    CHECK(differ(max<Dim<J>>(a), cast<Half>(max<Dim<J>>(x))) == 0);
    CHECK(differ(sum<Dim<J>>(whole), cast<Half>(sum<Dim<J>>(cast<float>(whole)))) == 0);
    CHECK(differ(sum<Dim<J>>(a, reproducible), cast<Half>(sum<Dim<J>>(x, reproducible))) == 0);
  });
  // a sum in bfloat16 would stop at 256
  auto const mesh = on_ranks::two_axes<X, Y>();
  CHECK(item(sum<I>(full<Half, Dim<I>>(mesh, {3000}, Half(1)))) == 3008);
  auto const rows = full<Half, Dim<I>, Dim<J>>(mesh, {3000, 4}, Half(1));
  CHECK(differ(sum<I>(rows), full<Half, Dim<J>>(mesh, {4}, Half(3008))) == 0);
  CHECK(item(max<J>(cumsum<J>(full<Half, Dim<J>>(mesh, {3000}, Half(1))))) == 3008);
  CHECK(item(sum(full<Half, Dim<I>>(mesh, {3}, Half(1)) * 100)) == 300);
  // 257 is no bfloat16, and no other divisor stands for it
  auto const nearly = from_function<Half, Dim<I>>(mesh, {257}, [](Int i) { return Half(i > 0); });
  CHECK(item(mean<I>(nearly)) == Half(256.0 / 257));
  CHECK(item(evaluate<>(mesh, mean<I>(lazy(nearly)))) == Half(256.0 / 257));
  // squares beyond the largest float
  CHECK(item(norm(full<Half, Dim<I>>(mesh, {4}, Half(0x1p100F)))) == 0x1p101F);
}

TEST_CASE("unreduced sums, and two bytes per element on the way") {
  for_sizes([](auto const& mesh, auto const& n) {
    Int const px = mesh.template size_of<X>();
    auto const a = from_function<Half, Dim<I, X>, Dim<J, Y>>(mesh, n, whole_number);
    auto const partial = sum<I>(a);
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(partial)>,
                                 Tensor<Half, Dim<J, Y>, Unreduced<X>>>);
    auto const x = cast<float>(a).tensor();
    auto const expected = cast<Half>(sum<Dim<J, Y>>(x)).tensor();
    shim::reset();
    auto const all = all_reduce<X>(partial);
    CHECK(shim::bytes() == 2 * partial.local_size() * 2 * (px - 1) / px);
    CHECK(differ(all, expected) == 0);
    auto const part =
        reduce_scatter<X, J>(sum<I>(from_function<Half, Dim<I, X>, Dim<J>>(mesh, n, whole_number)));
    CHECK(differ(all_gather<X>(part), reshard<Dim<J>>(expected)) == 0);
    CHECK(differ(all_reduce<X>(max<I>(a)), cast<Half>(max<Dim<J, Y>>(x))) == 0);
    CHECK(differ(all_reduce<X>(min<I>(a)), cast<Half>(min<Dim<J, Y>>(x))) == 0);
    auto const spread = matrix<Dim<I, X>, Dim<J>>(mesh, n);
    shim::reset();
    auto const gathered = all_gather<X>(spread);
    CHECK(shim::bytes() == (gathered.local_size() - spread.local_size()) * 2);
    CHECK(differ(gathered, matrix<Dim<I>, Dim<J>>(mesh, n)) == 0);
    CHECK(differ(all_to_all<X, I, J>(spread), matrix<Dim<I>, Dim<J, X>>(mesh, n)) == 0);
    CHECK(differ(reshard<Dim<J, X>, Dim<I, Y>>(matrix<Dim<I, X>, Dim<J, Y>>(mesh, n)),
                 transpose<J, I>(matrix<Dim<I, Y>, Dim<J, X>>(mesh, n))) == 0);
    CHECK(differ(reshard<Dim<I, Cyclic<X, 3>>, Dim<J>>(spread),
                 matrix<Dim<I, Cyclic<X, 3>>, Dim<J>>(mesh, n)) == 0);
    CHECK(differ(shift<I>(spread, 1), cast<Half>(shift<I>(cast<float>(spread), 1))) == 0);
  });
  auto const mesh = on_ranks::two_axes<X, Y>();
  Int const px = mesh.template size_of<X>();
  // long enough for messages of our own within one node, and with a rest
  for (Int const n : {Int{100003}, Int{40000}}) {
    auto const a = from_function<Half, Dim<I, X>, Dim<J>>(mesh, {px * 2, n}, whole_number);
    auto const expected = cast<Half>(sum<Dim<J>>(cast<float>(a))).tensor();
    CHECK(differ(all_reduce<X>(sum<I>(a)), expected) == 0);
    CHECK(differ(all_gather<X>(reduce_scatter<X, J>(sum<I>(a))), expected) == 0);
  }
  // ranks add in bfloat16: each sum of two is rounded, by half a unit of the sum at most
  auto const b = matrix<Dim<I, X, Y>, Dim<J>>(mesh, {64, 100});
  auto const sizes_of_parts = sum<Dim<J>>(cast<double>(abs(b))).tensor();
  auto const apart = abs(cast<double>(sum<Dim<J>>(b)) - sum<Dim<J>>(cast<double>(b))).tensor();
  Int const p = on_ranks::rank_total();
  CHECK(item(max<J>(apart / sizes_of_parts)) <= static_cast<double>(p) * 0x1p-8);
  // a NaN of one rank reaches all
  auto const c = from_function<Half, Dim<I, X, Y>>(mesh, {p}, [&](Int i) {
    return i == p - 1 ? std::numeric_limits<Half>::quiet_NaN() : Half(static_cast<int>(i));
  });
  CHECK(std::isnan(static_cast<float>(item(max<Tensor<Half>>(c)))));
  CHECK(std::isnan(static_cast<float>(item(min<Tensor<Half>>(c)))));
}

TEST_CASE("products are those of float, rounded once") {
  for_sizes([](auto const& mesh, auto const& n) {
    auto const a = matrix<Dim<I, X>, Dim<J>>(mesh, n);
    auto const b = matrix<Dim<J>, Dim<K, Y>>(mesh, {n[1], n[0] + 3});
    auto const x = cast<float>(a).tensor();
    auto const y = cast<float>(b).tensor();
    // multiples of 1/256 below 2^16: exact in float
    CHECK(differ(matmul(a, b), cast<Half>(matmul(x, y))) == 0);
    CHECK(differ(matmul(transpose<J, I>(a), b), cast<Half>(matmul(x, y))) == 0);
    CHECK(differ(matmul<Dim<K, Y>, Dim<I, X>>(a, b),
                 cast<Half>(matmul<Dim<K, Y>, Dim<I, X>>(x, y))) == 0);
    // a batch, and an index of one operand alone
    auto const c = broadcast<V>(a, {3});
    auto const d = broadcast<V>(b, {3});
    CHECK(differ(einsum<V, I, K>(c, d),
                 cast<Half>(einsum<V, I, K>(cast<float>(c), cast<float>(d)))) == 0);
    CHECK(differ(einsum<I, V, K>(c, d),
                 cast<Half>(einsum<I, V, K>(cast<float>(c), cast<float>(d)))) == 0);
    // sums over an index of one operand are rounded before the product, so these stay whole
    auto const e = from_function<Half, Dim<I, X>, Dim<J>>(mesh, n, whole_number);
    auto const f = from_function<Half, Dim<J>, Dim<K, Y>>(mesh, {n[1], 5}, whole_number);
    CHECK(differ(einsum<I>(e, f), cast<Half>(einsum<I>(cast<float>(e), cast<float>(f)))) == 0);
    // unreduced: each rank's product is rounded, then the sums
    auto const g = from_function<Half, Dim<I>, Dim<J, X>>(mesh, n, whole_number);
    auto const h = from_function<Half, Dim<J, X>, Dim<K, Y>>(mesh, {n[1], 5}, whole_number);
    static_assert(
        std::is_same_v<decltype(matmul(g, h)), Tensor<Half, Dim<I>, Dim<K, Y>, Unreduced<X>>>);
    auto const exact = matmul<Dim<I>, Dim<K, Y>>(cast<float>(g), cast<float>(h));
    CHECK(differ(matmul<Dim<I>, Dim<K, Y>>(g, h), cast<Half>(exact)) == 0);
    CHECK(differ(matmul<Dim<I, X>, Dim<K, Y>>(g, h),
                 cast<Half>(reshard<Dim<I, X>, Dim<K, Y>>(exact))) == 0);
    for (Overlap const how :
         {Overlap::ring, Overlap::bidirectional, Overlap::shared, Overlap::automatic}) {
      CHECK(differ(matmul<Dim<I, X>, Dim<K, Y>>(g, h, how), matmul<Dim<I, X>, Dim<K, Y>>(g, h)) ==
            0);
      CHECK(differ(matmul<Dim<I>, Dim<K, Y>>(g, h, how), matmul<Dim<I>, Dim<K, Y>>(g, h)) == 0);
      // one operand is gathered
      auto const u = from_function<Half, Dim<I, X>, Dim<J>>(mesh, n, whole_number);
      auto const v = from_function<Half, Dim<J>, Dim<K, X>>(mesh, {n[1], 5}, whole_number);
      CHECK(differ(matmul<Dim<I>, Dim<K, X>>(u, v, how), matmul<Dim<I>, Dim<K, X>>(u, v)) == 0);
    }
    // automatic mode
    CHECK(differ(evaluate<Dim<I, X>, Dim<K>>(mesh, lazy(g) * lazy(h) + 1),
                 matmul<Dim<I, X>, Dim<K>>(g, h) + 1) == 0);
    CHECK(differ(evaluate<Dim<I, X>, Dim<K, Y>>(mesh, lazy(g) * lazy(h)),
                 matmul<Dim<I, X>, Dim<K, Y>>(g, h)) == 0);
  });
}

TEST_CASE("plans of products count the copies in float") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (auto const& n : {std::array<Int, 2>{1200, 960}, {1213, 977}, {5, 3}, {0, 4}}) {
    auto const a = zeros<Half, Dim<I, X>, Dim<J, Y>>(mesh, n);
    auto const b = zeros<Half, Dim<J, Y>, Dim<K>>(mesh, {n[1], n[0] / 4});
    using measured_plan::check;
    check(
        "matmul", op::Matmul<>{}, [](auto const& x, auto const& y) { return matmul(x, y); }, a, b);
    check(
        "matmul, summed", op::Matmul<Dim<I, X>, Dim<K>>{},
        [](auto const& x, auto const& y) { return matmul<Dim<I, X>, Dim<K>>(x, y); }, a, b);
    check(
        "matmul, turned", op::Matmul<Dim<K, Y>, Dim<I, X>>{},
        [](auto const& x, auto const& y) { return matmul<Dim<K, Y>, Dim<I, X>>(x, y); }, a, b);
    check("sum", op::Sum<J>{}, [](auto const& x) { return sum<J>(x); }, a);
    check("norm, named", op::Norm<Dim<J>>{}, [](auto const& x) { return norm<Dim<J>>(x); }, a);
    check(
        "logsumexp, named", op::LogSumExp<Dim<I>>{},
        [](auto const& x) { return logsumexp<Dim<I>>(x); }, a);
    check("cumsum", op::CumSum<I>{}, [](auto const& x) { return cumsum<I>(x); }, a);
    check(
        "add", op::Map<functions::Add>{},
        [](auto const& x, auto const& y) { return (x + y).tensor(); }, a, a.clone());
  }
}

TEST_CASE("automatic mode counts these copies, and its limit holds with them") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  Int const px = mesh.size_of<X>();
  Int const n = 64 * px;
  auto const a = matrix<Dim<I, X>, Dim<J>>(mesh, {n, 96});
  auto const b = matrix<Dim<J>, Dim<K>>(mesh, {96, 48});
  auto const p = planned(evaluate_to<Dim<I, X>, Dim<K>>, mesh, lazy(a) * lazy(b)).plan;
  Int const result = 64 * 48;
  Int const copies = 4 * (64 * 96 + 96 * 48 + result);
  if (p.collectives() == 0) CHECK(p.temporary_bytes() == 2 * result + copies);
  runtime::BytesInUse& memory = runtime::run_time.memory;
  memory.reset();
  Int const before = memory.now();
  auto const c = evaluate<Dim<I, X>, Dim<K>>(mesh, lazy(a) * lazy(b));
  CHECK(memory.most() - before <= p.temporary_bytes());
  if (p.collectives() == 0) CHECK(memory.most() - before > copies);
  CHECK(differ(c, matmul<Dim<I, X>, Dim<K>>(a, b)) == 0);
  // enough for the result, not for the copies
  CHECK(on_ranks::code_of([&] {
          evaluate<Dim<I, X>, Dim<K>>(mesh, lazy(a) * lazy(b), MemoryLimit<Int{2 * 64 * 48}>{});
        }) == "E69");
}

TEST_CASE("sorted, looked up, in manual mode") {
  for_sizes([](auto const& mesh, auto const& n) {
    auto const a = matrix<Dim<I, X, Y>, Dim<J>>(mesh, n);
    auto const x = cast<float>(a).tensor();
    CHECK(differ(sort<J>(a), cast<Half>(sort<J>(x))) == 0);
    CHECK(differ(argsort<J>(a), argsort<J>(x)) == 0);
    CHECK(differ(pad<J>(a, 1, 2, Half(0.5F)), cast<Half>(pad<J>(x, 1, 2, 0.5F))) == 0);
    CHECK(differ(concat<J>(a, a), cast<Half>(concat<J>(x, x))) == 0);
    auto const ids = from_function<std::int32_t, Dim<K, X>>(
        mesh, {9}, [&](Int k) { return static_cast<std::int32_t>(n[0] == 0 ? 0 : k * 5 % n[0]); });
    auto const table = matrix<Dim<I>, Dim<J>>(mesh, n);
    CHECK(differ(take<I>(table, ids), cast<Half>(take<I>(cast<float>(table), ids))) == 0);
    CHECK(differ(take<I, Dim<K>, Dim<J>>(a, ids), cast<Half>(take<I, Dim<K>, Dim<J>>(x, ids))) ==
          0);
    auto const rows = take<I>(from_function<Half, Dim<I>, Dim<J>>(mesh, n, whole_number), ids);
    CHECK(differ(scatter_add<V, Dim<V>, Dim<J>>(rows, ids, 13),
                 cast<Half>(scatter_add<V, Dim<V>, Dim<J>>(cast<float>(rows), ids, 13))) == 0);
    CHECK(differ(one_hot<V, Half>(ids, 4), cast<Half>(one_hot<V>(ids, 4))) == 0);
    auto const b = from_function<Half, Dim<I, X>, Dim<J>>(mesh, {8 * n[0], n[1]}, whole_number);
    auto const summed =
        shard_map<Dim<J>>([](auto block) { return all_reduce<X>(sum<I>(block)); }, b);
    CHECK(differ(summed, sum<Dim<J>>(b)) == 0);
    Int const px = mesh.template size_of<X>();
    auto const means =
        shard_map<Dim<J>>([](auto block) { return all_reduce<Mean, X>(sum<I>(block)); }, b);
    CHECK(differ(means, sum<Dim<J>>(b) / px) == 0);
  });
}

// In bfloat16 a sum of ones ends at 256.
TEST_CASE("sums by ids are in float and rounded once, so gradients do not depend on the ranks") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  Int const p = on_ranks::rank_total();
  float const all = 512 * static_cast<float>(p);  // 512 per rank: exact, and so are their sums
  auto const is = [](auto const& a, std::vector<float> const& want) {
    auto const got = to_host(a);
    for (std::size_t k = 0; k < want.size(); ++k) CHECK(same(static_cast<float>(got[k]), want[k]));
  };
  auto const ids = zeros<Int, Dim<I, X, Y>>(mesh, {512 * p});
  auto const terms = ones<Half, Dim<I, X, Y>>(mesh, {512 * p});
  is(all_reduce<X, Y>(scatter_add<V>(terms, ids, 2)), {all, 0});
  is(scatter_add<V, Dim<V>>(terms, ids, 2), {all, 0});
  auto const table = zeros<Half, Dim<V>, Dim<J>>(mesh, {2, 1});
  is(grad<0>([&](auto const& t) {
       return sum<Tensor<Half>>(take<V>(used_as<Reduced<X, Y>>(t), ids));
     })(table),
     {all, 0});

  // each rank's own columns: 600 ones in two rows, along
  auto const own = from_function<Int, Dim<V>, Dim<K, X>>(
      mesh, {900, 3}, [](Int v, Int) { return v % 3 == 0 ? 1 : 0; });
  is(scatter_along<V>(ones<Half, Dim<V>, Dim<K, X>>(mesh, {900, 3}), own, 2),
     {600, 600, 600, 300, 300, 300});
  auto const rows = zeros<Half, Dim<V>, Dim<K, X>>(mesh, {2, 3});
  is(grad<0>([&](auto const& t) { return sum<Tensor<Half>>(take_along<V>(t, own)); })(rows),
     {600, 600, 600, 300, 300, 300});

  // drawn: the float sum in the order of the updates, rounded
  Int const n = 3000;
  Int const columns = 700;
  auto const row_of = [](Int i) { return i * i % 997 % 5; };
  auto const value = [](Int i, Int k) {
    return Half(0.01F * static_cast<float>((i * 7 + k) % 101));
  };
  auto const few = from_function<std::int32_t, Dim<I>>(
      mesh, {n}, [&](Int i) { return static_cast<std::int32_t>(row_of(i)); });
  auto const updates = from_function<Half, Dim<J>, Dim<I>, Dim<K, Y, X>>(
      mesh, {2, n, columns}, [&](Int j, Int i, Int k) { return value(i + j, k); });
  auto const got = to_host(scatter_add<V>(updates, few, 7));
  std::vector<float> want(static_cast<std::size_t>(2 * 7 * columns));
  for (Int j = 0; j < 2; ++j)
    for (Int i = 0; i < n; ++i)
      for (Int k = 0; k < columns; ++k)
        want[static_cast<std::size_t>((j * 7 + row_of(i)) * columns + k)] += value(i + j, k);
  int wrong = 0;
  for (std::size_t k = 0; k < want.size(); ++k)
    wrong += same(static_cast<float>(got[k]), static_cast<float>(Half(want[k]))) ? 0 : 1;
  CHECK(wrong == 0);
}

TEST_CASE("files, as NumPy writes arrays of ml_dtypes") {
  std::string const path = "bfloat16_" + std::to_string(on_ranks::rank_total()) + ".npy";
  auto const text_of = [&] {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  auto const meet = [] { detail::reduce_number(MPI_COMM_WORLD, 0, MPI_MAX); };
  for_sizes([&](auto const& mesh, auto const& n) {
    auto const a = matrix<Dim<I, Y>, Dim<J, X>>(mesh, n);
    save_npy(a, path);
    meet();
    std::string const header = "{'descr': '<V2', 'fortran_order': False, 'shape': (" +
                               std::to_string(n[0]) + ", " + std::to_string(n[1]) + "), }";
    std::string const bytes = text_of();
    REQUIRE(bytes.substr(10).starts_with(header));
    CHECK(static_cast<Int>(bytes.size()) % 64 == n[0] * n[1] * 2 % 64);
    CHECK(differ(load_npy<Half, Dim<I, X>, Dim<J>>(mesh, path),
                 matrix<Dim<I, X>, Dim<J>>(mesh, n)) == 0);
    CHECK(differ(load_npy<Half, Dim<I, Cyclic<X, 2>>, Dim<J>>(mesh, path),
                 matrix<Dim<I, Cyclic<X, 2>>, Dim<J>>(mesh, n)) == 0);
    CHECK(on_ranks::code_of([&] { load_npy<float, Dim<I>, Dim<J>>(mesh, path); }) == "IO4");
    meet();
    // older versions of NumPy write no byte order
    if (on_ranks::my_rank() == 0) {
      std::string other = bytes;
      other[other.find("<V2")] = '|';
      std::ofstream(path, std::ios::binary) << other;
    }
    meet();
    CHECK(differ(load_npy<Half, Dim<I>, Dim<J, X>>(mesh, path),
                 matrix<Dim<I>, Dim<J, X>>(mesh, n)) == 0);
    save_npy(cast<float>(a), path);
    meet();
    std::string what;
    try {
      load_npy<Half, Dim<I>, Dim<J>>(mesh, path);
    } catch (Error const& e) {
      what = e.what();
    }
    CHECK(what.find("holds float32, the tensor wants bfloat16; cast it (a.astype('bfloat16'))") !=
          std::string::npos);
    meet();
  });
  if (on_ranks::my_rank() == 0) std::remove(path.c_str());
}
