#pragma once
/// Changes of sharding: by plan to any destination, or by one named collective.

#include <source_location>

#include <shardtype/check/reshard.hpp>
#include <shardtype/ops/run.hpp>
#include <shardtype/tensor/operand.hpp>

namespace shardtype {

namespace detail {

/// The one front door of the operations on a single tensor.
template <class Op, class A>
auto apply(A const& a, std::source_location const& where) {
  if constexpr (any_poisoned<A>) {
    return Poisoned{};
  } else {
    using R = Resolve<Op, operand_t<A>>;
    if constexpr (R::verdict) {
      return ops::run<R>(where, operand(a));
    } else {
      return Poisoned(refusal<R, operand_t<A>>{});
    }
  }
}

}  // namespace detail

/// The same value with another sharding, named by dims and attributes or by a Tensor type:
/// `reshard<Dim<I>, Dim<J, X>>(a)`. Dims may stand in another order. Runs the cheapest sequence of
/// collectives (plan/reshard_plan.hpp); a sharding that is only finer is sliced, for free. One
/// all_to_all makes `A[I@X%64]` of `A[I@X]` (`Dim<I, Cyclic<X, 64>>`), and back. Refused: R01 to R04, N05.
template <class... Out, class A>
auto reshard(A const& a, std::source_location where = std::source_location::current()) {
  return detail::apply<ReshardTo<Out...>>(a, where);
}

/// `A[I@(X,Y)]` -> `all_gather<Y>` -> `A[I@X]`: each rank receives the blocks of its group. Each axis
/// must be the minor-most of the dim it splits. Refused: K01, K02.
template <class... Xs, class A>
auto all_gather(A const& a, std::source_location where = std::source_location::current()) {
  return detail::apply<AllGatherOver<Xs...>>(a, where);
}

/// `A[I]{U:X}` -> `all_reduce<X>` -> `A[I]`: the summands (or maxima, minima) of the group are
/// reduced, on all ranks. Refused: K03.
template <class... Xs, class A>
auto all_reduce(A const& a, std::source_location where = std::source_location::current()) {
  return detail::apply<AllReduceOver<Xs...>>(a, where);
}

/// `A[I, J]{U:X}` -> `reduce_scatter<X, J>` -> `A[I, J@X]`: reduced, and each rank keeps its piece.
/// Refused: K03, K04, B04.
template <class X, class I, class A>
  requires(!is_local<operand_t<A>> && !any_poisoned<A> && !detail::is_pending<A>)
auto reduce_scatter(A const& a, std::source_location where = std::source_location::current()) {
  return detail::apply<ReduceScatterOver<X, I>>(a, where);
}

/// `A[I@X, J]` -> `all_to_all<X, I, J>` -> `A[I, J@X]`: the axis moves from one dim to another, as
/// the minor-most there. Refused: K01, K02, K04, B04.
template <class X, class From, class To, class A>
  requires(!is_local<operand_t<A>> && !any_poisoned<A> && !detail::is_pending<A>)
auto all_to_all(A const& a, std::source_location where = std::source_location::current()) {
  return detail::apply<AllToAllOver<X, From, To>>(a, where);
}

}  // namespace shardtype
