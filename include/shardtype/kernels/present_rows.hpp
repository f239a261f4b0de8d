#pragma once
/// Host: the rows of a block that runs of ids name, read in chunks, so that neither ids that are
/// all here nor ids of which some are elsewhere cost a branch or a division each.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include <shardtype/core/layout.hpp>
#include <shardtype/kernels/vector_loop.hpp>

namespace shardtype::kernels::detail {

/// The ids of rows that a block has. One unsigned comparison tells whether it has the row of an id.
template <class Id>
struct PresentIds {
  using Number = std::make_unsigned_t<Id>;
  Number first, count;

  /// The ids from `begin` to `begin + n`, of those that `Id` has.
  static PresentIds of(std::int64_t begin, std::int64_t n) {
    constexpr std::uint64_t ids = std::uint64_t{std::numeric_limits<Id>::max()} + 1;
    std::uint64_t const low = std::min(static_cast<std::uint64_t>(begin), ids);
    std::uint64_t const high = std::min(static_cast<std::uint64_t>(begin + n), ids);
    return {static_cast<Number>(low), static_cast<Number>(high - low)};
  }
  /// The row in the block; at least `count` if it is not there.
  Number row(Id id) const { return static_cast<Number>(static_cast<Number>(id) - first); }
};

/// Number of ids that are read at once.
inline constexpr std::int64_t ids_together = 64;

/// Whether the block has the rows of all `ids_together` ids.
template <class Id>
SHARDTYPE_VECTOR_LOOP bool all_present(Id const* ids, PresentIds<Id> const& present) {
  typename PresentIds<Id>::Number largest = 0;
  for (std::int64_t k = 0; k < ids_together; ++k) largest = std::max(largest, present.row(ids[k]));
  return largest < present.count;
}

/// The places of elements of a run in a block [outer, n, inner], of which the run walks through
/// one column, or through all as [outer, count, inner].
struct OneColumn {
  std::int64_t place(std::int64_t row, std::int64_t) const { return row; }
  void advance(std::int64_t) const {}
};
/// All of [outer, count], fewer than `most` of them: where the blocks of the next elements start
/// stands in a table, which a division per `ids_together` elements moves on in.
struct ShortColumns {
  static constexpr std::int64_t most = 4 * ids_together;
  std::int64_t block, count;
  std::int64_t k, start;  ///< of the next element; start: of its block
  std::int64_t from_start[static_cast<std::size_t>(most + ids_together)];

  /// From element `at` of the run.
  ShortColumns(core::Around const& around, std::int64_t ids, std::int64_t at)
      : block(around.n), count(ids), k(at % count), start(at / count * block) {
    for (std::int64_t first = 0, to = 0; first < count + ids_together; first += count, to += block)
      for (std::int64_t j = first; j < std::min(first + count, count + ids_together); ++j)
        from_start[j] = to;
  }
  /// Of element `j` behind those that `advance` has passed.
  std::int64_t place(std::int64_t row, std::int64_t j) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(row) +
                                     static_cast<std::uint64_t>(start + from_start[k + j]));
  }
  void advance(std::int64_t n) {
    start += (k + n) / count * block;
    k = (k + n) % count;
  }
};
struct AllColumns {
  std::int64_t block, count, inner;  ///< block: n * inner
  std::int64_t k, column, start;     ///< of the next element; start: of its block

  /// From element `at` of the run.
  AllColumns(core::Around const& around, std::int64_t ids, std::int64_t at)
      : block(around.n * around.inner),
        count(ids),
        inner(around.inner),
        k(at / inner % count),
        column(at % inner),
        start(at / inner / count * block) {}
  std::int64_t place(std::int64_t row, std::int64_t) {
    // unsigned: the row of an id that is elsewhere may be any number
    auto const at = static_cast<std::int64_t>(static_cast<std::uint64_t>(row) *
                                                  static_cast<std::uint64_t>(inner) +
                                              static_cast<std::uint64_t>(start + column));
    if (++column == inner) {
      column = 0;
      bool const last = ++k == count;
      k = last ? 0 : k;
      start += last ? block : 0;
    }
    return at;
  }
  void advance(std::int64_t) const {}
};

/// Copies elements from their places, several at once: single ones soon fill the processor's queue
/// of stores.
template <class T>
struct CopyPresent {
  static constexpr std::int64_t together = 8;
  T const* from;
  T* to;

  void operator()(std::int64_t k, std::int64_t place) const { to[k] = from[place]; }
  template <class Place>
  void several(std::int64_t k, Place const& place) const {
    T made[static_cast<std::size_t>(together)];
    for (std::int64_t j = 0; j < together; ++j) made[j] = from[place(j)];
    std::memcpy(static_cast<void*>(to + k), made, sizeof made);
  }
};

/// Calls `each(k, place)` for each id `k` of `n` whose row is here, in order, with the element's
/// place in the block; and before, `absent(begin, count)` for ids of which some are elsewhere.
template <class Id, class Columns, class Each, class Absent>
SHARDTYPE_VECTOR_LOOP void for_present(Id const* ids, std::int64_t n, PresentIds<Id> const& present,
                                       Columns columns, Each const& each, Absent const& absent) {
  std::int64_t begin = 0;
  for (; begin + ids_together <= n; begin += ids_together) {
    Id const* const some = ids + begin;
    if (detail::all_present(some, present)) {
      auto const place = [&](std::int64_t k) {
        return columns.place(static_cast<std::int64_t>(present.row(some[k])), k);
      };
      if constexpr (requires { each.several(begin, place); })
        for (std::int64_t k = 0; k < ids_together; k += Each::together)
          each.several(begin + k, [&](std::int64_t j) { return place(k + j); });
      else
        for (std::int64_t k = 0; k < ids_together; ++k) each(begin + k, place(k));
      columns.advance(ids_together);
      continue;
    }
    absent(begin, ids_together);
    std::int64_t which[static_cast<std::size_t>(ids_together)];
    std::int64_t places[static_cast<std::size_t>(ids_together)];
    std::int64_t here = 0;
    for (std::int64_t k = 0; k < ids_together; ++k) {
      auto const row = present.row(some[k]);
      which[here] = begin + k;
      places[here] = columns.place(static_cast<std::int64_t>(row), k);
      here += row < present.count ? 1 : 0;
    }
    columns.advance(ids_together);
    for (std::int64_t j = 0; j < here; ++j) each(which[j], places[j]);
  }
  for (std::int64_t const whole = begin; begin < n; ++begin) {
    auto const row = present.row(ids[begin]);
    std::int64_t const place = columns.place(static_cast<std::int64_t>(row), begin - whole);
    if (row < present.count)
      each(begin, place);
    else
      absent(begin, std::int64_t{1});
  }
}

}  // namespace shardtype::kernels::detail
