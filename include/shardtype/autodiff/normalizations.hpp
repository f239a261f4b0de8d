#pragma once
/// The gradients of softmax and its logarithm.

#include <source_location>
#include <type_traits>

#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/ops/reductions.hpp>

namespace shardtype::autodiff {

/// The gradient of softmax is y (ct - sum(ct y)), that of log_softmax ct - exp(y) sum(ct). The sum
/// of a named result over a split dim is one all_reduce in the backward pass.
template <bool Log, class Named, class Labels>
struct NormalizationVjp : Differentiable {
  template <class V, class A>
  static constexpr auto save(Named const&, V const& y, A const&) {
    return autodiff::keep(y);
  }
  /// The cotangent and the result, in the operand's sharding.
  template <class V, class A, class S, class C>
  static constexpr auto prepare(Named const&, S const& saved, C const& ct) {
    using R = Resolve<Named, tensor_of<A>>;
    if constexpr (R::communicates) {
      return autodiff::keep(
          autodiff::finished<cotangent_t<typename R::template met<0>::result>, true>(ct),
          autodiff::finished<typename R::template met<0>::result, true>(autodiff::kept<0>(saved)));
    } else {
      return autodiff::keep(ct, autodiff::kept<0>(saved));
    }
  }
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Named const&, S const&, C const& begin) {
    auto const& ct = autodiff::kept<0>(begin);
    auto const& y = autodiff::kept<1>(begin);
    if constexpr (Log) {
      return (ct - api::exp(y) * total<V, A>(ct)).tensor();
    } else {
      return (y * (ct - total<V, A>((ct * y).tensor()))).tensor();
    }
  }

 private:
  template <class... Ls>
  static op::Sum<Ls...> sum_over(shardtype::detail::Pack<Ls...>);
  /// The sums over the labels, on all ranks that share a row.
  template <class V, class A, class C>
  static constexpr auto total(C const& terms) {
    using Sum = decltype(sum_over(Labels{}));
    auto sums = api::call(Sum{}, std::source_location::current(), terms);
    if constexpr (Resolve<Named, tensor_of<A>>::communicates) {
      using Met = typename Resolve<Named, tensor_of<A>>::template met<0>::result;
      return api::reshard<cotangent_t<typename Resolve<Sum, Met>::result>>(sums);
    } else {
      return sums;
    }
  }
};
template <bool Log, class... Ls>
struct Vjp<op::Normalize<Log, Ls...>>
    : NormalizationVjp<Log, op::Normalize<Log, Ls...>, shardtype::detail::Pack<Ls...>> {};
template <bool Log, class... Ls, class... Out>
struct Vjp<op::Named<op::Normalize<Log, Ls...>, Out...>>
    : NormalizationVjp<Log, op::Named<op::Normalize<Log, Ls...>, Out...>,
                       shardtype::detail::Pack<Ls...>> {};

}  // namespace shardtype::autodiff
