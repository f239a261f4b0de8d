#pragma once
/// The calls of reductions: each reduces a part of the terms of one output, or of several, or joins
/// such parts.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/core/sent.hpp>
#include <shardtype/kernels/layout.hpp>
#include <shardtype/kernels/reduce_runs.hpp>
#include <shardtype/kernels/reduce_short.hpp>

namespace shardtype::kernels {

// A reducer `R` (kernels/reducers.hpp): `R::load` converts an element to a `Part`, `R::join`
// combines two; short runs are accumulated in `Part`, long ones in `Total`, from which `R::finish`
// computes the result. A reducer with `R::deposit` accepts many elements at once; one with
// `R::Values` finds elements and their positions (kernels/reduce_runs.hpp).

namespace detail {

/// A block to be reduced: the kept dims in the order of the result, and the reduced dims.
struct ReduceShape {
  Layout kept;     ///< extents, and strides in the source
  Layout reduced;  ///< likewise; the last has the smallest stride in the source
  std::int64_t outputs = 1;
  std::int64_t terms = 1;  ///< elements per output
  std::int64_t pieces = 1;

  /// The first term of a piece.
  KOKKOS_FUNCTION std::int64_t first(std::int64_t piece) const { return terms * piece / pieces; }
};

/// A total of `R` as it is kept: what ranks send of it, or itself.
template <class R, class Out>
KOKKOS_FUNCTION Out kept_total(typename R::Total const& a) {
  if constexpr (std::is_same_v<Out, typename R::Total>) {
    return a;
  } else {
    return R::narrow(a);
  }
}

/// Writes totals: their results if `Finish`, or as they are kept.
template <class R, bool Finish, class Out>
struct StoreTotal {
  Out* out;
  KOKKOS_FUNCTION void operator()(std::int64_t k, typename R::Total const& total) const {
    if constexpr (Finish) {
      out[k] = R::finish(total);
    } else {
      out[k] = detail::kept_total<R, Out>(total);
    }
  }
};

/// One call reduces one piece of the terms of one output. `store` writes totals, [pieces, outputs].
/// `In`: the source of elements, memory or an expression.
template <class R, class In, class Store>
struct ReduceTerms {
  In in;
  Store store;
  ReduceShape shape;

  std::int64_t largest() const { return shape.terms; }
  template <class Number>
  KOKKOS_FUNCTION void operator()(Number work) const {
    auto const outputs = static_cast<Number>(shape.outputs);
    Number const output = work % outputs;
    std::int64_t const piece = work / outputs;
    std::int64_t const begin = shape.first(piece);
    std::int64_t const end = shape.first(piece + 1);
    In const from = in + kernels::offset_of(shape.kept, output);
    int const last = shape.reduced.rank - 1;
    std::int64_t const inner = shape.reduced.extent[last];
    std::int64_t const stride = shape.reduced.stride[last];
    typename R::Total total = R::widen(R::nothing());
    for (std::int64_t k = begin; k < end;) {
      auto const at = static_cast<Number>(k);
      std::int64_t const left = inner - at % static_cast<Number>(inner);
      std::int64_t const n = left < end - k ? left : end - k;
      In const run = from + kernels::offset_of(shape.reduced, at);
      if constexpr (takes_blocks<R>) {
        R::deposit(total, run, n, stride);
      } else if (stride == 1) {
        detail::run_into<R>(run, n, k, total);
      } else {
        for (std::int64_t i = 0; i < n; ++i) {
          if constexpr (finds_places<R>) {
            R::join(total, {run[i * stride], k + i});
          } else {
            R::join(total, R::widen(R::load(run[i * stride])));
          }
        }
      }
      k += n;
    }
    store(work, total);
  }
};

inline constexpr std::int64_t least_outputs = 256;  ///< of a call that shares rows with others
/// Neighbouring outputs that one call reduces, of `inner` in each of `rows` rows: `most`, or fewer,
/// in whole lines of the cache, so that each of `workers` threads has calls.
constexpr std::int64_t outputs_of_call(std::int64_t inner, std::int64_t rows, std::int64_t workers,
                                       std::int64_t most) {
  constexpr std::int64_t line = 64;
  if (rows >= workers || rows == 0) return most;
  std::int64_t const wanted = (workers + rows - 1) / rows;  // calls in a row
  std::int64_t const each = ((inner + wanted - 1) / wanted + line - 1) / line * line;
  return std::min(most, std::max(each, least_outputs));
}
/// Whether neighbouring outputs have contiguous elements, and terms of an output have not; `kept`:
/// the merged dims of the outputs.
constexpr bool in_rows(Layout const& kept, ReduceShape const& shape) {
  int const last = kept.rank - 1;
  return last >= 0 && kept.stride[last] == 1 && kept.extent[last] > 1 &&
         (shape.reduced.stride[shape.reduced.rank - 1] != 1 || shape.terms == 1);
}

/// Host: one call reduces one piece for a run of neighbouring outputs whose elements are
/// contiguous.
template <class R, class In, class Store>
struct ReduceRows {
  using T = typename R::Element;
  /// Parts stay in cache, so that memory is read in long runs.
  static constexpr std::size_t part_bytes =
      finds_places<R> ? 2 * sizeof(T) : sizeof(typename R::Part);
  static constexpr std::int64_t run = [] {
    if constexpr (takes_rows<R>) {
      return R::columns;
    } else {
      return takes_blocks<R> ? 128
             : is_staged<In> ? vectors::block
                             : std::int64_t{16384 / part_bytes};
    }
  }();
  In in;
  Store store;
  ReduceShape shape;   ///< kept without its last dim
  std::int64_t inner;  ///< the last kept dim, of stride 1
  std::int64_t runs;   ///< calls per row of outputs
  std::int64_t width;  ///< outputs of a call, at most `run`

