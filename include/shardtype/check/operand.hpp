#pragma once
/// Types that operations accept besides tensors: those that convert to one, such as elementwise
/// expressions.

#include <type_traits>

#include <shardtype/check/functions.hpp>
#include <shardtype/check/resolve.hpp>

namespace shardtype::detail {

/// Converts an operand of type `A` to the tensor that an operation takes: it has the type `type`,
/// and `get` returns it. Specialised for types that are not tensors.
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

/// The Tensor type of an operand as an operation sees it that keeps shardings: of an expression the
/// one in whose sharding it is computed, or, where the planner chooses that, of the whole value.
template <class A>
struct LaidOut {
  using type = operand_t<A>;
};
template <class A>
  requires(is_lazy<A> && std::is_void_v<typename A::pin>)
struct LaidOut<A> {
  using type = typename A::whole;
};
template <class A>
  requires(is_lazy<A> && !std::is_void_v<typename A::pin>)
struct LaidOut<A> {
  using type = typename A::pin;
};
template <class A>
using laid_out_t = typename LaidOut<A>::type;

/// A tensor without data (check/abstract.hpp), and an elementwise expression (execute/fused.hpp).
template <class T>
inline constexpr bool is_abstract = false;
template <class T>
inline constexpr bool is_fused = false;

/// A C++ number as an operand. Complex ones: ops/run_elementwise.hpp.
template <class T>
inline constexpr bool is_number =
    std::is_arithmetic_v<T> || std::is_same_v<T, bfloat16> || std::is_same_v<T, op::Zero>;

/// Types accepted by operators and functions. Poisoned and Pending operands are accepted so that
/// they can be diagnosed.
template <class T>
inline constexpr bool is_field = is_tensor<T> || is_abstract<T> || is_fused<T> || is_pending<T> ||
                                 is_lazy<T> || is_active<T> || std::is_same_v<T, Poisoned>;
template <class T>
inline constexpr bool is_operand = is_field<T> || is_number<T> || is_poisoned<T>;
template <class... Ts>
inline constexpr bool are_operands =
    (is_field<std::remove_cvref_t<Ts>> || ...) && (is_operand<std::remove_cvref_t<Ts>> && ...);

// Concepts of the same, for parameters of functions; T may be a reference.
template <class T>
concept FieldType = is_field<std::remove_cvref_t<T>>;
template <class T>
concept NumberType = is_number<std::remove_cvref_t<T>>;
template <class T>
concept OperandType = is_operand<std::remove_cvref_t<T>>;
/// Whether `B` may be the second operand of an operator whose first one is an `A`. Compilers check
/// this for all types that stand beside one of our operators, the standard's too; without a tensor
/// or an expression among them the first condition fails, and no other is evaluated.
template <class B, class A>
concept OperandBeside = (FieldType<A> || FieldType<B>) && OperandType<A> && OperandType<B>;

}  // namespace shardtype::detail
