// Rows repeated by counts, and rows that a mask keeps: compared with loops on one rank, on uneven
// and empty blocks; strict and named, in automatic mode, with gradients.
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
struct K : Index<"K"> {};

using Int = std::int64_t;
using on_ranks::wrong;

double element(Int i, Int j) { return static_cast<double>(i * 10 + j + 1); }
Int count_of(Int i) { return (i * 5 + 2) % 4; }  // 2, 3, 0, 1, 2, ...
bool keeps(Int i) { return i % 3 != 1; }

// The row that each of `total` rows repeats; -1 of none.
std::vector<Int> repeated(Int n, Int total) {
  std::vector<Int> out;
  for (Int i = 0; i < n; ++i)
    for (Int k = 0; k < count_of(i); ++k) out.push_back(i);
  out.resize(static_cast<std::size_t>(total), n - 1);
  return out;
}
// The row that is kept at each of `total` places; -1 of none.
std::vector<Int> kept(Int n, Int total) {
  std::vector<Int> out;
  for (Int i = 0; i < n; ++i)
    if (keeps(i)) out.push_back(i);
  out.resize(static_cast<std::size_t>(total), -1);
  return out;
}
auto rows_of(std::vector<Int> const& from) {
  return [from](Int k, Int j) {
    Int const i = from[static_cast<std::size_t>(k)];
    return i < 0 ? 0.0 : element(i, j);
  };
}
// How often each row is read.
auto reads_of(std::vector<Int> const& from) {
  return [from](Int i, Int) {
    Int n = 0;
    for (Int const row : from) n += row == i ? 1 : 0;
    return static_cast<double>(n);
  };
}

}  // namespace

TEST_CASE("repeat by counts: fewer rows than the total, more, none") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Int const n : {0, 1, 2, 7, 16})
    for (Int const total : {Int{0}, Int{1}, n, 2 * n + 5}) {
      INFO(n << " " << total);
      auto const a = from_function<double, Dim<I>, Dim<J, Y>>(mesh, {n, 3}, &element);
      auto const split = from_function<double, Dim<I, X>, Dim<J>>(mesh, {n, 3}, &element);
      auto const counts = from_function<Int, Dim<I>>(mesh, {n}, &count_of);
      auto const from = repeated(n, total);
      auto const right = rows_of(from);
      auto const made = repeat<I, K>(a, counts, total);
      static_assert(std::is_same_v<decltype(made), Tensor<double, Dim<K>, Dim<J, Y>> const>);
      CHECK(made.extents() == std::array<Int, 2>{total, 3});
      CHECK(wrong(made, right) == 0);
      CHECK(wrong(all_reduce<X>(repeat<I, K>(split, cast<std::int32_t>(counts), total)), right) ==
            0);
      CHECK(wrong(repeat<I, K, Dim<K, X>, Dim<J>>(split, counts, total), right) == 0);
      CHECK(wrong(evaluate<Dim<K, X>, Dim<J>>(mesh,
                                              repeat<I, K>(lazy(split) * 1.0, lazy(counts), total)),
                  right) == 0);
      auto const slope = grad([&](auto const& x) {
        return sum<Tensor<double>>(repeat<I, K, Dim<K, X>, Dim<J>>(x, counts, total));
      })(split);
      CHECK(wrong(slope, reads_of(from)) == 0);
    }
}

TEST_CASE("compress: the rows that a mask keeps, with zeros behind, and their number") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Int const n : {0, 1, 2, 7, 16})
    for (Int const total : {Int{0}, Int{1}, n, n + 3}) {
      INFO(n << " " << total);
      auto const a = from_function<double, Dim<I>, Dim<J, Y>>(mesh, {n, 3}, &element);
      auto const split = from_function<double, Dim<I, X>, Dim<J>>(mesh, {n, 3}, &element);
      auto const mask = from_function<bool, Dim<I>>(mesh, {n}, &keeps);
      auto const from = kept(n, total);
      auto const right = rows_of(from);
      Int all = 0;
      for (Int i = 0; i < n; ++i) all += keeps(i) ? 1 : 0;
      auto const [rows, count] = compress<I, K>(a, mask, total);
      CHECK(rows.extents() == std::array<Int, 2>{total, 3});
      CHECK(wrong(rows, right) == 0);
      CHECK(item(count) == all);
      auto const parts = std::get<0>(compress<I, K>(split, mask, total));
      CHECK(wrong(all_reduce<X>(parts), right) == 0);
      auto const named = compress<I, K, Dim<K, X>, Dim<J>>(split, mask, total);
      CHECK(wrong(std::get<0>(named), right) == 0);
      auto const planned = std::get<0>(compress<I, K>(lazy(split) * 1.0, lazy(mask), total));
      CHECK(wrong(evaluate<Dim<K, X>, Dim<J>>(mesh, planned), right) == 0);
      auto const slope = grad([&](auto const& x) {
        return sum<Tensor<double>>(std::get<0>(compress<I, K, Dim<K, X>, Dim<J>>(x, mask, total)));
      })(split);
      CHECK(wrong(slope, reads_of(from)) == 0);
    }
}
