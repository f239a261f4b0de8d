#pragma once
/// Host: rows that ranks have sorted by themselves: how many elements come before a key, segments
/// copied out of rows, and rows merged of sorted runs.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/core/layout.hpp>
#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/sort.hpp>
#include <shardtype/kernels/sort_key.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype::kernels {

namespace detail {

/// Number of elements of a sorted row whose keys are less than `key`, or (`up_to`) at most `key`.
template <bool up_to, class T>
std::int64_t elements_below(T const* sorted, std::int64_t n, SortKey<T> key, bool descending) {
  std::int64_t low = 0;
  while (low < n) {
    std::int64_t const middle = low + (n - low) / 2;
    SortKey<T> const there = detail::sort_key(sorted[middle], descending);
    if (up_to ? there <= key : there < key) {
      low = middle + 1;
    } else {
      n = middle;
    }
  }
  return low;
}

/// One call counts the elements of a sorted row up to one key: for each cut `cuts` of a row those
/// with the digits `prefix`, one of `keys` digits at bit `shift`, and ones behind it.
template <class T>
struct CountUpTo {
  T const* sorted;
  std::uint64_t const* prefix;
  std::int64_t* counts;
  std::int64_t n, cuts, keys;
  int shift;
  bool descending;

  void operator()(std::int64_t work) const {
    auto const digit = static_cast<std::uint64_t>(work % keys);
    std::uint64_t const behind = (std::uint64_t{1} << shift) - 1;
    std::uint64_t const key = prefix[work / keys] | digit << shift | behind;
    counts[work] = detail::elements_below<true>(sorted + work / keys / cuts * n, n,
                                                static_cast<SortKey<T>>(key), descending);
  }
};

/// One call counts the elements of a sorted row that come before a cut's key, and those that have
/// it.
template <class T>
struct CountAtKey {
  T const* sorted;
  std::uint64_t const* key;
  std::int64_t* counts;
  std::int64_t n, cuts;
  bool descending;

  void operator()(std::int64_t work) const {
    T const* const row = sorted + work / cuts * n;
    auto const k = static_cast<SortKey<T>>(key[work]);
    std::int64_t const before = detail::elements_below<false>(row, n, k, descending);
    counts[2 * work] = before;
    counts[2 * work + 1] = detail::elements_below<true>(row, n, k, descending) - before;
  }
};

/// One call copies one segment.
template <class T>
struct CopySegments {
  T const* from;
  T* to;
  std::int64_t const *from_at, *to_at, *length;

  void operator()(std::int64_t work) const {
    std::memcpy(static_cast<void*>(to + to_at[work]), from + from_at[work],
                static_cast<std::size_t>(length[work]) * sizeof(T));
  }
};

/// Elements with their places, or without: null.
template <class T>
struct Placed {
  T* values;
  std::int64_t* places;

