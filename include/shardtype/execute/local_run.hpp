#pragma once
/// Shared by operations on local blocks: extents of the result, and copies around one dim.

#include <algorithm>
#include <array>
#include <cstdint>
#include <source_location>
#include <type_traits>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <shardtype/check/call.hpp>
#include <shardtype/kernels/copy.hpp>
#include <shardtype/kernels/fill.hpp>
#include <shardtype/kernels/pitched.hpp>
#include <shardtype/kernels/triangle.hpp>
#include <shardtype/kernels/unpack.hpp>
#include <shardtype/runtime/instance.hpp>
#include <shardtype/tensor/block_layout.hpp>
#include <shardtype/tensor/operand.hpp>
#include <shardtype/tensor/tensor.hpp>

namespace shardtype::execute {

/// One call on the calling rank: blocks of `T` in memory `Space`, and copies of them into new
/// memory of the mesh's pool.
template <class T, class Space>
struct LocalRun {
  using element = T;
  using memory_space = Space;
  using Exec = typename Space::execution_space;

  MeshState& mesh;
  ResultExtents const& call;
  std::source_location const& where;
  kernels::Layout in;   ///< the operand's block
  kernels::Layout out;  ///< the result's
  T const* data;
  Buffer const& buffer;          ///< of the first operand
  Buffer const* const* buffers;  ///< of all
  Rows const* held;              ///< of each dim of the first operand, what this rank holds
  LocalRun(MeshState& its_mesh, ResultExtents const& its_call,
           std::source_location const& its_source, kernels::Layout const& from,
           kernels::Layout const& to, Buffer const* const* its_buffers, Rows const* its_rows)
      : mesh(its_mesh),
        call(its_call),
        where(its_source),
        in(from),
        out(to),
        data(static_cast<T const*>(its_buffers[0]->data())),
        buffer(*its_buffers[0]),
        buffers(its_buffers),
        held(its_rows) {}

  /// The default execution space instance; a new object each time, because g++ considers an empty
  /// member uninitialized.
  static Exec const& exec() { return runtime::instance<Exec>(); }
  Buffer fresh() const { return take(out.elements()); }
  Buffer take(std::int64_t n) const {
    return mesh.pool().template take<Space>(static_cast<std::size_t>(n) * sizeof(T));
  }
  static T* writable(Buffer const& b) { return static_cast<T*>(b.data()); }

  /// The elements of layout `l` from `src` on, packed.
  Buffer copy(T const* src, kernels::Layout const& l) const {
    Buffer result = fresh();
    kernels::copy_packed(exec(), src, l, writable(result));
    runtime::fence(exec());
    return result;
  }
  /// A layout of these extents and strides, outermost first.
  template <std::size_t N>
  static kernels::Layout strided(std::int64_t const (&extent)[N], std::int64_t const (&stride)[N]) {
    kernels::Layout l;
    for (std::size_t d = 0; d < N; ++d) {
      l.extent[d] = extent[d];
      l.stride[d] = stride[d];
    }
    l.rank = static_cast<int>(N);
    return l;
  }

