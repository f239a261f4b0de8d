#pragma once
/// Elementwise expressions on local blocks: one kernel for the whole expression, no temporaries.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/expression_tiles.hpp>
#include <shardtype/kernels/expression_tree.hpp>
#include <shardtype/kernels/fill.hpp>
#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/layout.hpp>
#include <shardtype/kernels/several.hpp>
#include <shardtype/kernels/short_rows.hpp>
#include <shardtype/runtime/copy_bytes.hpp>
#include <shardtype/runtime/instance.hpp>

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

/// Host: the runs of the operands of an expression. One call computes a run of the last dim, or
/// several short rows, in blocks of whole rows. Operands that do not lie packed there are first
/// copied to a small buffer, so that all loops have unit stride.
template <class Types>
struct OperandRuns;
template <class... Ts>
struct OperandRuns<Elements<Ts...>> {
  static constexpr int count = static_cast<int>(sizeof...(Ts));
  static constexpr std::int64_t block = 512;  ///< elements of a buffer
  static constexpr std::int64_t of_call = 8192;
  static_assert(((sizeof(Ts) <= 16) && ...));
  using Buffer = char[static_cast<std::size_t>(block) * 16 + spare_bytes];
  static constexpr std::size_t slots = at_least_one(count);

  Layout shape;
  Sources<count> in;
  std::int64_t length;        ///< of a row: the last dim
  std::int64_t rows = 1;      ///< the dim before it
  std::int64_t run;           ///< elements of a row that are computed at once
  std::int64_t runs;          ///< calls for a row
  std::int64_t together = 1;  ///< rows that are computed at once
  std::int64_t rows_of_call = 1;
  std::int64_t calls_of_rows;
  std::size_t like[at_least_one(count)];  ///< the first operand with the same elements

  OperandRuns(Layout const& its_shape, Sources<count> const& from) : shape(its_shape), in(from) {
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
    calls_of_rows = (rows + rows_of_call - 1) / rows_of_call;
    constexpr std::size_t sizes[at_least_one(count)] = {sizeof(Ts)...};
    for (std::size_t k = 0; k < at_least_one(count); ++k) {
      like[k] = 0;
      while (like[k] < k && (sizes[like[k]] != sizes[k] || !same(like[k], k))) ++like[k];
    }
  }
  std::int64_t calls() const { return shape.elements() / (length * rows) * calls_of_rows * runs; }

  /// The part of a call.
  struct Part {
    std::int64_t row, end;                     ///< rows
    std::int64_t to;                           ///< the place of row 0 in the result
    std::int64_t n;                            ///< elements of a row
    std::int64_t offset[at_least_one(count)];  ///< of row 0 of an operand
  };
  Part part(std::int64_t work) const {
    Part p;
    std::int64_t const begin = work % runs * run;
    p.n = begin + run < length ? run : length - begin;
    std::int64_t outer = work / runs;
    p.row = outer % calls_of_rows * rows_of_call;
    p.end = p.row + rows_of_call < rows ? p.row + rows_of_call : rows;
    outer /= calls_of_rows;
    p.to = outer * rows * length + begin;
    for (int k = 0; k < count; ++k) p.offset[k] = begin * in.stride[k][shape.rank - 1];
    for (int d = shape.rank - 3; d >= 0; --d) {
      std::int64_t const at = outer % shape.extent[d];
      outer /= shape.extent[d];
      for (int k = 0; k < count; ++k) p.offset[k] += at * in.stride[k][d];
    }
    return p;
  }
  /// Where `m` rows from `row` on lie, or the buffers with them; `first`: whether the buffers hold
  /// nothing yet.
  void place(void const** from, Part const& p, std::int64_t row, std::int64_t m, bool first,
             Buffer* buffers) const {
    std::size_t k = 0;
    ((from[k] = like[k] < k ? from[like[k]] : operand<Ts>(k, p, row, m, first, buffers[k]), ++k),
     ...);
  }

 private:
  bool same(std::size_t j, std::size_t k) const {
    bool equal = in.data[j] == in.data[k];
    for (int d = 0; d < shape.rank; ++d) equal = equal && in.stride[j][d] == in.stride[k][d];
    return equal;
  }
  /// Rows that are all one stay in the buffer.
  template <class U>
  U const* operand(std::size_t k, Part const& p, std::int64_t row, std::int64_t m, bool first,
                   char* buffer) const {
    std::int64_t const step = in.stride[k][shape.rank - 1];
    std::int64_t const next = shape.rank > 1 ? in.stride[k][shape.rank - 2] : 0;
    U const* const source = static_cast<U const*>(in.data[k]) + (p.offset[k] + row * next);
    if ((step == 1 || p.n == 1) && (next == p.n || m == 1)) return source;
    U* const packed = reinterpret_cast<U*>(buffer);
    if (next != 0 || first) detail::pack_rows(source, next, step, p.n, m, packed);
    return packed;
  }
};
template <class Out, class E, class Types>
struct EvaluateRuns : OperandRuns<Types> {
  using Base = OperandRuns<Types>;
  E expression;
  Out out;

  EvaluateRuns(E const& e, Out const& to, Layout const& shape_of, Sources<Types::count> const& from)
      : Base(shape_of, from), expression(e), out(to) {}

  void operator()(std::int64_t work) const {
    typename Base::Part const part = Base::part(work);
    alignas(64) typename Base::Buffer buffers[Base::slots];
    void const* from[Base::slots];
    for (std::int64_t row = part.row; row < part.end; row += Base::together) {
      std::int64_t const m = part.end - row < Base::together ? part.end - row : Base::together;
      Base::place(from, part, row, m, row == part.row, buffers);
      detail::compute_run(expression, from, 0, m * part.n, out + (part.to + row * Base::length));
    }
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

  template <class Number>
  KOKKOS_FUNCTION void operator()(Number work) const {
    std::int64_t offset[at_least_one(count)] = {};
    Number rest = work;
    for (int d = shape.rank - 1; d >= 0; --d) {
      auto const extent = static_cast<Number>(shape.extent[d]);
      std::int64_t const at = d == 0 ? rest : rest % extent;
      rest /= extent;
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
    if constexpr (std::is_same_v<E, Leaf<std::remove_pointer_t<Out>, 0>>) {
      if (merged.rank == 1 && in.stride[0][0] == 0) {
        kernels::fill(exec, out, n, expression.at(in.data, 0));
        runtime::fence(exec);
        return;
      }
    }
    using Tiles = detail::OperandTiles<Types>;
    if (int const fast = Tiles::fast_dim(merged, in); fast >= 0) {
      detail::EvaluateTiles<Out, E, Types> const tiles{{merged, in, fast}, expression, out};
      kernels::launch(exec, "shardtype::elementwise", tiles.all.calls(), tiles);
    } else {
      detail::EvaluateRuns<Out, E, Types> const runs(expression, out, merged, in);
      kernels::launch(exec, "shardtype::elementwise", runs.calls(), runs);
    }
    runtime::fence(exec);
  } else {
    kernels::launch(exec, "shardtype::elementwise", n,
                    detail::EvaluateElements<Out, E, Types>{expression, out, merged, in});
  }
}

}  // namespace shardtype::kernels
