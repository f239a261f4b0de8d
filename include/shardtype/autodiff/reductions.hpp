#pragma once
/// The gradients of sums, means, norms and variances.

#include <cstdint>
#include <limits>
#include <source_location>
#include <type_traits>

#include <shardtype/autodiff/products.hpp>
#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/check/reduction.hpp>
#include <shardtype/ops/math.hpp>
#include <shardtype/ops/reductions.hpp>

namespace shardtype::autodiff {

/// The type of a named reduction's partial results, before they are moved.
template <class Op, class A, class V>
using partial_result =
    tensor_from_spec<typename Resolve<Op, A>::S, typename Resolve<Op, A>::Met, element_t<V>, V>;

/// A named result on each rank that has partial results of type `P`.
template <class P>
struct Everywhere {
  using S = Scope<P>;
  static constexpr Spec value = rules::everywhere(S::template spec<0>);
  using type = tensor_from_spec<S, Everywhere, element_t<P>, P>;
};
template <class P, class V>
constexpr auto everywhere(V const& v) {
  return autodiff::finished<typename Everywhere<P>::type, true>(v);
}

/// A cotangent of a named result `V` of the reduction `Op`, in the sharding of the partial results.
template <class Op, class V, class A, class C>
constexpr auto of_partial(C const& ct) {
  if constexpr (Resolve<Op, tensor_of<A>>::communicates) {
    return autodiff::finished<cotangent_t<partial_result<Op, tensor_of<A>, tensor_of<V>>>, true>(
        ct);
  } else {
    return ct;
  }
}
/// The same of the result itself, or of another one with its sharding.
template <class Op, class A, class C>
constexpr auto value_of_partial(C const& value) {
  if constexpr (Resolve<Op, tensor_of<A>>::communicates) {
    return autodiff::everywhere<partial_result<Op, tensor_of<A>, tensor_of<C>>>(value);
  } else {
    return value;
  }
}

/// Base of the Vjps of reductions: moves the cotangent of a named result back to that of the
/// partial results.
template <class Op, class Saves = Differentiable>
struct ReductionVjp : Saves {
  template <class V, class A, class S, class C>
  static constexpr auto prepare(Op const&, S const&, C const& ct) {
    return autodiff::of_partial<Op, V, A>(ct);
  }
};

/// The cotangent, at each element.
template <class Op>
struct SumVjp : ReductionVjp<Op, SavesExtents> {
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& ct) {
    return autodiff::spread<cotangent_t<tensor_of<A>>>(ct, autodiff::kept<0>(saved));
  }
  /// What the cotangent repeats.
  template <class V, class A, class S, class C>
  static constexpr auto repeated(S const&, C const& ct) {
    return ct;
  }
};
template <class... Out>
struct Vjp<op::Reduce<reductions::Sum, Out...>> : SumVjp<op::Reduce<reductions::Sum, Out...>> {};
template <class... Out>
struct Vjp<op::Reduce<reductions::ReproducibleSum, Out...>>
    : SumVjp<op::Reduce<reductions::ReproducibleSum, Out...>> {};

/// The number of elements of a tensor of type `A` and extents `n` that are reduced to one of a `V`.
template <class V, class A, class N>
constexpr std::int64_t reduced_elements(N const& n) {
  using S = Scope<A, V>;
  std::int64_t count = 1;
  for (int d = 0; d < S::template spec<0>.rank; ++d)
    if (S::template spec<1>.find(S::template spec<0>.dims[d].label) < 0)
      count *= n[static_cast<std::size_t>(d)];
  return count;
}
/// The same, divided by the number of elements.
template <class... Out>
struct Vjp<op::Reduce<reductions::Mean, Out...>>
    : ReductionVjp<op::Reduce<reductions::Mean, Out...>, SavesExtents> {
  using Op = op::Reduce<reductions::Mean, Out...>;
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& ct) {
    return autodiff::spread<cotangent_t<tensor_of<A>>>(repeated<V, A>(saved, ct),
                                                       autodiff::kept<0>(saved));
  }
  template <class V, class A, class S, class C>
  static constexpr auto repeated(S const& saved, C const& ct) {
    auto const n = static_cast<double>(
        autodiff::reduced_elements<tensor_of<V>, tensor_of<A>>(autodiff::kept<0>(saved)));
    return (ct * (1 / n)).tensor();
  }
};
/// `ct / r`, and 0 where `r` is 0.
template <class C, class R>
constexpr auto over_size(C const& ct, R const& r) {
  return (api::where(r == 0, op::zero, ct) / api::where(r == 0, 1, r)).tensor();
}
/// `ct` times the gradient of half the square of |a|, `a`: of complex numbers its conjugate.
template <class C, class A>
constexpr auto times_element(C const& ct, A const& a) {
  using T = element_t<tensor_of<A>>;
  if constexpr (shardtype::detail::is_complex<T>) {
    return (api::cast<T>(ct) * api::conj(a)).tensor();
  } else {
    return (ct * a).tensor();
  }
}
/// `ct` times the gradient of |a|.
template <class C, class A>
constexpr auto times_sign(C const& ct, A const& a) {
  using T = element_t<tensor_of<A>>;
  if constexpr (shardtype::detail::is_complex<T>) {
    return (api::cast<T>(ct) * (api::conj(a) / api::cast<T>(api::where(a == 0, 1, api::abs(a)))))
        .tensor();
  } else {
    return (ct * api::sign(a)).tensor();
  }
}

