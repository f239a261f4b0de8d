// shard_map over one axis of two: the collectives of manual mode along it, strict operations and
// collectives along the other, against values by global positions; uneven and empty blocks; random
// numbers; bytes; errors; gradients against central differences.
// SOURCES: tests/shim/pmpi.cpp
// RANKS: 1 2 4 8
#include <array>
#include <cstdint>
#include <source_location>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/gradients.hpp"
#include "harness/host_block.hpp"
#include "harness/measured_plan.hpp"
#include "harness/on_ranks.hpp"
#include "shim/pmpi.hpp"

using namespace shardtype;
using gradients::check;
using gradients::make;
using on_ranks::code_of;
using on_ranks::wrong;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct G : Index<"G"> {};
template <class... Parts>
using T = Tensor<double, Parts...>;
using Int = std::int64_t;
using Grid = Mesh<X, Y>;
using A = T<Dim<I, X>, Dim<J, Y>>;
using W = T<Dim<J, Y>, Dim<K>>;

double value_at(Int i, Int j) { return static_cast<double>(100 * i + j + 1); }
template <class Out>
Out positions(Grid const& mesh, std::array<Int, 2> const& extents) {
  return from_function<Out>(
      mesh, extents, KOKKOS_LAMBDA(Int i, Int j) { return static_cast<double>(100 * i + j + 1); });
}
// The rows of a part along X, and the columns, which no number of ranks divides.
struct Size {
  Int rows, columns;
};
constexpr Size sizes[] = {{3, 5}, {2, 1}, {0, 3}, {2, 0}};

}  // namespace

TEST_CASE("strict operations in a shard_map over one axis") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  Int const p = mesh.size_of<X>();
  for (auto [n, m] : sizes) {
    auto const a = positions<A>(mesh, {p * n, m});
    auto const w = positions<W>(mesh, {m, 3});
    auto const c = shard_map<Dim<I, X>, Dim<K>>(
        manual_axes<X>,
        [](auto const& v, auto const& u) {
          static_assert(
              std::is_same_v<std::remove_cvref_t<decltype(v)>, T<Dim<I>, Dim<J, Y>, Varying<X>>>);
          static_assert(std::is_same_v<std::remove_cvref_t<decltype(u)>, W>);
          return all_reduce<Y>(matmul(v, u));
        },
        a, w);
    static_assert(std::is_same_v<decltype(c), T<Dim<I, X>, Dim<K>> const>);
    CHECK(wrong(c, [terms = m](Int i, Int k) {
            double sum = 0;
            for (Int j = 0; j < terms; ++j) sum += value_at(i, j) * value_at(j, k);
            return sum;
          }) == 0);
    // a reshard along Y, a transposed result, several results
    auto const [moved, rows] = shard_map<Outs<T<Dim<J>, Dim<I, X, Y>>, T<Dim<I, X>>>>(
        manual_axes<X>,
        [](auto const& v) {
          auto const by_rows = all_gather<Y>(transpose<J, I>(v));
          return std::tuple(reshard<Dim<J>, Dim<I, Y>>(by_rows), all_reduce<Y>(sum<J>(v * 2.0)));
        },
        positions<A>(mesh, {p * mesh.size_of<Y>() * n, m}));
    CHECK(wrong(moved, [](Int j, Int i) { return value_at(i, j); }) == 0);
    CHECK(wrong(rows, [terms = m](Int i) {
            double sum = 0;
            for (Int j = 0; j < terms; ++j) sum += 2 * value_at(i, j);
            return sum;
          }) == 0);
  }
}

