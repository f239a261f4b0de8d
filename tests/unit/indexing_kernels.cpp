// The kernels of sorting and scatters in cases that tests of whole operations do not reach: all
// numbers of kept elements, rows that several kernel calls share.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <shardtype/kernels/scatter.hpp>
#include <shardtype/kernels/sort.hpp>

#include "harness/catch.hpp"

using namespace shardtype::kernels;
using Int = std::int64_t;
using Host = Kokkos::DefaultHostExecutionSpace;

namespace {

std::vector<float> rows_with_nans(Int n) {
  std::vector<float> in(static_cast<std::size_t>(n));
  for (Int k = 0; k < n; ++k) {
    Int const h = (k * 2654435761 >> 7) % 97;
    in[static_cast<std::size_t>(k)] = h == 5 ? NAN : static_cast<float>(h);
  }
  return in;
}

int wrong_places(Int n, Int keep, bool descending) {
  Int const rows = 2;
  auto const in = rows_with_nans(rows * n);
  std::vector<Keyed<float>> a(in.size());
  std::vector<Keyed<float>> b(in.size());
  SortPlan const plan = plan_sort<Host>(rows, n, keep);
  sort_rows<Keyed<float>>(Host{}, plan, in.data(), a.data(), b.data(), descending);
  auto const& sorted = plan.ends_in_first() ? a : b;
  int bad = 0;
  for (Int row = 0; row < rows; ++row) {
    float const* const values = in.data() + row * n;
    std::vector<Int> at(static_cast<std::size_t>(n));
    for (std::size_t k = 0; k < at.size(); ++k) at[k] = static_cast<Int>(k);
    auto const before = [&](float x, float y) {
      if (std::isnan(y)) return !std::isnan(x);
      return descending ? y < x : x < y;
    };
    std::sort(at.begin(), at.end(), [&](Int x, Int y) {
      return before(values[x], values[y]) || (!before(values[y], values[x]) && x < y);
    });
    for (Int k = 0; k < keep; ++k)
      if (sorted[static_cast<std::size_t>(row * n + k)].place != at[static_cast<std::size_t>(k)])
        ++bad;
  }
  return bad;
}

}  // namespace

TEST_CASE("the first of sorted rows, whole or selected") {
  for (Int n : {1, 16, 17, 64, 65, 100, 300, 9000, 40001})
    for (Int keep : {Int{0}, Int{1}, Int{5}, Int{32}, Int{33}, Int{70}, n})
      for (bool descending : {false, true}) {
        if (keep > n) continue;
        CAPTURE(n, keep, descending);
        CHECK(wrong_places(n, keep, descending) == 0);
      }
}

TEST_CASE("rows are added once, however many calls share them") {
  NumberedRows const rows{2, 7, 9, 3, 50};  // ids 3 to 9 are here
  std::vector<std::int32_t> ids(50);
  for (std::size_t k = 0; k < ids.size(); ++k) ids[k] = static_cast<std::int32_t>(k * 5 % 13);
  std::vector<Int> updates(2 * 50 * 9);
  for (std::size_t k = 0; k < updates.size(); ++k) updates[k] = static_cast<Int>(k) + 1;
  std::vector<Int> right(2 * 7 * 9, 0);
  for (std::size_t o = 0; o < 2; ++o)
    for (std::size_t k = 0; k < 50; ++k)
      for (std::size_t i = 0; i < 9; ++i)
        if (ids[k] >= 3 && ids[k] < 10)
          right[(o * 7 + static_cast<std::size_t>(ids[k]) - 3) * 9 + i] +=
              updates[(o * 50 + k) * 9 + i];
  for (Int parts : {1, 2, 3, 7})
    for (Int piece : {4, 9, 100}) {
      CAPTURE(parts, piece);
      Int const pieces = (rows.inner + piece - 1) / piece;
      std::vector<Int> out(right.size(), 0);
      detail::AddRowsInOrder<Int, std::int32_t> const add{
          updates.data(), ids.data(), out.data(), rows, parts, pieces, piece};
      for (Int work = 0; work < rows.outer * pieces * parts; ++work) add(work);
      CHECK(out == right);
    }
  std::vector<Int> out(right.size(), 0);
  detail::AddRowsAtOnce<Int, std::int32_t> const add{updates.data(), ids.data(), out.data(), rows};
  for (Int work = 0; work < static_cast<Int>(updates.size()); ++work) add(work);
  CHECK(out == right);
}