/// ct a / r; 0 at 0. ct / r is moved back.
template <class Op>
struct NormVjp : ReductionVjp<Op> {
  template <class V, class A>
  static constexpr auto save(Op const&, V const& r, A const& a) {
    return autodiff::keep(a, r);
  }
  template <class V, class A, class S, class C>
  static constexpr auto prepare(Op const&, S const& saved, C const& ct) {
    return autodiff::of_partial<Op, V, A>(autodiff::over_size(ct, autodiff::kept<1>(saved)));
  }
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& ct) {
    return autodiff::in_order(autodiff::times_element(ct, autodiff::kept<0>(saved)),
                              labels_of_t<tensor_of<A>>{});
  }
};
template <class... Out>
struct Vjp<op::Reduce<reductions::Norm, Out...>> : NormVjp<op::Reduce<reductions::Norm, Out...>> {};
template <class... Out>
struct Vjp<op::Reduce<reductions::ReproducibleNorm, Out...>>
    : NormVjp<op::Reduce<reductions::ReproducibleNorm, Out...>> {};

/// ct sign(a).
template <class... Out>
struct Vjp<op::Reduce<reductions::Norm1, Out...>>
    : ReductionVjp<op::Reduce<reductions::Norm1, Out...>, SavesOperands> {
  using Op = op::Reduce<reductions::Norm1, Out...>;
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& ct) {
    return autodiff::in_order(autodiff::times_sign(ct, autodiff::kept<0>(saved)),
                              labels_of_t<tensor_of<A>>{});
  }
};

/// 2 ct (a - mean) / (n - ddof). The mean is a second reduction of the forward pass: of a named
/// result a second collective.
template <class F, class... Out>
struct SpreadVjp : Differentiable {
  using Op = op::Reduce<F, Out...>;
  template <class A>
  static constexpr auto forward(Op const& op, std::source_location const& where, A const& a) {
    auto const value = api::call(op, where, a);
    auto const middle = api::call(op::Mean<Out...>{}, where, a);
    return Forward{value, autodiff::keep(a, value, middle)};
  }
  template <class V, class A, class S, class C>
  static constexpr auto prepare(Op const& op, S const& saved, C const& ct) {
    // compilers compute nothing with NaN at compile time
    double const n = static_cast<double>(autodiff::reduced_elements<tensor_of<V>, tensor_of<A>>(
                         autodiff::kept<0>(saved).extents())) -
                     op.ddof;
    double const share = n > 0 ? 1 / n : std::numeric_limits<double>::quiet_NaN();
    auto const factor = [&] {
      if constexpr (std::is_same_v<F, reductions::Deviation>) {
        return (autodiff::over_size(ct, autodiff::kept<1>(saved)) * share).tensor();
      } else {
        return (ct * 2 * share).tensor();
      }
    }();
    // the factor and the mean, in the sharding of the partial results
    return autodiff::keep(
        autodiff::of_partial<Op, V, A>(factor),
        autodiff::value_of_partial<op::Mean<Out...>, A>(autodiff::kept<2>(saved)));
  }
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& begin) {
    return autodiff::in_order(
        autodiff::times_element(autodiff::kept<0>(begin),
                                (autodiff::kept<0>(saved) - autodiff::kept<1>(begin)).tensor()),
        labels_of_t<tensor_of<A>>{});
  }
};
template <class... Out>
struct Vjp<op::Reduce<reductions::Variance, Out...>> : SpreadVjp<reductions::Variance, Out...> {};
template <class... Out>
struct Vjp<op::Reduce<reductions::Deviation, Out...>> : SpreadVjp<reductions::Deviation, Out...> {};

}  // namespace shardtype::autodiff
