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

/// The rule of products for the cotangent of operand `K` of a product `R`, by shardings; `V` is the
/// result of the call, after whose names axes are numbered.
template <int K, class V, class R, class A, class B>
constexpr Verdict product_cotangent() {
  using S = Scope<V, A, B, R>;
  Spec const own = S::template spec<1 + K>;
  Verdict const v =
      rules::product_cotangent(rules::cotangent(S::template spec<3>), S::template spec<2 - K>, own);
  return v ? rules::settle(v.result, rules::cotangent(own), false).verdict : v;
}

/// The cotangent of a `P`, of which a product of `Qs` is computed before it is repeated along the dims
/// that `P` alone has.
template <class P, class... Qs>
struct WithoutOwn {
  using S = Scope<P, Qs...>;
  template <int... K>
  static constexpr Spec made(std::integer_sequence<int, K...>) {
    return rules::in_any(rules::cotangent(S::template spec<0>), S::template spec<K + 1>...);
  }
  static constexpr Spec value =
      made(std::make_integer_sequence<int, static_cast<int>(sizeof...(Qs))>{});
  using type = tensor_from_spec<S, WithoutOwn, element_t<P>, P>;
};
template <class P, class... Qs>
using without_own = typename WithoutOwn<P, Qs...>::type;
/// The type in which a named product of a `C` and a `Q` gives the cotangent of a `P`.
template <class P, class C, class Q>
struct NamedProductTo {
  using S = Scope<P, C, Q>;
  static constexpr Spec value =
      rules::named_product_to(S::template spec<0>, S::template spec<1>, S::template spec<2>);
  using type = tensor_from_spec<S, NamedProductTo, element_t<P>, P>;
};

/// ct_a = ct b, ct_b = a ct, with the operand's own labels.
struct StrictProductVjp : Differentiable {
  template <class V, class A, class B, class Op>
  static constexpr auto save(Op const&, V const&, A const& a, B const& b) {
    return keep(a, b);
  }
  template <int K, class V, class A, class B>
  static constexpr Verdict judge() {
    return product_cotangent<K, V, V, A, B>();
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
      return autodiff::spread<cotangent_t<P>>(
          autodiff::settled<without_own<P, tensor_of<C>, Q>, false>(made),
          kept<K>(saved).extents());
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
      return product_cotangent<K, V, typename Met<V, A, B>::result, A, B>();
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
      using P = tensor_of<std::conditional_t<K == 0, A, B>>;
      using Q = tensor_of<std::conditional_t<K == 0, B, A>>;
      using To = typename NamedProductTo<P, tensor_of<C>, Q>::type;
      using Whole = without_own<P, tensor_of<C>, Q>;
      auto made = [&] {
        if constexpr (K == 0) {
          return call(op::Einsum<To>{op.overlap}, std::source_location::current(), ct,
                      kept<1>(saved));
        } else {
          return call(op::Einsum<To>{op.overlap}, std::source_location::current(), kept<0>(saved),
                      ct);
        }
      }();
      if constexpr (std::is_same_v<Whole, cotangent_t<P>>) {
        return made;
      } else {
        return autodiff::spread<cotangent_t<P>>(autodiff::settled<Whole, false>(made),
                                                kept<K>(saved).extents());
      }
    }
  }
};

/// The type in which a named product of `Qs` gives the cotangent of a `P`: where the product has no
/// sums that could stay unreduced, it is whole.
template <class P, class... Qs>
struct NamedProductsTo {
  using sums = without_own<P, Qs...>;
  struct Whole {
    static constexpr Spec made() {
      Spec out = WithoutOwn<P, Qs...>::value;
      out.unreduced = {};
      return out;
    }
    static constexpr Spec value = made();
  };
  using whole = tensor_from_spec<typename WithoutOwn<P, Qs...>::S, Whole, element_t<P>, P>;
  static constexpr auto decide() {
    if constexpr (Resolve<op::Einsum<sums>, Qs...>::verdict) {
      return Type<sums>{};
    } else {
      return Type<whole>{};
    }
  }
  using type = typename decltype(decide())::type;
};

/// An einsum with a named result; of three and more operands each is pulled by a named product of the
/// cotangent and the others.
struct NamedEinsumVjp : NamedProductVjp<true> {
  using Two = NamedProductVjp<true>;
  using Two::judge;
  using Two::pull;
  using Two::save;
  template <class V, class A, class B, class D, class... More, class Op>
  static constexpr auto save(Op const&, V const&, A const& a, B const& b, D const& d,
                             More const&... more) {
    return keep(a, b, d, more...);
  }
  template <int K, class V, class A, class B, class D, class... More>
  static constexpr Verdict judge() {
    using S = Scope<V, A, B, D, More...>;
    return [&]<int... J>(std::integer_sequence<int, J...>) {
      return rules::named_product_cotangent(S::template spec<1 + K>, S::template spec<0>,
                                            S::template spec<1 + (J < K ? J : J + 1)>...);
    }(std::make_integer_sequence<int, static_cast<int>(2 + sizeof...(More))>{});
  }
  template <int K, class V, class A, class B, class D, class... More, class Op, class S, class C>
  static constexpr auto pull(Op const& op, S const& saved, C const& ct) {
    return pull_one<K, tensor_of<nth_t<K, A, B, D, More...>>>(
        op, saved, ct, std::make_integer_sequence<int, static_cast<int>(2 + sizeof...(More))>{});
  }

 private:
  template <int K, class P, class Op, class S, class C, int... J>
  static constexpr auto pull_one(Op const& op, S const& saved, C const& ct,
                                 std::integer_sequence<int, J...>) {
    using To = typename NamedProductsTo<
        P, tensor_of<C>,
        tensor_of<std::remove_cvref_t<decltype(kept<(J < K ? J : J + 1)>(saved))>>...>::type;
    using Whole =
        without_own<P, tensor_of<C>,
                    tensor_of<std::remove_cvref_t<decltype(kept<(J < K ? J : J + 1)>(saved))>>...>;
    auto const made = call(op::Einsum<To>{op.overlap}, std::source_location::current(), ct,
                           kept<(J < K ? J : J + 1)>(saved)...);
    if constexpr (std::is_same_v<Whole, cotangent_t<P>>) {
      return made;
    } else {
      return autodiff::spread<cotangent_t<P>>(autodiff::settled<Whole, false>(made),
                                              kept<K>(saved).extents());
    }
  }
};

template <>
struct Vjp<op::Matmul<>> : StrictProductVjp {};
template <class First, class... Out>
struct Vjp<op::Matmul<First, Out...>> : NamedProductVjp<false> {};
template <class... Out>
struct Vjp<op::Einsum<Out...>> : std::conditional_t<shardtype::detail::all_labels_named<Out...>,
                                                    StrictProductVjp, NamedEinsumVjp> {};

}  // namespace shardtype::autodiff
