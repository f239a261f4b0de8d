#pragma once
/// The gradient of lookups by ids.

#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/ops/indexing.hpp>

namespace shardtype::autodiff {

/// The gradient is TakeRows::pull, a sum by ids. Such sums refuse tensors with a block-cyclic dim.
template <class I>
struct Vjp<op::TakeRows<I>> : PullsByMember<op::TakeRows<I>, SavesIds> {
  template <int K, class V, class A, class Ids>
  static constexpr Verdict judge() {
    using S = Scope<V, A, Ids>;
    Verdict const v = rules::scatter_add(rules::cotangent(S::template spec<0>), S::template spec<2>,
                                         S::names.find_label(identity<I>));
    return v ? rules::settle(v.result, rules::cotangent(S::template spec<1>), false).verdict : v;
  }
};

}  // namespace shardtype::autodiff
