#pragma once
/// Packing of views: the messages of kernels/runs.hpp from a block with any strides, in one pass.

#include <algorithm>
#include <cstdint>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/layout.hpp>
#include <shardtype/kernels/runs.hpp>
#include <shardtype/runtime/copy_bytes.hpp>

namespace shardtype::kernels {

/// Rows and columns of a tile of a view, and the largest length of a run of a view.
inline constexpr std::int64_t view_tile = 32;

namespace detail {

/// One dim of the view, with the effect of a step along it: on the position in the view, and on the
/// outer and the inner position in a message.
struct ViewLoop {
  std::int64_t extent = 1;
  std::int64_t stride = 0;
  std::int64_t outer = 0;
  std::int64_t inner = 0;
};

/// One call copies a tile: some runs that are consecutive in the view, by a piece of the dim with
/// the smallest stride, by a piece of the innermost dim. A tile reads and writes whole cache lines.
template <class T>
struct SplitView {
  T const* src;
  T* dst;
  RunTable table;
  std::int64_t const* order;  ///< the runs in the order of the view
  ViewLoop loops[max_dims];   ///< dims of which a call has one index
  int count;
  ViewLoop fast;                ///< the dim with the smallest stride
  std::int64_t outer, inner;    ///< elements of the dims before the runs' dim, and after it
  std::int64_t row_stride;      ///< of the runs' dim
  std::int64_t length, stride;  ///< of the innermost dim
  std::int64_t piece, pieces, fast_pieces;    ///< elements per call along that dim; numbers of
                                              ///< pieces
  std::int64_t runs_of_call, calls_for_runs;  ///< runs per call, and number of calls for all runs

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    std::int64_t const f = work % fast_pieces * view_tile;
    work /= fast_pieces;
    std::int64_t const j = work % pieces * piece;
    work /= pieces;
    std::int64_t const first = work % calls_for_runs * runs_of_call;
    work /= calls_for_runs;
    Tile t{src + f * fast.stride + j * stride, f * fast.outer, f * fast.inner + j,
           f + view_tile < fast.extent ? view_tile : fast.extent - f,
           j + piece < length ? piece : length - j};
    for (int d = 0; d < count; ++d) {
      std::int64_t const at = work % loops[d].extent;
      work /= loops[d].extent;
      t.in += at * loops[d].stride;
      t.outer += at * loops[d].outer;
      t.inner += at * loops[d].inner;
    }
    std::int64_t const end = first + runs_of_call < table.runs ? first + runs_of_call : table.runs;
    for (std::int64_t r = first; r < end; ++r) move(order[r], t);
  }

 private:
  /// The part of the dims without runs that a call copies, and its position in each message.
  struct Tile {
    T const* in;
    std::int64_t outer, inner;
    std::int64_t fast, length;
  };

  KOKKOS_FUNCTION void move(std::int64_t r, Tile const& t) const {
    std::int64_t const m = table.message_of(r);
    std::int64_t const begin = table.at[table.first[m]];
    std::int64_t const rows = table.at[table.first[m + 1]] - begin;
    std::int64_t const n = table.at[r + 1] - table.at[r];
    T const* in = t.in + table.row[r] * row_stride;
    T* out = dst + (begin * outer + t.outer * rows + table.at[r] - begin) * inner + t.inner;
    std::int64_t const next = fast.outer * rows * inner + fast.inner;
    for (std::int64_t f = 0; f < t.fast; ++f, in += fast.stride, out += next) {
      if (inner == 1) {
        for (std::int64_t i = 0; i < n; ++i) out[i] = in[i * row_stride];
      } else if (stride == 1) {
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < t.length; ++j) out[i * inner + j] = in[i * row_stride + j];
      } else {
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < t.length; ++j)
            out[i * inner + j] = in[i * row_stride + j * stride];
      }
    }
  }
};

