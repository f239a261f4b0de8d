#pragma once
/// The gradients of maxima and minima by ids.

#include <shardtype/autodiff/finish.hpp>
#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/check/cotangent.hpp>
#include <shardtype/check/named.hpp>
#include <shardtype/ops/math.hpp>
#include <shardtype/ops/scatter.hpp>

namespace shardtype::autodiff {

/// The part of each update in the cotangent of its row's result `rows`: 1 over the number of
/// updates that equal the result, 0 for the others and for ids out of range; NaN if the result is.
/// `look_up` gives the row of each update, `add_up` sums of updates by rows.
template <class R, class A, class LookUp, class AddUp>
constexpr auto parts_of_ties(R const& rows, A const& updates, LookUp const& look_up,
                             AddUp const& add_up) {
  using T = element_t<tensor_of<A>>;
  auto const most = look_up(rows);
  auto const equal = api::cast<T>(updates == most).tensor();
  auto const ties = look_up(add_up(equal));
  return api::where(most == most, api::where(equal * ties == 0, op::zero, 1 / ties), most).tensor();
}

/// `A` where no axis is unreduced; `Replicated`: nor reduced.
template <class A, bool Replicated>
struct OnRanksOf {
  using S = Scope<A>;
  static constexpr Spec make() {
    Spec out = S::template spec<0>;
    out.unreduced = {};
    if (Replicated) out.reduced = {};
    return out;
  }
  static constexpr Spec value = make();
  using type = tensor_from_spec<S, OnRanksOf, element_t<A>, A>;
};

/// The rows are looked up where the updates are, and counts of ties are added up as the result is.
template <class V, class F, class... Out>
struct NamedExtremes : Differentiable {
  using Op = op::Named<op::ExtremeRows<V, F>, Out...>;
  static constexpr bool communicates = true;
  template <int K, class R, class A, class Ids>
  static constexpr Verdict judge() {
    return {};
  }
  template <class R, class A, class Ids>
  static constexpr auto save(Op const&, R const& out, A const& updates, Ids const& ids) {
    return autodiff::keep(out, updates, ids);
  }
  template <int K, class R, class A, class Ids, class S, class C>
  static constexpr auto pull(Op const& op, S const& saved, C const& ct) {
    using Here = typename OnRanksOf<tensor_of<A>, false>::type;
    using At = typename OnRanksOf<tensor_of<A>, true>::type;
    auto const& ids = autodiff::kept<2>(saved);
    auto const parts = autodiff::parts_of_ties(
        autodiff::kept<0>(saved), autodiff::kept<1>(saved),
        [&](auto const& rows) { return api::take<V, Here>(rows, ids); },
        [&](auto const& v) { return api::scatter_add<V, Out...>(v, ids, op.strict().n); });
    auto const rows = api::take<V, At>(ct, ids);
    return autodiff::in_order(
        (autodiff::finished<cotangent_t<tensor_of<A>>, true>(rows) * parts).tensor(),
        labels_of_t<tensor_of<A>>{});
  }
};

}  // namespace shardtype::autodiff

namespace shardtype::op {

template <class V, class F>
template <class R, class A, class Ids>
constexpr auto ExtremeRows<V, F>::save(R const& out, A const& updates, Ids const& ids) const {
  if constexpr (!detail::has_cotangent<autodiff::tensor_of<R>>) {
    return autodiff::keep();  // refused: a pending maximum
  } else {
    return autodiff::keep(out, updates, ids);
  }
}
template <class V, class F>
template <class G>
constexpr auto ExtremeRows<V, F>::pull(G const& g) const {
  auto const& ids = g.template kept<2>();
  auto const parts = autodiff::parts_of_ties(
      g.template kept<0>(), g.template kept<1>(),
      [&](auto const& rows) { return api::take<V>(rows, ids); },
      [&](auto const& v) { return api::scatter_add<V>(v, ids, n); });
  return g.in_order((api::take<V>(g.ct, ids) * parts).tensor());
}

}  // namespace shardtype::op
