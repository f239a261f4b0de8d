#pragma once
/// Strict mode's collectives, started and not waited for: each takes what its namesake without `_start`
/// takes, refuses what that refuses, and returns a Pending of what that returns (tensor/pending.hpp).

#include <array>
#include <cstdint>
#include <source_location>

#include <shardtype/ops/reshard.hpp>
#include <shardtype/tensor/pending.hpp>

namespace shardtype {

namespace detail {

template <class Op, class A>
auto apply_later(A const& a, std::source_location const& where) {
  if constexpr (any_poisoned<A>) {
    return Poisoned{};
  } else {
    using R = Resolve<Op, operand_t<A>>;
    if constexpr (!R::verdict) {
      return Poisoned(refusal<R, operand_t<A>>{});
    } else {
      using Out = typename R::result;
      using T = typename Out::element;
      decltype(auto) tensor = operand(a);
      std::array<std::int64_t, Out::rank> extents{};
      Started started = tensor.mesh().state().start();
      ops::run_call<T, typename Out::memory_space>(ops::call_of<R>(where, Overlap::none, tensor),
                                                   extents.data(), started.get());
      return Pending<Out>(tensor.mesh(), extents, started, where);
    }
  }
}

}  // namespace detail

/// `A[I@(X,Y)]` -> `all_gather_start<Y>` -> a Pending of `A[I@X]`.
template <class... Xs, class A>
  requires(!is_local<operand_t<A>> && !any_poisoned<A> && !detail::is_pending<A>)
auto all_gather_start(A const& a, std::source_location where = std::source_location::current()) {
  return detail::apply_later<AllGatherOver<Xs...>>(a, where);
}

/// `A[I]{U:X}` -> `all_reduce_start<X>` -> a Pending of `A[I]`.
template <class... Xs, class A>
  requires(!is_local<operand_t<A>> && !any_poisoned<A> && !detail::is_pending<A>)
auto all_reduce_start(A const& a, std::source_location where = std::source_location::current()) {
  return detail::apply_later<AllReduceOver<Xs...>>(a, where);
}

/// `A[I, J]{U:X}` -> `reduce_scatter_start<X, J>` -> a Pending of `A[I, J@X]`.
template <class X, class I, class A>
  requires(!is_local<operand_t<A>> && !any_poisoned<A> && !detail::is_pending<A>)
auto reduce_scatter_start(A const& a,
                          std::source_location where = std::source_location::current()) {
  return detail::apply_later<ReduceScatterOver<X, I>>(a, where);
}

/// `A[I@X, J]` -> `all_to_all_start<X, I, J>` -> a Pending of `A[I, J@X]`.
template <class X, class From, class To, class A>
  requires(!is_local<operand_t<A>> && !any_poisoned<A> && !detail::is_pending<A>)
auto all_to_all_start(A const& a, std::source_location where = std::source_location::current()) {
  return detail::apply_later<AllToAllOver<X, From, To>>(a, where);
}

}  // namespace shardtype