TEST_CASE("collectives along the manual axis") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  Int const p = mesh.size_of<X>();
  for (auto [n, m] : sizes) {
    Int const rows = n * p;  // of each part
    auto const a = positions<A>(mesh, {p * rows, m});
    auto const mapped = [&](auto const& f) {
      return shard_map<Dim<I, X>, Dim<J>>(manual_axes<X>, f, a);
    };
    auto const part = [=](Int i) { return i / (rows == 0 ? 1 : rows); };
    auto const next = mapped([](auto const& v) { return rotate<X>(v, -1); });
    static_assert(std::is_same_v<decltype(next), A const>);
    CHECK(wrong(next, [=](Int i, Int j) { return value_at((i + rows) % (p * rows), j); }) == 0);
    auto const first = mapped([](auto const& v) { return permute<X>(v, {{0, 0}}); });
    CHECK(wrong(first, [=](Int i, Int j) { return part(i) == 0 ? value_at(i, j) : 0; }) == 0);
    auto const whole = shard_map<Dim<I>, Dim<J>>(
        manual_axes<X>, [](auto const& v) { return all_gather<X, I>(v); }, a);
    static_assert(std::is_same_v<decltype(whole), T<Dim<I>, Dim<J, Y>> const>);
    CHECK(wrong(whole, value_at) == 0);
    auto const stacked = shard_map<Dim<G>, Dim<I>, Dim<J>>(
        manual_axes<X>, [](auto const& v) { return all_gather<X, G>(v); }, a);
    CHECK(wrong(stacked, [=](Int g, Int i, Int j) { return value_at(g * rows + i, j); }) == 0);
    auto const total = [=](Int i, Int j) {
      double sum = 0;
      for (Int g = 0; g < p; ++g) sum += value_at(g * rows + i, j);
      return sum;
    };
    auto const sums = shard_map<Dim<I>, Dim<J>>(
        manual_axes<X>, [](auto const& v) { return all_reduce<X>(v); }, a);
    CHECK(wrong(sums, total) == 0);
    auto const largest = shard_map<Dim<I>, Dim<J>>(
        manual_axes<X>, [](auto const& v) { return all_reduce<Max, X>(v); }, a);
    CHECK(wrong(largest, [=](Int i, Int j) { return value_at((p - 1) * rows + i, j); }) == 0);
    auto const scattered = mapped([](auto const& v) { return reduce_scatter<X, I>(v); });
    CHECK(wrong(scattered, total) == 0);
    auto const sent = shard_map<Dim<I>, Dim<J>>(
        manual_axes<X>, [](auto const& v) { return broadcast_from<X>(v, 0); }, a);
    CHECK(wrong(sent, value_at) == 0);
    auto const exchanged = mapped([](auto const& v) { return all_to_all<X, I, I>(v); });
    CHECK(wrong(exchanged, [=](Int i, Int j) {
            Int const g = part(i), r = i - g * rows;
            return value_at(r / n * rows + g * n + r % n, j);
          }) == 0);
    // a summand along X, which leaves as one
    auto const summand =
        shard_map<Dim<I>, Dim<J>>(manual_axes<X>, [](auto const& v) { return unreduced<X>(v); }, a);
    static_assert(std::is_same_v<decltype(summand), T<Dim<I>, Dim<J, Y>, Unreduced<X>> const>);
    CHECK(wrong(all_reduce<X>(summand), total) == 0);
    // an equal block is cut
    auto const cut = shard_map<Dim<I, X>, Dim<J>>(
        manual_axes<X>, [](auto const& v) { return shard<X, I>(v); }, whole);
    CHECK(wrong(cut, value_at) == 0);
  }
}

TEST_CASE("an index split over the manual axis and a strict one, and a third axis' states") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  Int const p = on_ranks::rank_total();
  using Both = T<Dim<I, X, Y>, Dim<J>>;
  auto const a = positions<Both>(mesh, {3 * p, 2});
  auto const c = shard_map<Dim<I, X>, Dim<J>>(
      manual_axes<X>, [](auto const& v) { return v + rotate<X>(v, 1); }, a);
  static_assert(std::is_same_v<decltype(c), Both const>);
  Int const rows = 3 * p, part = rows / mesh.size_of<X>();
  CHECK(wrong(c, [=](Int i, Int j) {
          return value_at(i, j) + value_at((i + rows - part) % rows, j);
        }) == 0);
  CHECK(code_of([&] {
          (void)shard_map<Dim<I, X>, Dim<J>>(
              manual_axes<X>, [](auto const& v) { return v; },
              positions<Both>(mesh, {3 * p + 1, 2}));
        }) == (p == 1 ? "none" : "E61"));
  CHECK(code_of([&] {
          (void)shard_map<Dim<I, X>, Dim<J>>(
              manual_axes<X>, [](auto const& v) { return v; }, positions<A>(mesh, {2 * p + 1, 2}));
        }) == (mesh.size_of<X>() == 1 ? "none" : "E61"));
}

