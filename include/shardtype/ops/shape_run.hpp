#pragma once
/// What the shape operations share: extents of the result, checks of the arguments, local copies.

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/check/shape.hpp>
#include <shardtype/kernels/copy.hpp>
#include <shardtype/kernels/fill.hpp>
#include <shardtype/kernels/pitched.hpp>
#include <shardtype/tensor/block_layout.hpp>
#include <shardtype/tensor/operand.hpp>
#include <shardtype/tensor/tensor.hpp>

namespace shardtype::ops {

/// One call of a shape operation: types as values, extents of the operand and of the result.
struct ShapeCall {
  Names const& names;
  Spec const& a;
  Spec const& from;
  Spec const& result;
  MeshState const& mesh;
  std::int64_t const* extents;
  std::int64_t* out;

  /// The dim of the operand that the operation works along, and the same dim of the result.
  int dim() const { return a.find(from.dims[0].label); }
  std::int64_t extent() const { return extents[dim()]; }
  std::string name(int d) const { return std::string(names.label_name[a.dims[d].label]); }

  [[noreturn]] void fail(std::string const& text) const {
    throw Error("E41", text, FailedOn::every_rank);
  }
  /// a + b and a * b; an Error where that is no extent.
  std::int64_t sum(std::int64_t x, std::int64_t y) const {
    if (x < 0 || y < 0 || add_sat(x, y) > max_elements)
      fail("index " + name(dim()) + " would get extent " + std::to_string(x) + " + " +
           std::to_string(y) + "; extents and amounts are from 0 to 2^58");
    return x + y;
  }
  std::int64_t product(std::int64_t x, std::int64_t y) const {
    if (x < 0 || y < 0 || mul_sat(x, y) > max_elements)
      fail("index " + name(dim()) + " would get extent " + std::to_string(x) + " * " +
           std::to_string(y) + "; extents and amounts are from 0 to 2^58");
    return x * y;
  }
};

/// The extents of dims that keep their labels.
inline void carry_extents(ShapeCall const& c) {
  for (int d = 0; d < c.result.rank; ++d)
    if (int const from = c.a.find(c.result.dims[d].label); from >= 0) c.out[d] = c.extents[from];
}

/// Blocks of one dim [outer * inner] and of two [outer, inner] must be the same; error E40.
inline void check_lines_up(ShapeCall const& c, std::int64_t outer, std::int64_t inner,
                           AxisList const& major, AxisList const& minor) {
  Sizes const sizes = map_axes(c.mesh, c.names).sizes;
  if (rules::lines_up(outer, inner, major, minor, sizes)) return;
  std::string axes;
  AxisList const all = major.plus(minor);
  for (int k = 0; k < all.size; ++k)
    axes += (k == 0 ? "" : ",") + std::string(c.names.axis_name[all[k]]) + " = " +
            std::to_string(sizes[all[k]]);
  throw Error("E40",
              "extents " + std::to_string(outer) + " x " + std::to_string(inner) + " split over " +
                  axes + ": a block would end inside a row of " + std::to_string(inner) +
                  "; all_gather an axis first, or split over another number of ranks",
              FailedOn::every_rank);
}

/// A local block around one dim: [outer, n, inner].
struct Around {
  std::int64_t outer = 1, n = 0, inner = 1;
  Around(kernels::Layout const& l, int d)
      : outer(kernels::outer_length(l, d)), n(l.extent[d]), inner(kernels::inner_length(l, d)) {}
};

/// The local work on blocks of `T` in memory `Space`: copies into fresh memory of the mesh's pool.
template <class T, class Space>
struct ShapeRun {
  using Exec = typename Space::execution_space;

  MeshState& mesh;
  ShapeCall const& call;
  kernels::Layout in;   ///< the operand's block
  kernels::Layout out;  ///< the result's
  T const* data;
  Buffer const& buffer;

  ShapeRun(MeshState& its_mesh, ShapeCall const& its_call, kernels::Layout const& from,
           kernels::Layout const& to, Buffer const& its_buffer)
      : mesh(its_mesh),
        call(its_call),
        in(from),
        out(to),
        data(static_cast<T const*>(its_buffer.data())),
        buffer(its_buffer) {}

