#pragma once
/// The gradients of products.

#include <array>
#include <cstdint>
#include <source_location>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/pullback.hpp>
#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/ops/products.hpp>

namespace shardtype::autodiff {

template <class... Dims>
Spread<Dims...> spread_to(shardtype::detail::Pack<Dims...>);
/// The cotangent `ct` repeated along the dims of `A` that it lacks, of extents `n`.
template <class A, class C, class N>
constexpr auto spread(C const& ct, N const& n) {
  using Op = decltype(autodiff::spread_to(typename DimsOf<A>::type{}));
  return api::call(Op{n}, std::source_location::current(), ct);
}

/// The labels of the pack that any of `As` has.
template <class L, class... As>
inline constexpr bool has_any = (has_label<As, L> || ...);
template <class... As, class... Ls>
constexpr auto labels_in_any(shardtype::detail::Pack<Ls...>) {
  using shardtype::detail::Pack;
  return (Pack<>{} | ... | std::conditional_t<has_any<Ls, As...>, Pack<Ls>, Pack<>>{});
}
/// A product of the cotangent and the other operand, in the place of operand `K`.
template <int K, class Op, class S, class C>
constexpr auto product_with(Op const& op, S const& saved, C const& ct) {
  if constexpr (K == 0) {
    return api::call(op, std::source_location::current(), ct, autodiff::kept<1>(saved));
  } else {
    return api::call(op, std::source_location::current(), autodiff::kept<0>(saved), ct);
  }
}

/// The rule of products for the cotangent of operand `K` of a product `R`, by shardings; `V` is the
/// result of the call, after whose names axes are numbered.
template <int K, class V, class R, class A, class B>
constexpr Verdict product_cotangent() {
  using S = Scope<V, A, B, R>;
  Spec const own = S::template spec<1 + K>;
  Verdict const v =
      rules::product_cotangent(rules::cotangent(S::template spec<3>), S::template spec<2 - K>, own);
  return v ? rules::finish(v.result, rules::cotangent(own), false).verdict : v;
}

/// The cotangent of a `P`, of which a product of `Qs` is computed before it is repeated along the
/// dims that `P` alone has.
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

/// A product of `Qs` as the cotangent of operand `K`, a `P`: repeated along the dims that `P` alone
/// has.
template <int K, class P, class... Qs, class Made, class S>
constexpr auto with_own(Made const& made, [[maybe_unused]] S const& saved) {
  using Labels = labels_of_t<P>;
  if constexpr (std::is_same_v<decltype(autodiff::labels_in_any<Qs...>(Labels{})), Labels>) {
    return made;
  } else {
    return autodiff::spread<cotangent_t<P>>(autodiff::finished<without_own<P, Qs...>, false>(made),
                                            autodiff::kept<K>(saved).extents());
  }
}

/// A gathered cotangent, and its product with the second operand if both were made as one.
template <class G, class P>
struct GatheredProduct {
  G whole;
  core::Maybe<P> product{};
};
template <class A>
inline constexpr bool is_gathered_product = false;
template <class G, class P>
inline constexpr bool is_gathered_product<GatheredProduct<G, P>> = true;
/// The cotangent `ct` gathered to a `G`, and its product by `op` with `q`, multiplied while it is
/// gathered if `op.overlap` says so and `wanted`.
template <class G, class Op, class C, class Q>
auto gathered_product(Op const& op, C const& ct, Q const& q, bool wanted) {
  using P = typename Resolve<Op, G, Q>::result;
  using R = Resolve<op::Einsum<P>, C, Q>;
  if constexpr (!R::verdict) {
    return autodiff::finished<G, true>(ct);
  } else {
    using T = typename C::element;
    using Space = typename C::memory_space;
    auto const where = std::source_location::current();
    if (wanted && op.overlap != Overlap::none) {
      core::RunningCall const running(op::Einsum<P>::name, where);
      std::array<std::int64_t, P::rank> extents{};
      execute::Buffer product, whole;
      if (execute::run_product_keeping<T, Space>(
              execute::call_of(execute::call_type<R, T>, where, op.overlap, execute::operand_of(ct),
                               execute::operand_of(q)),
              extents.data(), product, whole)) {
        GatheredProduct<G, P> out{G(ct.mesh(), ct.extents(), std::move(whole))};
        out.product.set(P(ct.mesh(), extents, std::move(product)));
        return out;
      }
    }
    return GatheredProduct<G, P>{autodiff::finished<G, true>(ct)};
  }
}

/// gathered_product of tensors without data: the plan also counts the memory that such a run holds
/// besides the two results. Unless the gathered dim is the outermost one, a ring copies the rank's
/// own block and the gathered tensor, to have this dim first.
template <class G, class Op, class C, class Q>
constexpr auto planned_gathered_product(Op const& op, C const& ct, Q const& q, bool wanted) {
  using Own = tensor_of<C>;
  using S = Scope<G, Own>;
  auto const whole = autodiff::finished<G, true>(ct);
  auto const multiplied = [&] { return api::call(op, std::source_location::current(), whole, q); };
  using P = decltype(multiplied());
  GatheredProduct<std::remove_cvref_t<decltype(whole)>, P> out{whole};
  if (!wanted || op.overlap == Overlap::none || whole.value() == ct.value()) return out;
  constexpr bool turns = S::template spec<0>.dims[0].axes == S::template spec<1>.dims[0].axes;
  if (turns || op.overlap == Overlap::shared) {
    C const own(ct.recorder(), ct.extents().data());  // or this rank's share of a window
    if (op.overlap == Overlap::shared) {
      out.product.set(multiplied());
    } else {
      std::remove_cvref_t<decltype(whole)> const again(ct.recorder(), whole.extents().data());
      out.product.set(multiplied());
    }
  } else {
    out.product.set(multiplied());
  }
  return out;
}

/// ct_a = ct b, ct_b = a ct, with the operand's own labels.
struct StrictProductVjp : SavesOperands {
  template <int K, class V, class A, class B>
  static constexpr Verdict judge() {
    return autodiff::product_cotangent<K, V, V, A, B>();
  }
  template <int K, class V, class A, class B, class Op, class S, class C>
  static constexpr auto pull(Op const& op, S const& saved, C const& ct) {
    using P = tensor_of<std::conditional_t<K == 0, A, B>>;
    using Q = tensor_of<std::conditional_t<K == 0, B, A>>;
    using Labels = decltype(autodiff::labels_in_any<tensor_of<C>, Q>(labels_of_t<P>{}));
    using Product = typename decltype(shardtype::detail::einsum_to(Labels{}))::type;
    return autodiff::with_own<K, P, tensor_of<C>, Q>(
        autodiff::product_with<K>(Product{op.overlap}, saved, ct), saved);
  }
};

/// A named product. If its strict form is legal, the cotangent is moved back to that form's result,
/// and pulled through it. Else the plan depends on sizes, which types must not: it is pulled by
/// named products.
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
      return autodiff::product_cotangent<K, V, typename Met<V, A, B>::result, A, B>();
    } else {
      using S = Scope<V, A, B>;
      return rules::named_product_cotangent(S::template spec<1 + K>, S::template spec<2 - K>,
                                            S::template spec<0>);
    }
  }
  /// The strict product that is the cotangent of the first operand, of one of type `G`.
  template <class G, class A, class B>
  using FirstPull = typename decltype(shardtype::detail::einsum_to(
      autodiff::labels_in_any<G, tensor_of<B>>(labels_of_t<tensor_of<A>>{})))::type;
  /// The cotangent of the strict form's result. Where it is gathered for that, and the product is
  /// to be overlapped, the first operand's cotangent is made on the way if it is `wanted`.
  template <class V, class A, class B, class Op, class S, class C>
  static constexpr auto prepare(Op const& op, S const& saved, C const& ct, bool wanted = false) {
    if constexpr (Met<V, A, B>::verdict) {
      using G = cotangent_t<typename Met<V, A, B>::result>;
      constexpr bool abstract = shardtype::detail::is_abstract<C>;
      if constexpr ((is_tensor<C> || abstract) && !is_local<tensor_of<C>> &&
                    !std::is_same_v<G, tensor_of<C>> &&
                    std::is_same_v<labels_of_t<tensor_of<A>>,
                                   decltype(autodiff::labels_in_any<G, tensor_of<B>>(
                                       labels_of_t<tensor_of<A>>{}))>) {
        using Op0 = FirstPull<G, A, B>;
        if constexpr (abstract) {
          return autodiff::planned_gathered_product<G>(Op0{op.overlap}, ct,
                                                       autodiff::kept<1>(saved), wanted);
        } else {
          return autodiff::gathered_product<G>(Op0{op.overlap}, ct, autodiff::kept<1>(saved),
                                               wanted);
        }
      } else {
        return autodiff::finished<G, true>(ct);
      }
    } else {
      return ct;
    }
  }
  template <int K, class V, class A, class B, class Op, class S, class C>
  static constexpr auto pull(Op const& op, S const& saved, C const& ct) {
    if constexpr (is_gathered_product<C>) {
      if constexpr (K == 0) {
        if (ct.product.has_value()) return *ct.product;
      }
      return StrictProductVjp::pull<K, V, A, B>(op, saved, ct.whole);
    } else if constexpr (Met<V, A, B>::verdict) {
      return StrictProductVjp::pull<K, V, A, B>(op, saved, ct);
    } else {
      using P = tensor_of<std::conditional_t<K == 0, A, B>>;
      using Q = tensor_of<std::conditional_t<K == 0, B, A>>;
      using To = typename NamedProductTo<P, tensor_of<C>, Q>::type;
      return autodiff::with_own<K, P, tensor_of<C>, Q>(
          autodiff::product_with<K>(op::Einsum<To>{op.overlap}, saved, ct), saved);
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

/// An einsum with a named result; of three and more operands each is pulled by a named product of
/// the cotangent and the others.
struct NamedEinsumVjp : NamedProductVjp<true> {
  using Two = NamedProductVjp<true>;
  using Two::pull;

  // not beside a `using Two::judge`: clang takes functions without parameters for the same,
  // whatever their template parameters are
  template <int K, class V, class A, class B, class... More>
  static constexpr Verdict judge() {
    if constexpr (sizeof...(More) == 0) {
      return Two::template judge<K, V, A, B>();
    } else {
      using S = Scope<V, A, B, More...>;
      return [&]<int... J>(std::integer_sequence<int, J...>) {
        return rules::named_product_cotangent(S::template spec<1 + K>, S::template spec<0>,
                                              S::template spec<1 + (J < K ? J : J + 1)>...);
      }(std::make_integer_sequence<int, static_cast<int>(1 + sizeof...(More))>{});
    }
  }
  template <int K, class V, class A, class B, class D, class... More, class Op, class S, class C>
  static constexpr auto pull(Op const& op, S const& saved, C const& ct) {
    using P = tensor_of<nth_t<K, A, B, D, More...>>;
    return [&]<int... J>(std::integer_sequence<int, J...>) {
      return pull_one<K, P>(op, saved, ct, autodiff::kept<(J < K ? J : J + 1)>(saved)...);
    }(std::make_integer_sequence<int, static_cast<int>(2 + sizeof...(More))>{});
  }

 private:
  template <int K, class P, class Op, class S, class C, class... Qs>
  static constexpr auto pull_one(Op const& op, S const& saved, C const& ct, Qs const&... qs) {
    using To = typename NamedProductsTo<P, tensor_of<C>, tensor_of<Qs>...>::type;
    return autodiff::with_own<K, P, tensor_of<C>, tensor_of<Qs>...>(
        api::call(op::Einsum<To>{op.overlap}, std::source_location::current(), ct, qs...), saved);
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
