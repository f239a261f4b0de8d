// Ring attention, QR of a tall matrix and reductions with counts in automatic mode: as in strict
// mode, of uneven sizes, as expressions, as functions and planned from types; bytes, messages and
// memory as planned, operands moved to the shardings that are named.
// SOURCES: tests/shim/pmpi.cpp
// NEEDS: LAPACK
// TIMEOUT: 300
#include <array>
#include <cstdint>
#include <string>
#include <tuple>

#include <shardtype/linalg/linalg.hpp>
#include <shardtype/nn/nn.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/linalg.hpp"
#include "harness/recorded_calls.hpp"

using namespace shardtype;
using recorded::Bytes;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct B : Index<"B"> {};
struct S : Index<"S"> {};
struct T : Index<"T"> {};
struct H : Index<"H"> {};
struct F : Index<"F"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using Int = std::int64_t;

// Plans from types alone are those of strict mode, in any order of the axes.
namespace proofs {
struct A2 : Axis<"A2", 2> {};
struct A4 : Axis<"A4", 4> {};
struct N : Index<"N", 2> {};
struct L : Index<"L", 61> {};
struct M : Index<"M", 57> {};
struct C : Index<"C", 8> {};
struct D : Index<"D", 16> {};
using Queries = Tensor<float, Dim<N>, Dim<L, A4>, Dim<C, A2>, Dim<D>>;
using Keys = Tensor<float, Dim<N>, Dim<M, A4>, Dim<C, A2>, Dim<D>>;
constexpr auto ring = [](auto const& q, auto const& k, auto const& v) {
  return nn::attention<Queries>(q, k, v);
};
constexpr auto program = [](auto const& q, auto const& k, auto const& v) {
  return evaluate<Queries>(ring(q, k, v));
};
constexpr Plan strict = plan(op::RingAttention{}, type<Queries>, type<Keys>, type<Keys>);
constexpr auto recorded_ring =
    plan_traced<automatic_mode::Axes<A2, A4>, Queries, Keys, Keys>(program);
static_assert(strict.count(Collective::permute) == 3);
static_assert(recorded_ring.count(Collective::permute) == 3);
static_assert(recorded::same_plan(recorded_ring, strict));
static_assert(recorded_ring.bytes({{1, 2}}) == strict.bytes({{2, 1}}));
// each rank in turn keeps its block of 12 rows to itself, or sends one of 15
static_assert(recorded_ring.bytes({{0, 0}}) != recorded_ring.bytes({{0, 2}}));
static_assert(recorded::same_plan(
    plan_traced<automatic_mode::Axes<A4, A2>, Queries, Keys, Keys>(program), strict));

struct R : Index<"R", 1001> {};
struct U : Index<"U", 8> {};
struct W : Index<"W", 8> {};
using Tall = Tensor<double, Dim<R, A4>, Dim<U>>;
using Triangle = Tensor<double, Dim<W>, Dim<U>>;
constexpr Plan strict_qr = plan(op::TallQr<R, U, W>{}, type<Tall>);
constexpr auto recorded_qr = plan_traced<Tall>([](auto const& a) {
  return evaluate<Tensor<double, Dim<R, A4>, Dim<W>>>(linalg::qr<R, U, W>(a).q);
});
static_assert(recorded::same_plan(recorded_qr, strict_qr));
static_assert(recorded_qr.count(Collective::all_gather) == 1);
}  // namespace proofs

template <class Value>
auto filled(Value const& seed) {
  return [seed](auto... at) {
    Int k = seed;
    ((k = (k * 31 + at * 17 + 5) % 1009), ...);
    return static_cast<double>(k) / 1009.0 - 0.5;
  };
}

struct Extents {
  Int batch, queries, keys, heads, features;
};

