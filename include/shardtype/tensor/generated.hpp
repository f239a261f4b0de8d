#pragma once
/// Tensors whose elements are functions of their positions, computed in the tensor's memory space.

#include <cstddef>
#include <cstdint>

#include <shardtype/kernels/generate.hpp>
#include <shardtype/runtime/instance.hpp>
#include <shardtype/tensor/create.hpp>

namespace shardtype::detail {

/// The extents of the calling rank's block, with the strides of the global tensor.
template <class A>
kernels::Layout block_in_whole(A const& a) {
  kernels::Layout whole;
  whole.rank = static_cast<int>(A::rank);
  for (std::size_t d = 0; d < A::rank; ++d) whole.extent[d] = a.extents()[d];
  whole = whole.packed();
  for (std::size_t d = 0; d < A::rank; ++d) whole.extent[d] = a.rows()[d].size();
  return whole;
}

/// A tensor whose element number n, in the row-major order of the global tensor, is `value(n)`.
template <class A, class... Xs, class Value>
A generated(runtime::MeshOf<Xs...> const& mesh, extents_of<A> const& extents, Value const& value) {
  detail::check_mesh_has_axes<A, Xs...>();
  A out = detail::uninitialized<A>(mesh, extents);
  if (!detail::holds_value<A>(mesh)) {
    detail::fill(out, typename A::element{});
    return out;
  }
  if (out.local_size() == 0) return out;
  kernels::Layout const block = detail::block_in_whole(out);
  typename A::execution_space const& exec = runtime::instance<typename A::execution_space>();
  if constexpr (A::spec.cyclic_dim() >= 0) {
    kernels::generate_rows(exec, out.mutable_local().data(), block, out.rows().data(), value);
  } else {
    std::int64_t first = 0;
    for (std::size_t d = 0; d < A::rank; ++d) first += out.rows()[d].begin * block.stride[d];
    kernels::generate(exec, out.mutable_local().data(), block, first, value);
  }
  runtime::fence(exec);
  return out;
}

}  // namespace shardtype::detail
