// Gradients of lookups and sums by ids, windows with a run-time start, shifts, running sums and
// sorts, against central differences in double; uneven, empty and extent 1.
// RANKS: 1 2 4 8
#include <array>
#include <cstdint>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/gradients.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;
using gradients::check;
using gradients::make;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};
struct H : Index<"H"> {};
struct K : Index<"K"> {};
struct V : Index<"V"> {};
template <class... Parts>
using T = Tensor<double, Parts...>;
template <class... Parts>
using Places = Tensor<std::int64_t, Parts...>;
using A = T<Dim<B, X>, Dim<D>>;

// Ids from 0 to n - 1, with repetitions.
template <class P, class M>
P ids(M const& mesh, std::array<std::int64_t, P::rank> const& extents, std::int64_t n) {
  std::int64_t total = 1;
  for (std::int64_t const e : extents) total *= e;
  std::vector<typename P::element> all(static_cast<std::size_t>(total));
  for (std::int64_t k = 0; k < total; ++k)
    all[static_cast<std::size_t>(k)] = static_cast<typename P::element>((3 * k * k + k + 1) % n);
  return from_host<P>(mesh, extents, all);
}

}  // namespace

TEST_CASE("lookups of rows") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::int64_t const b : {7, 1, 0}) {
    auto const of_batch = ids<Places<Dim<B, X>>>(mesh, {b}, 5);
    auto const of_pairs = ids<Places<Dim<B, X>, Dim<K>>>(mesh, {b, 2}, 5);
    auto const all = ids<Places<Dim<B>>>(mesh, {b}, 5);
    check<0>(
        "table replicated, cast", mesh,
        [&](auto t) { return sum(exp(take<V>(reduced<X>(t), of_batch))); },
        make<T<Dim<V>, Dim<D>>>(mesh, {5, 3}, 1));
    check<0>(
        "table reduced, rows of another dim split", mesh,
        [&](auto t) { return sum(exp(take<V>(t, of_pairs))); },
        make<T<Dim<D, Y>, Dim<V>, Reduced<X>>>(mesh, {3, 5}, 1));
    check<0>(
        "table split over the rows", mesh,
        [&](auto t) { return sum(exp(all_reduce<X>(take<V>(t, all)))); },
        make<T<Dim<V, X>, Dim<D, Y>>>(mesh, {5, 3}, 1));
    check<0>(
        "table split over the rows, ids too", mesh,
        [&](auto t) { return sum(exp(all_reduce<Y>(take<V>(reduced<X>(t), of_batch)))); },
        make<T<Dim<V, Y>, Dim<D>>>(mesh, {5, 3}, 1));
    check<0>(
        "sums of rows", mesh,
        [&](auto u) { return sum(exp(all_reduce<X>(scatter_add<V>(u, of_batch, 5)))); },
        make<T<Dim<B, X>, Dim<D, Y>>>(mesh, {b, 3}, 1));
    check<0>(
        "sums of rows, other dims first", mesh,
        [&](auto u) { return sum(exp(all_reduce<X>(scatter_add<V>(u, of_pairs, 5)))); },
        make<T<Dim<K>, Dim<D, Y>, Dim<B, X>>>(mesh, {2, 3, b}, 1));
    check<0>(
        "second order", mesh,
        [&](auto t) {
          auto f = [&](auto v) { return sum(exp(take<V>(v, of_batch))); };
          return sum(square(all_reduce<X>(grad<0>(f)(t))));
        },
        make<T<Dim<V>, Dim<D>, Reduced<X>>>(mesh, {5, 3}, 1));
  }
}

