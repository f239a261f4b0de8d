#pragma once
/// Runs long Fourier transforms along a split dim.

#include <algorithm>
#include <array>
#include <cstdint>
#include <source_location>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/execute/call.hpp>
#include <shardtype/execute/group.hpp>
#include <shardtype/fft/kernels_roots.hpp>
#include <shardtype/fft/run_stages.hpp>
#include <shardtype/fft/types_four_step.hpp>
#include <shardtype/kernels/copy.hpp>
#include <shardtype/kernels/unpack.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype::execute {

/// Calls `use(row, rows, columns)` for the rectangles of which the indices `range` of a matrix of
/// `width` columns, row by row, consist, as far as they are in the columns `part`: at most a part
/// of a row, whole rows, and a part of a row.
template <class Use>
void for_rectangles(Range range, std::int64_t width, Range part, Use use) {
  while (range.size() > 0) {
    std::int64_t const row = range.begin / width;
    std::int64_t const begin = range.begin % width;
    std::int64_t rows = begin == 0 ? range.size() / width : 0;
    std::int64_t end = width;
    if (rows == 0) {
      rows = 1;
      end = std::min(width, begin + range.size());
    }
    if (Range const columns = intersect({begin, end}, part); columns.size() > 0)
      use(row, rows, columns);
    range.begin += rows == 1 ? end - begin : rows * width;
  }
}

/// The exchanges of a long transform between the blocks of one dim and the columns of a matrix, on
/// the calling rank.
template <class T, class Space>
class ColumnExchange {
 public:
  ColumnExchange(Blocks<T, Space>& blocks, Step const& s)
      : blocks_(blocks), step_(s), into_(s.move == Move::to_columns) {
    Spec const& matrix = into_ ? s.after : s.before;
    width_ = blocks_.sizing.extents[matrix.dims[1].label];
    execute::member_blocks(into_ ? s.before : s.after, dim(), blocks_.sizing, blocks_.axes, s.axes,
                           scratch().old_blocks);
    execute::member_blocks(matrix, 1, blocks_.sizing, blocks_.axes, s.axes, scratch().blocks);
    me_ = static_cast<std::size_t>(
        core::rank_in_group(s.axes, blocks_.axes.sizes, blocks_.axes.coords));
  }

  /// `v` in blocks as a matrix with whole columns. What a longer matrix has beyond it is not
  /// written.
  Value<T> to_columns(Value<T> const& v) {
    std::int64_t const each = kernels::cross_section(v.layout, dim());
    Value<T> out = blocks_.fresh(step_.after);
    Buffer const wire = blocks_.take(v.layout.elements());
    T* to = blocks_.writable(wire);
    for (std::size_t g = 0; g < part().size(); ++g)
      execute::for_rectangles(
          block()[me_], width_, part()[g], [&](std::int64_t row, std::int64_t rows, Range columns) {
            kernels::Layout const l = rectangle(v.layout, rows, columns);
            kernels::copy_packed(blocks_.exec, v.data + offset(v.layout, row, columns), l, to);
            to += l.elements();
          });
    runtime::fence(blocks_.exec);
    // rank g's rows precede those of rank g + 1: they arrive in the order of the matrix
    send([&](std::size_t g) { return planning::in_columns(block()[me_], width_, part()[g]); },
         [&](std::size_t g) { return planning::in_columns(block()[g], width_, part()[me_]); }, each,
         blocks_.writable(wire), blocks_.writable(out.keep));
    return out;
  }