/// Device: one call copies one element; neighbouring calls write neighbours.
template <class T>
struct SplitViewElements {
  T const* src;
  T* dst;
  RunTable table;
  Layout before, behind;  ///< the dims around the runs'
  std::int64_t outer, inner, row_stride;

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    std::int64_t const m = last(table.messages, [&](std::int64_t k) {
      return table.at[table.first[k]] * outer * inner <= work;
    });
    std::int64_t const begin = table.at[table.first[m]];
    std::int64_t const rows = table.at[table.first[m + 1]] - begin;
    std::int64_t const at = (work - begin * outer * inner) / inner;
    std::int64_t const n = begin + at % rows;  // of the rows of all runs
    std::int64_t const r = last(table.runs, [&](std::int64_t k) { return table.at[k] <= n; });
    dst[work] = src[offset_of(before, at / rows) + (table.row[r] + n - table.at[r]) * row_stride +
                    offset_of(behind, work % inner)];
  }

 private:
  /// The last of `n` for which `holds`, which the first ones do.
  template <class Holds>
  KOKKOS_FUNCTION static std::int64_t last(std::int64_t n, Holds const& holds) {
    std::int64_t low = 0, high = n;
    while (high - low > 1) {
      std::int64_t const middle = (low + high) / 2;
      (holds(middle) ? low : high) = middle;
    }
    return low;
  }
};

}  // namespace detail

/// Copies the runs of dim `dim` of the view `layout` at `src` to consecutive messages in `dst`, as
/// move_runs<split> does from a packed block. `order`: the runs in the order of the view; none is
/// longer than `view_tile`. Both tables are readable from `exec`. No communication.
template <class T, class Exec>
void split_view(Exec const& exec, T const* src, T* dst, Layout const& layout, int dim,
                RunTable const& table, std::int64_t const* order) {
  detail::SplitView<T> of{};
  of.src = src;
  of.dst = dst;
  of.table = table;
  of.order = order;
  of.outer = outer_length(layout, dim);
  of.inner = inner_length(layout, dim);
  of.row_stride = layout.stride[dim];
  if (of.outer * of.inner * table.runs == 0) return;
  Layout before;
  Layout behind;
  for (int d = 0; d < layout.rank; ++d) {
    if (d == dim) continue;
    Layout& side = d < dim ? before : behind;
    side.extent[side.rank] = layout.extent[d];
    side.stride[side.rank++] = layout.stride[d];
  }
  before = merged(before);
  behind = merged(behind);
  if constexpr (!runtime::host_reads<Exec>) {
    kernels::launch(exec, "shardtype::view_runs", of.outer * table.rows * of.inner,
                    detail::SplitViewElements<T>{src, dst, table, before, behind, of.outer,
                                                 of.inner, of.row_stride});
    return;
  }
  of.length = behind.extent[--behind.rank];
  of.stride = behind.stride[behind.rank];
  Layout const outer = before.packed();
  std::int64_t step = of.length;
  for (int d = behind.rank - 1; d >= 0; step *= behind.extent[d--])
    of.loops[of.count++] = {behind.extent[d], behind.stride[d], 0, step};
  for (int d = 0; d < before.rank && of.outer > 1; ++d)
    of.loops[of.count++] = {before.extent[d], before.stride[d], outer.stride[d], 0};
  for (int d = 0; d + 1 < of.count; ++d)
    if (of.loops[d].stride < of.loops[of.count - 1].stride)
      std::swap(of.loops[d], of.loops[of.count - 1]);
  if (of.count > 0) of.fast = of.loops[--of.count];

  of.piece = of.stride == 1 ? of.length : std::min(of.length, view_tile);
  of.pieces = (of.length + of.piece - 1) / of.piece;
  of.fast_pieces = (of.fast.extent + view_tile - 1) / view_tile;
  of.runs_of_call = view_tile * table.runs / table.rows + 1;
  of.calls_for_runs = (table.runs + of.runs_of_call - 1) / of.runs_of_call;
  std::int64_t work = of.fast_pieces * of.pieces * of.calls_for_runs;
  for (int d = 0; d < of.count; ++d) work *= of.loops[d].extent;
  kernels::launch(exec, "shardtype::view_runs", work, of);
}

}  // namespace shardtype::kernels
