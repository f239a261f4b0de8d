#pragma once
/// Counts of elements by bin, and binary searches.

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/check/functions.hpp>
#include <shardtype/kernels/fill.hpp>
#include <shardtype/kernels/launch.hpp>

namespace shardtype::kernels {

/// The type of the edges of bins of elements `T`.
template <class T>
using edge_of = std::conditional_t<std::is_integral_v<T>, double, shardtype::detail::computed_t<T>>;

/// The counts of the bins `first` to `first + n`.
struct Counts {
  std::int64_t* of_bin;
  std::int64_t first, n;
};

/// The bin of an id is the id.
struct BinOfId {
  template <class Id>
  KOKKOS_FUNCTION std::int64_t operator()(Id id) const {
    return static_cast<std::int64_t>(id);
  }
};

/// The number of the bin of an element, of `n` bins of equal width, or -1.
template <class Edge>
struct EqualBin {
  double low, width, per_width;
  std::int64_t n;
  Edge first, last;

  EqualBin(double from, double to, std::int64_t bins) : n(bins) {
    double const half = from == to ? 0.5 : 0.0;
    low = from - half;
    width = (to + half - low) / static_cast<double>(bins);
    per_width = static_cast<double>(bins) / (to + half - low);
    first = static_cast<Edge>(low);
    last = static_cast<Edge>(to + half);
  }
  /// Where bin `k` begins; edge `n` is `last`.
  KOKKOS_FUNCTION Edge edge(std::int64_t k) const {
    return static_cast<Edge>(static_cast<double>(k) * width + low);
  }
  template <class T>
  KOKKOS_FUNCTION std::int64_t operator()(T element) const {
    auto const x = static_cast<Edge>(element);
    if (n == 0 || !(first <= x && x <= last)) return -1;
    double const guess = (static_cast<double>(x) - low) * per_width;
    auto const most = static_cast<double>(n - 1);
    auto k = static_cast<std::int64_t>(guess > 0 ? (guess < most ? guess : most) : 0.0);
    // the edges are rounded, and so is the guess
    while (k > 0 && x < edge(k)) --k;
    while (k + 1 < n && x >= edge(k + 1)) ++k;
    return k;
  }
};

namespace detail {

/// One call counts a piece of the elements. `shared`: others count at the same time.
template <class T, class Bin>
struct CountPiece {
  T const* elements;
  std::int64_t count, piece;
  Bin bin;
  Counts counts;
  bool shared;

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    std::int64_t const begin = work * piece;
    std::int64_t const end = begin + piece < count ? begin + piece : count;
    for (std::int64_t k = begin; k < end; ++k) {
      std::int64_t const number = bin(elements[k]);
      if (number < counts.first || number - counts.first >= counts.n) continue;
      std::int64_t* const to = counts.of_bin + (number - counts.first);
      if (shared) {
        Kokkos::atomic_add(to, std::int64_t{1});
      } else {
        ++*to;
      }
    }
  }
};

/// One call finds the row of one query.
template <class T>
struct SearchQuery {
  using Value = shardtype::detail::computed_t<T>;
  T const* table;
  std::int64_t rows;
  T const* queries;
  std::int64_t* out;
  bool behind_equal;

  /// NaN is behind all numbers.
  KOKKOS_FUNCTION static bool less(Value a, Value b) { return a < b || (b != b && a == a); }
  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    auto const query = static_cast<Value>(queries[work]);
    std::int64_t low = 0;
    std::int64_t high = rows;
    while (low < high) {
      std::int64_t const middle = low + (high - low) / 2;
      auto const there = static_cast<Value>(table[middle]);
      if (behind_equal ? !less(query, there) : less(there, query)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    out[work] = low;
  }
};

}  // namespace detail

/// The number of the `count` elements in each bin, whose number `bin(element)` gives. Integers are
/// the same for any order of the calls.
template <class T, class Bin, class Exec>
void count(Exec const& exec, T const* elements, std::int64_t count, Bin const& bin,
           Counts const& counts) {
  kernels::fill(exec, counts.of_bin, counts.n, std::int64_t{0});
  if (count == 0 || counts.n == 0) return;
  std::int64_t piece = 1;
  if constexpr (runtime::host_reads<Exec>) {
    auto const workers = static_cast<std::int64_t>(exec.concurrency());
    piece = (count + workers - 1) / workers;
  }
  std::int64_t const calls = (count + piece - 1) / piece;
  kernels::launch(exec, "shardtype::count", calls,
                  detail::CountPiece<T, Bin>{elements, count, piece, bin, counts, calls > 1});
}

/// out[k] = the number of elements of the sorted `table` that are less than query `k`, or
/// (`behind_equal`) that are not greater.
template <class T, class Exec>
void search_sorted(Exec const& exec, T const* table, std::int64_t rows, T const* queries,
                   std::int64_t* out, std::int64_t count, bool behind_equal) {
  kernels::launch(exec, "shardtype::search_sorted", count,
                  detail::SearchQuery<T>{table, rows, queries, out, behind_equal});
}

}  // namespace shardtype::kernels
