#pragma once
/// Rows of a block by number: lookups, one-hot rows, elements taken along a dim.

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/core/layout.hpp>
#include <shardtype/kernels/launch.hpp>
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

/// One call copies a piece of one row of the result.
template <class T, class Id>
struct LookUp {
  T const* table;
  Id const* ids;
  T* out;
  NumberedRows rows;
  std::int64_t pieces, piece;

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    std::int64_t const at = work / pieces;  // [outer, count]
    std::int64_t const begin = work % pieces * piece;
    std::int64_t const end = begin + piece < rows.inner ? begin + piece : rows.inner;
    std::int64_t const row = rows.row(ids[at % rows.count]);
    T* const to = out + at * rows.inner;
    if (row < 0) {
      for (std::int64_t i = begin; i < end; ++i) to[i] = T{};
    } else {
      T const* const from = table + (at / rows.count * rows.n + row) * rows.inner;
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

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    std::int64_t const at = work / pieces;
    std::int64_t const begin = work % pieces * piece;
    std::int64_t const end = begin + piece < rows.n ? begin + piece : rows.n;
    std::int64_t const row = rows.row(ids[at]);
    T* const to = out + at * rows.n;
    for (std::int64_t v = begin; v < end; ++v) to[v] = T{};
    if (row >= begin && row < end) to[row] = T(1);
  }
};

/// One call copies one element; ids and result are [outer, count, inner].
template <class T, class Id>
struct TakeAlong {
  T const* src;
  Id const* ids;
  T* out;
  NumberedRows rows;

  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    std::int64_t const row = rows.row(ids[k]);
    std::int64_t const o = k / (rows.count * rows.inner);
    out[k] = row < 0 ? T{} : src[(o * rows.n + row) * rows.inner + k % rows.inner];
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
  kernels::launch(exec, "shardtype::take_along", n, detail::TakeAlong<T, Id>{src, ids, out, rows});
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
