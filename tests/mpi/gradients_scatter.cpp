// Gradients of maxima and minima by ids, whose ties share the cotangent, and of rows that are
// replaced, compared with loops on one rank: uneven and empty blocks, ids out of range, equal ids.
// (The functions have kinks, so no differences are taken.)
#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct V : Index<"V"> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};

using Int = std::int64_t;
using on_ranks::wrong;

double update(Int b, Int d) { return static_cast<double>((b * b + d) % 3) - 1; }
double weight(Int v, Int d) { return static_cast<double>(v * 3 + d + 1); }
// From -1 to rows, with repeats.
Int id_of(Int b, Int rows) { return (b * 5) % (rows + 2) - 1; }

// The largest of the updates of an element, or of their negatives; how many are equal to it.
struct Extreme {
  double value = -std::numeric_limits<double>::infinity();
  Int ties = 0;
};
Extreme extreme_of(Int rows, Int batch, Int v, Int d, double sign) {
  Extreme out;
  for (Int b = 0; b < batch; ++b) {
    if (id_of(b, rows) != v) continue;
    double const u = sign * update(b, d);
    out.ties = u > out.value ? 1 : out.ties + (u == out.value ? 1 : 0);
    out.value = std::max(out.value, u);
  }
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

TEST_CASE("gradients of scatter_max and scatter_min: ties share, strict and named") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Int const rows : {0, 1, 5})
    for (Int const batch : {0, 1, 13}) {
      INFO(rows << " " << batch);
      auto const to = [=](Int b) { return id_of(b, rows); };
      auto const ids = from_function<Int, Dim<B, X>>(mesh, {batch}, to);
      auto const all = from_function<Int, Dim<B>>(mesh, {batch}, to);
      auto const u = from_function<double, Dim<B, X>, Dim<D, Y>>(mesh, {batch, 3}, &update);
      auto const copied = from_function<double, Dim<D>, Dim<B>>(
          mesh, {3, batch}, [](Int d, Int b) { return update(b, d); });
      auto const w = from_function<double, Dim<V, X>, Dim<D>>(mesh, {rows, 3}, &weight);
      auto const wt = from_function<double, Dim<D>, Dim<V>>(
          mesh, {3, rows}, [](Int d, Int v) { return weight(v, d); });
      auto const part = [=](double sign) {
        return [=](Int b, Int d) {
          Int const v = id_of(b, rows);
          if (v < 0 || v >= rows) return 0.0;
          Extreme const e = extreme_of(rows, batch, v, d, sign);
          return sign * update(b, d) == e.value ? weight(v, d) * (1 / static_cast<double>(e.ties))
                                                : 0.0;
        };
      };
      // rows without updates are infinite, and have no part in the loss
      auto const finite = [](auto const& m) { return where(abs(m) < 100.0, m, op::zero); };
      auto const named = grad([&](auto const& x) {
        return sum<Tensor<double>>(finite(scatter_max<V, Dim<V, X>, Dim<D>>(x, ids, rows)) * w);
      })(u);
      CHECK(wrong(named, part(1)) == 0);
      auto const strict = grad(
          [&](auto const& x) { return sum(finite(scatter_min<V>(x, all, rows)) * wt); })(copied);
      CHECK(wrong(strict, [=](Int d, Int b) { return part(-1)(b, d); }) == 0);
    }
}

TEST_CASE(
    "gradients of scatter_set: none of replaced rows, of the updates that win, strict and named") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Int const rows : {0, 1, 5})
    for (Int const batch : {0, 1, 13}) {
      INFO(rows << " " << batch);
      auto const to = [=](Int b) { return id_of(b, rows); };
      auto const ids = from_function<Int, Dim<B, X>>(mesh, {batch}, to);
      auto const all = from_function<Int, Dim<B>>(mesh, {batch}, to);
      auto const a = from_function<double, Dim<V>, Dim<D, Y>>(mesh, {rows, 3}, &weight);
      auto const split = from_function<double, Dim<V, X>, Dim<D>>(mesh, {rows, 3}, &weight);
      auto const u = from_function<double, Dim<B>, Dim<D, Y>>(mesh, {batch, 3}, &update);
      auto const apart = from_function<double, Dim<B, Y>, Dim<D>>(mesh, {batch, 3}, &update);
      auto const of_both = value_and_grad<0, 1>([&](auto const& x, auto const& y) {
        return sum<Tensor<double>>(scatter_set<V, Dim<V, X>, Dim<D>>(x, y, ids) * split);
      })(split, apart);
      auto const kept = [=](Int v, Int d) {
        return last_of(rows, batch, v) < 0 ? weight(v, d) : 0.0;
      };
      auto const won = [=](Int b, Int d) {
        Int const v = to(b);
        return v >= 0 && v < rows && last_of(rows, batch, v) == b ? weight(v, d) : 0.0;
      };
      CHECK(wrong(std::get<0>(of_both.grad), kept) == 0);
      CHECK(wrong(std::get<1>(of_both.grad), won) == 0);
      auto const strict = value_and_grad<0, 1>([&](auto const& x, auto const& y) {
        return all_reduce<Y>(sum(scatter_set<V>(x, y, all) * a));
      })(a, u);
      CHECK(wrong(std::get<0>(strict.grad), kept) == 0);
      CHECK(wrong(std::get<1>(strict.grad), won) == 0);
    }
}
