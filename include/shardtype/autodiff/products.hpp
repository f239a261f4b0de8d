#pragma once
/// The gradients of products.

#include <source_location>
#include <type_traits>

#include <shardtype/autodiff/pullback.hpp>
#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/ops/einsum.hpp>
#include <shardtype/ops/matmul.hpp>

namespace shardtype::autodiff {

/// The dims of a tensor type, as a Pack.
template <class P>
struct DimIn {
  using type = shardtype::detail::Pack<>;
};
template <class I, class... Xs>
struct DimIn<Dim<I, Xs...>> {
  using type = shardtype::detail::Pack<Dim<I, Xs...>>;
};
template <class A>
struct DimsOf;
template <class T, class... Parts>
struct DimsOf<Tensor<T, Parts...>> {
  using type = decltype((shardtype::detail::Pack<>{} | ... | typename DimIn<Parts>::type{}));
};
template <class T, class... Parts>
struct DimsOf<Local<T, Parts...>> : DimsOf<Tensor<T, Parts...>> {};

template <class... Dims>
Spread<Dims...> spread_to(shardtype::detail::Pack<Dims...>);
/// The cotangent `ct` repeated along the dims of `A` that it lacks, of extents `n`.
template <class A, class C, class N>
constexpr auto spread(C const& ct, N const& n) {
  using Op = decltype(autodiff::spread_to(typename DimsOf<A>::type{}));
  return call(Op{n}, std::source_location::current(), ct);
}

template <class... Dims>
struct Vjp<Spread<Dims...>> : Differentiable {
  template <class V, class A>
  static constexpr Kept<> save(Spread<Dims...> const&, V const&, A const&) {
    return {};
  }
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Spread<Dims...> const&, S const&, C const& ct) {
    return autodiff::unbroadcast<tensor_of<A>>(ct);
  }
};

/// The labels of the pack that `A` or `B` has.
template <class A, class B, class... Ls>
constexpr auto labels_in_either(shardtype::detail::Pack<Ls...>) {
  return (
      shardtype::detail::Pack<>{} | ... | std::conditional_t < has_label<A, Ls> || has_label<B, Ls>,
      shardtype::detail::Pack<Ls>, shardtype::detail::Pack < >> {});
}
template <class A, class B, class... Ls>
constexpr auto product(A const& a, B const& b, Overlap overlap, shardtype::detail::Pack<Ls...>) {
  return call(op::Einsum<Ls...>{overlap}, std::source_location::current(), a, b);
}

/// The rule of products for the cotangent of operand `K`, by shardings: that of the result times the
/// other operand.
template <int K, class V, class A, class B>
constexpr Verdict product_cotangent() {
  using S = Scope<V, A, B>;
  Spec const ct = rules::cotangent(S::template spec<0>);
  Spec const own = S::template spec<1 + K>;
  Spec const other = S::template spec<2 - K>;
  rules::Labels out;  // a label that is summed over alone is in neither
  for (int d = 0; d < own.rank; ++d)
    if (int const l = own.dims[d].label; ct.find(l) >= 0 || other.find(l) >= 0) out.push(l);
  Verdict v = rules::in_manual_mode(rules::contraction(ct, other, out), ct);
  v = rules::in_manual_mode(v, other);
  if (v && out.size < own.rank) v = rules::spread(v.result, rules::cotangent(own));
  if (!v) return v;
  return rules::settle(v.result, rules::cotangent(own), false).verdict;
}

/// ct_a = ct b, ct_b = a ct, with the operand's own labels.
struct StrictProductVjp : Differentiable {
  template <class V, class A, class B, class Op>
  static constexpr auto save(Op const&, V const&, A const& a, B const& b) {
    return keep(a, b);
  }
  template <int K, class V, class A, class B>
  static constexpr Verdict judge() {
    return product_cotangent<K, V, A, B>();
  }
  template <int K, class V, class A, class B, class Op, class S, class C>
  static constexpr auto pull(Op const& op, S const& saved, C const& ct) {
    using P = tensor_of<std::conditional_t<K == 0, A, B>>;
    using Q = tensor_of<std::conditional_t<K == 0, B, A>>;
    using Labels = decltype(autodiff::labels_in_either<tensor_of<C>, Q>(labels_of_t<P>{}));
    auto made = [&] {
      if constexpr (K == 0) {
        return autodiff::product(ct, kept<1>(saved), op.overlap, Labels{});
      } else {
        return autodiff::product(kept<0>(saved), ct, op.overlap, Labels{});
      }
    }();
    if constexpr (std::is_same_v<Labels, labels_of_t<P>>) {
      return made;
    } else {
      return autodiff::spread<cotangent_t<P>>(made, kept<K>(saved).extents());
    }
  }
};

/// A named product. If its strict form is legal, the cotangent is moved back to that form's result,
/// and pulled through it. Else the plan depends on sizes, which types must not: it is pulled by named
/// products.
template <bool Sums>
struct NamedProductVjp : StrictProductVjp {
  template <class V>
  static constexpr auto strict() {
    if constexpr (Sums) {
      return typename decltype(shardtype::detail::einsum_to(labels_of_t<tensor_of<V>>{}))::type{};
    } else {
      return op::Matmul<>{};
    }
  }
  template <class V, class A, class B>
  using Met = Resolve<decltype(strict<V>()), tensor_of<A>, tensor_of<B>>;

  template <int K, class V, class A, class B>
  static constexpr Verdict judge() {
    if constexpr (Met<V, A, B>::verdict) {
      return product_cotangent<K, typename Met<V, A, B>::result, A, B>();
    } else {
      using S = Scope<V, A, B>;
      return rules::named_product_cotangent(S::template spec<1 + K>, S::template spec<2 - K>,
                                            S::template spec<0>);
    }
  }
  template <class V, class A, class B, class Op, class S, class C>
  static constexpr auto prepare(Op const&, S const&, C const& ct) {
    if constexpr (Met<V, A, B>::verdict) {
      return autodiff::settled<cotangent_t<typename Met<V, A, B>::result>, true>(ct);
    } else {
      return ct;
    }
  }
  template <int K, class V, class A, class B, class Op, class S, class C>
  static constexpr auto pull(Op const& op, S const& saved, C const& ct) {
    if constexpr (Met<V, A, B>::verdict) {
      return StrictProductVjp::pull<K, V, A, B>(op, saved, ct);
    } else {
      using To = cotangent_t<tensor_of<std::conditional_t<K == 0, A, B>>>;
      if constexpr (K == 0) {
        return call(op::Einsum<To>{op.overlap}, std::source_location::current(), ct,
                    kept<1>(saved));
      } else {
        return call(op::Einsum<To>{op.overlap}, std::source_location::current(), kept<0>(saved),
                    ct);
      }
    }
  }
};

template <>
struct Vjp<op::Matmul<>> : StrictProductVjp {};
template <class First, class... Out>
struct Vjp<op::Matmul<First, Out...>> : NamedProductVjp<false> {};
template <class... Out>
struct Vjp<op::Einsum<Out...>> : std::conditional_t<shardtype::detail::all_labels_named<Out...>,
                                                    StrictProductVjp, NamedProductVjp<true>> {};

}  // namespace shardtype::autodiff
