// Attention over a sequence that an axis splits, beside a matrix of all scores on each rank: in
// blocks of any sizes and block-cyclically, causal and not, heads split too and in groups,
// gradients, plans and what is sent and held.
// RANKS: 1 2 3 4 8
// SOURCES: tests/shim/pmpi.cpp
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <source_location>
#include <tuple>
#include <vector>

#include <shardtype/nn/nn.hpp>
#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/measured_plan.hpp"
#include "harness/on_ranks.hpp"
#include "shim/pmpi.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct B : Index<"B"> {};
struct S : Index<"S"> {};
struct K : Index<"K"> {};
struct H : Index<"H"> {};
struct G : Index<"G"> {};
struct R : Index<"R"> {};
struct F : Index<"F"> {};

template <class... Dims>
using T = Tensor<double, Dims...>;

// Types and plans, on types alone.
namespace proofs {
struct A4 : Axis<"A4", 4> {};
struct A2 : Axis<"A2", 2> {};
struct AnyAxis : Axis<"any"> {};
struct N : Index<"N", 2> {};
struct I : Index<"I", 64> {};
struct J : Index<"J", 61> {};
struct C : Index<"C", 8> {};
struct D : Index<"D", 16> {};
template <class L>
using A = Tensor<float, Dim<N>, L, Dim<C, A2>, Dim<D>>;
using Even = A<Dim<I, A4>>;
using Uneven = A<Dim<J, A4>>;
inline constexpr std::int64_t block = 2 * 16 * 4 * 16 * 4;  // bytes

static_assert(op::RingAttention::communicates);
static_assert(checking::Resolve<op::RingAttention, Even, Even, Even>::verdict);
static_assert(std::is_same_v<checking::Resolve<op::RingAttention, Even, Even, Even>::result, Even>);
inline constexpr Plan forward = plan(op::RingAttention{}, type<Even>, type<Even>, type<Even>);
static_assert(forward.count(Collective::permute) == 3);
static_assert(forward.collectives() == 3);
static_assert(forward.bytes_per_rank() == 3 * 2 * block);
static_assert(forward.messages() == 3);
// operands, result, two travelling blocks of keys and values; a block of scores, two numbers for
// each query and head
static_assert(forward.peak_bytes() ==
              3 * block + block + 2 * 2 * block + (2 * 16 * 16 + 2 * 16 + 2 * 2 * 16 * 4) * 4);
// the blocks have 16, 16, 16, 13 rows: a rank does not send that of the rank after it
inline constexpr Plan uneven = plan(op::RingAttention{}, type<Uneven>, type<Uneven>, type<Uneven>);
inline constexpr std::int64_t row = 2 * 2 * 4 * 16 * 4;
static_assert(uneven.bytes_per_rank() == (16 + 16 + 16) * row);
static_assert(uneven.bytes({{0, 0}}) == (16 + 13 + 16) * row);
static_assert(uneven.bytes({{2, 0}}) == (16 + 16 + 16) * row);

inline constexpr auto loss = [](auto const& q, auto const& k, auto const& v) {
  return sum<Tensor<float>>(nn::attention<Dim<N>, Dim<I, A4>, Dim<C, A2>, Dim<D>>(q, k, v));
};
inline constexpr auto both =
    plan(value_and_grad<0, 1, 2>(loss), type<Even>, type<Even>, type<Even>);
static_assert(both.forward.count(Collective::permute) == 3);
static_assert(both.backward.count(Collective::permute) == 7);
static_assert(both.backward.collectives() == 7);
static_assert(both.backward.bytes_per_rank() == (3 + 4) * 2 * block);
static_assert(both.forward.count(Collective::all_gather) == 0);
}  // namespace proofs

// The same with a mask and a matrix of all scores, on every rank.
template <class Grouped>
auto dense(nn::AttentionOptions const& o, std::int64_t s, std::int64_t k) {
  return [=](auto const& mesh, auto const& q, auto const& keys, auto const& values) {
    auto const mask = from_function<Tensor<bool, Dim<S>, Dim<K>>>(
        mesh, {s, k},
        [=](std::int64_t i, std::int64_t j) { return !o.causal || j <= o.first + i; });
    double const scale =
        o.scale != 0 ? o.scale : 1 / std::sqrt(static_cast<double>(q.extents().back()));
    auto const scores = [&] {
      if constexpr (Grouped::value) {
        return einsum<B, G, R, S, K>(q, keys);
      } else {
        return einsum<B, H, S, K>(q, keys);
      }
    }();
    // a query that sees no key gives 0
    auto const e = where(mask, exp(scores * scale - 4.0), 0.0);
    auto const weights = e / max(sum<K>(e), 1e-300);
    if constexpr (Grouped::value) {
      return einsum<B, S, G, R, F>(weights, values);
    } else {
      return einsum<B, S, H, F>(weights, values);
    }
  };
}

