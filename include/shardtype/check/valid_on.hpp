#pragma once
/// Whether a program on tensor types is legal on a mesh of given sizes, without creating one.

#include <cstdint>
#include <type_traits>
#include <utility>

#include <shardtype/check/plan_of.hpp>

namespace shardtype {

/// Operand types, for `valid_on`.
template <class... Tensors>
struct OperandTypes {};

/// The size of a mesh axis, for `valid_on`: `AxisSize<X, 256>`.
template <class X, std::int64_t Ranks>
struct AxisSize {};

namespace detail {

/// Largest number of ranks of a Mesh, over all axes together, because ranks are ints.
inline constexpr std::int64_t most_mesh_ranks = std::int64_t{1} << 31;

/// The sizes of the axes of one scope, given by `AxisSize`s if the types leave them dynamic.
template <class S, class... Given>
struct SizesOn {
  static constexpr Sizes decide() {
    Sizes out;
    for (int x = 0; x < S::names.axes; ++x) out.at[x] = S::names.axis_size[x];
    [[maybe_unused]] auto give = [&]<class X, std::int64_t Ranks>(AxisSize<X, Ranks>) {
      int const x = S::names.find_axis(identity<X>);
      if (x >= 0 && out.at[x] == dynamic) out.at[x] = Ranks;
    };
    (give(Given{}), ...);
    return out;
  }
  static constexpr Sizes value = decide();
};

/// Whether a size is possible, and does not contradict the axis' type.
template <class X, std::int64_t Ranks>
constexpr bool size_fits(AxisSize<X, Ranks>) {
  return Ranks >= 1 && (X::size == dynamic || X::size == Ranks);
}
/// Whether a mesh that has all these axes is possible.
template <class... X, std::int64_t... Ranks>
constexpr bool mesh_fits(AxisSize<X, Ranks>...) {
  std::int64_t n = 1;
  bool fits = true;
  ((fits = fits && Ranks <= most_mesh_ranks / n, n *= fits ? Ranks : 1), ...);
  return fits;
}

template <class A>
constexpr bool is_lawful() {
  if constexpr (is_tensor<A>) {
    return bool(rules::lawful(Scope<A>::names, Scope<A>::parsed, 1));
  } else {
    return false;
  }
}

/// Whether a tensor of type `A` can exist: every axis has a size, and the static extents are not
/// too large (T10).
template <class A, class... Given>
constexpr bool exists_on() {
  if constexpr (!detail::is_lawful<A>()) {
    return false;
  } else {
    using S = Scope<A>;
    constexpr Sizes sizes = SizesOn<S, Given...>::value;
    for (int x = 0; x < S::names.axes; ++x)
      if (sizes[x] == dynamic) return false;
    return core::countable(S::names.label_extent, S::names.labels);
  }
}

/// For an operation object: its verdict, and whether its result can exist.
template <class F, class... A>
concept Resolvable = MarksOperation<F> && requires { bool(Resolve<F, A...>::verdict); };

template <class F, class Operands, class... Given>
struct ValidOn;
template <class F, class... A, class... Given>
struct ValidOn<F, OperandTypes<A...>, Given...> {
  template <class Out>
  static constexpr bool gives() {
    if constexpr (is_tensor<Out>) {
      return detail::exists_on<Out, Given...>();
    } else if constexpr (requires { Out::template valid_on<Given...>; }) {
      return Out::template valid_on<Given...>;
    } else {
      return !any_poisoned<Out>;
    }
  }
  static constexpr bool mesh_and_operands() {
    return (detail::size_fits(Given{}) && ...) && detail::mesh_fits(Given{}...) &&
           (detail::exists_on<A, Given...>() && ...);
  }
  static constexpr bool result_exists() {
    if constexpr (Resolvable<F, A...>) {
      if constexpr (Resolve<F, A...>::verdict) {
        return gives<result_t<F, A...>>();
      } else {
        return false;
      }
    } else if constexpr (std::is_invocable_v<F const&, A const&...>) {
      return gives<std::remove_cvref_t<std::invoke_result_t<F const&, A const&...>>>();
    } else {
      return false;
    }
  }
  static constexpr bool decide() {
    if constexpr (mesh_and_operands()) {
      return result_exists();
    } else {
      return false;
    }
  }
};

}  // namespace detail

/// `valid_on<F, OperandTypes<A, B>, AxisSize<X, 256>, AxisSize<Y, 4>>`: whether `F` can run on
/// tensors of types `A` and `B` if the axes with run-time sizes have these sizes. `F` is the type
/// of an operation object (`op::Matmul<>`, `op::Reshard<Dim<I, X>>`) or of a callable, which may be
/// a whole program of automatic mode: `evaluate<Out...>(lazy(a) * lazy(b))`.
///
/// False: a rule refuses the operation; the callable does not accept the types; a size is below 1
/// or contradicts its axis; an axis of an operand or of the result has no size; static extents are
/// more elements than a tensor can have (T10). An error in the body of a callable is reported as
/// that error, unless its parameters are constrained (`requires Contractible<A, B>`). Communicates
/// nothing.
template <class F, class Operands, class... Given>
inline constexpr bool valid_on = detail::ValidOn<F, Operands, Given...>::decide();

}  // namespace shardtype
