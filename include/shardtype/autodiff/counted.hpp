#pragma once
/// The gradients of maxima, minima, products, infinity norms and logarithms of sums of
/// exponentials: the same reduction of the forward pass has further results.

#include <limits>
#include <source_location>
#include <tuple>
#include <type_traits>

#include <shardtype/autodiff/reductions.hpp>
#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/kernels/scaled.hpp>
#include <shardtype/ops/math.hpp>
#include <shardtype/ops/reductions.hpp>

namespace shardtype::autodiff {

/// The values and counts of a counted reduction.
template <class Op, class A>
constexpr auto counted(Op const& op, std::source_location const& where, A const& a) {
  return shardtype::detail::counted(api::call(op, where, a));
}
/// The results of a reduction in parts.
template <class F, class... Out, class A>
constexpr auto in_parts(std::source_location const& where, A const& a) {
  return api::call(op::ReduceParts<F, Out...>{}, where, a);
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

/// ct / ties at the elements that equal the result, 0 elsewhere; NaN everywhere if the result is,
/// as JAX. ct / ties and the result are moved back.
template <class Op, class Counting, class... Out>
struct ExtremeVjp : Differentiable {
  /// In the gradient of a gradient (`A` has a level above 0) a separate reduction counts the ties.
  template <class A>
  static constexpr auto forward(Op const& op, std::source_location const& where, A const& a) {
    if constexpr (level<A> > 0) {
      auto const value = api::call(op, where, a);
      auto const ties = autodiff::counted(Counting{}, where, autodiff::constant(a)).counts;
      return Forward{value, autodiff::keep(a, autodiff::constant(value), ties)};
    } else {
      auto const both = autodiff::counted(Counting{}, where, a);
      return Forward{both.values, autodiff::keep(a, both.values, both.counts)};
    }
  }
  template <class V, class A, class S, class C>
  static constexpr auto prepare(Op const&, S const& saved, C const& ct) {
    using Whole = op::Norm<Out...>;
    auto const& most = autodiff::kept<1>(saved);
    auto const& ties = autodiff::kept<2>(saved);
    return autodiff::keep(
        autodiff::of_partial<Whole, V, A>(
            (ct / api::where(most == most, api::where(ties == 0, 1, ties), most)).tensor()),
        autodiff::value_of_partial<Whole, A>(most));
  }
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& begin) {
    return autodiff::in_order(shared(autodiff::kept<0>(saved), begin), labels_of_t<tensor_of<A>>{});
  }
  /// The share of each element of `a`.
  template <class A, class C>
  static constexpr auto shared(A const& a, C const& begin) {
    auto const& most = autodiff::kept<1>(begin);
    return api::where(a == most || most != most, autodiff::kept<0>(begin), op::zero).tensor();
  }
};
template <class... Out>
struct Vjp<op::Reduce<reductions::Maximum, Out...>>
    : ExtremeVjp<op::Reduce<reductions::Maximum, Out...>, op::CountedMax<Out...>, Out...> {};
template <class... Out>
struct Vjp<op::Reduce<reductions::Minimum, Out...>>
    : ExtremeVjp<op::Reduce<reductions::Minimum, Out...>, op::CountedMin<Out...>, Out...> {};

/// `a` in double, or in complex numbers of double.
template <class A>
constexpr auto widened(A const& a) {
  using T = element_t<tensor_of<A>>;
  using Wide =
      std::conditional_t<shardtype::detail::is_complex<T>, Kokkos::complex<double>, double>;
  if constexpr (std::is_same_v<T, Wide>) {
    return a;
  } else {
    return api::cast<Wide>(a);
  }
}
/// `a` with elements `T`.
template <class T, class A>
constexpr auto with_elements(A const& a) {
  if constexpr (std::is_same_v<T, element_t<tensor_of<A>>>) {
    return a;
  } else {
    return api::cast<T>(a).tensor();
  }
}

/// ct times the product of the other elements. It is computed as a quotient of numbers with
/// exponents of their own, so that no product on the way overflows or underflows; zeros, infinities
/// and NaN are counted. ct times the product's number and the exponents are moved back.
template <class... Out>
struct Vjp<op::Reduce<reductions::Product, Out...>> : Differentiable {
  using Op = op::Reduce<reductions::Product, Out...>;
  /// The gradient is not a function whose text has the right gradient again where elements are
  /// zero.
  static constexpr bool first_order = true;
  template <class A>
  static constexpr auto forward(Op const&, std::source_location const& where_called, A const& a) {
    auto const all = autodiff::in_parts<reductions::ProductParts, Out...>(where_called, a);
    return Forward{std::get<0>(all), autodiff::keep(a, std::get<1>(all), std::get<2>(all))};
  }
  template <class V, class A, class S, class C>
  static constexpr auto prepare(Op const&, S const& saved, C const& ct) {
    using Whole = op::Prod<Out...>;
    using T = element_t<tensor_of<A>>;
    return autodiff::keep(autodiff::of_partial<Whole, V, A>(
                              (ct * autodiff::with_elements<T>(autodiff::kept<1>(saved))).tensor()),
                          autodiff::value_of_partial<Whole, A>(autodiff::kept<2>(saved)));
  }
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& begin) {
    using T = element_t<tensor_of<A>>;
    auto const& a = autodiff::kept<0>(saved);
    auto const factor = api::map(kernels::WithoutPower{}, autodiff::widened(a));
    auto const power =
        api::map(kernels::PowerOfOthers{}, autodiff::widened(a), autodiff::kept<1>(begin));
    auto const others = (autodiff::widened(autodiff::kept<0>(begin)) / factor * power).tensor();
    return autodiff::in_order(autodiff::with_elements<T>(others), labels_of_t<tensor_of<A>>{});
  }
};

