#pragma once
/// Adds rows to a block at the rows that ids name.

#include <algorithm>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/lookup.hpp>
#include <shardtype/runtime/copy_bytes.hpp>

namespace shardtype::kernels {

namespace detail {

/// Host: one call adds all updates to some columns of some rows of the result, in order. No two
/// calls write the same element, so sums are the same bits for any number of threads.
template <class T, class Id>
struct AddRowsInOrder {
  T const* updates;
  Id const* ids;
  T* out;
  NumberedRows rows;
  std::int64_t parts, pieces, piece;

  void operator()(std::int64_t work) const {
    std::int64_t const begin = work % pieces * piece;
    std::int64_t const end = std::min(begin + piece, rows.inner);
    std::int64_t const part = work / pieces % parts;
    std::int64_t const o = work / pieces / parts;
    std::int64_t const low = rows.n * part / parts;
    std::int64_t const high = rows.n * (part + 1) / parts;
    for (std::int64_t k = 0; k < rows.count; ++k) {
      std::int64_t const row = rows.row(ids[k]);
      if (row < low || row >= high) continue;
      T* const to = out + (o * rows.n + row) * rows.inner;
      T const* const from = updates + (o * rows.count + k) * rows.inner;
      for (std::int64_t i = begin; i < end; ++i) to[i] += from[i];
    }
  }
};

/// Device: one call adds one element of the updates.
template <class T, class Id>
struct AddRowsAtOnce {
  T const* updates;
  Id const* ids;
  T* out;
  NumberedRows rows;

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    std::int64_t const at = work / rows.inner;
    std::int64_t const row = rows.row(ids[at % rows.count]);
    if (row < 0) return;
    Kokkos::atomic_add(out + (at / rows.count * rows.n + row) * rows.inner + work % rows.inner,
                       updates[work]);
  }
};

/// One call adds all updates of some columns to some rows of the result, in order. No two calls
/// write the same element, so sums are the same bits for any number of threads, on devices as well.
template <class T, class Id>
struct AddAlong {
  T const* updates;
  Id const* ids;
  T* out;
  NumberedRows rows;
  std::int64_t parts, pieces, piece;

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    std::int64_t const begin = work % pieces * piece;
    std::int64_t const end = begin + piece < rows.inner ? begin + piece : rows.inner;
    std::int64_t const part = work / pieces % parts;
    std::int64_t const o = work / pieces / parts;
    std::int64_t const low = rows.n * part / parts;
    std::int64_t const high = rows.n * (part + 1) / parts;
    T* const to = out + o * rows.n * rows.inner;
    for (std::int64_t k = 0; k < rows.count; ++k) {
      std::int64_t const at = (o * rows.count + k) * rows.inner;
      for (std::int64_t i = begin; i < end; ++i) {
        std::int64_t const row = rows.row(ids[at + i]);
        if (row >= low && row < high) to[row * rows.inner + i] += updates[at + i];
      }
    }
  }
};

}  // namespace detail

/// out[o, ids[o, k, i], i] += updates[o, k, i] for all k, in order; updates of rows that `out` lacks
/// are ignored. `out` is [outer, n, inner], the others are [outer, count, inner].
template <class T, class Id, class Exec>
void add_along(Exec const& exec, T const* updates, Id const* ids, T* out,
               NumberedRows const& rows) {
  if (rows.outer * rows.count * rows.inner * rows.n == 0) return;
  std::int64_t const piece = detail::row_piece<Exec>();
  std::int64_t const pieces = (rows.inner + piece - 1) / piece;
  std::int64_t const each = rows.outer * pieces;
  auto const workers = static_cast<std::int64_t>(exec.concurrency());
  // every part reads all ids, so there are only as many as keep the threads busy
  std::int64_t const wanted = each >= workers ? 1 : (workers + each - 1) / each;
  std::int64_t const parts = wanted < rows.n ? wanted : rows.n;
  kernels::launch(exec, "shardtype::add_along", each * parts,
                  detail::AddAlong<T, Id>{updates, ids, out, rows, parts, pieces, piece});
}

/// out [outer, n, inner] += the rows of `updates` [outer, count, inner], each at the row that its
/// id names; updates of rows that `out` lacks are ignored.
template <class T, class Id, class Exec>
void add_rows(Exec const& exec, T const* updates, Id const* ids, T* out, NumberedRows const& rows) {
  if (rows.outer * rows.count * rows.inner * rows.n == 0) return;
  if constexpr (runtime::host_reads<Exec>) {
    constexpr std::int64_t piece = 4096;
    std::int64_t const pieces = (rows.inner + piece - 1) / piece;
    std::int64_t const each = rows.outer * pieces;
    auto const workers = static_cast<std::int64_t>(exec.concurrency());
    // every part reads all ids, so there are only as many as keep the threads busy
    std::int64_t const parts = each >= workers ? 1 : std::min(rows.n, (workers + each - 1) / each);
    kernels::launch(exec, "shardtype::add_rows", each * parts,
                    detail::AddRowsInOrder<T, Id>{updates, ids, out, rows, parts, pieces, piece});
  } else {
    kernels::launch(exec, "shardtype::add_rows", rows.outer * rows.count * rows.inner,
                    detail::AddRowsAtOnce<T, Id>{updates, ids, out, rows});
  }
}

}  // namespace shardtype::kernels