template <class Queries, class Keys>
void ring(Mesh<X, Y> const& mesh, Extents const& n, nn::AttentionOptions const& options) {
  INFO("queries " << n.queries << ", keys " << n.keys << ", causal " << options.causal);
  auto const q = from_function<Queries>(mesh, {n.batch, n.queries, n.heads, n.features}, filled(1));
  auto const k = from_function<Keys>(mesh, {n.batch, n.keys, n.heads, n.features}, filled(2));
  auto const v = from_function<Keys>(mesh, {n.batch, n.keys, n.heads, n.features}, filled(3));
  auto const mix = [options](auto const& a, auto const& b, auto const& c) {
    return nn::attention<Queries>(a, b, c, options);
  };
  auto const sizes = [&](auto& d) {
    d.template extent<B>(n.batch).template extent<S>(n.queries).template extent<T>(n.keys);
    d.template extent<H>(n.heads).template extent<F>(n.features);
    d.template ranks<X>(mesh.template size_of<X>());
    if constexpr (Queries::rank == 4 &&
                  !std::is_same_v<Queries, Tensor<double, Dim<B>, Dim<S, X>, Dim<H>, Dim<F>>>)
      d.template ranks<Y>(mesh.template size_of<Y>());
  };
  auto const p = recorded::check<Queries>(mesh, Bytes::exact, mix, sizes, q, k, v);
  auto const strict = plan_at(op::RingAttention{{{options}}}, q, k, v);
  CHECK(recorded::same_plan(p.plan, strict));
  if (mesh.template size_of<X>() > 1)
    CHECK(explain(p).find("ring_attention X") != std::string::npos);
}

}  // namespace

TEST_CASE("ring attention is recorded as it runs in strict mode") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using Q = Tensor<double, Dim<B>, Dim<S, X>, Dim<H>, Dim<F>>;
  using Kv = Tensor<double, Dim<B>, Dim<T, X>, Dim<H>, Dim<F>>;
  for (bool const causal : {true, false}) {
    ring<Q, Kv>(mesh, {2, 13, 11, 3, 4}, {.causal = causal});
    ring<Q, Kv>(mesh, {1, 1, 5, 2, 3}, {.causal = causal, .scale = 0.25});
  }
  // heads split too, and the sequence block-cyclic
  using Split = Tensor<double, Dim<B>, Dim<S, Cyclic<X, 2>>, Dim<H, Y>, Dim<F>>;
  using SplitKv = Tensor<double, Dim<B>, Dim<T, Cyclic<X, 2>>, Dim<H, Y>, Dim<F>>;
  ring<Split, SplitKv>(mesh, {2, 13, 13, 5, 4}, {.causal = true});
}

TEST_CASE("operands of ring attention are moved to the sharding that is named, its result too") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using Q = Tensor<double, Dim<B>, Dim<S, X>, Dim<H>, Dim<F>>;
  auto const whole =
      from_function<double, Dim<B>, Dim<S>, Dim<H, Y>, Dim<F>>(mesh, {2, 13, 4, 4}, filled(4));
  auto const q = reshard<Q>(whole);
  auto const twice = (q * 2.0).tensor();
  auto const want = nn::attention<Q>(twice, q, q);
  auto const mix = [](auto const& a) {
    auto const at = constrain<Q>(a);
    return nn::attention<Q>(constrain<Q>(a * 2.0), at, at) + 1.0;
  };
  using Out = Tensor<double, Dim<B>, Dim<S>, Dim<H, X>, Dim<F>>;
  auto const e = mix(lazy(whole));
  auto const p = planned(evaluate_to<Out>, mesh, e);
  auto const got =
      recorded::measured(p, mesh, Bytes::exact, [&] { return evaluate<Out>(mesh, e); });
  CHECK(array_equal(got, reshard<Out>((want + 1.0).tensor())));
  CHECK(array_equal(evaluate<Out>(mesh, mix, whole), got));
  // in bfloat16 as in strict mode, which computes in float
  using H16 = Tensor<bfloat16, Dim<B>, Dim<S, X>, Dim<H>, Dim<F>>;
  auto const half = cast<bfloat16>(q).tensor();
  auto const of_half = [](auto const& a) {
    return nn::attention<Dim<B>, Dim<S, X>, Dim<H>, Dim<F>>(a, a, a);
  };
  CHECK(array_equal(evaluate<H16>(mesh, of_half, half), of_half(half)));
}

TEST_CASE("what ring attention holds counts where a policy limits memory") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using Q = Tensor<double, Dim<B>, Dim<S, X>, Dim<H>, Dim<F>>;
  auto const q = from_function<Q>(mesh, {2, 16, 2, 8}, filled(5));
  auto const e = nn::attention<Q>(lazy(q), lazy(q), lazy(q));
  // the result's block has 2048 bytes at least
  CHECK(planned(evaluate_to<Q>, mesh, e).plan.temporary_bytes() > 4096);
  CHECK(on_ranks::code_of([&] { evaluate<Q>(mesh, e, MemoryLimit<4096>{}); }) == "E69");
  CHECK(array_equal(evaluate<Q>(mesh, e, MemoryLimit<1'000'000>{}), nn::attention<Q>(q, q, q)));
}

