#pragma once
/// What operations take besides tensors: things that become one, like elementwise expressions.

#include <shardtype/tensor/tensor.hpp>

namespace shardtype::detail {

/// How an operation reads an operand of type `A`: as a tensor of type `type`, which `get` gives.
/// Specialised for what is no tensor yet.
template <class A>
struct OperandTraits {
  using type = A;
  static A const& get(A const& a) { return a; }  // NOLINT: operands outlive the operation
};

/// The tensor type that `A` stands for; `A` itself where it is none.
template <class A>
using operand_t = typename OperandTraits<A>::type;

/// The tensor type that `A` is to a function that it is an argument of: of an expression of automatic mode
/// the whole tensor, which no other operation may take for one (L01).
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

/// The tensor that `a` stands for.
template <class A>
decltype(auto) operand(A const& a) {
  if constexpr (is_tensor<A>) {
    return (a);
  } else {
    return OperandTraits<A>::get(a);
  }
}

/// Error E23 unless both operands live on one mesh.
inline void check_one_mesh(MeshRef const& a, MeshRef const& b) {
  static_cast<void>(a.state());  // error E26 first
  static_cast<void>(b.state());
  if (!(a == b))
    throw Error("E23", "the operands live on two meshes; tensors of two meshes do not mix",
                FailedOn::every_rank);
}

}  // namespace shardtype::detail
