#pragma once
/// Lower and upper triangles.

#include <cstdint>
#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/shape.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/kernels/triangle.hpp>

namespace shardtype {

namespace execute {
template <class I, class J, bool Upper>
struct Run<op::Triangle<I, J, Upper>> : LocalBlock<Run<op::Triangle<I, J, Upper>>> {
  template <class Call>
  static Buffer block(op::Triangle<I, J, Upper> const& op, Call const& run) {
    Spec const& a = run.call.a();
    AxisMap const axes = map_axes(run.mesh, run.call.names);
    Sizing z{run.call.names.extents(), axes.sizes, 1};
    for (int d = 0; d < a.rank; ++d) z.extents.at[a.dims[d].label] = run.call.given[0][d];
    auto const held = [&](int which) {
      int const d = a.find(run.call.from().dims[which].label);
      return kernels::HeldDim{rows_of(a, d, z, axes.coords), kernels::inner_length(run.in, d)};
    };
    Buffer const result = run.fresh();
    kernels::keep_triangle(run.exec(), run.data, run.writable(result), run.in, held(0), held(1),
                           op.diagonal, Upper);
    run.exec().fence();
    return result;
  }
};
}  // namespace execute

/// The lower triangle: `A[I@X, J@Y]` -> `tril<I, J>(a)` -> `A[I@X, J@Y]` keeps the elements whose
/// index along J is at most their index along I plus `diagonal`; the others become zero. I and J
/// are rows and columns at any position among the dims, split, block-cyclic or not; other dims are
/// batch dims. Local. Refused: D01 an index that `a` lacks. As jnp.tril.
template <class I, class J, class A>
constexpr auto tril(A const& a, std::int64_t diagonal = 0,
                    checking::CallSite where = std::source_location::current()) {
  return call(op::Tril<I, J>{diagonal}, where, a);
}

/// The upper triangle, as tril: keeps the elements whose index along J is at least their index
/// along I plus `diagonal`. As jnp.triu.
template <class I, class J, class A>
constexpr auto triu(A const& a, std::int64_t diagonal = 0,
                    checking::CallSite where = std::source_location::current()) {
  return call(op::Triu<I, J>{diagonal}, where, a);
}

}  // namespace shardtype
