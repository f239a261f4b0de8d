#pragma once
/// Elementwise expressions on local blocks: one kernel for the whole expression, no temporaries.

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/expression_tiles.hpp>
#include <shardtype/kernels/expression_tree.hpp>
#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/layout.hpp>
#include <shardtype/kernels/several.hpp>
#include <shardtype/kernels/short_rows.hpp>
#include <shardtype/runtime/copy_bytes.hpp>

namespace shardtype::kernels {

namespace detail {

/// Merges neighbouring dims that are contiguous to each other in the result and in all operands.
template <int Count>
Layout merge_dims(Layout const& result, Sources<Count>& in) {
  Layout out;
  Sources<Count> merged = in;
  for (int d = 0; d < result.rank; ++d) {
    if (result.extent[d] == 1) continue;
    int const last = out.rank - 1;
    bool together = last >= 0;
    for (int k = 0; together && k < Count; ++k)
      together = merged.stride[k][last] == in.stride[k][d] * result.extent[d];
    if (together) {
      out.extent[last] *= result.extent[d];
    } else {
      out.extent[out.rank++] = result.extent[d];
    }
    for (int k = 0; k < Count; ++k) merged.stride[k][out.rank - 1] = in.stride[k][d];
  }
  if (out.rank == 0) {
    out.rank = 1;
    out.extent[0] = 1;
  }
  in = merged;
  return out.packed();
}

/// Host: one call computes a run of the last dim, or several short rows, in blocks of whole rows.
/// Operands that do not lie packed there are first copied to a small buffer, so that all loops have
/// unit stride.
template <class Out, class E, class Types>
struct EvaluateRuns;
template <class Out, class E, class... Ts>
struct EvaluateRuns<Out, E, Elements<Ts...>> {
  static constexpr int count = static_cast<int>(sizeof...(Ts));
  static constexpr std::int64_t block = 512;  ///< elements of a buffer
  static constexpr std::int64_t of_call = 8192;

  E expression;
  Out out;
  Layout shape;
  Sources<count> in;
  std::int64_t length;        ///< of a row: the last dim
  std::int64_t rows = 1;      ///< the dim before it
  std::int64_t run;           ///< elements of a row that are computed at once
  std::int64_t runs;          ///< calls for a row
  std::int64_t together = 1;  ///< rows that are computed at once
  std::int64_t rows_of_call = 1;

  EvaluateRuns(E const& e, Out const& to, Layout const& its_shape, Sources<count> const& from)
      : expression(e), out(to), shape(its_shape), in(from) {
    int const last = shape.rank - 1;
    length = shape.extent[last];
    if (last > 0) rows = shape.extent[last - 1];
    bool plain = true;
    for (int k = 0; k < count; ++k) plain = plain && (in.stride[k][last] == 1 || length == 1);
    run = plain ? of_call : block;
    if (last > 0 && length <= block / 2) {
      run = length;
      together = block / length;
      rows_of_call = of_call / length / together * together;
    }
    runs = (length + run - 1) / run;
  }
  std::int64_t calls_of_rows() const { return (rows + rows_of_call - 1) / rows_of_call; }
  std::int64_t calls() const { return shape.elements() / (length * rows) * calls_of_rows() * runs; }