TEST_CASE("random numbers have the bits of their key and position") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  Int const p = mesh.size_of<X>();
  std::array<Int, 2> const extents{2 * p, 5};
  auto const kept = shard_map<Dim<I, X>, Dim<J>>(
      manual_axes<X>, [](auto const& a, auto const& u) { return where(u < 0.5, a, -a); },
      positions<A>(mesh, extents), uniform<A>(mesh, extents, RandomKey{7}));
  auto const outside = to_host(uniform<T<Dim<I>, Dim<J>>>(mesh, extents, RandomKey{7}));
  CHECK(wrong(kept, [&](Int i, Int j) {
          return outside[static_cast<std::size_t>(5 * i + j)] < 0.5 ? value_at(i, j)
                                                                    : -value_at(i, j);
        }) == 0);
  // drawn inside without the manual axis: the same for every part
  auto const drawn = shard_map<Dim<I, X>, Dim<J>>(
      manual_axes<X>,
      [&](auto const& a) {
        return a * 0.0 + uniform<T<Dim<I>, Dim<J, Y>>>(mesh, {2, 5}, RandomKey{7});
      },
      positions<A>(mesh, extents));
  CHECK(wrong(drawn, [&](Int i, Int j) {
          return outside[static_cast<std::size_t>(5 * (i % 2) + j)];
        }) == 0);
}

TEST_CASE("plans hold") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  Int const p = mesh.size_of<X>();
  auto const a = positions<A>(mesh, {p * p * 2, 4 * mesh.size_of<Y>()});
  auto const v = call(op::EnterManual<X>{}, std::source_location::current(), a);
  auto const sends_its_plan = [&](auto const& op, auto const& operand) {
    INFO(explain(op, operand));
    auto const run = [&](auto const& x) { return call(op, std::source_location::current(), x); };
    (void)run(operand);
    measured_plan::check(std::string(op.name).c_str(), op, run, operand);
  };
  sends_its_plan(op::AllReduce<X>{}, v);
  sends_its_plan(op::AllGather<X, I>{}, v);
  sends_its_plan(op::ReduceScatter<X, I>{}, v);
  sends_its_plan(op::Rotate<X>{1}, v);
  sends_its_plan(op::AllGather<Y>{}, v);
  sends_its_plan(op::Reshard<Dim<I, Y>, Dim<J>>{}, v);
  sends_its_plan(op::EnterManual<X>{}, a);
  sends_its_plan(op::LeaveManual<A>{}, v);
}

TEST_CASE("gradients") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  Int const p = mesh.size_of<X>();
  for (auto [n, m] : {Size{2, 3}, Size{0, 2}}) {
    auto const a = make<A>(mesh, {p * p * n, m}, 1);
    auto const w = make<W>(mesh, {m, 3}, 2);
    auto const moved = [](auto const& x) {
      auto const y = shard_map<Dim<I, X>, Dim<J>>(
          manual_axes<X>,
          [](auto const& v) {
            auto const mean = varying<X>(all_reduce<Mean, X>(v));
            auto const all = all_gather<X, I>(v, to_varying);
            return v * rotate<X>(v, 1) + sin(v - mean) +
                   reduce_scatter<X, I>(square(all)) * shard<X, I>(all_gather<X, I>(v));
          },
          x);
      return all_reduce<X, Y>(sum(square(y) + y));
    };
    check<0>("moved", mesh, moved, a);
    // weights: one all_reduce in the backward pass, which reduced<X> says
    auto const layer = [](auto const& x, auto const& y) {
      auto const h = shard_map<Dim<I, X>, Dim<K>>(
          manual_axes<X>,
          [](auto const& v, auto const& u) {
            return tanh(all_reduce<Y>(matmul(v, reduced<X>(u))));
          },
          x, y);
      return all_reduce<X>(sum(square(h)));
    };
    check<0, 1>("layer", mesh, layer, a, w);
    // a loss of each part, which leaves as a summand
    auto const loss = [](auto const& x, auto const& y) {
      return all_reduce<X>(shard_map<>(
          manual_axes<X>,
          [](auto const& v, auto const& u) {
            return unreduced<X>(sum(square(all_reduce<Y>(matmul(v, varying<X>(u))))));
          },
          x, y));
    };
    check<0, 1>("loss", mesh, loss, a, w);
  }
}