  /// A matrix with whole columns as blocks.
  Value<T> to_blocks(Value<T> const& v) {
    Value<T> out = blocks_.fresh(step_.after);
    std::int64_t const each = kernels::cross_section(out.layout, dim());
    Buffer const wire = blocks_.take(out.layout.elements());
    send([&](std::size_t g) { return planning::in_columns(block()[g], width_, part()[me_]); },
         [&](std::size_t g) { return planning::in_columns(block()[me_], width_, part()[g]); }, each,
         v.data, blocks_.writable(wire));
    T const* from = blocks_.writable(wire);
    for (std::size_t g = 0; g < part().size(); ++g)
      execute::for_rectangles(
          block()[me_], width_, part()[g], [&](std::int64_t row, std::int64_t rows, Range columns) {
            kernels::Layout const l = rectangle(out.layout, rows, columns);
            kernels::copy_unpacked(blocks_.exec, from, l,
                                   blocks_.writable(out.keep) + offset(out.layout, row, columns));
            from += l.elements();
          });
    runtime::fence(blocks_.exec);
    return out;
  }

 private:
  int dim() const { return into_ ? step_.from : step_.to; }
  StepScratch& scratch() const { return blocks_.mesh.scratch(); }
  detail::List<Range> const& block() const { return scratch().old_blocks; }
  detail::List<Range> const& part() const { return scratch().blocks; }

  /// A rectangle of the matrix in a block of this layout: rows and columns first, then the batch.
  kernels::Layout rectangle(kernels::Layout const& l, std::int64_t rows, Range columns) const {
    kernels::Layout out;
    out.rank = l.rank + 1;
    out.extent[0] = rows;
    out.stride[0] = width_ * l.stride[dim()];
    out.extent[1] = columns.size();
    out.stride[1] = l.stride[dim()];
    int next = 2;
    for (int d = 0; d < l.rank; ++d) {
      if (d == dim()) continue;
      out.extent[next] = l.extent[d];
      out.stride[next++] = l.stride[d];
    }
    return out;
  }
  std::int64_t offset(kernels::Layout const& l, std::int64_t row, Range columns) const {
    return (row * width_ + columns.begin - block()[me_].begin) * l.stride[dim()];
  }

  /// One all_to_all; `sent(g)` and `received(g)` count the matrix elements to and from rank g, of
  /// `each` elements of the batch.
  template <class Sent, class Received>
  void send(Sent sent, Received received, std::int64_t each, T const* from, T* to) {
    StepScratch& s = scratch();
    s.counts.clear();
    s.offsets.clear();
    s.recv_counts.clear();
    s.recv_offsets.clear();
    std::int64_t out = 0;
    std::int64_t in = 0;
    for (std::size_t g = 0; g < part().size(); ++g) {
      s.counts.push_back(sent(g) * each);
      s.offsets.push_back(out);
      out += s.counts.back();
      s.recv_counts.push_back(received(g) * each);
      s.recv_offsets.push_back(in);
      in += s.recv_counts.back();
    }
    // the first blocks are the largest, on all ranks
    Range const all{0, block().back().end};
    std::int64_t const column = planning::in_columns(all, width_, part().front());
    std::int64_t const most = std::max(block().front().size(), column) * each;
    bool const huge = most > run_time.sending().largest_count;
    execute::group_of(blocks_.mesh, blocks_.axes, step_.axes)
        .all_to_all(from, s.counts, s.offsets, to, s.recv_counts, s.recv_offsets,
                    huge ? Segments::huge : Segments::uneven);
  }

  Blocks<T, Space>& blocks_;
  Step const& step_;
  bool into_;
  std::int64_t width_ = 1;
  std::size_t me_ = 0;
};

/// One long transform on the calling rank.
template <class T, class Space>
class FourStepRun {
  using Exec = typename Space::execution_space;
  using Real = shardtype::detail::real_of<T>;

 public:
  FourStepRun(MeshState& mesh, AxisMap const& axes, std::source_location const& where,
              planning::FourStepCall const& call, bool forward, double factor)
      : blocks_{mesh, axes, call.sizing},
        exchanges_(mesh, axes, call.sizing, where),
        call_(call),
        forward_(forward),
        factor_(factor) {}

