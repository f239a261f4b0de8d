#pragma once
/// The gradients of maxima, minima, products and infinity norms: their forward pass counts as well,
/// in the same reduction.

#include <source_location>
#include <type_traits>

#include <shardtype/autodiff/reductions.hpp>
#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/ops/counted.hpp>
#include <shardtype/ops/math.hpp>

namespace shardtype::autodiff {

/// The values and counts of a counted reduction. Without data it gives the values alone.
template <class Op, class A>
constexpr auto counted(Op const& op, std::source_location const& where, A const& a) {
  auto const out = call(op, where, a);
  if constexpr (shardtype::detail::is_dry<A>) {
    using Counts = typename Resolve<Op, tensor_of<A>>::counts;
    using Notes = std::remove_cvref_t<decltype(out.notes())>;
    return Counted<std::remove_cvref_t<decltype(out)>, Dry<Counts, Notes>>{
        out, Dry<Counts, Notes>(out.notes(), out.extents().data())};
  } else {
    return out;
  }
}
/// The value of `a`, without a gradient.
template <class A>
constexpr auto constant(A const& a) {
  if constexpr (level<A> > 0) {
    return autodiff::constant(a.value());
  } else {
    return a;
  }
}

/// A cotangent of a named result `V` of the reduction `Op`, in the sharding of the partial results.
/// `Whole`: a reduction of the same labels that sums.
template <class Whole, class V, class A, class C>
constexpr auto of_partial(C const& ct) {
  if constexpr (Resolve<Whole, tensor_of<A>>::communicates) {
    return autodiff::settled<cotangent_t<partial_result<Whole, tensor_of<A>, tensor_of<V>>>, true>(
        ct);
  } else {
    return ct;
  }
}

/// The same of the result itself.
template <class Whole, class V, class A, class C>
constexpr auto value_of_partial(C const& value) {
  if constexpr (Resolve<Whole, tensor_of<A>>::communicates) {
    return autodiff::everywhere<partial_result<Whole, tensor_of<A>, tensor_of<V>>>(value);
  } else {
    return value;
  }
}

/// ct / ties at the elements that equal the result, 0 elsewhere. ct / ties and the result are moved
/// back.
template <class Op, class Counting, class... Out>
struct ExtremeVjp : Differentiable {
  /// Of second order the ties are counted by a reduction of their own.
  template <class A>
  static constexpr auto forward(Op const& op, std::source_location const& where, A const& a) {
    if constexpr (level<A> > 0) {
      auto const value = call(op, where, a);
      auto const ties = autodiff::counted(Counting{}, where, autodiff::constant(a)).counts;
      return made(value, autodiff::keep(a, autodiff::constant(value), ties));
    } else {
      auto const both = autodiff::counted(Counting{}, where, a);
      return made(both.values, autodiff::keep(a, both.values, both.counts));
    }
  }
  template <class V, class A, class S, class C>
  static constexpr auto prepare(Op const&, S const& saved, C const& ct) {
    using Whole = op::Norm<Out...>;
    return autodiff::keep(autodiff::of_partial<Whole, V, A>(
                              (ct / where(kept<2>(saved) == 0, 1, kept<2>(saved))).tensor()),
                          autodiff::value_of_partial<Whole, V, A>(kept<1>(saved)));
  }
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& begin) {
    return autodiff::in_order(
        where(kept<0>(saved) == kept<1>(begin), kept<0>(begin), op::zero).tensor(),
        labels_of_t<tensor_of<A>>{});
  }

 private:
  template <class V, class S>
  static constexpr Forward<V, S> made(V const& value, S const& saved) {
    return {value, saved};
  }
};
template <class... Out>
struct Vjp<op::Reduce<reductions::Maximum, Out...>>
    : ExtremeVjp<op::Reduce<reductions::Maximum, Out...>, op::CountedMax<Out...>, Out...> {};
template <class... Out>
struct Vjp<op::Reduce<reductions::Minimum, Out...>>
    : ExtremeVjp<op::Reduce<reductions::Minimum, Out...>, op::CountedMin<Out...>, Out...> {};

/// Without zeros ct product / a; of one zero ct times the product of the others, there; else 0.
template <class... Out>
struct Vjp<op::Reduce<reductions::Product, Out...>> : Differentiable {
  using Op = op::Reduce<reductions::Product, Out...>;
  /// The gradient is not a function whose text has the right gradient again where elements are zero.
  static constexpr bool first_order = true;
  template <class A>
  static constexpr auto forward(Op const&, std::source_location const& where_called, A const& a) {
    auto const both = autodiff::counted(op::CountedProd<Out...>{}, where_called, a);
    // times 0, so that it is NaN as prod's is if another factor is infinite
    auto const value = where(both.counts == 0, both.values, both.values * 0).tensor();
    auto const saved = autodiff::keep(a, both.values, both.counts);
    return Forward<std::remove_cvref_t<decltype(value)>, std::remove_cvref_t<decltype(saved)>>{
        value, saved};
  }
  template <class V, class A, class S, class C>
  static constexpr auto prepare(Op const&, S const& saved, C const& ct) {
    using Whole = op::Prod<Out...>;
    auto const others = (ct * kept<1>(saved)).tensor();
    return autodiff::keep(
        autodiff::of_partial<Whole, V, A>(where(kept<2>(saved) == 0, others, op::zero).tensor()),
        autodiff::of_partial<Whole, V, A>(where(kept<2>(saved) == 1, others, op::zero).tensor()));
  }
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& begin) {
    auto const& a = kept<0>(saved);
    return autodiff::in_order(
        where(a == 0, kept<1>(begin), kept<0>(begin) / where(a == 0, 1, a)).tensor(),
        labels_of_t<tensor_of<A>>{});
  }
};

/// As the maximum of the absolute values.
template <class... Out>
struct Vjp<op::Reduce<reductions::NormInf, Out...>> : Differentiable {
  using Op = op::Reduce<reductions::NormInf, Out...>;
  using Sizes = ExtremeVjp<Op, op::CountedMax<Out...>, Out...>;
  template <class A>
  static constexpr auto forward(Op const& op, std::source_location const& where, A const& a) {
    auto const size = abs(autodiff::constant(a)).tensor();
    auto const both = autodiff::counted(op::CountedMax<Out...>{}, where, size);
    if constexpr (level<A> > 0) {
      auto const value = call(op, where, a);
      return made(value, autodiff::keep(a, both.values, both.counts));
    } else {
      auto const value = max(both.values, 0).tensor();  // 0 of no elements
      return made(value, autodiff::keep(a, value, both.counts));
    }
  }
  template <class V, class A, class S, class C>
  static constexpr auto prepare(Op const& op, S const& saved, C const& ct) {
    return Sizes::template prepare<V, A>(op, saved, ct);
  }
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& begin) {
    auto const& a = kept<0>(saved);
    return autodiff::in_order(
        autodiff::times_sign(where(abs(a) == kept<1>(begin), kept<0>(begin), op::zero).tensor(), a),
        labels_of_t<tensor_of<A>>{});
  }

 private:
  template <class V, class S>
  static constexpr Forward<V, S> made(V const& value, S const& saved) {
    return {value, saved};
  }
};

}  // namespace shardtype::autodiff
