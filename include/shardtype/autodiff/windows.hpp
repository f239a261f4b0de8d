#pragma once
/// The gradients of sorted values.

#include <algorithm>
#include <cstdint>
#include <source_location>
#include <type_traits>

#include <shardtype/autodiff/distributed_sort.hpp>
#include <shardtype/autodiff/shared_top_k.hpp>
#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/ops/indexing.hpp>
#include <shardtype/ops/run_full_like.hpp>
#include <shardtype/ops/sorting.hpp>
#include <shardtype/ops/windows.hpp>

namespace shardtype::autodiff {

/// The gradient is that of take_along at the positions that top_k returns.
template <class I, class... Result>
struct Vjp<ResultOf<op::TopK<I, Result...>, 0>> : Differentiable {
  using Op = op::TopK<I, Result...>;
  template <class V, class A>
  static constexpr auto save(Op const&, V const& both, A const& a) {
    return autodiff::keep(std::get<1>(both), a.extents()[place_of<tensor_of<A>, I>]);
  }
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& ct) {
    return api::call(op::ScatterAlong<I, Result...>{autodiff::kept<1>(saved)},
                     std::source_location::current(), ct, autodiff::kept<0>(saved));
  }
};

}  // namespace shardtype::autodiff

namespace shardtype::op {

template <bool Places, class I>
template <class V, class A>
constexpr auto Sorted<Places, I>::save(V const&, A const& a) const {
  return autodiff::keep(api::argsort<I>(a, order),
                        a.extents()[autodiff::place_of<autodiff::tensor_of<A>, I>]);
}
/// Each row to the place that it came from.
template <bool Places, class I>
template <class G>
constexpr auto Sorted<Places, I>::pull(G const& g) const {
  return api::scatter_along<I>(g.ct, g.template kept<0>(), g.template kept<1>());
}

}  // namespace shardtype::op