  /// The block of the result from that of the operand.
  Buffer run(Buffer operand) {
    if (call_.convolves) return convolve(std::move(operand));
    Value<T> v = call_.ranks == 1 ? alone(std::move(operand)) : four_steps(std::move(operand));
    execute::scale_block(runtime::instance<Exec>(), writable(v), v.layout.elements(), factor_);
    return v.keep;
  }

 private:
  static T* writable(Value<T> const& v) { return static_cast<T*>(v.keep.data()); }
  Value<T> given(Spec const& s, Buffer operand) {
    return execute::whole_value<T>(s, call_.sizing, blocks_.axes.coords, std::move(operand));
  }

  Value<T> four_steps(Buffer operand) {
    Value<T> v = given(call_.given, std::move(operand));
    if (call_.order == FourStepOrder::transposed_operand) {
      Value<T> matrix = blocks_.fresh(call_.by_rows());
      transform(v, matrix, call_.columns, forward_);
      v = {};
      return columns_back(std::move(matrix), forward_);
    }
    v = rows_together(exchanged(call_.to_columns(), v), forward_);
    bool const natural = call_.order == FourStepOrder::natural;
    Spec const& next = natural ? call_.turned() : call_.result;
    if (next == v.spec) {
      transform(v, v, call_.columns, forward_);
      return v;
    }
    Value<T> out = blocks_.fresh(next);
    transform(v, out, call_.columns, forward_);
    v = {};
    return natural ? exchanged(call_.to_blocks(), out) : out;
  }

  /// On one rank the matrix is a view of the block.
  Value<T> alone(Buffer operand) {
    bool const from_matrix = call_.order == FourStepOrder::transposed_operand;
    Value<T> v = given(call_.given, std::move(operand));
    Value<T> out = blocks_.fresh(call_.result);
    if (call_.order == FourStepOrder::natural) {
      kernels::FourierDims over;
      over.push(call_.dim);
      transform(v.data, v.layout, writable(out), out.layout, over, forward_);
      return out;
    }
    bool const adjacent =
        !from_matrix || call_.given.find(call_.columns) == call_.given.find(call_.rows) + 1;
    kernels::Layout const matrix = from_matrix ? v.layout : out.layout;
    Spec const& spec = from_matrix ? call_.given : call_.result;
    kernels::Layout result = matrix;  // of the matrix in the result's block
    kernels::Layout operand_layout = matrix;
    int const row = spec.find(call_.rows);
    int const column = spec.find(call_.columns);
    if (from_matrix && !adjacent) {
      for (int d = 0; d < result.rank; ++d) {
        int const to = call_.result.find(spec.dims[d].label);
        if (to >= 0) result.stride[d] = out.layout.stride[to];
      }
      std::int64_t const each = out.layout.stride[call_.dim_after];
      result.stride[row] = each * call_.lengths.columns;
      result.stride[column] = each;
    }
    kernels::FourierDims first, second;
    first.push(from_matrix ? column : row);
    second.push(from_matrix ? row : column);
    transform(v.data, operand_layout, writable(out), result, first, forward_);
    multiply_roots(out, row_block(out), forward_);
    transform(out.data, result, writable(out), result, second, forward_);
    return out;
  }
  /// The block of a rank that is alone, as a matrix.
  kernels::MatrixBlock row_block(Value<T> const& out) const {
    kernels::MatrixBlock b;
    int const d = call_.order == FourStepOrder::transposed_result ? out.spec.find(call_.rows)
                                                                  : call_.dim_after;
    bool const two = call_.order == FourStepOrder::transposed_result;
    b.outer = kernels::outer_length(out.layout, d);
    b.rows = call_.lengths.rows;
    b.columns = call_.lengths.columns;
    b.inner = kernels::inner_length(out.layout, two ? d + 1 : d);
    b.width = b.columns;
    return b;
  }