TEST_CASE("named results") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::int64_t const b : {7, 1, 0}) {
    auto const of_batch = ids<Places<Dim<B, X>>>(mesh, {b}, 5);
    auto const all = ids<Places<Dim<B>>>(mesh, {b}, 5);
    check<0>(
        "take, table split over its rows", mesh,
        [&](auto t) { return sum(exp(take<V, Dim<B>, Dim<D>>(t, all))); },
        make<T<Dim<V, X>, Dim<D>>>(mesh, {5, 3}, 1));
    check<0>(
        "take, scattered, ids gathered", mesh,
        [&](auto t) { return sum(exp(take<V, Dim<B, X>, Dim<D>>(t, of_batch))); },
        make<T<Dim<V, X>, Dim<D>>>(mesh, {5, 3}, 1));
    check<0>(
        "take, other dims split", mesh,
        [&](auto t) { return sum(exp(take<V, Dim<B, X>, Dim<D, Y>>(t, all))); },
        make<T<Dim<V>, Dim<D>, Reduced<X>>>(mesh, {5, 3}, 1));
    check<0>(
        "scatter_add, reduced", mesh,
        [&](auto u) { return sum(exp(scatter_add<V, Dim<V>, Dim<D>>(u, of_batch, 5))); },
        make<T<Dim<B, X>, Dim<D, Y>>>(mesh, {b, 3}, 1));
    check<0>(
        "scatter_add, scattered", mesh,
        [&](auto u) { return sum(exp(scatter_add<V, Dim<V, X>, Dim<D>>(u, of_batch, 5))); },
        make<T<Dim<B, X>, Dim<D>>>(mesh, {b, 3}, 1));
  }
  auto const a = make<A>(mesh, {7, 5}, 1);
  check<0>(
      "slice of a split dim", mesh,
      [](auto v) { return sum(exp(slice<B, H, Dim<H>, Dim<D, X>>(v, 1, 6, 2))); }, a);
  check<0>(
      "slice of a split dim, whole", mesh,
      [](auto v) { return sum(exp(slice<B, H, Dim<H>, Dim<D>>(v, 2, 4))); }, a);
  check<0>("row of a split dim", mesh, [](auto v) { return sum(exp(at<B, Dim<D>>(v, 3))); }, a);
}

TEST_CASE("lookups along a dim") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::int64_t const n : {6, 1}) {
    auto const a = make<A>(mesh, {5, n}, 1);
    auto const same = ids<Places<Dim<B, X>, Dim<D>>>(mesh, {5, 4}, n);
    auto const other = ids<Places<Dim<B, X>, Dim<K, Y>>>(mesh, {5, 4}, n);
    check<0>("take_along", mesh, [&](auto v) { return sum(exp(take_along<D>(v, same))); }, a);
    check<0>(
        "take_along, ids split", mesh,
        [&](auto v) { return sum(exp(take_along<D, K>(reduced<Y>(v), other))); }, a);
    auto const u = make<A>(mesh, {5, 4}, 2);
    check<0>(
        "scatter_along", mesh, [&](auto v) { return sum(exp(scatter_along<D>(v, same, n))); }, u);
    check<0>(
        "scatter_along, split", mesh,
        [&](auto v) { return sum(exp(all_reduce<Y>(scatter_along<D, K>(v, other, n)))); },
        make<T<Dim<B, X>, Dim<K, Y>>>(mesh, {5, 4}, 3));
  }
}

TEST_CASE("windows") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = make<A>(mesh, {5, 7}, 1);
  auto const b = make<A>(mesh, {5, 3}, 2);
  auto const h = make<T<Dim<B, X>, Dim<H>>>(mesh, {5, 3}, 2);
  for (std::int64_t const begin : {-1, 0, 2, 6}) {
    auto const start = full<Places<>>(mesh, {}, begin);
    check<0>("slice", mesh, [&](auto v) { return sum(exp(dynamic_slice<D>(v, begin, 3))); }, a);
    check<0>(
        "slice, renamed", mesh, [&](auto v) { return sum(exp(dynamic_slice<D, H>(v, begin, 3))); },
        a);
    check<0>(
        "slice, start in a tensor", mesh,
        [&](auto v) { return sum(exp(dynamic_slice<D, H>(v, start, 3))); }, a);
    check<0, 1>(
        "update", mesh, [&](auto v, auto u) { return sum(exp(dynamic_update<D>(v, u, begin))); }, a,
        b);
    check<0, 1>(
        "update, renamed, start in a tensor", mesh,
        [&](auto v, auto u) { return sum(exp(dynamic_update<D, H>(v, u, start))); }, a, h);
  }
}