  SHARDTYPE_VECTOR_LOOP void operator()(std::int64_t work) const {
    std::int64_t const begin = work % runs * width;
    std::int64_t const n = begin + width < inner ? width : inner - begin;
    work /= runs;
    std::int64_t const rows = shape.outputs / inner;
    std::int64_t const row = work % rows;
    std::int64_t const piece = work / rows;
    std::int64_t const first = shape.first(piece);
    std::int64_t const end = shape.first(piece + 1);
    In const from = in + (offset_of(shape.kept, row) + begin);
    std::int64_t const to = piece * shape.outputs + row * inner + begin;
    if constexpr (!takes_rows<R> && !takes_blocks<R> && !takes_arrays<R> && !finds_places<R>) {
      if (end - first <= rows_of_part) {  // without totals in memory
        typename R::Part part[static_cast<std::size_t>(run)];
        detail::parts_of_rows<R, run>(from, shape.reduced, n, first, end, part);
        for (std::int64_t i = 0; i < n; ++i) {
          typename R::Total one = R::widen(R::nothing());
          R::join(one, R::widen(part[i]));
          store(to + i, one);
        }
        return;
      }
    }
    if constexpr (finds_places<R>) {
      if (first < end && end - first <= rows_of_part) {
        detail::PlacesOfRows<R, run> best;
        best.find(from, shape.reduced, n, first, end);
        for (std::int64_t i = 0; i < n; ++i) store(to + i, best.at(i, first));
        return;
      }
    }
    typename R::Total total[static_cast<std::size_t>(run)];
    add(from, shape.reduced, n, first, end, total);
    for (std::int64_t i = 0; i < n; ++i) store(to + i, total[i]);
  }

  /// The totals of `n` outputs: of the terms from `first` to `end`.
  static void add(In const& from, Layout const& reduced, std::int64_t n, std::int64_t first,
                  std::int64_t end, typename R::Total* total) {
    for (std::int64_t i = 0; i < n; ++i) total[i] = R::widen(R::nothing());
    if constexpr (takes_rows<R>) {
      for (std::int64_t k = first; k < end; k += R::together)
        R::deposit_rows(
            total, [&](std::int64_t r) { return from + offset_of(reduced, k + r); }, n,
            end - k < R::together ? end - k : R::together);
    } else if constexpr (takes_blocks<R>) {
      // transposes tiles in a small buffer: down a column every element would be on a different
      // page
      constexpr std::int64_t rows_at_once = 128;
      constexpr std::int64_t wide = 16;
      T tile[static_cast<std::size_t>(wide * rows_at_once)];
      for (std::int64_t k = first; k < end; k += rows_at_once) {
        std::int64_t const m = end - k < rows_at_once ? end - k : rows_at_once;
        for (std::int64_t left = 0; left < n; left += wide) {
          std::int64_t const w = n - left < wide ? n - left : wide;
          for (std::int64_t r = 0; r < m; ++r) {
            T const* const source = from + offset_of(reduced, k + r) + left;
            for (std::int64_t i = 0; i < w; ++i) tile[i * rows_at_once + r] = source[i];
          }
          for (std::int64_t i = 0; i < w; ++i)
            R::deposit(total[left + i], tile + i * rows_at_once, m, 1);
        }
      }
    } else {
      detail::rows_into<R, run>(from, reduced, n, first, end, total);
    }
  }
};

/// Host: rows of few outputs, one behind the other, are read several at once, as one row of as many
/// outputs, whose totals are joined.
template <class R, class In, class Store>
struct ReduceNarrow {
  using Rows = ReduceRows<R, In, Store>;
  using Total = typename R::Total;
  static constexpr std::int64_t most = Rows::run < 128 ? Rows::run : 128;
  /// The most outputs of a row that counts as narrow. Moments have the same bits whichever outputs
  /// lie beside them.
  static constexpr std::int64_t narrow = takes_rows<R> ? 0 : most / 4;
  In in;
  Store store;
  ReduceShape shape;   ///< kept without its last dim
  std::int64_t inner;  ///< the last kept dim, of stride 1