template <class A>
std::vector<double> numbers(A const& a) {
  std::vector<double> out;
  auto const host = to_host(a);
  for (auto const x : host) out.push_back(static_cast<double>(x));
  return out;
}
template <class U, class V>
double distance(U const& a, V const& b) {
  auto const x = numbers(a);
  auto const y = numbers(b);
  double out = x.size() == y.size() ? 0 : 1e300;
  for (std::size_t k = 0; k < x.size() && k < y.size(); ++k)
    out = std::isfinite(x[k]) ? std::max(out, std::abs(x[k] - y[k])) : 1e300;
  return out;
}

struct Sizes {
  std::int64_t b, s, k, h, f;
};

// Queries split as Ss, keys as Ks, heads as Hs.
template <class Ss, class Ks, class Hs>
void compare(Mesh<X, Y> const& mesh, Sizes const& n, nn::AttentionOptions const& o) {
  INFO("sizes " << n.b << " " << n.s << " " << n.k << " " << n.h << " " << n.f << " causal "
                << o.causal << " first " << o.first);
  using Q = T<Dim<B>, Ss, Hs, Dim<F>>;
  using Kv = T<Dim<B>, Ks, Hs, Dim<F>>;
  auto const q =
      normal<T<Dim<B>, Dim<S>, Dim<H>, Dim<F>>>(mesh, {n.b, n.s, n.h, n.f}, RandomKey{1});
  auto const k =
      normal<T<Dim<B>, Dim<K>, Dim<H>, Dim<F>>>(mesh, {n.b, n.k, n.h, n.f}, RandomKey{2});
  auto const v =
      normal<T<Dim<B>, Dim<K>, Dim<H>, Dim<F>>>(mesh, {n.b, n.k, n.h, n.f}, RandomKey{3});
  auto const w =
      normal<T<Dim<B>, Dim<S>, Dim<H>, Dim<F>>>(mesh, {n.b, n.s, n.h, n.f}, RandomKey{4});
  auto const ring = [&](auto const& a, auto const& b, auto const& c) {
    return nn::attention<Dim<B>, Ss, Hs, Dim<F>>(a, b, c, o);
  };
  auto const whole = dense<std::false_type>(o, n.s, n.k);
  auto const qs = reshard<Q>(q);
  auto const ks = reshard<Kv>(k);
  auto const vs = reshard<Kv>(v);
  auto const ws = reshard<Q>(w);
  CHECK(distance(ring(qs, ks, vs), whole(mesh, q, k, v)) < 1e-13);
  auto const gradients = [&](Q const& weights) {
    return grad<0, 1, 2>([&](auto const& a, auto const& b, auto const& c) {
      return sum<T<>>(weights * ring(a, b, c));
    });
  };
  auto const got = gradients(ws)(qs, ks, vs);
  auto const expected = grad<0, 1, 2>([&](auto const& a, auto const& b, auto const& c) {
    return sum<T<>>(w * whole(mesh, a, b, c));
  })(q, k, v);
  CHECK(distance(std::get<0>(got), std::get<0>(expected)) < 1e-12);
  CHECK(distance(std::get<1>(got), std::get<1>(expected)) < 1e-12);
  CHECK(distance(std::get<2>(got), std::get<2>(expected)) < 1e-12);
  if (!o.causal || o.first != 0 || n.s != n.k || n.s < 2) return;
  // no number of the last keys, nor of queries whose cotangent is 0, reaches what does not see them
  double const nan = std::numeric_limits<double>::quiet_NaN();
  auto const last = [&](auto const& a, double x) {
    std::vector<double> all = numbers(a);
    auto const end = static_cast<std::size_t>(n.s * n.h * n.f);
    auto const row = static_cast<std::size_t>(n.h * n.f);
    for (std::size_t at = end - row; at < all.size(); at += end)
      std::fill_n(all.begin() + static_cast<std::ptrdiff_t>(at), row, x);
    return from_host<std::remove_cvref_t<decltype(a)>>(mesh, a.extents(), all);
  };
  auto const weights = last(ws, 0);
  auto const of_hidden = gradients(weights)(last(qs, nan), last(ks, nan), last(vs, nan));
  auto const of_zeros = gradients(weights)(last(qs, 0), last(ks, 0), last(vs, 0));
  CHECK(distance(last(ring(last(qs, nan), last(ks, nan), last(vs, nan)), 0),
                 last(ring(qs, ks, vs), 0)) < 1e-13);
  CHECK(distance(last(std::get<0>(of_hidden), 0), last(std::get<0>(of_zeros), 0)) < 1e-13);
  CHECK(distance(last(std::get<1>(of_hidden), 0), last(std::get<1>(of_zeros), 0)) < 1e-13);
  CHECK(distance(last(std::get<2>(of_hidden), 0), last(std::get<2>(of_zeros), 0)) < 1e-13);
}

}  // namespace

