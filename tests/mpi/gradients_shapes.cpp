// Gradients of slices, pads, concatenations, stacks, repetitions, triangles, and of split and
// merged dims, against central differences in double; uneven, empty and extent 1.
// RANKS: 1 2 4 8
#include <cstdint>

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
struct J : Index<"J"> {};
struct K : Index<"K"> {};
template <class... Parts>
using T = Tensor<double, Parts...>;
using A = T<Dim<B, X>, Dim<D>>;

}  // namespace

TEST_CASE("slice and pad") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::int64_t const b : {7, 1, 0}) {
    auto const a = make<A>(mesh, {b, 8}, 1);
    check<0>("slice", mesh, [](auto v) { return sum(exp(slice<D>(v, 1, 6))); }, a);
    check<0>("slice with a step", mesh, [](auto v) { return sum(exp(slice<D>(v, 1, 8, 3))); }, a);
    check<0>("slice, step, short", mesh, [](auto v) { return sum(exp(slice<D>(v, 2, 7, 3))); }, a);
    check<0>("slice, renamed", mesh, [](auto v) { return sum(exp(slice<D, H>(v, 0, 3))); }, a);
    check<0>("slice of nothing", mesh, [](auto v) { return sum(exp(slice<D>(v, 3, 3, 2))); }, a);
    check<0>("pad", mesh, [](auto v) { return sum(exp(pad<D>(v, 2, 1))); }, a);
    check<0>("pad by a value", mesh, [](auto v) { return sum(exp(pad<D, H>(v, 2, 1, 0.5))); }, a);
    check<0>(
        "pad between", mesh, [](auto v) { return sum(exp(pad<D>(v, 2, 1, op::Interior{2}))); }, a);
    check<0>(
        "pad between, by a value", mesh,
        [](auto v) { return sum(exp(pad<D>(v, 0, 3, op::Interior{1}, 0.25))); }, a);
    check<0>("one row", mesh, [](auto v) { return sum(exp(at<D>(v, 5))); }, a);
  }
  check<0>(
      "pad of nothing", mesh,
      [](auto v) { return sum(exp(pad<D>(v, 2, 1, op::Interior{2}))) + sum(v); },
      make<A>(mesh, {5, 0}, 1));
  check<0>(
      "slice of a Reduced one", mesh,
      [](auto v) { return sum(square(all_reduce<X>(to_partial<X>(v)))) + sum(slice<D>(v, 1, 3)); },
      make<T<Dim<D>, Reduced<Y>>>(mesh, {5}, 1));
  check<0>(
      "slice of a sum", mesh,
      [](auto v) { return sum(exp(all_reduce<X>(slice<D>(sum<B>(v), 1, 3)))); },
      make<A>(mesh, {5, 4}, 1));
  check<0>(
      "a row of a split dim", mesh, [](auto v) { return sum(exp(all_reduce<X>(at<B>(v, 2)))); },
      make<A>(mesh, {5, 4}, 1));
}

TEST_CASE("concat and stack") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::int64_t const n : {5, 1, 0}) {
    auto const a = make<A>(mesh, {7, n}, 1);
    auto const b = make<A>(mesh, {7, 3}, 2);
    auto const c = make<A>(mesh, {7, n}, 3);
    check<0, 1, 2>(
        "concat", mesh, [](auto u, auto v, auto w) { return sum(exp(concat<D>(u, v, w))); }, a, b,
        c);
    check<0, 1>(
        "concat, renamed", mesh, [](auto u, auto v) { return sum(exp(concat<D, H>(u, v))); }, a, b);
    check<0, 1>("stack", mesh, [](auto u, auto v) { return sum(exp(stack<K>(u, v, u))); }, a, c);
    check<1>(
        "stack on a constant", mesh, [](auto u, auto v) { return sum(exp(stack<K>(u, v))); }, a, c);
  }
}

TEST_CASE("rolls, flips and triangles") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using M = T<Dim<B, X>, Dim<D, Y>>;
  for (std::int64_t const n : {6, 1, 0}) {
    auto const a = make<A>(mesh, {5, n}, 1);
    auto const w = make<A>(mesh, {5, n}, 2);
    check<0>("roll", mesh, [&](auto v) { return sum(exp(roll<D>(v, 2)) * w); }, a);
    check<0>("flip", mesh, [&](auto v) { return sum(exp(flip<D>(v)) * w); }, a);
    auto const m = make<M>(mesh, {7, n}, 3);
    check<0>("tril", mesh, [](auto v) { return sum(exp(tril<B, D>(v, 1))); }, m);
    check<0>("triu", mesh, [](auto v) { return sum(exp(triu<B, D>(v))); }, m);
  }
}

