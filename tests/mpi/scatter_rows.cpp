// Maxima and minima of updates by ids, and rows that are replaced: compared with loops on one rank,
// on uneven and empty blocks; strict and named, in automatic mode, with gradients; ids out of
// range, equal ids, ties and NaN.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct V : Index<"V"> {};
struct B : Index<"B"> {};
struct N : Index<"N"> {};
struct D : Index<"D"> {};

using Int = std::int64_t;
using on_ranks::wrong;

double update(Int b, Int d) { return static_cast<double>((b * 7 + d * 3) % 5) - 2; }
double weight(Int v, Int d) { return static_cast<double>(v * 3 + d + 1); }
// From -1 to rows, with repeats.
Int id_of(Int b, Int rows) { return (b * 5) % (rows + 2) - 1; }

// The largest of the updates of an element, or of their negatives.
double extreme_of(Int rows, Int batch, Int v, Int d, double sign) {
  double out = -std::numeric_limits<double>::infinity();
  for (Int b = 0; b < batch; ++b)
    if (id_of(b, rows) == v) out = std::max(out, sign * update(b, d));
  return out;
}
// The last update of a row; -1 if it has none.
Int last_of(Int rows, Int batch, Int v) {
  Int last = -1;
  for (Int b = 0; b < batch; ++b)
    if (id_of(b, rows) == v) last = b;
  return last;
}

}  // namespace

TEST_CASE("scatter_max and scatter_min: strict, named, planned") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Int const rows : {0, 1, 5})
    for (Int const batch : {0, 1, 13}) {
      INFO(rows << " " << batch);
      auto const to = [=](Int b) { return id_of(b, rows); };
      auto const ids = from_function<Int, Dim<B, X>>(mesh, {batch}, to);
      auto const all = from_function<std::int32_t, Dim<B>>(
          mesh, {batch}, [=](Int b) { return static_cast<std::int32_t>(to(b)); });
      auto const u = from_function<double, Dim<B, X>, Dim<D, Y>>(mesh, {batch, 3}, &update);
      auto const copied = from_function<double, Dim<D>, Dim<B>>(
          mesh, {3, batch}, [](Int d, Int b) { return update(b, d); });
      auto const most = [=](Int v, Int d) { return extreme_of(rows, batch, v, d, 1); };
      auto const least = [=](Int v, Int d) { return -extreme_of(rows, batch, v, d, -1); };
      auto const turned = [=](Int d, Int v) { return most(v, d); };
      auto const made = scatter_max<V>(u, ids, rows);
      static_assert(std::is_same_v<decltype(made),
                                   Tensor<double, Dim<V>, Dim<D, Y>, Unreduced<Max, X>> const>);
      CHECK(wrong(all_reduce<X>(made), most) == 0);
      CHECK(wrong(all_reduce<X>(scatter_min<V>(u, ids, rows)), least) == 0);
      CHECK(wrong(scatter_max<V>(copied, all, rows), turned) == 0);
      CHECK(wrong(scatter_max<V, Dim<V, X>, Dim<D>>(u, ids, rows), most) == 0);
      CHECK(wrong(scatter_min<V, Dim<V, Y>, Dim<D, X>>(u, ids, rows), least) == 0);
      CHECK(wrong(evaluate<Dim<V, X>, Dim<D>>(mesh, scatter_max<V>(lazy(u) * 1.0, lazy(ids), rows)),
                  most) == 0);
    }
}

TEST_CASE("scatter_max of numbers of other types, and of NaN") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  Int const rows = 4;
  auto const ids = from_function<Int, Dim<B, X>>(mesh, {9}, [](Int b) { return b % 3; });
  auto const whole = [](Int v) {
    return v < 3 ? 6 + v : std::numeric_limits<std::int32_t>::lowest();
  };
  auto const some = from_function<std::int32_t, Dim<B, X>>(
      mesh, {9}, [](Int b) { return static_cast<std::int32_t>(b); });
  CHECK(wrong(scatter_max<V, Dim<V>>(some, ids, rows), whole) == 0);
  auto const half = cast<bfloat16>(some);
  auto const top = cast<float>(scatter_max<V, Dim<V, X>>(half, ids, rows));
  CHECK(wrong(top, [](Int v) {
          return v < 3 ? static_cast<float>(6 + v) : -std::numeric_limits<float>::infinity();
        }) == 0);
  auto const any_of = scatter_max<V, Dim<V>>(some == 7, ids, rows);
  CHECK(wrong(any_of, [](Int v) { return v == 1; }) == 0);
  auto const broken =
      where(some == 4, std::numeric_limits<double>::quiet_NaN(), cast<double>(some));
  auto const least = scatter_min<V, Dim<V>>(broken.tensor(), ids, rows);
  CHECK(wrong(isnan(least), [](Int v) { return v == 1; }) == 0);
}

TEST_CASE("scatter_set: the last of equal ids wins; strict, named, planned") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Int const rows : {0, 1, 5})
    for (Int const batch : {0, 1, 13}) {
      INFO(rows << " " << batch);
      auto const to = [=](Int b) { return id_of(b, rows); };
      auto const ids = from_function<Int, Dim<B, X>>(mesh, {batch}, to);
      auto const all = from_function<std::int32_t, Dim<B>>(
          mesh, {batch}, [=](Int b) { return static_cast<std::int32_t>(to(b)); });
      auto const a = from_function<double, Dim<V>, Dim<D, Y>>(mesh, {rows, 3}, &weight);
      auto const split = from_function<double, Dim<V, X>, Dim<D>>(mesh, {rows, 3}, &weight);
      auto const of = [](Int b, Int d) { return 100.0 + static_cast<double>(b * 3 + d); };
      auto const u = from_function<double, Dim<B>, Dim<D, Y>>(mesh, {batch, 3}, of);
      auto const apart = from_function<double, Dim<B, Y>, Dim<D>>(mesh, {batch, 3}, of);
      auto const right = [=](Int v, Int d) {
        Int const b = last_of(rows, batch, v);
        return b < 0 ? weight(v, d) : of(b, d);
      };
      auto const made = scatter_set<V>(a, u, all);
      static_assert(std::is_same_v<decltype(made), Tensor<double, Dim<V>, Dim<D, Y>> const>);
      CHECK(wrong(made, right) == 0);
      CHECK(wrong(scatter_set<V, Dim<V, X>, Dim<D>>(split, apart, ids), right) == 0);
      CHECK(wrong(scatter_set<V, Dim<V>, Dim<D, X>>(a, apart, all), right) == 0);
      CHECK(wrong(evaluate<Dim<V, X>, Dim<D>>(
                      mesh, scatter_set<V>(lazy(split) * 1.0, lazy(apart), lazy(ids), rows)),
                  right) == 0);
    }
}

TEST_CASE("scatter_set by ids of two dims: the last in the order of the dims") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const ids =
      from_function<Int, Dim<B, X>, Dim<N>>(mesh, {5, 3}, [](Int b, Int n) { return (b + n) % 4; });
  auto const u = from_function<float, Dim<B, X>, Dim<N>>(
      mesh, {5, 3}, [](Int b, Int n) { return static_cast<float>(10 * b + n); });
  auto const a = full<float, Dim<V, Y>>(mesh, {6}, -1.0F);
  float last[] = {-1, -1, -1, -1, -1, -1};
  for (Int b = 0; b < 5; ++b)
    for (Int n = 0; n < 3; ++n) last[(b + n) % 4] = static_cast<float>(10 * b + n);
  CHECK(wrong(scatter_set<V, Dim<V, Y>>(a, u, ids), [&](Int v) { return last[v]; }) == 0);
}