TEST_CASE("attention around a ring, and its gradients, beside a matrix of scores") {
  for (auto const& shape : on_ranks::grids()) {
    Mesh<X, Y> const mesh(MPI_COMM_WORLD, shape);
    for (nn::AttentionOptions const o :
         {nn::AttentionOptions{}, nn::AttentionOptions{false, 0.3, 0},
          nn::AttentionOptions{true, 0, -3}, nn::AttentionOptions{true, 0, 4}})
      for (Sizes const n : {Sizes{2, 9, 9, 6, 3}, Sizes{1, 5, 14, 2, 2}, Sizes{1, 1, 1, 1, 1},
                            Sizes{1, 13, 3, 3, 2}, Sizes{2, 3, 0, 2, 2}, Sizes{0, 3, 3, 2, 2}}) {
        if (n.s < 9 && n.k < 9 && o.first != 0) continue;
        compare<Dim<S, X>, Dim<K, X>, Dim<H, Y>>(mesh, n, o);
      }
  }
}

TEST_CASE("a sequence in turns, so that causal ranks have the same work") {
  Mesh<X, Y> const mesh(MPI_COMM_WORLD, on_ranks::grids().back());
  for (Sizes const n : {Sizes{2, 23, 23, 2, 3}, Sizes{1, 2, 2, 1, 1}, Sizes{1, 40, 17, 1, 2}})
    for (nn::AttentionOptions const o :
         {nn::AttentionOptions{}, nn::AttentionOptions{true, 0, -2}}) {
      compare<Dim<S, Cyclic<X, 2>>, Dim<K, Cyclic<X, 2>>, Dim<H>>(mesh, n, o);
      compare<Dim<S, Cyclic<X, 1>>, Dim<K, Cyclic<X, 1>>, Dim<H>>(mesh, n, o);
    }
}

TEST_CASE("blocks longer than those of the kernel") {
  Mesh<X, Y> const mesh(MPI_COMM_WORLD, on_ranks::grids().front());
  compare<Dim<S, X>, Dim<K, X>, Dim<H, Y>>(mesh, {1, 300, 290, 2, 2}, {true, 0, 0});
  compare<Dim<S, Cyclic<X, 40>>, Dim<K, Cyclic<X, 40>>, Dim<H, Y>>(mesh, {1, 300, 290, 2, 2},
                                                                   {true, 0, 0});
}

TEST_CASE("queries that are split, and keys that are whole, send nothing") {
  Mesh<X, Y> const mesh(MPI_COMM_WORLD, on_ranks::grids().front());
  using Q = T<Dim<B>, Dim<S, X>, Dim<H, Y>, Dim<F>>;
  using Kv = T<Dim<B>, Dim<K>, Dim<H, Y>, Dim<F>>;
  using Used = T<Dim<B>, Dim<K>, Dim<H, Y>, Dim<F>, Reduced<X>>;
  auto const q = normal<Q>(mesh, {1, 5, 2, 1}, RandomKey{1});
  auto const k = normal<Kv>(mesh, {1, 5, 2, 1}, RandomKey{2});
  auto const v = normal<Kv>(mesh, {1, 5, 2, 1}, RandomKey{3});
  auto const whole = reshard<T<Dim<B>, Dim<S>, Dim<H, Y>, Dim<F>>>(q);
  CHECK(distance(nn::attention(q, k, v), nn::attention(whole, k, v)) < 1e-14);
  check_grads([](auto const& a, auto const& b,
                 auto const& c) { return nn::attention(a, used_as<Used>(b), used_as<Used>(c)); },
              q, k, v);
}