TEST_CASE("repetitions") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::int64_t const n : {3, 1, 0})
    for (std::int64_t const times : {2, 1, 0}) {
      auto const a = make<A>(mesh, {5, n}, 1);
      auto const w = make<A>(mesh, {5, n * times}, 2);
      check<0>("repeat", mesh, [&](auto v) { return sum(exp(repeat<D>(v, times)) * w); }, a);
      check<0>("tile", mesh, [&](auto v) { return sum(exp(tile<D>(v, times)) * w); }, a);
      check<0>(
          "repeat, renamed", mesh, [&](auto v) { return sum(exp(repeat<D, H>(v, times))); }, a);
      check<0>("tile, renamed", mesh, [&](auto v) { return sum(exp(tile<D, H>(v, times))); }, a);
    }
}

TEST_CASE("split and merged dims") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::int64_t const n : {2, 1, 0}) {
    auto const a = make<T<Dim<B, X>, Dim<D>>>(mesh, {8 * n, 6}, 1);
    auto const w = make<T<Dim<D>>>(mesh, {6}, 2);
    check<0>(
        "split, one dim", mesh, [](auto v) { return sum(exp(split_dim<D, J, K>(v, {2, 3}))); }, a);
    check<0>(
        "split along an axis", mesh,
        [&](auto v) { return sum(exp(split_dim<B, Dim<J, X>, K>(v, {8, n}))); }, a);
    auto const m = make<T<Dim<J, X>, Dim<K>, Dim<D>>>(mesh, {8, n, 6}, 3);
    check<0>("merge", mesh, [](auto v) { return sum(exp(merge_dims<K, D, H>(v))); }, m);
    check<0>(
        "merge along an axis", mesh, [](auto v) { return sum(exp(merge_dims<J, K, B>(v))); }, m);
    check<0>(
        "merge, and split again", mesh,
        [&](auto v) {
          return sum(exp(split_dim<H, K, D>(merge_dims<K, D, H>(v), {n, 6})) * reduced<X>(w));
        },
        m);
  }
}

TEST_CASE("one cast of parameters, however they are stored") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const x = make<T<Dim<B, X>, Dim<D>>>(mesh, {7, 5}, 2);
  auto model = [&](auto v) { return sum(exp(matmul(x, used_as<Reduced<X>>(v)))); };
  auto all = [](auto v) { return sum(exp(all_gather<X>(v, to_reduced))); };
  check<0>("replicated", mesh, model, make<T<Dim<D>, Dim<H>>>(mesh, {5, 3}, 1));
  check<0>("split", mesh, model, make<T<Dim<D, X>, Dim<H>>>(mesh, {5, 3}, 1));
  check<0>("split over another axis", mesh, model, make<T<Dim<D>, Dim<H, Y>>>(mesh, {5, 3}, 1));
  check<0>("Reduced", mesh, model, make<T<Dim<D>, Dim<H>, Reduced<X>>>(mesh, {5, 3}, 1));
  check<0>("constants", mesh, [](auto v) { return sum(exp(v) * full_like(v, 2.0)); }, x);
  check<0>("gathered to Reduced", mesh, all, make<T<Dim<D, Y>, Dim<H, X>>>(mesh, {7, 5}, 1));
}

TEST_CASE("gradients of second order through shapes") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = make<A>(mesh, {5, 6}, 1);
  auto twice = [](auto const& f) { return [f](auto v) { return sum(square(grad<0>(f)(v))); }; };
  check<0>("slice", mesh, twice([](auto v) { return sum(exp(slice<D>(v, 1, 6, 2))); }), a);
  check<0>("at and stack", mesh,
           twice([](auto v) { return sum(exp(stack<K>(at<D>(v, 1), at<D>(v, 4)))); }), a);
  check<0>("concat, roll, flip", mesh,
           twice([](auto v) { return sum(exp(concat<D>(roll<D>(v, 2), flip<D>(v)))); }), a);
  check<0>("tile and merge", mesh, twice([](auto v) {
             return sum(exp(merge_dims<J, K, H>(split_dim<D, J, K>(tile<D>(v, 2), {3, 4}))));
           }),
           a);
}
