// Rows chosen along their own index by `take`, in another order or number: on uneven and empty
// blocks, strict and named, in automatic mode, with gradients; ids out of range.
#include <cstdint>
#include <string>
#include <type_traits>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct V : Index<"V"> {};
struct D : Index<"D"> {};

using Int = std::int64_t;
using on_ranks::code_of;
using on_ranks::wrong;

double row(Int v, Int d) { return static_cast<double>(v * 10 + d + 1); }
// A permutation of n rows if n and 7 have no common divisor.
Int permuted(Int v, Int n) { return (v * 7 + 2) % n; }
// From -1 to n, with repeats.
Int some(Int v, Int n) { return (v * 3) % (n + 2) - 1; }

}  // namespace

TEST_CASE("take along the same index: rows in another order, fewer, more, none") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Int const n : {1, 2, 5, 13})
    for (Int const d : {0, 1, 6}) {
      INFO(n << " " << d);
      auto const table = from_function<double, Dim<V>, Dim<D, Y>>(mesh, {n, d}, &row);
      auto const split = from_function<double, Dim<V, X>, Dim<D>>(mesh, {n, d}, &row);
      auto const to = [=](Int v) { return permuted(v, n); };
      auto const ids = from_function<Int, Dim<V, X>>(mesh, {n}, to);
      auto const whole = from_function<std::int32_t, Dim<V>>(
          mesh, {n}, [=](Int v) { return static_cast<std::int32_t>(to(v)); });
      auto const right = [=](Int v, Int k) { return row(to(v), k); };
      auto const made = take<V>(table, ids);
      static_assert(std::is_same_v<decltype(made), Tensor<double, Dim<V, X>, Dim<D, Y>> const>);
      CHECK(wrong(made, right) == 0);
      CHECK(wrong(all_reduce<X>(take<V>(split, whole)), right) == 0);
      CHECK(wrong(take<V, Dim<V, X>, Dim<D>>(split, ids), right) == 0);
      CHECK(wrong(take<V, Dim<D>, Dim<V, Y>>(split, whole),
                  [=](Int k, Int v) { return right(v, k); }) == 0);
      CHECK(wrong(evaluate<Dim<V, X>, Dim<D>>(mesh, take<V>(lazy(split) * 1.0, lazy(ids))),
                  right) == 0);
      for (Int const m : {Int{0}, Int{1}, 2 * n + 1}) {
        auto const chosen =
            from_function<Int, Dim<V, X>>(mesh, {m}, [=](Int v) { return some(v, n); });
        auto const of_some = [=](Int v, Int k) {
          Int const id = some(v, n);
          return id >= 0 && id < n ? row(id, k) : 0;
        };
        auto const rows = take<V>(table, chosen);
        CHECK(rows.extents()[0] == m);
        CHECK(wrong(rows, of_some) == 0);
        if (m > n) CHECK(code_of([&] { take<V, Dim<V, X>, Dim<D>>(split, chosen); }) == "E24");
      }
    }
}

TEST_CASE("the gradient of rows in another order: each cotangent at the row that was taken") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Int const n : {1, 5, 13}) {
    auto const split = from_function<double, Dim<V, X>, Dim<D>>(mesh, {n, 3}, &row);
    auto const table = from_function<double, Dim<V>, Dim<D, Y>>(mesh, {n, 3}, &row);
    auto const ids =
        from_function<Int, Dim<V, X>>(mesh, {n}, [=](Int v) { return permuted(v, n); });
    // the cotangent of row v is v + 1, and row permuted(v) gets it
    auto const factor = from_function<double, Dim<V, X>>(
        mesh, {n}, [](Int v) { return static_cast<double>(v + 1); });
    auto const right = [=](Int v, Int) {
      Int k = 0;
      while (permuted(k, n) != v) ++k;
      return static_cast<double>(k + 1);
    };
    auto const named = [&](auto const& a) {
      return sum<Tensor<double>>(take<V, Dim<V, X>, Dim<D>>(a, ids) * factor);
    };
    CHECK(wrong(grad(named)(split), right) == 0);
    auto const strict = [&](auto const& a) {
      return sum<Tensor<double>>(take<V>(a, ids) * factor);
    };
    auto const of_table = grad(strict)(reduced<X>(table));
    CHECK(wrong(reshard<Dim<V>, Dim<D>>(of_table), right) == 0);
    auto const planned =
        evaluate(mesh, grad([](auto a, auto p, auto c) { return sum(take<V>(a, p) * c); }), split,
                 ids, factor);
    CHECK(wrong(planned, right) == 0);
  }
}