TEST_CASE("grouped queries around a ring, with heads of keys that are split or on every rank") {
  for (auto const& shape : on_ranks::grids()) {
    Mesh<X, Y> const mesh(MPI_COMM_WORLD, shape);
    std::int64_t const g = mesh.size_of<Y>();
    using Split = T<Dim<B>, Dim<K, X>, Dim<G, Y>, Dim<F>>;
    using Kv = T<Dim<B>, Dim<K, X>, Dim<G>, Dim<F>>;
    using Used = T<Dim<B>, Dim<K, X>, Dim<G>, Dim<F>, Reduced<Y>>;
    using Q = T<Dim<B>, Dim<S, X>, Dim<H, Y>, Dim<F>>;
    using Grouped = T<Dim<B>, Dim<S>, Dim<G>, Dim<R>, Dim<F>>;
    // the same numbers with heads as groups and places in them
    auto const wave = [=](std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
      return std::sin(0.3 * static_cast<double>(a * 31 + b * 17 + c * 5 + d * 3));
    };
    auto const waves = [=](std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t r,
                           std::int64_t d) { return wave(a, b, 2 * c + r, d); };
    auto const q = from_function<Q>(mesh, {2, 7, 2 * g, 3}, wave);
    auto const k = normal<Kv>(mesh, {2, 7, g, 3}, RandomKey{2});
    auto const v = normal<Kv>(mesh, {2, 7, g, 3}, RandomKey{3});
    auto const grouped = from_function<Grouped>(mesh, {2, 7, g, 2, 3}, waves);
    using WholeKeys = T<Dim<B>, Dim<K>, Dim<G>, Dim<F>>;
    nn::AttentionOptions const o{};
    auto const whole = dense<std::true_type>(o, 7, 7);
    auto const expected = whole(mesh, grouped, reshard<WholeKeys>(k), reshard<WholeKeys>(v));
    auto const ring = [](auto const& a, auto const& b, auto const& c) {
      return nn::attention<Dim<B>, Dim<S, X>, Dim<H, Y>, Dim<F>>(a, b, c);
    };
    CHECK(distance(ring(q, reshard<Split>(k), reshard<Split>(v)), expected) < 1e-13);
    CHECK(distance(ring(q, k, v), expected) < 1e-13);
    auto const expected_grad = grad<0, 1, 2>([&](auto const& a, auto const& b, auto const& c) {
      return sum<T<>>(grouped * whole(mesh, a, b, c));
    })(grouped, reshard<WholeKeys>(k), reshard<WholeKeys>(v));
    auto const used = grad<0, 1, 2>([&](auto const& a, auto const& b, auto const& c) {
      return sum<T<>>(q * ring(a, used_as<Used>(b), used_as<Used>(c)));
    })(q, k, v);
    auto const split = grad<0, 1, 2>([&](auto const& a, auto const& b, auto const& c) {
      return sum<T<>>(q * ring(a, b, c));
    })(q, reshard<Split>(k), reshard<Split>(v));
    CHECK(distance(std::get<0>(used), std::get<0>(expected_grad)) < 1e-12);
    CHECK(distance(std::get<1>(used), std::get<1>(expected_grad)) < 1e-12);
    CHECK(distance(std::get<2>(used), std::get<2>(expected_grad)) < 1e-12);
    CHECK(distance(std::get<0>(split), std::get<0>(expected_grad)) < 1e-12);
    CHECK(distance(std::get<1>(split), std::get<1>(expected_grad)) < 1e-12);
    CHECK(distance(std::get<2>(split), std::get<2>(expected_grad)) < 1e-12);
  }
}

