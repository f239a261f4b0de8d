#pragma once
/// Adds rows to a block at the rows that ids name, or takes their maximum or minimum. Elements that
/// are computed in a wider type, bfloat16, are added up in it and rounded once: sums in bfloat16
/// stall where a term is half of the last place.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/check/functions.hpp>
#include <shardtype/kernels/fill.hpp>
#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/lookup.hpp>
#include <shardtype/kernels/present_rows.hpp>
#include <shardtype/kernels/reducers.hpp>
#include <shardtype/kernels/vector_loop.hpp>
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
    std::int64_t const inner = rows.inner;
    T* const to = out + (o * rows.n + low) * inner;
    T const* const from = updates + o * rows.count * inner;
    auto const present = PresentIds<Id>::of(rows.first + low, high - low);
    auto const skip = [](std::int64_t, std::int64_t) {};
    if (inner == 1)
      detail::for_present(
          ids, rows.count, present, OneColumn{},
          [=](std::int64_t k, std::int64_t row) { to[row] += from[k]; }, skip);
    else
      detail::for_present(
          ids, rows.count, present, OneColumn{},
          [=](std::int64_t k, std::int64_t row) {
            add_row(to + row * inner + begin, from + k * inner + begin, end - begin);
          },
          skip);
  }

 private:
  SHARDTYPE_VECTOR_LOOP static void add_row(T* sums, T const* terms, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) sums[i] += terms[i];
  }
};

/// Device: one call adds one element of the updates.
template <class T, class Id>
struct AddRowsAtOnce {
  T const* updates;
  Id const* ids;
  T* out;
  NumberedRows rows;

  template <class Number>
  KOKKOS_FUNCTION void operator()(Number work) const {
    auto const inner = static_cast<Number>(rows.inner), count = static_cast<Number>(rows.count);
    Number const at = work / inner;
    std::int64_t const row = rows.row(ids[at % count]);
    if (row < 0) return;
    std::int64_t const o = at / count;
    Kokkos::atomic_add(out + (o * rows.n + row) * rows.inner + work % inner, updates[work]);
  }
};

/// The updates of each row as a list: `first[row]`, then `next` of each; -1 ends it.
struct UpdatesOfRows {
  std::int64_t* first;
  std::int64_t* next;
};
/// Host: one call makes all lists, in the order of the updates.
template <class Id>
struct ListInOrder {
  Id const* ids;
  NumberedRows rows;
  UpdatesOfRows lists;

  KOKKOS_FUNCTION void operator()(std::int64_t) const {
    for (std::int64_t k = rows.count - 1; k >= 0; --k) {
      std::int64_t const row = rows.row(ids[k]);
      if (row < 0) continue;
      lists.next[k] = lists.first[row];
      lists.first[row] = k;
    }
  }
};
/// Device: one call puts one update in front of its list.
template <class Id>
struct ListAtOnce {
  Id const* ids;
  NumberedRows rows;
  UpdatesOfRows lists;

  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    std::int64_t const row = rows.row(ids[k]);
    if (row >= 0) lists.next[k] = Kokkos::atomic_exchange(lists.first + row, k);
  }
};
/// One call joins a piece of one row of the result with its updates, by `Reducer`; rows without
/// updates stay as they are.
template <class Reducer, std::int64_t Piece>
struct JoinLists {
  using T = typename Reducer::Element;
  using Part = typename Reducer::Part;
  T const* updates;
  T* out;
  NumberedRows rows;
  UpdatesOfRows lists;
  std::int64_t pieces;

  template <class Number>
  KOKKOS_FUNCTION void operator()(Number work) const {
    auto const calls = static_cast<Number>(pieces), n = static_cast<Number>(rows.n);
    Number const at = work / calls;  // [outer, n]
    std::int64_t const begin = std::int64_t{work % calls} * Piece;
    std::int64_t const length = rows.inner - begin < Piece ? rows.inner - begin : Piece;
    std::int64_t k = lists.first[at % n];
    if (k < 0) return;
    std::int64_t const o = at / n;
    T* const to = out + std::int64_t{at} * rows.inner + begin;
    Part parts[static_cast<std::size_t>(Piece)];
    for (std::int64_t i = 0; i < length; ++i) parts[i] = Reducer::load(to[i]);
    for (; k >= 0; k = lists.next[k]) {
      T const* const from = updates + (o * rows.count + k) * rows.inner + begin;
      for (std::int64_t i = 0; i < length; ++i) Reducer::join(parts[i], Reducer::load(from[i]));
    }
    for (std::int64_t i = 0; i < length; ++i) to[i] = static_cast<T>(parts[i]);
  }
};

/// Device: one call adds one element of the updates.
template <class T, class Id, class Sum>
struct AddAlongAtOnce {
  T const* updates;
  Id const* ids;
  Sum* out;
  NumberedRows rows;

  template <class Number>
  KOKKOS_FUNCTION void operator()(Number work) const {
    std::int64_t const row = rows.row(ids[work]);
    if (row < 0) return;
    auto const inner = static_cast<Number>(rows.inner), count = static_cast<Number>(rows.count);
    Number const at = work / inner;
    std::int64_t const o = at / count;
    Kokkos::atomic_add(out + (o * rows.n + row) * rows.inner + work % inner,
                       static_cast<Sum>(updates[work]));
  }
};

