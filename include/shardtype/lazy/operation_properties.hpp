#pragma once
/// The properties of an operation that the recording of automatic mode needs: how it is recorded,
/// and in which strict form.

#include <cstdint>
#include <type_traits>
#include <utility>

#include <shardtype/check/reshard.hpp>
#include <shardtype/lazy/expression.hpp>
#include <shardtype/ops/collectives.hpp>
#include <shardtype/ops/dims.hpp>
#include <shardtype/ops/products.hpp>
#include <shardtype/ops/reductions.hpp>

namespace shardtype {

namespace detail {

/// Whether an operation on two expressions is a product.
template <class Op>
inline constexpr bool is_product = false;
template <class... Out>
inline constexpr bool is_product<op::Matmul<Out...>> = true;
template <class... Out>
inline constexpr bool is_product<op::Einsum<Out...>> = true;

/// The expression of an operation that keeps its operand's elements; void for other operations.
template <class Op, class Whole, class A>
struct ExpressionOf {
  using type = void;
};
template <class... Ls, class Whole, class A>
struct ExpressionOf<op::Transpose<Ls...>, Whole, A> {
  using type = LazyTranspose<Whole, A>;
};
template <class... Ls, class Whole, class A>
struct ExpressionOf<op::Relabel<Ls...>, Whole, A> {
  using type = LazyRelabel<Whole, A>;
};
template <class Op>
inline constexpr bool keeps_elements = !std::is_void_v<typename ExpressionOf<Op, void, void>::type>;

/// Operations with a named result: the result of their strict form, resharded.
template <class Op>
concept NamesResult = requires(Op const& op) { op.strict(); };

/// Whether `Op` on `n` expressions is recorded as other operations, each of which is judged in its
/// call.
template <class Op, int n>
inline constexpr bool is_recorded_as_others = false;
template <class F, class First, class... Out, int n>
inline constexpr bool is_recorded_as_others<op::Map<F, First, Out...>, n> = true;
template <class... Out, int n>
inline constexpr bool is_recorded_as_others<op::Reshard<Out...>, n> = true;
template <class... Out, int n>
inline constexpr bool is_recorded_as_others<op::Einsum<Out...>, n> =
    n > 2 && !all_labels_named<Out...> && !(names_axis<Out> || ...);

template <class Op>
inline constexpr bool is_reduction = false;
template <class F, class... Out>
inline constexpr bool is_reduction<op::Reduce<F, Out...>> = true;
template <class F, class... Out>
inline constexpr bool is_reduction<op::ReduceCounted<F, Out...>> = true;
/// Whether automatic mode may record `Op`.
template <class Op>
inline constexpr bool is_recorded =
    Ruled<Op> || NamesResult<Op> || is_product<Op> || is_reduction<Op>;

/// Whether automatic mode can run `Op` on blocks in which its dims are not split, as manual mode
/// does.
template <class Op, class... Wholes>
constexpr bool runs_on_blocks() {
  if constexpr (requires { requires !Op::recorded; }) {
    return false;
  } else {
    return requires { typename Resolve<Op, block_t<Wholes>...>::result; };
  }
}

/// Operations that communicate by themselves, and are recorded with the shardings of strict mode.
template <class Op>
concept KeepsShardings = requires { requires Op::keeps_shardings; };

/// The labels of `A` that `Out` lacks, as a Pack.
template <class A, class Out>
constexpr auto labels_without() {
  return []<int... D>(std::integer_sequence<int, D...>) {
    return (
        Pack<>{} | ... |
        std::conditional_t<
            detail::labels_in<Out>().contains(
                Scope<A>::names.label_id[Scope<A>::parsed[0].spec.dims[D].label]),
            Pack<>,
            decltype(detail::label_type<Scope<A>, Scope<A>::parsed[0].spec.dims[D].label>())>{});
  }(std::make_integer_sequence<int, Scope<A>::parsed[0].spec.rank>{});
}
/// The strict einsum that has the labels of `Out`, in its order.
template <class Out>
constexpr auto einsum_like() {
  return []<int... D>(std::integer_sequence<int, D...>) {
    return detail::einsum_to(
        (Pack<>{} | ... |
         decltype(detail::label_type<Scope<Out>, Scope<Out>::parsed[0].spec.dims[D].label>()){}));
  }(std::make_integer_sequence<int, Scope<Out>::parsed[0].spec.rank>{});
}
template <class Out>
using einsum_like_t = typename decltype(detail::einsum_like<Out>())::type;
/// The reduction `F` over these labels, as an operation.
template <class F, class... Ls>
op::Reduce<F, Ls...> reduction_over(Pack<Ls...>);
template <class F, class... Ls>
op::ReduceCounted<F, Ls...> counted_over(Pack<Ls...>);
template <class F, class A, class Out>
using counted_to = decltype(detail::counted_over<F>(detail::labels_without<A, Out>()));
template <class F, class A, class Out>
using reduction_to = decltype(detail::reduction_over<F>(detail::labels_without<A, Out>()));

/// softmax or its logarithm over these labels.
template <bool Log, class... Ls>
constexpr op::Normalize<Log, Ls...> normalize_over(Pack<Ls...>) {
  return {};
}

/// An operation that creates dims without the axes of these: the planner chooses them.
template <class Op>
constexpr Op without_axes(Op const& op) {
  return op;
}
template <class... Dims>
constexpr op::Broadcast<label_of_t<Dims>...> without_axes(op::Broadcast<Dims...> const& op) {
  return {op.n};
}
template <class I, class First, class Second>
constexpr op::SplitDim<I, label_of_t<First>, label_of_t<Second>> without_axes(
    op::SplitDim<I, First, Second> const& op) {
  return {op.n};
}
template <class Op>
using without_axes_t = decltype(detail::without_axes(std::declval<Op const&>()));

/// The type `whole` of the first expression among the operands.
template <class A, class... Rest>
struct FirstWhole : FirstWhole<Rest...> {};
template <class A, class... Rest>
  requires is_lazy<A>
struct FirstWhole<A, Rest...> {
  using type = typename A::whole;
};

}  // namespace detail

}  // namespace shardtype