  Placed operator+(std::int64_t n) const {
    return {values + n, places == nullptr ? nullptr : places + n};
  }
};

/// Merges x [nx] and y [ny], whose elements are numbers, of equal elements those of x first: from
/// both ends, which are independent chains of loads.
template <bool descending, bool places, class T>
void merge_numbers(Placed<T> x, std::int64_t nx, Placed<T> y, std::int64_t ny, Placed<T> to) {
  auto const before = [](T const& a, T const& b) { return descending ? b < a : a < b; };
  T const* a = x.values;
  T const* a_end = a + nx;
  T const* b = y.values;
  T const* b_end = b + ny;
  T* out = to.values;
  T* out_end = out + nx + ny;
  std::int64_t const* pa = x.places;
  std::int64_t const* pb = y.places;
  std::int64_t* pout = to.places;
  auto const from_front = [&] {
    T const p = *a;
    T const q = *b;
    bool const second = before(q, p);
    *out++ = second ? q : p;
    if constexpr (places) {
      *pout++ = second ? *pb : *pa;
      pa += second ? 0 : 1;
      pb += second ? 1 : 0;
    }
    a += second ? 0 : 1;
    b += second ? 1 : 0;
  };
  constexpr std::int64_t few = 8;
  for (;;) {
    // so many steps from each end take no run to its end
    std::int64_t steps = (a_end - a < b_end - b ? a_end - a : b_end - b) / 2;
    if (steps < few) break;
    for (; steps > 0; --steps) {
      from_front();
      T const p = a_end[-1];
      T const q = b_end[-1];
      bool const first = before(q, p);
      *--out_end = first ? p : q;
      if constexpr (places) {
        std::int64_t const at = out_end - out;
        pout[at] = first ? pa[a_end - 1 - a] : pb[b_end - 1 - b];
      }
      a_end -= first ? 1 : 0;
      b_end -= first ? 0 : 1;
    }
  }
  while (a < a_end && b < b_end) from_front();
  auto const rest = [&](T const* from, T const* end, std::int64_t const* at) {
    for (; from < end; ++from) {
      *out++ = *from;
      if constexpr (places) *pout++ = *at++;
    }
  };
  rest(a, a_end, pa);
  rest(b, b_end, pb);
}

/// Number of elements of a sorted run that are numbers: not-a-number is last.
template <class T>
std::int64_t numbers_of(T const* run, std::int64_t n) {
  if constexpr (!std::is_floating_point_v<T> && !std::is_same_v<T, bfloat16>) {
    return n;
  } else {
    std::int64_t low = 0;
    while (low < n) {
      std::int64_t const middle = low + (n - low) / 2;
      if (run[middle] == run[middle]) {
        low = middle + 1;
      } else {
        n = middle;
      }
    }
    return low;
  }
}

/// One call merges one piece of two neighbouring sorted runs of a row into one; of equal elements
/// those of the first come first. Of an odd number of runs the last one is copied.
template <class T>
struct MergePairs {
  Placed<T> from, to;
  std::int64_t const *begin, *length;  ///< of the runs of each row, [rows, runs]
  std::int64_t stride;                 ///< of rows of these tables
  std::int64_t runs, n, piece, pieces;
  bool descending;

  void operator()(std::int64_t work) const {
    std::int64_t const pairs = (runs + 1) / 2;
    std::int64_t const row = work / pieces / pairs;
    std::int64_t const k = 2 * (work / pieces % pairs);
    std::int64_t const* const starts = begin + row * stride;
    std::int64_t const* const lengths = length + row * stride;
    std::int64_t const nx = lengths[k];
    std::int64_t const ny = k + 1 < runs ? lengths[k + 1] : 0;
    Placed<T> const x = from + starts[k];
    Placed<T> const y = from + (ny > 0 ? starts[k + 1] : 0);
    std::int64_t out = row * n;
    for (std::int64_t r = 0; r < k; ++r) out += lengths[r];
    std::int64_t const first = work % pieces * piece;
    std::int64_t const last = first + piece < nx + ny ? first + piece : nx + ny;
    if (first >= last) return;
    Before<T> const before{descending};
    auto const of_first = [&](std::int64_t count) {
      return detail::taken_from_first(before, static_cast<T const*>(x.values), nx,
                                      static_cast<T const*>(y.values), ny, count);
    };
    std::int64_t const i = of_first(first);
    std::int64_t const i_end = of_first(last);
    merge(x + i, i_end - i, y + (first - i), last - i_end - (first - i), to + (out + first));
  }

 private:
  void merge(Placed<T> x, std::int64_t nx, Placed<T> y, std::int64_t ny, Placed<T> out) const {
    std::int64_t const mx = detail::numbers_of(x.values, nx);
    std::int64_t const my = detail::numbers_of(y.values, ny);
    if (descending) {
      merge_by<true>(x, mx, y, my, out);
    } else {
      merge_by<false>(x, mx, y, my, out);
    }
    copy(x + mx, nx - mx, out + (mx + my));
    copy(y + my, ny - my, out + (nx + my));
  }
  template <bool down>
  static void merge_by(Placed<T> x, std::int64_t nx, Placed<T> y, std::int64_t ny, Placed<T> out) {
    if (x.places == nullptr) {
      detail::merge_numbers<down, false>(x, nx, y, ny, out);
    } else {
      detail::merge_numbers<down, true>(x, nx, y, ny, out);
    }
  }
  static void copy(Placed<T> from, std::int64_t n, Placed<T> out) {
    for (std::int64_t k = 0; k < n; ++k) {
      out.values[k] = from.values[k];
      if (from.places != nullptr) out.places[k] = from.places[k];
    }
  }
};

}  // namespace detail

