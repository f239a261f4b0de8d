#pragma once
/// The tensors that operands of operations convert to.

#include <shardtype/check/operand.hpp>
#include <shardtype/tensor/tensor.hpp>

namespace shardtype::detail {

/// The tensor that `a` converts to.
template <class A>
decltype(auto) operand(A const& a) {
  if constexpr (is_tensor<A>) {
    return (a);
  } else {
    return OperandTraits<A>::get(a);
  }
}

/// Error E23 unless both operands are on one mesh.
inline void check_one_mesh(MeshRef const& a, MeshRef const& b) {
  static_cast<void>(a.state());  // checks for error E26 first
  static_cast<void>(b.state());
  if (!(a == b))
    throw Error("E23", "the operands live on two meshes; tensors of two meshes do not mix",
                FailedOn::every_rank);
}

}  // namespace shardtype::detail
