#pragma once
/// The gradients of lookups by ids, and of sums by ids.

#include <cstdint>
#include <type_traits>

#include <shardtype/autodiff/along.hpp>
#include <shardtype/ops/scatter_add.hpp>
#include <shardtype/ops/scatter_along.hpp>
#include <shardtype/ops/take.hpp>
#include <shardtype/ops/take_along.hpp>

namespace shardtype::autodiff {

/// Base of a Vjp that reads the ids, and the extent of dim `I` of the other operand.
template <class I>
struct SavesIds : Differentiable {
  template <class V, class A, class Ids, class Op>
  static constexpr auto save(Op const&, V const&, A const& a, Ids const& ids) {
    return keep(ids, a.extents()[place_of<tensor_of<A>, I>]);
  }
};

/// Each row of the cotangent is added to the row of the table that its id names.
template <class I>
struct Vjp<op::Take<I>> : SavesIds<I> {
  /// Sums by ids are not of tensors with a block-cyclic dim.
  template <int K, class V, class A, class Ids>
  static constexpr Verdict judge() {
    using S = Scope<V, A, Ids>;
    Verdict const v = rules::scatter_add(rules::cotangent(S::template spec<0>), S::template spec<2>,
                                         S::names.find_label(identity<I>));
    return v ? rules::settle(v.result, rules::cotangent(S::template spec<1>), false).verdict : v;
  }
  template <int K, class V, class A, class Ids, class S, class C>
  static constexpr auto pull(op::Take<I> const&, S const& saved, C const& ct) {
    return scatter_add<I>(ct, kept<0>(saved), kept<1>(saved));
  }
};
/// The row that each update was added to.
template <class I>
struct Vjp<op::ScatterAdd<I>> : Differentiable {
  template <class V, class A, class Ids>
  static constexpr auto save(op::ScatterAdd<I> const&, V const&, A const&, Ids const& ids) {
    return keep(ids);
  }
  template <int K, class V, class A, class Ids, class S, class C>
  static constexpr auto pull(op::ScatterAdd<I> const&, S const& saved, C const& ct) {
    return autodiff::in_order(take<I>(ct, kept<0>(saved)), labels_of_t<tensor_of<A>>{});
  }
};

template <class J, class... Into>
struct Vjp<op::TakeAlong<J, Into...>> : SavesIds<J> {
  template <int K, class V, class A, class Ids, class S, class C>
  static constexpr auto pull(op::TakeAlong<J, Into...> const&, S const& saved, C const& ct) {
    return scatter_along<J, Into...>(ct, kept<0>(saved), kept<1>(saved));
  }
};
template <class J, class... At>
struct Vjp<op::ScatterAlong<J, At...>> : Differentiable {
  template <class V, class A, class Ids>
  static constexpr auto save(op::ScatterAlong<J, At...> const&, V const&, A const&,
                             Ids const& ids) {
    return keep(ids);
  }
  template <int K, class V, class A, class Ids, class S, class C>
  static constexpr auto pull(op::ScatterAlong<J, At...> const&, S const& saved, C const& ct) {
    return take_along<J, At...>(ct, kept<0>(saved));
  }
};

}  // namespace shardtype::autodiff