  /// The dims in the order of the result; new dims repeat the block.
  Buffer rearrange() const {
    kernels::Layout const l = planning::rearranged(in, call.a(), out, call.result);
    return l.contiguous() ? buffer : copy(data, l);
  }
  /// Copies `n` rows begin, begin + step, ...; zeros for those that other ranks hold.
  Buffer rows(std::int64_t begin, std::int64_t step, std::int64_t n) const {
    int const d = call.dim();
    Around const b(in, d);
    Range const here = held[d].range();
    // the first of the rows at or behind one of the operand
    auto const row_from = [&](std::int64_t row) {
      return std::min(n, ceil_div(std::max(row - begin, std::int64_t{0}), step));
    };
    std::int64_t const first = row_from(here.begin);
    std::int64_t const count = row_from(here.end) - first;
    T const* const src = data + (begin + first * step - here.begin) * b.inner;
    kernels::Layout const own =
        strided({b.outer, count, b.inner}, {b.n * b.inner, step * b.inner, std::int64_t{1}});
    if (count == n) return copy(src, own);
    Buffer const result = fresh();
    Buffer const packed = take(own.elements());
    kernels::fill(exec(), writable(result), out.elements(), T{});
    if (count > 0) {
      kernels::copy_packed(exec(), src, own, writable(packed));
      kernels::copy_pitched(exec(), static_cast<T const*>(writable(packed)), count * b.inner,
                            writable(result) + first * b.inner, n * b.inner, b.outer,
                            count * b.inner);
    }
    runtime::fence(exec());
    return result;
  }
  /// The rows begin, begin + step, ... of the result; the operand's memory if these are its block.
  Buffer slice(std::int64_t begin, std::int64_t step) const {
    int const d = call.dim();
    bool const split = held[d].size() != call.given[0][d];
    if (!split && out.extent[d] == in.extent[d] && step == 1) return buffer;
    return rows(begin, step, out.extent[d]);
  }
  Buffer flip() const {
    Around const b(in, call.dim());
    if (b.n <= 1) return buffer;
    return copy(data + (b.n - 1) * b.inner,
                strided({b.outer, b.n, b.inner}, {b.n * b.inner, -b.inner, std::int64_t{1}}));
  }
  Buffer repeat(std::int64_t times) const {
    Around const b(in, call.dim());
    return copy(data, strided({b.outer, b.n, times, b.inner},
                              {b.n * b.inner, b.inner, std::int64_t{0}, std::int64_t{1}}));
  }
  Buffer tile(std::int64_t times) const {
    Around const b(in, call.dim());
    return copy(data, strided({b.outer, times, b.n * b.inner},
                              {b.n * b.inner, std::int64_t{0}, std::int64_t{1}}));
  }
  /// Copies rows [from, from + n) of a block around dim `d` to rows [to, to + n) of the result.
  void place(Buffer const& result, T const* src, Around const& b, std::int64_t from, std::int64_t n,
             int d, std::int64_t to) const {
    std::int64_t const wide = out.extent[d] * b.inner;
    kernels::copy_pitched(exec(), src + from * b.inner, b.n * b.inner,
                          writable(result) + to * b.inner, wide, b.outer, n * b.inner);
  }
  Buffer pad(std::int64_t before, std::int64_t interior, T value) const {
    Around const b(in, call.dim());
    Buffer const result = fresh();
    kernels::fill(exec(), writable(result), out.elements(), value);
    if (interior == 0) {
      place(result, data, b, 0, b.n, call.dim(), before);
    } else {
      std::int64_t const wide = out.extent[call.dim()] * b.inner;
      kernels::copy_unpacked(
          exec(), data,
          strided({b.outer, b.n, b.inner}, {wide, (interior + 1) * b.inner, std::int64_t{1}}),
          writable(result) + before * b.inner);
    }
    runtime::fence(exec());
    return result;
  }
  /// The block with the `n` rows of the second operand's from row `start` on.
  Buffer replace(std::int64_t start, std::int64_t n) const {
    int const d = call.dim();
    Around const b(in, d);
    kernels::Layout window = in;
    window.extent[d] = n;
    std::int64_t const end = start + n;
    Buffer const result = fresh();
    place(result, data, b, 0, start, d, 0);
    place(result, static_cast<T const*>(buffers[1]->data()), Around(window, d), 0, n, d, start);
    place(result, data, b, end, b.n - end, d, end);
    runtime::fence(exec());
    return result;
  }
  /// Row i of the result is row (i - n) mod extent.
  Buffer roll(std::int64_t n) const {
    Around const b(in, call.dim());
    std::int64_t const k = b.n == 0 ? 0 : (n % b.n + b.n) % b.n;
    if (k == 0) return buffer;
    Buffer const result = fresh();
    place(result, data, b, b.n - k, k, call.dim(), 0);
    place(result, data, b, 0, b.n - k, call.dim(), k);
    runtime::fence(exec());
    return result;
  }
  /// The elements at or below (or above) a diagonal of the labels `rows` and `columns`.
  Buffer triangle(int rows, int columns, std::int64_t diagonal, bool upper) const {
    auto const dim = [&](int label) {
      int const d = call.a().find(label);
      return kernels::HeldDim{held[d], kernels::inner_length(in, d)};
    };
    Buffer const result = fresh();
    kernels::keep_triangle(exec(), data, writable(result), in, dim(rows), dim(columns), diagonal,
                           upper);
    runtime::fence(exec());
    return result;
  }
  /// The elements of the operand whose indices along the labels `rows` and `columns` are equal,
  /// which the result has along `rows`; zeros for those that other ranks hold.
  Buffer diagonal(int rows, int columns) const {
    int const i = call.a().find(rows);
    int const j = call.a().find(columns);
    Range const mine = held[i].range();
    Range const both = core::intersect(mine, held[j].range());
    kernels::Layout from = out;
    kernels::Layout to = out;
    for (int d = 0; d < out.rank; ++d) {
      int const label = call.result.dims[d].label;
      from.stride[d] = in.stride[call.a().find(label)];
      if (label != rows) continue;
      from.stride[d] += in.stride[j];
      from.extent[d] = to.extent[d] = both.size();
    }
    Buffer const result = fresh();
    if (both.size() < mine.size()) kernels::fill(exec(), writable(result), out.elements(), T{});
    if (from.elements() > 0) {
      std::int64_t const first = both.begin - mine.begin;
      T const* const src =
          data + first * in.stride[i] + (both.begin - held[j].range().begin) * in.stride[j];
      Buffer const packed = both.size() < mine.size() ? take(from.elements()) : result;
      kernels::copy_packed(exec(), src, from, writable(packed));
      if (both.size() < mine.size())
        kernels::copy_unpacked(exec(), static_cast<T const*>(writable(packed)), to,
                               writable(result) + first * out.stride[call.result.find(rows)]);
    }
    runtime::fence(exec());
    return result;
  }
  /// The operand on the diagonal of its dim and the result's last one, with zeros beside it.
  Buffer on_diagonal() const {
    int const i = call.dim();
    kernels::Layout to = in;
    for (int d = 0; d < in.rank; ++d)
      to.stride[d] = out.stride[call.result.find(call.a().dims[d].label)];
    std::int64_t const right = out.stride[out.rank - 1];
    to.stride[i] += right;
    Buffer const result = fresh();
    kernels::fill(exec(), writable(result), out.elements(), T{});
    if (in.elements() > 0)
      kernels::copy_unpacked(exec(), data, to, writable(result) + held[i].range().begin * right);
    runtime::fence(exec());
    return result;
  }
  /// Concatenates all operands along dim `d` of the result; operand k has `rows(k)` rows.
  template <class RowsOf>
  Buffer join(int d, RowsOf rows) const {
    Buffer const result = fresh();
    if constexpr (runtime::host_reads<Exec>) {
      std::int64_t const inner = kernels::inner_length(out, d);
      // long rows one operand after another, in pieces
      constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
      if (out.extent[d] * inner * bytes <= kernels::detail::bytes_of_call) {
        std::vector<kernels::detail::RowPart> parts;
        for (int k = 0; k < call.count; ++k)
          parts.push_back({static_cast<char const*>(buffers[k]->data()), rows(k) * inner * bytes});
        kernels::join_rows(exec(), parts.data(), call.count, writable(result),
                           kernels::outer_length(out, d));
        runtime::fence(exec());
        return result;
      }
    }
    std::int64_t at = 0;
    for (int k = 0; k < call.count; ++k) {
      kernels::Layout l = out;
      l.extent[d] = rows(k);
      place(result, static_cast<T const*>(buffers[k]->data()), Around(l, d), 0, rows(k), d, at);
      at += rows(k);
    }
    runtime::fence(exec());
    return result;
  }
};

/// The extents of the operands of a call, as pointers.
template <class... As>
struct GivenExtents {
  std::int64_t const* at[sizeof...(As)];
  explicit GivenExtents(As const&... as) : at{as.extents().data()...} {}
};

/// The extents of the result of `op`, which `R` resolved. Errors: E23 operands of two meshes, and
/// the operation's own errors.
template <class R, class Op, class A, class... Bs>
auto result_extents(Op const& op, A const& a, Bs const&... bs) {
  (detail::check_one_mesh(a.mesh(), bs.mesh()), ...);
  std::array<std::int64_t, R::result::rank> extents{};
  R::set_extents(op, runtime::map_axes(a.mesh().state(), R::S::names).sizes,
                 GivenExtents(a, bs...).at, extents.data());
  return extents;
}

/// The LocalRun of operands of these types.
template <class... As>
struct RunOf;
template <class A, class... Bs>
struct RunOf<A, Bs...> {
  using type = LocalRun<typename A::element, typename A::memory_space>;
};
/// Whether an operation computes the result's block from its operands' blocks.
template <class Op, class... As>
concept MapsBlocks =
    shardtype::detail::shares_memory<Op> ||
    requires(Op const& op, typename RunOf<As...>::type const& run) { op.block(run); };

/// Whether it uses the NamedRun of a named result for that.
template <class Op, class Run, class Named>
concept MapsNamedBlocks =
    !std::is_null_pointer_v<Named> &&
    requires(Op const& op, Run const& run, Named const& named) { op.block(run, named); };

/// The result's block, of local rows `rows`, which `op.block(LocalRun)` computes from those of the
/// operands. `types`: the operands, then what the operation mentions; `result`: all in `names`.
/// `named`: the NamedRun of a named result, which `block` may use.
template <class Op, class Kept, class Named, class A, class... Bs>
Buffer local_block([[maybe_unused]] Op const& op, std::source_location const& where,
                   Names const& names, ParsedType const* types, Spec const& result,
                   Kept const& rows, [[maybe_unused]] Named const& named, A const& a,
                   Bs const&... bs) {
  if (!a.mesh().here()) return {};
  GivenExtents const given(a, bs...);
  ResultExtents const call{names,    types,  1 + static_cast<int>(sizeof...(Bs)), result, {},
                           given.at, nullptr};
  Buffer const* const buffers[] = {&a.buffer(), &bs.buffer()...};
  using Run = LocalRun<typename A::element, typename A::memory_space>;
  Run const run(a.mesh().state(), call, where, detail::block_layout(a.rows()),
                detail::block_layout(rows), buffers, a.rows().data());
  if constexpr (shardtype::detail::shares_memory<Op>) {
    return run.buffer;
  } else if constexpr (MapsNamedBlocks<Op, Run, Named>) {
    return op.block(run, named);
  } else {
    return op.block(run);
  }
}

/// Runs an operation whose block `op.block(LocalRun)` computes from its operands' blocks.
template <class R, class Op, class A, class... Bs>
auto run_local(Op const& op, std::source_location const& where, A const& a, Bs const&... bs) {
  using Out = typename R::result;
  std::array<std::int64_t, Out::rank> const extents = execute::result_extents<R>(op, a, bs...);
  return Out(a.mesh(), extents,
             execute::local_block(op, where, R::S::names, R::S::parsed, R::verdict.result,
                                  Out::local_rows(a.mesh(), extents), nullptr, a, bs...));
}

}  // namespace shardtype::execute
