#pragma once
/// The gradients of sums, means and logarithms of sums of exponentials.

#include <limits>
#include <type_traits>

#include <shardtype/autodiff/products.hpp>
#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/check/reduction.hpp>
#include <shardtype/ops/math.hpp>

namespace shardtype::autodiff {

/// The type of a named reduction's partial results, before they are moved.
template <class Op, class A, class V>
using partial_result =
    tensor_from_spec<typename Resolve<Op, A>::S, typename Resolve<Op, A>::Met, element_t<V>, V>;

/// What the Vjps of reductions share: the cotangent of a named result is moved back to that of the
/// partial results.
template <class Op>
struct ReductionVjp : Differentiable {
  template <class V, class A, class S, class C>
  static constexpr auto prepare(Op const&, S const&, C const& ct) {
    if constexpr (Resolve<Op, tensor_of<A>>::communicates) {
      return autodiff::settled<cotangent_t<partial_result<Op, tensor_of<A>, tensor_of<V>>>, true>(
          ct);
    } else {
      return ct;
    }
  }
};

/// The cotangent, at each element.
template <class... Out>
struct Vjp<op::Reduce<reductions::Sum, Out...>>
    : ReductionVjp<op::Reduce<reductions::Sum, Out...>> {
  using Op = op::Reduce<reductions::Sum, Out...>;
  template <class V, class A>
  static constexpr auto save(Op const&, V const&, A const& a) {
    return keep(a.extents());
  }
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& ct) {
    return autodiff::spread<cotangent_t<tensor_of<A>>>(ct, kept<0>(saved));
  }
};
/// The same, divided by the number of elements.
template <class... Out>
struct Vjp<op::Reduce<reductions::Mean, Out...>>
    : ReductionVjp<op::Reduce<reductions::Mean, Out...>> {
  using Op = op::Reduce<reductions::Mean, Out...>;
  template <class V, class A>
  static constexpr auto save(Op const&, V const&, A const& a) {
    return keep(a.extents());
  }
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& ct) {
    using S2 = Scope<tensor_of<A>, tensor_of<V>>;
    double n = 1;
    for (int d = 0; d < S2::template spec<0>.rank; ++d)
      if (S2::template spec<1>.find(S2::template spec<0>.dims[d].label) < 0)
        n *= static_cast<double>(kept<0>(saved)[static_cast<std::size_t>(d)]);
    return autodiff::spread<cotangent_t<tensor_of<A>>>((ct * (1 / n)).tensor(), kept<0>(saved));
  }
};
/// ct exp(a - r): the shares of the sum. 0 where all are minus infinity.
template <class... Out>
struct Vjp<op::Reduce<reductions::LogSumExp, Out...>>
    : ReductionVjp<op::Reduce<reductions::LogSumExp, Out...>> {
  using Op = op::Reduce<reductions::LogSumExp, Out...>;
  template <class V, class A>
  static constexpr auto save(Op const&, V const& r, A const& a) {
    return keep(a, r);
  }
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& ct) {
    double const none = -std::numeric_limits<double>::infinity();
    auto const r = [&] {
      if constexpr (Resolve<Op, tensor_of<A>>::communicates) {
        using P = partial_result<Op, tensor_of<A>, tensor_of<V>>;
        return autodiff::settled<cotangent_t<P>, true>(kept<1>(saved));
      } else {
        return kept<1>(saved);
      }
    }();
    return in_order((ct * exp(kept<0>(saved) - where(r == none, op::zero, r))).tensor(),
                    labels_of_t<tensor_of<A>>{});
  }
};

}  // namespace shardtype::autodiff