  void operator()(std::int64_t work) const {
    std::int64_t const begin = work % runs * run;
    std::int64_t const n = begin + run < length ? run : length - begin;
    std::int64_t outer = work / runs;
    std::int64_t const first = outer % calls_of_rows() * rows_of_call;
    std::int64_t const end = first + rows_of_call < rows ? first + rows_of_call : rows;
    outer /= calls_of_rows();
    std::int64_t const row_before = outer * rows;
    std::int64_t offset[at_least_one(count)];
    for (int k = 0; k < count; ++k) offset[k] = begin * in.stride[k][shape.rank - 1];
    for (int d = shape.rank - 3; d >= 0; --d) {
      std::int64_t const at = outer % shape.extent[d];
      outer /= shape.extent[d];
      for (int k = 0; k < count; ++k) offset[k] += at * in.stride[k][d];
    }
    alignas(64) char buffers[at_least_one(count)][block * 16 + spare_bytes];
    void const* from[at_least_one(count)];
    for (std::int64_t row = first; row < end; row += together) {
      std::int64_t const m = end - row < together ? end - row : together;
      place_all(from, offset, row, m, n, row == first, buffers,
                std::make_integer_sequence<int, count>{});
      detail::compute_run(expression, from, 0, m * n, out + ((row_before + row) * length + begin));
    }
  }
  template <int... K>
  void place_all(void const** from, std::int64_t const* offset, std::int64_t row, std::int64_t m,
                 std::int64_t n, bool first, char (*buffers)[block * 16 + spare_bytes],
                 std::integer_sequence<int, K...>) const {
    static_assert(((sizeof(Ts) <= 16) && ...));
    ((from[K] = place(static_cast<Ts const*>(in.data[K]) + offset[K], in.stride[K], row, m, n,
                      first, reinterpret_cast<Ts*>(buffers[K]))),
     ...);
  }
  /// Where `m` rows of `n` elements lie, or the buffer with them; rows that are all one stay there.
  template <class U>
  U const* place(U const* source, std::int64_t const* stride, std::int64_t row, std::int64_t m,
                 std::int64_t n, bool first, U* buffer) const {
    std::int64_t const step = stride[shape.rank - 1];
    std::int64_t const next = shape.rank > 1 ? stride[shape.rank - 2] : 0;
    source += row * next;
    if ((step == 1 || n == 1) && (next == n || m == 1)) return source;
    if (next != 0 || first) detail::pack_rows(source, next, step, n, m, buffer);
    return buffer;
  }
};

/// Device: one call computes one element.
template <class Out, class E, class Types>
struct EvaluateElements;
template <class Out, class E, class... Ts>
struct EvaluateElements<Out, E, Elements<Ts...>> {
  static constexpr int count = static_cast<int>(sizeof...(Ts));
  E expression;
  Out out;
  Layout shape;
  Sources<count> in;

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    std::int64_t offset[at_least_one(count)] = {};
    std::int64_t rest = work;
    for (int d = shape.rank - 1; d >= 0; --d) {
      std::int64_t const at = rest % shape.extent[d];
      rest /= shape.extent[d];
      for (int k = 0; k < count; ++k) offset[k] += at * in.stride[k][d];
    }
    evaluate(offset, out + work, std::make_integer_sequence<int, count>{});
  }
  template <int... K>
  KOKKOS_FUNCTION void evaluate(std::int64_t const* offset, Out const& to,
                                std::integer_sequence<int, K...>) const {
    void const* from[at_least_one(count)] = {static_cast<Ts const*>(in.data[K]) + offset[K]...};
    detail::compute_element(expression, from, to);
  }
};

}  // namespace detail

/// Writes the expression of the operands `in` to `out`, packed, with the extents of `shape`. `out`
/// may be an operand with the same layout. Several expressions are written to Targets, which are
/// none of the operands. Runs on `exec`.
template <class Types, class Exec, class Out, class E>
void evaluate(Exec const& exec, E const& expression, Out const& out, Layout const& shape,
              Sources<Types::count> in) {
  std::int64_t const n = shape.elements();
  if (n == 0) return;
  Layout const merged = detail::merge_dims(shape, in);
  if constexpr (runtime::host_reads<Exec>) {
    using Tiles = detail::EvaluateTiles<Out, E, Types>;
    if (int const fast = Tiles::fast_dim(merged, in); fast >= 0) {
      Tiles const tiles{expression, out, merged, in, fast};
      kernels::launch(exec, "shardtype::elementwise", tiles.calls(), tiles);
    } else {
      detail::EvaluateRuns<Out, E, Types> const runs(expression, out, merged, in);
      kernels::launch(exec, "shardtype::elementwise", runs.calls(), runs);
    }
    exec.fence();
  } else {
    kernels::launch(exec, "shardtype::elementwise", n,
                    detail::EvaluateElements<Out, E, Types>{expression, out, merged, in});
  }
}

}  // namespace shardtype::kernels
