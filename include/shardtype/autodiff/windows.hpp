#pragma once
/// The gradients of sorted values.

#include <algorithm>
#include <cstdint>
#include <source_location>
#include <type_traits>

#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/ops/indexing.hpp>
#include <shardtype/ops/run_full_like.hpp>
#include <shardtype/ops/sorting.hpp>
#include <shardtype/ops/windows.hpp>

namespace shardtype::autodiff {

/// The largest elements are looked up at their places, whose gradient is that of take_along.
template <class I, class... Result>
struct Vjp<op::TopK<I, Result...>> : Differentiable {
  using Op = op::TopK<I, Result...>;
  template <int K, class V, class A>
  static constexpr Verdict judge() {
    return {};
  }
  template <class A>
  static constexpr auto instead(Op const& op, std::source_location const& called, A const& a) {
    auto const places = shardtype::top_k<I, Result...>(a.value(), op.k, called).places;
    auto const values = shardtype::call(op::TakeAlong<I, Result...>{}, called, a, places);
    return TopK<std::remove_cvref_t<decltype(values)>, std::remove_cvref_t<decltype(places)>>{
        values, places};
  }
};

/// Each row to the place that it came from.
template <class I>
struct Vjp<op::Sort<I>> : Differentiable {
  template <class V, class A>
  static constexpr auto save(op::Sort<I> const& op, V const&, A const& a) {
    return autodiff::keep(api::argsort<I>(a, op.order), a.extents()[place_of<tensor_of<A>, I>]);
  }
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(op::Sort<I> const&, S const& saved, C const& ct) {
    return api::scatter_along<I>(ct, autodiff::kept<0>(saved), autodiff::kept<1>(saved));
  }
};

}  // namespace shardtype::autodiff