TEST_CASE("QR of a tall matrix is recorded: q and r of one factorization") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using A = Tensor<double, Dim<I, X, Y>, Dim<J>>;
  using Q = Tensor<double, Dim<I, X, Y>, Dim<K>>;
  using R = Tensor<double, Dim<K>, Dim<J>>;
  for (std::array<Int, 2> const size : {std::array<Int, 2>{37, 5}, {9, 8}, {1, 1}, {5, 0}}) {
    Int const m = size[0], n = size[1];
    INFO(m << " x " << n);
    auto const a = from_function<A>(
        mesh, {m, n}, [](Int i, Int j) { return linear::drawn<double>(i * 300 + j, 23); });
    auto const sizes = [&mesh, m, n](auto& d) {
      d.template extent<I>(m).template extent<J>(n).template extent<K>(n);
      d.template ranks<X>(mesh.size_of<X>()).template ranks<Y>(mesh.size_of<Y>());
    };
    auto const q = [](auto const& x) { return linalg::qr<I, J, K>(x).q; };
    auto const p = recorded::check<Q>(mesh, Bytes::exact, q, sizes, a);
    CHECK(recorded::same_plan(p.plan, plan_at(op::TallQr<I, J, K>{}, a)));
    recorded::check<R>(
        mesh, Bytes::exact, [](auto const& x) { return linalg::qr<I, J, K>(x).r; }, sizes, a);
    // both of one factorization, in the plan too
    auto const strict = linalg::qr<I, J, K>(a);
    panel_ways::Counted const counted;
    auto const [both_q, both_r] = evaluate<Outs<Q, R>>(
        mesh,
        [](auto const& x) {
          auto const parts = linalg::qr<I, J, K>(x);
          return std::tuple(parts.q, parts.r);
        },
        a);
    Int const sent = recorded::of_all(counted.bytes());
    CHECK(sent == recorded::of_all(p.plan.bytes(recorded::at(p, mesh))));
    auto from_types = dry_run<A>([](auto const& x) {
      auto const parts = linalg::qr<I, J, K>(x);
      return evaluate<Outs<Q, R>>(std::tuple(parts.q, parts.r));
    });
    sizes(from_types);
    CHECK(from_types.planned().plan.collectives() == p.plan.collectives());
    CHECK((array_equal(both_q, strict.q) && array_equal(both_r, strict.r)));
  }
  // by products twice as much is sent
  auto const a = from_function<A>(
      mesh, {40, 3}, [](Int i, Int j) { return linear::drawn<double>(i * 300 + j, 23); });
  auto const e = linalg::qr<I, J, K>(lazy(a), linalg::cholesky_qr).r;
  auto const p = planned(evaluate_to<R>, mesh, e);
  CHECK(p.plan.count(Collective::all_gather) == 2);
  auto const r = recorded::measured(p, mesh, Bytes::exact, [&] { return evaluate<R>(mesh, e); });
  CHECK(array_equal(r, linalg::qr<I, J, K>(a, linalg::cholesky_qr).r));
}

TEST_CASE("reductions with counts are recorded: values and counts of one pass") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using Values = Tensor<double, Dim<I, X>>;
  for (auto const& [n, m] : {std::array<Int, 2>{9, 7}, {1, 1}, {3, 0}, {2, 11}}) {
    auto const a = from_function<double, Dim<I, X>, Dim<J, Y>>(
        mesh, {n, m}, [](Int i, Int j) { return static_cast<double>((i * 5 + j * 3) % 4); });
    auto const rows = reshard<Dim<I, X>, Dim<J>>(a);
    auto const each = [&](auto const& count) {
      auto const strict = count(rows);
      auto const [values, counts] = count(lazy(rows));
      CHECK(array_equal(evaluate<Values>(mesh, values), strict.values));
      CHECK(array_equal(evaluate<Values>(mesh, counts), strict.counts));
      // of a value that is split along the dim, and moved
      auto const [got, ties] = evaluate<Outs<Values, Values>>(
          mesh,
          [&](auto const& x) {
            auto const both = count(x);
            return std::tuple(both.values, both.counts);
          },
          a);
      CHECK((array_equal(got, strict.values) && array_equal(ties, strict.counts)));
      auto const p = planned(evaluate_to<Values>, mesh, count(lazy(a)).counts);
      recorded::measured(
          p, mesh, Bytes::exact, [&] { return evaluate<Values>(mesh, count(lazy(a)).counts); },
          true);
    };
    each([](auto const& x) { return counted_max<J>(x); });
    each([](auto const& x) { return counted_min<J>(x); });
    each([](auto const& x) { return counted_prod<J>(x); });
  }
}
