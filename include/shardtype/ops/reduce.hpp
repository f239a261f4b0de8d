#pragma once
/// Reductions of tensors over labels.

#include <cstdint>
#include <source_location>
#include <type_traits>
#include <utility>

#include <shardtype/execute/reduce_run.hpp>
#include <shardtype/ops/math.hpp>

namespace shardtype {

namespace detail {

template <class F, class T>
struct ReducerOf;
template <class T>
struct ReducerOf<reductions::Sum, T> {
  using type = kernels::SumReducer<T>;
};
template <class T>
struct ReducerOf<reductions::Mean, T> : ReducerOf<reductions::Sum, T> {};
template <class T>
struct ReducerOf<reductions::Product, T> {
  using type = kernels::ProductReducer<T>;
};
template <class T>
struct ReducerOf<reductions::Maximum, T> {
  using type = kernels::ExtremeReducer<T, true>;
};
template <class T>
struct ReducerOf<reductions::Minimum, T> {
  using type = kernels::ExtremeReducer<T, false>;
};
template <class T>
struct ReducerOf<reductions::Any, T> : ReducerOf<reductions::Maximum, T> {};
template <class T>
struct ReducerOf<reductions::All, T> : ReducerOf<reductions::Minimum, T> {};
template <class T>
struct ReducerOf<reductions::PlaceOfMaximum, T> {
  using type = kernels::PlaceReducer<T, true>;
};
template <class T>
struct ReducerOf<reductions::PlaceOfMinimum, T> {
  using type = kernels::PlaceReducer<T, false>;
};

/// Whether a reduction reads an argument `A` (as forwarded) as an expression: a temporary one, whose
/// operands lie as it does. One that has a name is computed first, for it may be used again.
template <class Reducer, class A>
constexpr bool reads_expression() {
  if constexpr (is_fused<A> && !kernels::detail::takes_blocks<Reducer>) {
    return lies_as<operand_t<A>, A>;
  } else {
    return false;
  }
}

/// The front door of all reductions. `Given`: the argument's type as it was forwarded.
template <class F, class Given, class... Out, class A>
auto reduce_given(A const& a, std::source_location const& where) {
  if constexpr (any_poisoned<A>) {
    return Poisoned{};
  } else if constexpr (is_lazy<A> || is_dry<A>) {
    return call(op::Reduce<F, Out...>{}, where, a);
  } else {
    using R = Resolve<op::Reduce<F, Out...>, operand_t<A>>;
    if constexpr (!R::verdict) {
      return Poisoned(refusal<R, operand_t<A>>{});
    } else {
      using Reducer = typename ReducerOf<F, typename operand_t<A>::element>::type;
      auto const go = [&](auto const& from) {
        if constexpr (R::communicates) {
          return execute::reduce_and_reshard < Reducer, R,
                 F::kind == ReductionKind::whole > (from, where);
        } else {
          return execute::reduce_locally<Reducer, typename R::result>(from);
        }
      };
      if constexpr (reads_expression<Reducer, Given>()) {
        if (!a.computed()) return go(execute::readable_expression(a));
      }
      return go(execute::readable(operand(a)));
    }
  }
}
template <class F, class... Out, class A>
auto reduce(A&& a, std::source_location const& where) {
  return reduce_given<F, A, Out...>(std::as_const(a), where);
}

/// Elements of `a` per element of a tensor with the extents of `b`.
template <class A, class B>
std::int64_t terms_per(A const& a, B const& b) {
  std::int64_t n = 1;
  for (std::int64_t e : a.extents()) n *= e;
  for (std::int64_t e : b.extents()) n = e == 0 ? 0 : n / e;
  return n;
}

}  // namespace detail

// All reductions have these forms. `sum(a)` reduces over all dims and `sum<I, J>(a)` over those named;
// strict, they never communicate: over dims split over X the result is unreduced over X, of the
// reduction's own kind. `sum<Dim<J>>(a)` names the result, reduces over what it lacks, and reshards:
// one all_reduce or reduce_scatter. Refused: S01 to S03, N01, N04, N05.

/// The sum; of bool the number of true ones. `A[I@X, J]` -> `sum<I>` -> `[J]{U:X}`.
template <class... Out, class A>
auto sum(A&& a, std::source_location where = std::source_location::current()) {
  return detail::reduce<reductions::Sum, Out...>(std::forward<A>(a), where);
}
/// The product, of float kept in double. Over a split dim only by a named result: the ranks exchange
/// their products, one all_reduce or reduce_scatter.
template <class... Out, class A>
auto prod(A&& a, std::source_location where = std::source_location::current()) {
  return detail::reduce<reductions::Product, Out...>(std::forward<A>(a), where);
}
/// The largest element; a NaN if there is one, the least value of all if there is none.
/// `A[I@X, J]` -> `max<I>` -> `[J]{U_max:X}`. Refused on complex numbers: S04.
template <class... Out, class A>
  requires(detail::are_operands<A>)
auto max(A&& a, std::source_location where = std::source_location::current()) {
  return detail::reduce<reductions::Maximum, Out...>(std::forward<A>(a), where);
}
/// The least element; as max.
template <class... Out, class A>
  requires(detail::are_operands<A>)
auto min(A&& a, std::source_location where = std::source_location::current()) {
  return detail::reduce<reductions::Minimum, Out...>(std::forward<A>(a), where);
}
/// Whether some element of a bool tensor is true. Refused on others: P11.
template <class... Out, class A>
auto any(A&& a, std::source_location where = std::source_location::current()) {
  return detail::reduce<reductions::Any, Out...>(std::forward<A>(a), where);
}
/// Whether all elements of a bool tensor are true. Refused on others: P11.
template <class... Out, class A>
auto all(A&& a, std::source_location where = std::source_location::current()) {
  return detail::reduce<reductions::All, Out...>(std::forward<A>(a), where);
}
/// Where the largest element stands along `I` (row-major over several labels); the first of equal ones,
/// -1 if there is none. Over a split dim only by a named result: `A[I@X, J]` -> `argmax<Dim<J>>` ->
/// `i64[J]`, one all_reduce or reduce_scatter of (value, place) pairs. Refused on complex numbers: S04.
template <class... Out, class A>
auto argmax(A&& a, std::source_location where = std::source_location::current()) {
  return detail::reduce<reductions::PlaceOfMaximum, Out...>(std::forward<A>(a), where);
}
/// Where the least element stands; as argmax.
template <class... Out, class A>
auto argmin(A&& a, std::source_location where = std::source_location::current()) {
  return detail::reduce<reductions::PlaceOfMinimum, Out...>(std::forward<A>(a), where);
}

/// The mean, by the true number of elements, however uneven the blocks are. Owed as a sum is.
/// Refused on integers: P12.
template <class... Out, class A>
auto mean(A const& a, std::source_location where = std::source_location::current()) {
  auto total = detail::reduce<reductions::Mean, Out...>(a, where);
  if constexpr (any_poisoned<decltype(total)> || is_lazy<A>) {
    return total;
  } else {
    using T = typename decltype(total)::element;
    using Real = detail::real_of<T>;
    auto const n = static_cast<Real>(detail::terms_per(operand(a), total));
    return (std::move(total) / n).tensor();
  }
}

}  // namespace shardtype