/// ct times the shares exp(a - m) / s of the sum, where m is the largest element and s the sum of
/// exp(a - m): the result itself is rounded too coarsely. 0 where all are minus infinity. ct / s
/// and m are moved back.
template <class... Out>
struct Vjp<op::Reduce<reductions::LogSumExp, Out...>> : Differentiable {
  using Op = op::Reduce<reductions::LogSumExp, Out...>;
  /// In the gradient of a gradient (`A` has a level above 0) a separate reduction gives the parts.
  template <class A>
  static constexpr auto forward(Op const& op, std::source_location const& where_called,
                                A const& a) {
    if constexpr (level<A> > 0) {
      auto const value = api::call(op, where_called, a);
      auto const all = autodiff::in_parts<reductions::LogSumExpParts, Out...>(
          where_called, autodiff::constant(a));
      return Forward{value, autodiff::keep(a, std::get<1>(all), std::get<2>(all), value)};
    } else {
      auto const all = autodiff::in_parts<reductions::LogSumExpParts, Out...>(where_called, a);
      return Forward{std::get<0>(all), autodiff::keep(a, std::get<1>(all), std::get<2>(all))};
    }
  }
  template <class V, class A, class S, class C>
  static constexpr auto prepare(Op const&, S const& saved, C const& ct) {
    using Whole = op::Norm<Out...>;
    using T = element_t<tensor_of<A>>;
    auto const& most = autodiff::kept<1>(saved);
    auto const sums = autodiff::with_elements<T>(autodiff::kept<2>(saved));
    auto const none = most == -std::numeric_limits<double>::infinity() && sums == sums;
    auto const share = [&] {
      if constexpr (level<A> > 0) {
        // times 1, of which the gradient is that of exp(-r)
        auto const& r = autodiff::kept<3>(saved);
        auto const passed = api::where(api::isfinite(r), autodiff::constant(r) - r, op::zero);
        return (ct / api::where(none, 1, sums) * api::exp(passed)).tensor();
      } else {
        return (ct / api::where(none, 1, sums)).tensor();
      }
    }();
    return autodiff::keep(
        autodiff::of_partial<Whole, V, A>(share),
        autodiff::value_of_partial<Whole, A>(api::where(none, op::zero, most).tensor()));
  }
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& begin) {
    using T = element_t<tensor_of<A>>;
    auto const& a = autodiff::kept<0>(saved);
    auto const made = [&] {
      if constexpr (shardtype::detail::is_converted<T>) {
        using Wide = shardtype::detail::computed_t<T>;
        return api::cast<T>(
                   api::cast<Wide>(autodiff::kept<0>(begin)) *
                   api::exp(api::cast<Wide>(a) - api::cast<Wide>(autodiff::kept<1>(begin))))
            .tensor();
      } else {
        return (autodiff::kept<0>(begin) * api::exp(a - autodiff::kept<1>(begin))).tensor();
      }
    }();
    return autodiff::in_order(made, labels_of_t<tensor_of<A>>{});
  }
};

/// The gradient of the maximum of the absolute values, times that of the absolute values.
template <class... Out>
struct Vjp<op::Reduce<reductions::NormInf, Out...>> : Differentiable {
  using Op = op::Reduce<reductions::NormInf, Out...>;
  using Sizes = ExtremeVjp<Op, op::CountedMax<Out...>, Out...>;
  template <class A>
  static constexpr auto forward(Op const& op, std::source_location const& where, A const& a) {
    auto const size = api::abs(autodiff::constant(a)).tensor();
    auto const both = autodiff::counted(op::CountedMax<Out...>{}, where, size);
    if constexpr (level<A> > 0) {
      auto const value = api::call(op, where, a);
      return Forward{value, autodiff::keep(a, both.values, both.counts)};
    } else {
      auto const value = api::max(both.values, 0).tensor();  // 0 of no elements
      return Forward{value, autodiff::keep(a, value, both.counts)};
    }
  }
  template <class V, class A, class S, class C>
  static constexpr auto prepare(Op const& op, S const& saved, C const& ct) {
    return Sizes::template prepare<V, A>(op, saved, ct);
  }
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& begin) {
    auto const& a = autodiff::kept<0>(saved);
    return autodiff::in_order(autodiff::times_sign(Sizes::shared(api::abs(a).tensor(), begin), a),
                              labels_of_t<tensor_of<A>>{});
  }
};

}  // namespace shardtype::autodiff