/// Where the runs of each of `rows` rows of `n` elements begin in memory, and how long they are;
/// the tables have rows of `stride` numbers.
struct RunTables {
  std::int64_t* begin;
  std::int64_t* length;
  std::int64_t stride, rows, n;
};

/// Merges the runs of each row in pairs, from `from` to packed rows at `to`, and writes the runs
/// that there are then to the tables; their number.
template <class T, class Exec>
std::int64_t merge_runs(Exec const& exec, detail::Placed<T> from, detail::Placed<T> to,
                        RunTables const& t, std::int64_t runs, bool descending) {
  std::int64_t const pairs = (runs + 1) / 2;
  auto const threads = static_cast<std::int64_t>(exec.concurrency());
  constexpr std::int64_t least = 8192;
  std::int64_t piece = t.n;
  if (threads > t.rows * pairs && t.n / (4 * threads) > least) piece = t.n / (4 * threads);
  std::int64_t const pieces = piece == 0 ? 1 : (t.n + piece - 1) / piece;
  kernels::launch(exec, "shardtype::merge_pairs", t.rows * pairs * pieces,
                  detail::MergePairs<T>{from, to, t.begin, t.length, t.stride, runs, t.n, piece,
                                        pieces, descending});
  runtime::fence(exec);
  for (std::int64_t r = 0; r < t.rows; ++r) {
    std::int64_t* const begin = t.begin + r * t.stride;
    std::int64_t* const length = t.length + r * t.stride;
    std::int64_t at = r * t.n;
    for (std::int64_t k = 0; k < pairs; ++k) {
      length[k] = length[2 * k] + (2 * k + 1 < runs ? length[2 * k + 1] : 0);
      begin[k] = at;
      at += length[k];
    }
  }
  return pairs;
}

/// A block [outer, n, inner] whose elements go to other places along its dim, each place once.
/// Blocks of the ranks are consecutive: `ends`, of `ranks` ranks.
struct PlacesOfRanks {
  core::Around block;
  std::int64_t const* places;
  std::int64_t const* ends;
  std::int64_t ranks;

  std::int64_t elements() const { return block.outer * block.n * block.inner; }
  /// The rank with the place of element `e`.
  std::int64_t rank_of(std::int64_t e) const {
    std::int64_t low = 0;
    for (std::int64_t high = ranks - 1; low < high;) {
      std::int64_t const middle = low + (high - low) / 2;
      if (places[e] < ends[middle]) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }
  /// Where it is in the block of that rank.
  std::int64_t offset_in(std::int64_t g, std::int64_t e) const {
    std::int64_t const begin = g == 0 ? 0 : ends[g - 1];
    std::int64_t const outer = e / (block.n * block.inner);
    return (outer * (ends[g] - begin) + places[e] - begin) * block.inner + e % block.inner;
  }
  /// Adds the number of elements for each rank to `counts`.
  void count(std::int64_t* counts) const {
    for (std::int64_t e = 0; e < elements(); ++e) ++counts[rank_of(e)];
  }
  /// Writes the elements of `data`, and their offsets in the blocks of their ranks, rank by rank;
  /// `at`: where those of each rank begin, then end.
  template <class T>
  void separate(T const* data, T* values, std::int64_t* offsets, std::int64_t* at) const {
    for (std::int64_t e = 0; e < elements(); ++e) {
      std::int64_t const g = rank_of(e);
      values[at[g]] = data[e];
      offsets[at[g]++] = offset_in(g, e);
    }
  }
};
/// Writes `n` elements at offsets in a block.
template <class T>
void put_at(T const* values, std::int64_t const* offsets, std::int64_t n, T* block) {
  for (std::int64_t k = 0; k < n; ++k) block[offsets[k]] = values[k];
}

}  // namespace shardtype::kernels
