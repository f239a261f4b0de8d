#pragma once
/// Rows of a block by number: lookups, one-hot rows, elements taken along a dim.

#include <algorithm>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/core/layout.hpp>
#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/present_rows.hpp>
#include <shardtype/runtime/copy_bytes.hpp>

namespace shardtype::kernels {

/// A block [outer, n, inner] that has the rows `first` to first + n along its middle dim, and a
/// number of ids.
struct NumberedRows : core::Around {
  std::int64_t first = 0;
  std::int64_t count = 0;

  /// The index in the block of the row that an id names, or -1.
  template <class Id>
  KOKKOS_FUNCTION std::int64_t row(Id id) const {
    std::int64_t const k = static_cast<std::int64_t>(id) - first;
    return k >= 0 && k < n ? k : -1;
  }
};

namespace detail {

/// One call copies a piece of one row of the result; on the host, of long ones.
template <class T, class Id>
struct LookUp {
  T const* table;
  Id const* ids;
  T* out;
  NumberedRows rows;
  std::int64_t pieces, piece;

  template <class Number>
  KOKKOS_FUNCTION void operator()(Number work) const {
    auto const calls = static_cast<Number>(pieces), count = static_cast<Number>(rows.count);
    Number const at = work / calls;  // [outer, count]
    std::int64_t const begin = std::int64_t{work % calls} * piece;
    std::int64_t const end = begin + piece < rows.inner ? begin + piece : rows.inner;
    std::int64_t const row = rows.row(ids[at % count]);
    T* const to = out + std::int64_t{at} * rows.inner;
    if (row < 0) {
      for (std::int64_t i = begin; i < end; ++i) to[i] = T{};
    } else {
      T const* const from = table + (std::int64_t{at / count} * rows.n + row) * rows.inner;
      for (std::int64_t i = begin; i < end; ++i) to[i] = from[i];
    }
  }
};

/// One call writes a piece of one row of the result.
template <class T, class Id>
struct OneHot {
  Id const* ids;
  T* out;
  NumberedRows rows;
  std::int64_t pieces, piece;

  template <class Number>
  KOKKOS_FUNCTION void operator()(Number work) const {
    std::int64_t const at = work / static_cast<Number>(pieces);
    std::int64_t const begin = std::int64_t{work % static_cast<Number>(pieces)} * piece;
    std::int64_t const end = begin + piece < rows.n ? begin + piece : rows.n;
    std::int64_t const row = rows.row(ids[at]);
    T* const to = out + at * rows.n;
    for (std::int64_t v = begin; v < end; ++v) to[v] = T{};
    if (row >= begin && row < end) to[row] = T(1);
  }
};

/// Device: one call copies one element; ids and result are [outer, count, inner].
template <class T, class Id>
struct TakeAlong {
  T const* src;
  Id const* ids;
  T* out;
  NumberedRows rows;

  template <class Number>
  KOKKOS_FUNCTION void operator()(Number k) const {
    std::int64_t const row = rows.row(ids[k]);
    std::int64_t const o = k / static_cast<Number>(rows.count * rows.inner);
    std::int64_t const i = k % static_cast<Number>(rows.inner);
    out[k] = row < 0 ? T{} : src[(o * rows.n + row) * rows.inner + i];
  }
};

/// Host: how calls share blocks, `outer` of `length` elements each: a call handles some whole
/// blocks, or a piece of one.
struct SharedBlocks {
  std::int64_t outer, length, piece, together, pieces;

  SharedBlocks(std::int64_t blocks, std::int64_t elements, std::int64_t of_call = 4096)
      : outer(blocks),
        length(elements),
        piece(of_call),
        together(elements < piece ? piece / elements : 1),
        pieces((elements + piece - 1) / piece) {}
  std::int64_t calls() const { return (outer + together - 1) / together * pieces; }
  /// Calls `run(o, begin, n)` for the elements from `begin` to `begin + n` of each block `o` of a
  /// call.
  template <class Run>
  void for_runs(std::int64_t work, Run const& run) const {
    std::int64_t const begin = work % pieces * piece;
    std::int64_t const first = work / pieces * together;
    std::int64_t const last = std::min(first + together, outer);
    for (std::int64_t o = first; o < last; ++o) run(o, begin, std::min(piece, length - begin));
  }
};

/// Host: one call copies short rows of some blocks of the result.
template <class T, class Id>
struct LookUpRuns {
  T const* table;
  Id const* ids;
  T* out;
  NumberedRows rows;
  SharedBlocks shared;

  void operator()(std::int64_t work) const {
    auto const present = PresentIds<Id>::of(rows.first, rows.n);
    std::int64_t const inner = rows.inner;
    shared.for_runs(work, [&](std::int64_t o, std::int64_t begin, std::int64_t n) {
      T const* const from = table + o * rows.n * inner;
      T* const to = out + (o * rows.count + begin) * inner;
      auto const zeros = [=](std::int64_t k, std::int64_t many) {
        std::fill(to + k * inner, to + (k + many) * inner, T{});
      };
      if (inner == 1)
        detail::for_present(ids + begin, n, present, OneColumn{}, CopyPresent<T>{from, to}, zeros);
      else
        detail::for_present(
            ids + begin, n, present, OneColumn{},
            [=](std::int64_t k, std::int64_t row) {
              for (std::int64_t i = 0; i < inner; ++i) to[k * inner + i] = from[row * inner + i];
            },
            zeros);
    });
  }
};

/// Host: one call copies a piece of a column, or of the whole result.
template <class T, class Id>
struct TakeAlongRuns {
  T const* src;
  Id const* ids;
  T* out;
  NumberedRows rows;
  SharedBlocks shared;