TEST_CASE("a ring sends and holds what its plan says, and replicas have the same bits") {
  for (auto const& shape : on_ranks::grids()) {
    Mesh<X, Y> const mesh(MPI_COMM_WORLD, shape);
    using A = T<Dim<B>, Dim<S, X>, Dim<H>, Dim<F>>;
    using Turns = T<Dim<B>, Dim<S, Cyclic<X, 3>>, Dim<H>, Dim<F>>;
    auto const measure = [&](auto const& q, auto const& k, auto const& v, auto const& ct) {
      op::RingAttentionWithSums const both{};
      auto const run = [](auto const& op) {
        return [op](auto const&... as) {
          return shardtype::call(op, std::source_location::current(), as...);
        };
      };
      measured_plan::check("ring_attention", both, run(both), q, k, v);
      auto const [result, sums] = run(both)(q, k, v);
      op::RingAttentionBack const back{};
      measured_plan::check("ring_attention_back", back, run(back), q, k, v, result, sums, ct);
      // ranks with the same place along X
      auto const block = harness::host_block(result);
      std::uint64_t hash = 1469598103934665603U;
      for (std::int64_t at = 0; at < result.local_size(); ++at)
        hash = (hash ^ std::bit_cast<std::uint64_t>(block.data()[at])) * 1099511628211U;
      std::vector<std::uint64_t> all(static_cast<std::size_t>(on_ranks::rank_total()));
      MPI_Allgather(&hash, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
      auto const row = static_cast<std::size_t>(mesh.size_of<Y>());
      for (std::size_t r = 0; r < all.size(); ++r) CHECK(all[r] == all[r / row * row]);
    };
    auto const measured = [&]<class Type>(std::array<std::int64_t, 4> const& n) {
      auto const of = [&](std::uint64_t key) { return normal<Type>(mesh, n, RandomKey{key}); };
      measure(of(1), of(2), of(3), of(4));
    };
    for (std::int64_t const s : {13, 3, 1}) {
      measured.template operator()<A>({1, s, 2, 16});
      measured.template operator()<Turns>({2, s, 2, 16});
    }
    // of a megabyte and more
    if (shape == on_ranks::grids().back())
      measured.template operator()<A>({1, 513 * mesh.size_of<X>() - 5, 2, 128});
  }
}

TEST_CASE("the next block is under way while one is computed, and two travelling blocks are held") {
  int const p = on_ranks::rank_total();
  int const me = on_ranks::my_rank();
  Mesh<X> const mesh(MPI_COMM_WORLD, {p});
  using A = T<Dim<B>, Dim<S, X>, Dim<H>, Dim<F>>;
  auto const of = [&](std::uint64_t key) {
    return normal<A>(mesh, {2, 5 * p, 3, 4}, RandomKey{key});
  };
  auto const q = of(1), k = of(2), v = of(3);
  std::int64_t const travelling = 2 * measured_plan::block_bytes(k);  // keys with values
  auto& memory = runtime::run_time.memory;
  std::int64_t const before = memory.now();
  execute::KeyRing<double, A::memory_space> ring(
      Type<checking::Resolve<op::RingAttention, A, A, A>>{}, "ring_attention",
      std::source_location::current(), k);
  shim::reset();
  int rounds = 0;
  execute::around_ring(
      ring, {}, q, k, v,
      [&](int round, auto const& shape, double const* keys, double const*, auto const&) {
        CHECK(round == rounds++);
        CHECK(shape.key_rows[0] == 5 * ((me - round + p) % p));
        // the block that is computed is being sent, or was
        CHECK(shim::bytes() == std::min(round + 1, p - 1) * travelling);
        CHECK(memory.now() - before == (p == 1 ? 0 : 2 * travelling));
        CHECK((round > 0 || keys == execute::data_of(k)));
      },
      [](int) {});
  CHECK(rounds == p);
  CHECK(memory.now() == before);
}

namespace {

// Blocks of 128 x 128 scores that the kernel computes for the queries and keys of two ranks.
double blocks_of(core::Rows const& queries, core::Rows const& keys) {
  nn::kernels::AttentionShape const s{1, queries.size(),   keys.size(), 1,   1, 1, 0, 0,
                                      1, {.causal = true}, queries,     keys};
  std::int64_t scores = 0;
  nn::kernels::each_block_of_queries(
      s, [&](std::int64_t, std::int64_t, std::int64_t i0, std::int64_t rows) {
        scores += rows * s.seen(i0 + rows - 1);
      });
  constexpr auto side = static_cast<double>(nn::kernels::attention_block);
  return static_cast<double>(scores) / (side * side);
}
// The busiest and the idlest rank of each round after the first, and the busiest of all rounds over
// the mean.
struct Balance {
  double most = 0, least = 1e300, over_mean = 0;
};
// `of(rank)`: its positions, in parts of whole blocks.
template <class Of>
Balance balance(std::int64_t p, Of const& of) {
  Balance out;
  double all = 0, waited = 0;
  for (std::int64_t round = 0; round < p; ++round) {
    double busiest = 0;
    for (std::int64_t me = 0; me < p; ++me) {
      double n = 0;
      for (core::Rows const& queries : of(me))
        for (core::Rows const& keys : of((me - round + p) % p)) n += blocks_of(queries, keys);
      all += n;
      busiest = std::max(busiest, n);
      if (round == 0) continue;
      out.most = std::max(out.most, n);
      out.least = std::min(out.least, n);
    }
    waited += busiest;
  }
  out.over_mean = waited * static_cast<double>(p) / all;
  return out;
}

}  // namespace

TEST_CASE("turns of the kernel's block balance causal rounds: docs/nn.md") {
  if (on_ranks::my_rank() != 0) return;
  constexpr std::int64_t n = 2048;  // positions of a rank
  using Parts = std::vector<core::Rows>;
  auto const blocks = [](std::int64_t rank) { return Parts{{rank * n, n, 0, 0}}; };
  auto const check = [](Balance const& b, double least, double most, double over_mean) {
    CHECK(b.least == least);
    CHECK(b.most == most);
    CHECK(std::abs(b.over_mean - over_mean) < 0.005);
  };
  struct Case {
    std::int64_t p;
    double blocks, long_turns, turns;
  };
  for (Case const& c :
       {Case{2, 1.485, 1.12, 1.03}, Case{4, 1.738, 1.185, 1.046}, Case{8, 1.868, 1.217, 1.054}}) {
    auto const turns = [&](std::int64_t of) {
      return [of, p = c.p](std::int64_t rank) { return Parts{{rank * of, n, of, p * of}}; };
    };
    auto const zigzag = [&](std::int64_t rank) {
      return Parts{{rank * n / 2, n / 2, 0, 0}, {(2 * c.p - 1 - rank) * n / 2, n / 2, 0, 0}};
    };
    check(balance(c.p, blocks), 0, 256, c.blocks);
    check(balance(c.p, turns(512)), 96, 160, c.long_turns);
    check(balance(c.p, turns(128)), 120, 136, c.turns);
    check(balance(c.p, zigzag), 128, 128, 1);
  }
}

TEST_CASE("a ring in bfloat16 and float, its result in another sharding, and errors of extents") {
  Mesh<X, Y> const mesh(MPI_COMM_WORLD, on_ranks::grids().back());
  using A = Tensor<float, Dim<B>, Dim<S, X>, Dim<H>, Dim<F>>;
  using W = Tensor<float, Dim<B>, Dim<S>, Dim<H>, Dim<F>>;
  auto const q = normal<A>(mesh, {1, 11, 2, 4}, RandomKey{1});
  auto const k = normal<A>(mesh, {1, 11, 2, 4}, RandomKey{2});
  auto const v = normal<A>(mesh, {1, 11, 2, 4}, RandomKey{3});
  auto const whole = nn::attention(reshard<W>(q), reshard<W>(k), reshard<W>(v));
  CHECK(distance(nn::attention<Dim<B>, Dim<S>, Dim<H>, Dim<F>>(q, k, v), whole) < 1e-5);
  auto const half = nn::attention<Dim<B>, Dim<S, X>, Dim<H>, Dim<F>>(
      cast<bfloat16>(q), cast<bfloat16>(k), cast<bfloat16>(v));
  CHECK(distance(half.tensor(), whole) < 0.05);
  CHECK(on_ranks::code_of([&] {
          auto const more = normal<A>(mesh, {1, 12, 2, 4}, RandomKey{1});
          (void)nn::attention<Dim<B>, Dim<S, X>, Dim<H>, Dim<F>>(q, more, more);
        }) == "E24");
  // rotations by positions of the sequence, in turns
  using Turns = Tensor<float, Dim<B>, Dim<S, Cyclic<X, 2>>, Dim<H>, Dim<F>>;
  CHECK(distance(nn::rotary<S, F>(reshard<Turns>(q), 3), nn::rotary<S, F>(reshard<W>(q), 3)) <
        1e-6);
}
