#pragma once
/// What operations take besides tensors: things that become one, like elementwise expressions.

#include <shardtype/tensor/tensor.hpp>

namespace shardtype {

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

/// The tensor that `a` stands for.
template <class A>
decltype(auto) operand(A const& a) {
  return OperandTraits<A>::get(a);
}

}  // namespace shardtype
