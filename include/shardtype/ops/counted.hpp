#pragma once
/// Reductions with further results, from one reduction over the ranks: counts, and what the gradients
/// of maxima, minima, products and logarithms of sums of exponentials need.

#include <array>
#include <cstdint>
#include <source_location>
#include <type_traits>
#include <utility>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/counted.hpp>
#include <shardtype/execute/reduce_run.hpp>
#include <shardtype/kernels/counted.hpp>

namespace shardtype {

/// Result of `counted_max`, `counted_min` and `counted_prod`: the values and, alike, the counts.
/// Structured bindings give both.
template <class Values, class Counts>
struct Counted {
  Values values;
  Counts counts;
};

namespace execute {
/// The results of a reduction in parts (reductions::LogSumExpParts, ProductParts).
template <class Values, class Second, class Third>
struct InParts {
  Values values;
  Second second;
  Third third;
};

template <class T>
struct ReducerOf<reductions::CountedMaximum, T> {
  using type = kernels::CountedExtreme<T, true>;
};
template <class T>
struct ReducerOf<reductions::CountedMinimum, T> {
  using type = kernels::CountedExtreme<T, false>;
};
template <class T>
struct ReducerOf<reductions::CountedProduct, T> {
  using type = kernels::CountedProduct<T>;
};

/// The reducers that finish the further results of a reduction in parts.
template <class F, class T>
struct PartsOf;
template <class T>
struct PartsOf<reductions::LogSumExpParts, T> {
  using Second = kernels::LargestOfExponentials<T>;
  using Third = kernels::SumOfExponentials<T>;
};
template <class T>
struct PartsOf<reductions::ProductParts, T> {
  using Second = kernels::FactorOfProduct<T>;
  using Third = kernels::ScaleOfProduct<T>;
};
template <class T>
struct ReducerOf<reductions::LogSumExpParts, T> {
  using type = kernels::LogSumExpReducer<T>;
};
template <class T>
struct ReducerOf<reductions::ProductParts, T> {
  using type = kernels::ProductInParts<T>;
};

/// The totals of a reduction with further results, whose extents are written.
template <class F, class R, class A>
Buffer totals_of(std::source_location const& where, A const& a, std::int64_t* extents) {
  using Reducer = reducer_t<F, typename A::element>;
  static_assert(sizeof(typename Reducer::Total) ==
                    static_cast<std::size_t>(F::template total_bytes<typename A::element>),
                "a reduction's total_bytes is the size of its reducer's Total");
  auto const from = readable(a);
  if constexpr (R::communicates) {
    return reshard_parts<Reducer, R, true>(from, where, extents);
  } else {
    constexpr KeptDims kept = kept_dims(R::S::readings[0].spec, R::wanted());
    for (std::size_t d = 0; d < R::result::rank; ++d)
      extents[d] = a.extents()[static_cast<std::size_t>(kept.at[d])];
    if (!a.mesh().here()) return Buffer{};
    return reduce_block<Reducer, false, typename A::memory_space>(
        a.mesh().state(), from.in, kept_first(detail::block_layout(a.rows()), kept.at, kept.count),
        kept.count);
  }
}

template <class F, class... Names>
struct Run<op::ReduceCounted<F, Names...>> {
  template <class R, class A>
  static auto run(op::ReduceCounted<F, Names...> const&, std::source_location const& where,
                  A const& a) {
    using Reducer = reducer_t<F, typename A::element>;
    using Values = typename R::result;
    using Counts = typename R::counts;
    std::array<std::int64_t, Values::rank> extents{};
    Buffer const totals = totals_of<F, R>(where, a, extents.data());
    return Counted<Values, Counts>{
        finished<Reducer, Values>(a.mesh(), extents, totals),
        finished<kernels::CountOf<Reducer>, Counts>(a.mesh(), extents, totals)};
  }
};
template <class F, class... Names>
struct Run<op::ReduceParts<F, Names...>> {
  template <class R, class A>
  static auto run(op::ReduceParts<F, Names...> const&, std::source_location const& where,
                  A const& a) {
    using T = typename A::element;
    using Values = typename R::result;
    using Second = typename R::second;
    using Third = typename R::third;
    std::array<std::int64_t, Values::rank> extents{};
    Buffer const totals = totals_of<F, R>(where, a, extents.data());
    return InParts<Values, Second, Third>{
        finished<reducer_t<F, T>, Values>(a.mesh(), extents, totals),
        finished<typename PartsOf<F, T>::Second, Second>(a.mesh(), extents, totals),
        finished<typename PartsOf<F, T>::Third, Third>(a.mesh(), extents, totals)};
  }
};
}  // namespace execute

namespace detail {
/// All results; of tensors without data only the first comes from the plan. Those of a refused call are
/// poisoned.
template <class Out>
constexpr auto counted(Out const& out) {
  if constexpr (std::is_base_of_v<checking::Poisoned, Out>) {
    return Counted<checking::Poisoned, checking::Poisoned>{};
  } else if constexpr (is_dry<Out>) {
    auto const counts = beside<real_of<typename Out::element>>(out);
    return Counted<Out, std::remove_const_t<decltype(counts)>>{out, counts};
  } else {
    return out;
  }
}
template <class F, class T, class Out>
constexpr auto in_parts(Out const& out) {
  if constexpr (is_dry<Out>) {
    auto const second = beside<typename F::template second<T>>(out);
    auto const third = beside<typename F::template third<T>>(out);
    return InParts<Out, std::remove_const_t<decltype(second)>,
                   std::remove_const_t<decltype(third)>>{out, second, third};
  } else {
    return out;
  }
}
}  // namespace detail

/// The largest element and the number of elements that equal it, as real numbers: `A[I@X, J]` ->
/// `auto [most, ties] = counted_max<Dim<J>>(a)` -> `[J]` each, one all_reduce or reduce_scatter of
/// pairs; `counted_max<J>(a)` -> `[I@X]` each, nothing sent. The gradient of the maximum is
/// `where(a == most, ct / ties, 0)`. With a NaN: NaN, and the number of these; of no elements: the
/// least number, and 0. Same forms as sum (ops/sum.hpp), except that a split dim needs a named result
/// (S03). Refused: as prod, P12 integers, and S04 complex numbers.
template <class... Out, class A>
constexpr auto counted_max(A const& a, checking::CallSite where = std::source_location::current()) {
  return detail::counted(call(op::CountedMax<Out...>{}, where, a));
}

/// The least element and the number of elements that equal it; as counted_max.
template <class... Out, class A>
constexpr auto counted_min(A const& a, checking::CallSite where = std::source_location::current()) {
  return detail::counted(call(op::CountedMin<Out...>{}, where, a));
}

/// The product of the elements that are not zero, and the number of those that are: `A[I@X, J]` ->
/// `auto [rest, zeros] = counted_prod<Dim<J>>(a)` -> `[J]` each, one all_reduce or reduce_scatter of
/// pairs. The product is `where(zeros == 0, rest, 0)`; its gradient is `ct rest / a` without zeros,
/// `ct rest` where `a` is the only zero, and 0 elsewhere. Products of float are computed in double.
/// Forms and refusals as counted_max, but complex numbers are accepted.
template <class... Out, class A>
constexpr auto counted_prod(A const& a,
                            checking::CallSite where = std::source_location::current()) {
  return detail::counted(call(op::CountedProd<Out...>{}, where, a));
}

}  // namespace shardtype
