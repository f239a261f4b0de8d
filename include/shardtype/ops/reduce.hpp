#pragma once
/// Reductions of tensors over labels.

#include <cstdint>
#include <source_location>
#include <type_traits>

#include <shardtype/check/reduction.hpp>
#include <shardtype/kernels/reduce.hpp>
#include <shardtype/ops/math.hpp>
#include <shardtype/ops/reshard.hpp>

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

/// The calling rank's part of a reduction to `Out`, whose labels are some of A's. Not split dims alone:
/// what the ranks hold is then owed.
template <class F, class Out, class A>
Out reduce_locally(A const& a) {
  using Reducer = typename ReducerOf<F, typename A::element>::type;
  constexpr auto dims = dims_in<Out, A>();
  extents_of<Out> extents{};
  for (std::size_t d = 0; d < Out::rank; ++d)
    extents[d] = a.extents()[static_cast<std::size_t>(dims[d])];
  Out out = uninitialized<Out>(a.mesh(), extents);
  if (!a.mesh().here()) return out;
  kernels::Layout const block = block_layout(a.rows());
  kernels::Layout source;
  bool used[max_dims] = {};
  auto push = [&](std::size_t d) {
    source.extent[source.rank] = block.extent[d];
    source.stride[source.rank++] = block.stride[d];
    used[d] = true;
  };
  for (std::size_t d = 0; d < Out::rank; ++d) push(static_cast<std::size_t>(dims[d]));
  for (std::size_t d = 0; d < A::rank; ++d)
    if (!used[d]) push(d);
  typename A::execution_space const exec{};
  kernels::ReducePlan const plan =
      kernels::plan_reduce<Reducer>(exec, source, static_cast<int>(Out::rank));
  Buffer const workspace = a.mesh().state().pool().template take<typename A::memory_space>(
      static_cast<std::size_t>(plan.workspace));
  kernels::reduce<Reducer>(exec, plan, static_cast<typename A::element const*>(a.buffer().data()),
                           static_cast<typename Out::element*>(out.buffer().data()),
                           workspace.data());
  exec.fence();
  return out;
}

/// The front door of all reductions.
template <class F, class... Out, class A>
auto reduce(A const& a, std::source_location const& where) {
  if constexpr (any_poisoned<A>) {
    return Poisoned{};
  } else {
    using R = Resolve<ReduceOver<F, Out...>, operand_t<A>>;
    if constexpr (!R::verdict) {
      return Poisoned(refusal<R, operand_t<A>>{});
    } else if constexpr (R::communicates) {
      using Whole = typename R::operand;
      using Met = typename R::met;
      if constexpr (std::is_same_v<Whole, operand_t<A>>) {
        return reshard<typename R::result>(reduce_locally<F, Met>(operand(a)), where);
      } else {
        return reshard<typename R::result>(
            reduce_locally<F, Met>(reshard<Whole>(operand(a), where)), where);
      }
    } else {
      return reduce_locally<F, typename R::result>(operand(a));
    }
  }
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
auto sum(A const& a, std::source_location where = std::source_location::current()) {
  return detail::reduce<reductions::Sum, Out...>(a, where);
}
/// The product. Over a split dim only by a named result, which gathers the dim.
template <class... Out, class A>
auto prod(A const& a, std::source_location where = std::source_location::current()) {
  return detail::reduce<reductions::Product, Out...>(a, where);
}
/// The largest element; a NaN if there is one, the least value of all if there is none.
/// `A[I@X, J]` -> `max<I>` -> `[J]{U_max:X}`.
template <class... Out, class A>
  requires(detail::are_operands<A>)
auto max(A const& a, std::source_location where = std::source_location::current()) {
  return detail::reduce<reductions::Maximum, Out...>(a, where);
}
/// The least element; as max.
template <class... Out, class A>
  requires(detail::are_operands<A>)
auto min(A const& a, std::source_location where = std::source_location::current()) {
  return detail::reduce<reductions::Minimum, Out...>(a, where);
}
/// Whether some element of a bool tensor is true. Refused on others: P11.
template <class... Out, class A>
auto any(A const& a, std::source_location where = std::source_location::current()) {
  return detail::reduce<reductions::Any, Out...>(a, where);
}
/// Whether all elements of a bool tensor are true. Refused on others: P11.
template <class... Out, class A>
auto all(A const& a, std::source_location where = std::source_location::current()) {
  return detail::reduce<reductions::All, Out...>(a, where);
}
/// Where the largest element stands along `I` (row-major over several labels); the first of equal ones.
/// Over a split dim only by a named result, which gathers the dim.
template <class... Out, class A>
auto argmax(A const& a, std::source_location where = std::source_location::current()) {
  return detail::reduce<reductions::PlaceOfMaximum, Out...>(a, where);
}
/// Where the least element stands; as argmax.
template <class... Out, class A>
auto argmin(A const& a, std::source_location where = std::source_location::current()) {
  return detail::reduce<reductions::PlaceOfMinimum, Out...>(a, where);
}

/// The mean, by the true number of elements, however uneven the blocks are. Owed as a sum is.
/// Refused on integers: P12.
template <class... Out, class A>
auto mean(A const& a, std::source_location where = std::source_location::current()) {
  auto total = detail::reduce<reductions::Mean, Out...>(a, where);
  if constexpr (any_poisoned<decltype(total)>) {
    return total;
  } else {
    using T = typename decltype(total)::element;
    using Real = detail::real_of<T>;
    auto const n = static_cast<Real>(detail::terms_per(operand(a), total));
    return (std::move(total) / n).tensor();
  }
}

}  // namespace shardtype
