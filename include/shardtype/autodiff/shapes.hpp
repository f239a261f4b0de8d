#pragma once
/// The gradients of operations that reorder, rename, add and remove dims.

#include <source_location>
#include <type_traits>

#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/ops/broadcast.hpp>
#include <shardtype/ops/expand.hpp>
#include <shardtype/ops/full_like.hpp>
#include <shardtype/ops/relabel.hpp>
#include <shardtype/ops/squeeze.hpp>
#include <shardtype/ops/sum.hpp>
#include <shardtype/ops/transpose.hpp>

namespace shardtype::autodiff {

/// Base of a Vjp that reads nothing of its operand.
struct SavesNothing : Differentiable {
  template <class V, class... As, class Op>
  static constexpr Kept<> save(Op const&, V const&, As const&...) {
    return {};
  }
};

template <class... Ls>
struct Vjp<op::Transpose<Ls...>> : SavesNothing {
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(op::Transpose<Ls...> const&, S const&, C const& ct) {
    return in_order(ct, labels_of_t<tensor_of<A>>{});
  }
};

/// The pairs of a renaming, the other way round.
template <class Done, class... Pairs>
struct Reversed {
  using type = Done;
};
template <class... Done, class Old, class New, class... Rest>
struct Reversed<shardtype::detail::Pack<Done...>, Old, New, Rest...>
    : Reversed<shardtype::detail::Pack<Done..., New, Old>, Rest...> {};
template <class... Ls>
op::Relabel<Ls...> relabel_by(shardtype::detail::Pack<Ls...>);
template <class... Ls>
struct Vjp<op::Relabel<Ls...>> : SavesNothing {
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(op::Relabel<Ls...> const&, S const&, C const& ct) {
    using Back = decltype(relabel_by(typename Reversed<shardtype::detail::Pack<>, Ls...>::type{}));
    return call(Back{}, std::source_location::current(), ct);
  }
};

template <class... Ls>
struct Vjp<op::Squeeze<Ls...>> : SavesNothing {
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(op::Squeeze<Ls...> const&, S const&, C const& ct) {
    return in_order(expand<Ls...>(ct), labels_of_t<tensor_of<A>>{});
  }
};
template <class... Ls>
struct Vjp<op::Expand<Ls...>> : SavesNothing {
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(op::Expand<Ls...> const&, S const&, C const& ct) {
    return squeeze<Ls...>(ct);
  }
};
template <class... Dims>
struct Vjp<op::Broadcast<Dims...>> : SavesNothing {
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(op::Broadcast<Dims...> const&, S const&, C const& ct) {
    return unbroadcast<tensor_of<A>>(ct);
  }
};

template <class T>
struct Vjp<op::FullLike<T>> : ConstantResult {};

}  // namespace shardtype::autodiff
