// Lookups, sorting and indices of maxima along block-cyclic dims, compared with the dense value.
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct V : Index<"V"> {};
struct Head : Index<"Head"> {};

using Int = std::int64_t;
using IX = Dim<I, Cyclic<X, 3>>;
using JY = Dim<J, Cyclic<Y, 2>>;

double value(Int i, Int j) { return static_cast<double>((i * 37 + j * 11) % 101); }
std::vector<std::array<Int, 2>> const sizes = {{17, 9}, {2, 30}, {1, 1}, {24, 12}};

}  // namespace

TEST_CASE("the place of the largest of a block-cyclic dim is that in the whole dim") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (auto const& n : sizes) {
    INFO(n[0] << " " << n[1]);
    auto const a = from_function<double, IX, JY>(mesh, n, value);
    auto const rows = to_host(argmax<Dim<I>>(a));
    auto const cols = to_host(argmax<Dim<J>>(a));
    auto const least = to_host(argmin<Dim<I, X>>(a));
    for (Int i = 0; i < n[0]; ++i) {
      Int most = 0;
      Int small = 0;
      for (Int j = 1; j < n[1]; ++j) {
        if (value(i, j) > value(i, most)) most = j;
        if (value(i, j) < value(i, small)) small = j;
      }
      CHECK(rows[static_cast<std::size_t>(i)] == most);
      CHECK(least[static_cast<std::size_t>(i)] == small);
    }
    for (Int j = 0; j < n[1]; ++j) {
      Int most = 0;
      for (Int i = 1; i < n[0]; ++i)
        if (value(i, j) > value(most, j)) most = i;
      CHECK(cols[static_cast<std::size_t>(j)] == most);
    }
    Int first = 0;
    for (Int k = 1; k < n[0] * n[1]; ++k)
      if (value(k / n[1], k % n[1]) > value(first / n[1], first % n[1])) first = k;
    CHECK(item(argmax<Tensor<Int>>(a)) == first);
  }
}

TEST_CASE("lookups by block-cyclic ids, in tables whose other dims are") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (auto const& n : sizes) {
    INFO(n[0] << " " << n[1]);
    Int const extent = 7;
    auto const id = [](Int i) { return (i * 5) % 9; };  // two of the nine ids are outside
    auto const ids = from_function<Int, IX>(mesh, {n[0]}, id);
    auto const table = from_function<double, Dim<V>, JY>(mesh, {extent, n[1]}, value);
    auto const found = [&](Int i, Int j) { return id(i) < extent ? value(id(i), j) : 0; };
    CHECK(on_ranks::wrong(take<V>(table, ids), found) == 0);
    auto const hot = one_hot<V>(ids, extent);
    CHECK(on_ranks::wrong(hot, [&](Int i, Int v) { return id(i) == v ? 1.0F : 0.0F; }) == 0);

    auto const a = from_function<double, IX, Dim<J>>(mesh, n, value);
    auto const at =
        from_function<Int, IX, Dim<J>>(mesh, n, [&](Int, Int j) { return n[1] - 1 - j; });
    CHECK(on_ranks::wrong(take_along<J>(a, at),
                          [&](Int i, Int j) { return value(i, n[1] - 1 - j); }) == 0);
    auto const places = argsort<J>(a);
    CHECK(on_ranks::wrong(take_along<J>(a, places), [&](Int i, Int j) {
            std::vector<double> row;
            for (Int k = 0; k < n[1]; ++k) row.push_back(value(i, k));
            std::sort(row.begin(), row.end());
            return row[static_cast<std::size_t>(j)];
          }) == 0);
    CHECK(on_ranks::wrong(dynamic_slice<J, Head>(a, n[1] / 2, n[1] - n[1] / 2),
                          [&](Int i, Int j) { return value(i, j + n[1] / 2); }) == 0);
    auto const update = full<double, IX, Dim<J>>(mesh, {n[0], 1}, -1.0);
    CHECK(on_ranks::wrong(dynamic_update<J>(a, update, n[1] - 1),
                          [&](Int i, Int j) { return j == n[1] - 1 ? -1.0 : value(i, j); }) == 0);
  }
}