  void operator()(std::int64_t work) const {
    auto const present = PresentIds<Id>::of(rows.first, rows.n);
    shared.for_runs(work, [&](std::int64_t o, std::int64_t begin, std::int64_t n) {
      std::int64_t const at = o * shared.length + begin;
      T* const to = out + at;
      auto const zeros = [=](std::int64_t k, std::int64_t many) {
        std::fill(to + k, to + k + many, T{});
      };
      if (in_columns(rows))
        detail::for_present(ids + at, n, present, OneColumn{}, CopyPresent<T>{src + o * rows.n, to},
                            zeros);
      else if (rows.inner == 1)
        detail::for_present(ids + at, n, present, ShortColumns(rows, rows.count, at),
                            CopyPresent<T>{src, to}, zeros);
      else
        detail::for_present(ids + at, n, present, AllColumns(rows, rows.count, at),
                            CopyPresent<T>{src, to}, zeros);
    });
  }
  /// Whether columns are contiguous, and long enough for runs of their own.
  static bool in_columns(NumberedRows const& r) {
    return r.inner == 1 && r.count >= ShortColumns::most;
  }
  static SharedBlocks shared_by(NumberedRows const& r) {
    return in_columns(r) ? SharedBlocks(r.outer, r.count)
                         : SharedBlocks(1, r.outer * r.count * r.inner);
  }
};

/// Position of the first id that is outside [0, n).
template <class Id>
struct FirstOutside {
  Id const* ids;
  std::int64_t n;
  KOKKOS_FUNCTION void operator()(std::int64_t k, std::int64_t& first) const {
    auto const id = static_cast<std::int64_t>(ids[k]);
    if ((id < 0 || id >= n) && k < first) first = k;
  }
};

/// Host: elements of a row, and number of ids, for calls that copy several rows.
inline constexpr std::int64_t short_row = 64;
inline constexpr std::int64_t least_ids = 8;

/// Number of elements of a row per call. On a device one, so that neighbouring threads access
/// neighbouring elements.
template <class Exec>
std::int64_t row_piece() {
  return runtime::host_reads<Exec> ? 4096 : 1;
}

}  // namespace detail

/// out [outer, count, inner] = the rows of `table` that `ids` name; zeros for rows that it lacks.
template <class T, class Id, class Exec>
void look_up(Exec const& exec, T const* table, Id const* ids, T* out, NumberedRows const& rows) {
  if (rows.outer * rows.count * rows.inner == 0) return;
  if constexpr (runtime::host_reads<Exec>) {
    if (rows.inner <= detail::short_row && rows.count >= detail::least_ids) {
      detail::SharedBlocks const shared(rows.outer, rows.count, 4096 / rows.inner);
      kernels::launch(exec, "shardtype::look_up", shared.calls(),
                      detail::LookUpRuns<T, Id>{table, ids, out, rows, shared});
      return;
    }
  }
  std::int64_t const piece = detail::row_piece<Exec>();
  std::int64_t const pieces = (rows.inner + piece - 1) / piece;
  kernels::launch(exec, "shardtype::look_up", rows.outer * rows.count * pieces,
                  detail::LookUp<T, Id>{table, ids, out, rows, pieces, piece});
}

/// out [count, n] = 1 where the row index equals the id, else 0.
template <class T, class Id, class Exec>
void one_hot(Exec const& exec, Id const* ids, T* out, NumberedRows const& rows) {
  if (rows.count * rows.n == 0) return;
  std::int64_t const piece = detail::row_piece<Exec>();
  std::int64_t const pieces = (rows.n + piece - 1) / piece;
  kernels::launch(exec, "shardtype::one_hot", rows.count * pieces,
                  detail::OneHot<T, Id>{ids, out, rows, pieces, piece});
}

/// out[o, k, i] = src[o, ids[o, k, i], i], or zero if there is no such row.
template <class T, class Id, class Exec>
void take_along(Exec const& exec, T const* src, Id const* ids, T* out, NumberedRows const& rows) {
  std::int64_t const n = rows.outer * rows.count * rows.inner;
  if (n == 0) return;
  if constexpr (runtime::host_reads<Exec>) {
    using Runs = detail::TakeAlongRuns<T, Id>;
    detail::SharedBlocks const shared = Runs::shared_by(rows);
    kernels::launch(exec, "shardtype::take_along", shared.calls(),
                    Runs{src, ids, out, rows, shared});
  } else {
    kernels::launch(exec, "shardtype::take_along", n,
                    detail::TakeAlong<T, Id>{src, ids, out, rows});
  }
}

/// Position of the first of `count` ids that is outside [0, n), or `count`.
template <class Id, class Exec>
std::int64_t first_outside(Exec const& exec, Id const* ids, std::int64_t count, std::int64_t n) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  std::int64_t first = count;
  Kokkos::parallel_reduce(kernels::launch_name("shardtype::first_outside"), Policy(exec, 0, count),
                          detail::FirstOutside<Id>{ids, n}, Kokkos::Min<std::int64_t>(first));
  return first < count ? first : count;
}

}  // namespace shardtype::kernels