/// Host: one call adds all updates of some columns to some rows of the result, in order, in runs of
/// ids. No two calls write the same element, so sums are the same bits for any number of threads.
template <class T, class Id, class Sum>
struct AddAlongInOrder {
  T const* updates;
  Id const* ids;
  Sum* out;
  NumberedRows rows;
  std::int64_t parts, pieces, piece;

  void operator()(std::int64_t work) const {
    std::int64_t const begin = work % pieces * piece;
    std::int64_t const part = work / pieces % parts;
    std::int64_t const o = work / pieces / parts;
    std::int64_t const low = rows.n * part / parts;
    std::int64_t const high = rows.n * (part + 1) / parts;
    auto const present = PresentIds<Id>::of(rows.first + low, high - low);
    Sum* const to = out + (o * rows.n + low) * rows.inner;
    // a run of all columns of all rows, or one of a piece of each row
    std::int64_t const runs = pieces == 1 ? 1 : rows.count;
    std::int64_t const n =
        pieces == 1 ? rows.count * rows.inner : std::min(piece, rows.inner - begin);
    for (std::int64_t run = 0; run < runs; ++run) {
      std::int64_t const at = (o * rows.count + run) * rows.inner + begin;
      T const* const from = updates + at;
      auto const add = [=](std::int64_t k, std::int64_t place) {
        to[place] += static_cast<Sum>(from[k]);
      };
      auto const skip = [](std::int64_t, std::int64_t) {};
      if (rows.inner == 1)
        detail::for_present(ids + at, n, present, OneColumn{}, add, skip);
      else
        detail::for_present(ids + at, n, present, AllColumns(rows, rows.count, begin), add, skip);
    }
  }
};

template <class T, class Sum>
struct RoundElement {
  Sum const* from;
  T* to;
  KOKKOS_FUNCTION void operator()(std::int64_t k) const { to[k] = static_cast<T>(from[k]); }
};

}  // namespace detail

/// out[o, ids[o, k, i], i] += updates[o, k, i] for all k, on the host in order; updates of rows
/// that `out` lacks are ignored. `out` is [outer, n, inner], the others are [outer, count, inner].
/// `Sum` is T, or the type in which T is computed.
template <class T, class Id, class Sum, class Exec>
void add_along(Exec const& exec, T const* updates, Id const* ids, Sum* out,
               NumberedRows const& rows) {
  if (rows.outer * rows.count * rows.inner * rows.n == 0) return;
  if constexpr (runtime::host_reads<Exec>) {
    std::int64_t const piece = detail::row_piece<Exec>();
    std::int64_t const pieces = (rows.inner + piece - 1) / piece;
    std::int64_t const each = rows.outer * pieces;
    auto const workers = static_cast<std::int64_t>(exec.concurrency());
    // every part reads all ids, so there are only as many as keep the threads busy
    std::int64_t const wanted = each >= workers ? 1 : (workers + each - 1) / each;
    std::int64_t const parts = wanted < rows.n ? wanted : rows.n;
    kernels::launch(
        exec, "shardtype::add_along", each * parts,
        detail::AddAlongInOrder<T, Id, Sum>{updates, ids, out, rows, parts, pieces, piece});
  } else {
    kernels::launch(exec, "shardtype::add_along", rows.outer * rows.count * rows.inner,
                    detail::AddAlongAtOnce<T, Id, Sum>{updates, ids, out, rows});
  }
}

/// out [outer, n, inner] += the rows of `updates` [outer, count, inner], each at the row that its
/// id names; updates of rows that `out` lacks are ignored. `T` is computed as it is stored.
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

/// The same by lists of each row's updates, which `Reducer` joins, with n + count numbers in
/// `memory`.
template <class Reducer, class Id, class Exec>
void join_rows_by_lists(Exec const& exec, char const* name,
                        typename Reducer::Element const* updates, Id const* ids,
                        typename Reducer::Element* out, NumberedRows const& rows,
                        std::int64_t* memory) {
  if (rows.outer * rows.count * rows.inner * rows.n == 0) return;
  detail::UpdatesOfRows const lists{memory, memory + rows.n};
  kernels::fill(exec, lists.first, rows.n, std::int64_t{-1});
  if constexpr (runtime::host_reads<Exec>) {
    kernels::launch(exec, name, 1, detail::ListInOrder<Id>{ids, rows, lists});
  } else {
    kernels::launch(exec, name, rows.count, detail::ListAtOnce<Id>{ids, rows, lists});
  }
  constexpr std::int64_t piece = runtime::host_reads<Exec> ? 512 : 1;
  std::int64_t const pieces = (rows.inner + piece - 1) / piece;
  kernels::launch(exec, name, rows.outer * rows.n * pieces,
                  detail::JoinLists<Reducer, piece>{updates, out, rows, lists, pieces});
}

/// The sums of add_rows, of elements that are computed in a wider type.
template <class T, class Id, class Exec>
void add_rows_by_lists(Exec const& exec, T const* updates, Id const* ids, T* out,
                       NumberedRows const& rows, std::int64_t* memory) {
  kernels::join_rows_by_lists<SumReducer<T>>(exec, "shardtype::add_rows", updates, ids, out, rows,
                                             memory);
}

/// to[k] = from[k] for k in 0 .. n, rounded.
template <class T, class Sum, class Exec>
void round_block(Exec const& exec, Sum const* from, T* to, std::int64_t n) {
  kernels::launch(exec, "shardtype::round_block", n, detail::RoundElement<T, Sum>{from, to});
}

}  // namespace shardtype::kernels