  /// Bluestein's algorithm: j k = (j^2 + k^2 - (k - j)^2) / 2, so the transform is a product with a
  /// chirp, a convolution with its inverse, and a product with the chirp.
  Buffer convolve(Buffer operand) {
    std::int64_t const n = call_.n;
    Step filtered = call_.to_rows();
    filtered.before = planning::FourStepCall::without_batch(filtered.before);
    filtered.after = planning::FourStepCall::without_batch(filtered.after);
    Value<T> filter = blocks_.fresh(filtered.before);
    {
      Buffer tables;
      kernels::Roots const inverse = chirp_roots(!forward_, tables);
      kernels::chirp_filter(runtime::instance<Exec>(), writable(filter), matrix_block(filter, 1),
                            inverse, n, call_.matrix_elements());
    }
    transform(filter, filter, call_.rows, true);
    multiply_roots(filter, matrix_block(filter, 1), true);
    filter = exchanges_.step(filtered, std::move(filter));
    transform(filter, filter, call_.columns, true);

    Value<T> v = exchanged(call_.to_columns(), given(call_.blocks_before(), std::move(operand)));
    std::int64_t const batch =
        kernels::cross_section(v.layout, 0) / std::max<std::int64_t>(1, v.layout.extent[1]);
    {
      Buffer tables;
      kernels::Roots const roots = chirp_roots(forward_, tables);
      kernels::multiply_chirp(runtime::instance<Exec>(), writable(v), matrix_block(v, batch), roots,
                              n, 1.0);
    }
    v = rows_together(std::move(v), true);
    transform(v, v, call_.columns, true);
    kernels::multiply_filter(runtime::instance<Exec>(), writable(v), filter.data,
                             filter.layout.elements(), batch);
    filter = {};
    transform(v, v, call_.columns, false);
    v = columns_back(std::move(v), false);
    Buffer tables;
    kernels::Roots const roots = chirp_roots(forward_, tables);
    kernels::MatrixBlock block;  // each row of the dim is a row of one column
    block.outer = kernels::outer_length(v.layout, call_.dim_after);
    block.rows = v.layout.extent[call_.dim_after];
    block.columns = block.width = 1;
    block.inner = kernels::inner_length(v.layout, call_.dim_after);
    block.first_row =
        planning::block_of(v.spec, call_.dim_after, call_.sizing, blocks_.axes.coords).begin;
    kernels::multiply_chirp(runtime::instance<Exec>(), writable(v), block, roots, n,
                            factor_ / static_cast<double>(call_.matrix_elements()));
    return v.keep;
  }

  /// From whole columns to whole rows.
  Value<T> rows_together(Value<T> v, bool forward) {
    transform(v, v, call_.rows, forward);
    multiply_roots(v, matrix_block(v), forward);
    return exchanges_.step(call_.to_rows(), std::move(v));
  }
  /// From whole rows, which are transformed, to the blocks of one dim.
  Value<T> columns_back(Value<T> v, bool forward) {
    multiply_roots(v, matrix_block(v), forward);
    v = exchanges_.step(call_.back_to_columns(), std::move(v));
    transform(v, v, call_.rows, forward);
    return exchanged(call_.to_blocks(), v);
  }

  Value<T> exchanged(Step const& s, Value<T> const& v) {
    exchanges_.agree_on(s);
    ColumnExchange<T, Space> exchange(blocks_, s);
    return s.move == Move::to_columns ? exchange.to_columns(v) : exchange.to_blocks(v);
  }

  /// Transforms `from` along the dim of this label to `to`, whose dims may have another order.
  void transform(Value<T> const& from, Value<T> const& to, int label, bool forward) {
    kernels::Layout view = to.layout;
    for (int d = 0; d < to.spec.rank; ++d) {
      int const of = from.spec.find(to.spec.dims[d].label);
      view.stride[d] = from.layout.stride[of];
    }
    kernels::FourierDims over;
    over.push(to.spec.find(label));
    transform(from.data, view, writable(to), to.layout, over, forward);
  }
  void transform(T const* from, kernels::Layout const& view, T* to, kernels::Layout const& layout,
                 kernels::FourierDims const& over, bool forward) {
    Exec const& exec = runtime::instance<Exec>();
    runtime::fence(exec);
    if (layout.elements() == 0 || (from == to && layout.extent[over.last()] == 1)) return;
    kernels::fourier_complex(exec, from, view, to, layout, over, forward);
  }