  /// Whether such rows, with the terms of a piece, are worth it.
  static bool serves(ReduceShape const& shape, std::int64_t inner) {
    return inner <= narrow && shape.reduced.rank == 1 && shape.reduced.stride[0] == inner &&
           shape.terms / shape.pieces * inner >= 4 * most;
  }
  void operator()(std::int64_t work) const {
    std::int64_t const rows = shape.outputs / inner;
    std::int64_t const row = work % rows, piece = work / rows;
    std::int64_t const first = shape.first(piece), end = shape.first(piece + 1);
    std::int64_t const together = most / inner, wide = (end - first) / together;
    In const from = in + (offset_of(shape.kept, row) + first * inner);
    Layout several;
    several.rank = 1;
    several.extent[0] = wide;
    several.stride[0] = together * inner;
    Total total[static_cast<std::size_t>(most)];
    Total rest[static_cast<std::size_t>(most)];
    Rows::add(from, several, together * inner, 0, wide, total);
    Rows::add(from, shape.reduced, inner, wide * together, end - first, rest);
    std::int64_t const to = piece * shape.outputs + row * inner;
    if constexpr (finds_places<R>) {  // of the wide rows, and of the rest: among the terms
      for (std::int64_t k = 0; k < together * inner; ++k)
        if (total[k].place >= 0) total[k].place = first + total[k].place * together + k / inner;
      for (std::int64_t i = 0; i < inner; ++i)
        if (rest[i].place >= 0) rest[i].place += first;
    }
    for (std::int64_t i = 0; i < inner; ++i) {
      for (std::int64_t k = 1; k < together; ++k) R::join(total[i], total[k * inner + i]);
      R::join(total[i], rest[i]);
      store(to + i, total[i]);
    }
  }
};

/// Combines the pieces of each output.
template <class R, class Store>
struct ReducePieces {
  typename R::Total const* in;
  Store store;
  std::int64_t outputs, pieces;

  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    typename R::Total total = in[k];
    for (std::int64_t p = 1; p < pieces; ++p) R::join(total, in[p * outputs + k]);
    store(k, total);
  }
};

/// Device: as ReduceTerms for contiguous terms, but neighbouring calls read neighbouring terms:
/// call p of an output reduces the terms p, p + pieces, ...
template <class R, class In, class Store>
struct ReduceApart {
  In in;
  Store store;
  ReduceShape shape;

  std::int64_t largest() const { return shape.terms + shape.pieces; }
  template <class Number>
  KOKKOS_FUNCTION void operator()(Number work) const {
    auto const pieces = static_cast<Number>(shape.pieces);
    Number const output = work / pieces;
    std::int64_t const piece = work % pieces;
    std::int64_t const n = static_cast<Number>(shape.terms - piece + shape.pieces - 1) / pieces;
    In const run = in + (kernels::offset_of(shape.kept, output) + piece);
    typename R::Total total = R::widen(R::nothing());
    if constexpr (takes_blocks<R>) {
      R::deposit(total, run, n, shape.pieces);
    } else {
      for (std::int64_t i = 0; i < n; ++i) {
        std::int64_t const at = i * shape.pieces;
        if constexpr (finds_places<R>) {
          R::join(total, {run[at], piece + at});
        } else {
          R::join(total, R::widen(R::load(run[at])));
        }
      }
    }
    store(piece * shape.outputs + output, total);
  }
};
/// Device: combines up to `together` pieces of each output that lie one behind the other.
template <class R>
struct JoinPieces {
  static constexpr std::int64_t together = 256;
  typename R::Total const* in;
  typename R::Total* out;
  std::int64_t outputs, pieces;

  static std::int64_t joined(std::int64_t pieces) { return (pieces + together - 1) / together; }
  template <class Number>
  KOKKOS_FUNCTION void operator()(Number work) const {
    std::int64_t const output = work % static_cast<Number>(outputs);
    std::int64_t const first = std::int64_t{work / static_cast<Number>(outputs)} * together;
    std::int64_t const end = first + together < pieces ? first + together : pieces;
    typename R::Total total = in[first * outputs + output];
    for (std::int64_t p = first + 1; p < end; ++p) R::join(total, in[p * outputs + output]);
    out[work] = total;
  }
};
/// The result of what was sent of a total.
template <class R>
struct FinishSent {
  shardtype::detail::sent_t<R> const* in;
  typename R::Result* out;
  KOKKOS_FUNCTION void operator()(std::int64_t k) const { out[k] = R::finish(in[k]); }
};

}  // namespace detail

}  // namespace shardtype::kernels
