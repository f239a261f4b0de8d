#pragma once
/// Types that operations accept besides tensors: those that convert to one, such as elementwise
/// expressions.

#include <shardtype/tensor/tensor.hpp>

namespace shardtype::detail {

/// How an operation accepts an operand of type `A`: as a tensor of type `type`, which `get`
/// returns. Specialised for types that are not tensors.
template <class A>
struct OperandTraits {
  using type = A;
  static A const& get(A const& a) { return a; }  // NOLINT: operands outlive the operation
};

/// The tensor type that `A` converts to; `A` itself if there is none.
template <class A>
using operand_t = typename OperandTraits<A>::type;

/// The tensor type of an argument `A` as a user's function sees it. For an expression of automatic
/// mode this is its replicated type; other operations refuse the expression (L01).
template <class A>
struct ArgumentOf {
  using type = operand_t<A>;
};
template <class A>
  requires is_lazy<A>
struct ArgumentOf<A> {
  using type = typename A::whole;
};
template <class A>
using argument_t = typename ArgumentOf<A>::type;

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