  /// A value with whole columns or whole rows, as a block of the matrix.
  kernels::MatrixBlock matrix_block(Value<T> const& v) const {
    std::int64_t const places = v.layout.extent[0] * v.layout.extent[1];
    return matrix_block(v, places == 0 ? 0 : v.layout.elements() / places);
  }
  kernels::MatrixBlock matrix_block(Value<T> const& v, std::int64_t batch) const {
    kernels::MatrixBlock b;
    b.rows = v.layout.extent[0];
    b.columns = v.layout.extent[1];
    b.inner = batch;
    b.first_row = planning::block_of(v.spec, 0, call_.sizing, blocks_.axes.coords).begin;
    b.first_column = planning::block_of(v.spec, 1, call_.sizing, blocks_.axes.coords).begin;
    b.width = call_.lengths.columns;
    return b;
  }
  void multiply_roots(Value<T> const& v, kernels::MatrixBlock const& b, bool forward) {
    if (!call_.has_roots() || b.elements() == 0) return;
    std::int64_t const n = call_.matrix_elements();
    Buffer const tables = table_memory(n);
    kernels::multiply_roots(runtime::instance<Exec>(), writable(v), b,
                            kernels::Roots::in<Space>(n, forward, tables.data()));
  }
  Buffer table_memory(std::int64_t n) {
    return blocks_.mesh.pool().template take<Space>(
        static_cast<std::size_t>(planning::RootTables(n).bytes()));
  }
  kernels::Roots chirp_roots(bool forward, Buffer& tables) {
    tables = table_memory(2 * call_.n);
    return kernels::Roots::in<Space>(2 * call_.n, forward, tables.data());
  }

  Blocks<T, Space> blocks_;
  Executor<T, Space> exchanges_;
  planning::FourStepCall const& call_;
  bool forward_;
  double factor_;
};

}  // namespace shardtype::execute

namespace shardtype::op {

template <bool Forward, class... Ls>
template <class R, class A>
typename R::result FourStep<Forward, Ls...>::run(std::source_location const& where,
                                                 A const& a) const {
  using Result = typename R::result;
  using Space = typename A::memory_space;
  auto const extents = execute::result_extents<R>(*this, a);
  if (!a.mesh().here()) return Result(a.mesh(), extents, runtime::Buffer());
  kernels::check_fourier<Space>();
  runtime::AxisMap const axes = runtime::map_axes(a.mesh().state(), R::S::names);
  Sizing z{R::S::names.extents(), axes.sizes,
           static_cast<std::int64_t>(sizeof(typename A::element))};
  constexpr Spec const& made = R::verdict.result;
  for (int d = 0; d < R::S::parsed[0].spec.rank; ++d)
    z.extents.at[R::S::parsed[0].spec.dims[d].label] = a.extents()[static_cast<std::size_t>(d)];
  for (int d = 0; d < made.rank; ++d)
    z.extents.at[made.dims[d].label] = extents[static_cast<std::size_t>(d)];
  planning::FourStepCall const call(order, R::S::parsed[0].spec, R::S::parsed[1].spec, made, z);
  execute::FourStepRun<typename A::element, Space> run(
      a.mesh().state(), axes, where, call, Forward,
      execute::fourier_factor(*this, static_cast<double>(std::max<std::int64_t>(1, call.n))));
  return Result(a.mesh(), extents, run.run(a.buffer()));
}

}  // namespace shardtype::op