TEST_CASE("shifts, running sums and sorts") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::int64_t const n : {7, 1, 0}) {
    auto const a = make<A>(mesh, {n, 4}, 1);
    auto const w = make<A>(mesh, {n, 4}, 2);
    for (std::int64_t const by : {1, -3}) {
      check<0>("shift", mesh, [&](auto v) { return sum(exp(shift<B>(v, by)) * w); }, a);
      check<0>(
          "shift around", mesh,
          [&](auto v) { return sum(exp(shift<B>(v, by, op::Edge::wrap)) * w); }, a);
    }
    for (auto const how : {op::Cumulate::inclusive, op::Cumulate::exclusive})
      for (auto const from : {op::Direction::forward, op::Direction::reverse}) {
        check<0>("cumsum", mesh, [&](auto v) { return sum(exp(cumsum<B>(v, how, from))); }, a);
        check<0>(
            "cumsum, unsplit", mesh, [&](auto v) { return sum(exp(cumsum<D>(v, how, from))); }, a);
      }
    for (auto const order : {op::Order::ascending, op::Order::descending})
      check<0>("sort", mesh, [&](auto v) { return sum(exp(sort<D>(v, order)) * w); }, a);
  }
}

TEST_CASE("running products and the largest elements") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::int64_t const n : {7, 1, 0}) {
    auto const a = make<A>(mesh, {n, 4}, 1, 0.5, 1.5);
    for (auto const how : {op::Cumulate::inclusive, op::Cumulate::exclusive})
      for (auto const from : {op::Direction::forward, op::Direction::reverse})
        check<0>("cumprod", mesh, [&](auto v) { return sum(exp(cumprod<B>(v, how, from))); }, a);
    check<0>(
        "cumprod of a reduced value", mesh, [](auto v) { return sum(exp(cumprod<D>(v))); },
        make<T<Dim<D>, Dim<B, Y>, Reduced<X>>>(mesh, {4, n}, 2));
    auto const w = make<T<Dim<B, X>, Dim<K>>>(mesh, {n, 2}, 2);
    check<0>(
        "top_k", mesh, [](auto v) { return sum(exp(top_k<D>(v, 3).values)); },
        make<A>(mesh, {n, 4}, 3));
    check<0>(
        "top_k, renamed", mesh,
        [&](auto v) {
          auto const [values, places] = top_k<D, K>(v, 2);
          return sum(exp(values) * w * cast<double>(places + 1));
        },
        make<A>(mesh, {n, 4}, 4));
  }
  // the derivative at zeros is that of a polynomial, so that differences have it too
  using Line = T<Dim<B, X>>;
  for (std::vector<double> const& with_zeros :
       {std::vector<double>{2, 0, 3, -1, 5}, {0, 2, 0, 3, 4}, {1, 2, 3, 4, 0}, {0, 0, 0, 1, 1}}) {
    auto const a = from_host<Line>(mesh, {5}, with_zeros);
    auto const w = make<Line>(mesh, {5}, 5);
    for (auto const how : {op::Cumulate::inclusive, op::Cumulate::exclusive})
      for (auto const from : {op::Direction::forward, op::Direction::reverse})
        check<0>(
            "cumprod with zeros", mesh, [&](auto v) { return sum(cumprod<B>(v, how, from) * w); },
            a);
  }
}

TEST_CASE("running maxima and minima") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::int64_t const n : {7, 1, 0})
    for (auto const from : {op::Direction::forward, op::Direction::reverse}) {
      auto const a = make<T<Dim<D>, Dim<B, X>, Reduced<Y>>>(mesh, {n, 3}, 1);
      check<0>(
          "cummax", mesh,
          [&](auto v) { return sum(exp(cummax<D>(v, op::Cumulate::inclusive, from))); }, a);
      check<0>(
          "cummin", mesh,
          [&](auto v) { return sum(exp(cummin<D>(v, op::Cumulate::inclusive, from))); }, a);
      check<0>(
          "exclusive", mesh,
          [&](auto v) { return sum(exp(cummax<D>(v, op::Cumulate::exclusive, from))); }, a);
    }
  // equal elements share as in JAX; more of it in gradients_special.cpp
  using Line = T<Dim<D>, Reduced<X>>;
  auto const a = from_host<Line>(mesh, {6}, std::vector<double>{2, 2, 1, 3, 3, 2});
  auto const w = from_host<T<Dim<D>>>(mesh, {6}, std::vector<double>{1, 2, 4, 8, 16, 32});
  auto const g =
      grad<0>([&](auto v) { return all_reduce<X>(sum(to_partial<X>(cummax<D>(v) * w))); })(a);
  CHECK(gradients::whole(g) == std::vector<double>{4, 3, 0, 32, 24, 0});
}