  /// The default instance, a fresh one each time: g++ takes an empty member for uninitialised.
  static Exec exec() { return Exec(); }
  Buffer fresh() const { return take(out.elements()); }
  Buffer take(std::int64_t n) const {
    return mesh.pool().template take<Space>(static_cast<std::size_t>(n) * sizeof(T));
  }
  static T* writable(Buffer const& b) { return static_cast<T*>(b.data()); }

  /// The elements that `l` describes from `src` on, in order.
  Buffer copy(T const* src, kernels::Layout const& l) const {
    Buffer result = fresh();
    kernels::copy_packed(exec(), src, l, writable(result));
    exec().fence();
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

  /// The dims in the result's order; new dims repeat the block.
  Buffer rearrange() const {
    kernels::Layout l = out;
    for (int d = 0; d < out.rank; ++d) {
      int const from = call.a.find(call.result.dims[d].label);
      l.stride[d] = from < 0 ? 0 : in.stride[from];
    }
    return l.contiguous() ? buffer : copy(data, l);
  }
  Buffer slice(std::int64_t begin, std::int64_t step) const {
    Around const b(in, call.dim());
    std::int64_t const n = out.extent[call.dim()];
    if (n == b.n && step == 1) return buffer;
    return copy(data + begin * b.inner,
                strided({b.outer, n, b.inner}, {b.n * b.inner, step * b.inner, std::int64_t{1}}));
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
  /// Rows [from, from + n) of a block around dim `d` to rows [to, to + n) of the result.
  void place(Buffer const& result, T const* src, Around const& b, std::int64_t from, std::int64_t n,
             int d, std::int64_t to) const {
    std::int64_t const wide = out.extent[d] * b.inner;
    kernels::copy_pitched(exec(), src + from * b.inner, b.n * b.inner,
                          writable(result) + to * b.inner, wide, b.outer, n * b.inner);
  }
  Buffer pad(std::int64_t before, T value) const {
    Around const b(in, call.dim());
    Buffer const result = fresh();
    kernels::fill(exec(), writable(result), out.elements(), value);
    place(result, data, b, 0, b.n, call.dim(), before);
    exec().fence();
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
    exec().fence();
    return result;
  }
  /// `count` blocks one behind the other along dim `d` of the result.
  Buffer join(void const* const* blocks, std::int64_t const* rows, int count, int d) const {
    Buffer const result = fresh();
    std::int64_t at = 0;
    for (int k = 0; k < count; ++k) {
      kernels::Layout l = out;
      l.extent[d] = rows[k];
      place(result, static_cast<T const*>(blocks[k]), Around(l, d), 0, rows[k], d, at);
      at += rows[k];
    }
    exec().fence();
    return result;
  }
};

/// The operation `Op` on `a` (and others, of which it needs the types only): `extents(ShapeCall)`
/// checks the arguments and writes the result's extents, `work(ShapeRun)` gives its block.
template <class Op, class SetExtents, class Work, class A, class... Bs>
auto run_shape(SetExtents set_extents, Work work, A const& a, Bs const&... /*types only*/) {
  if constexpr (any_poisoned<A, Bs...>) {
    return Poisoned{};
  } else if constexpr (is_lazy<A>) {
    return record(RecordShape<Op>{}, a);
  } else {
    using R = Resolve<Op, operand_t<A>, operand_t<Bs>...>;
    if constexpr (R::verdict) {
      using Out = typename R::result;
      using S = typename R::S;
      std::array<std::int64_t, Out::rank> extents{};
      ShapeCall const call{S::names,         S::readings[0].spec, S::readings[R::count].spec,
                           R::Holder::value, a.mesh().state(),    a.extents().data(),
                           extents.data()};
      carry_extents(call);
      set_extents(call);
      auto const rows = Out::local_rows(a.mesh(), extents);
      Buffer block;
      if (a.mesh().here()) {
        using T = typename A::element;
        ShapeRun<T, typename A::memory_space> const run(
            a.mesh().state(), call, block_layout(a.rows()), block_layout(rows), a.buffer());
        block = work(run);
      }
      return Out(a.mesh(), extents, std::move(block));
    } else {
      return Poisoned(refusal<R, operand_t<A>, operand_t<Bs>...>{});
    }
  }
}

}  // namespace shardtype::ops
