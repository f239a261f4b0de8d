#pragma once
/// The gradients of lookups, sums by ids and slices with a named result.

#include <type_traits>

#include <shardtype/autodiff/record.hpp>
#include <shardtype/check/named.hpp>
#include <shardtype/ops/indexing.hpp>

namespace shardtype::autodiff {

/// The strict operation `Strict` that a named result consists of, on operands `A, Bs...`, with
/// result `R`, and how the cotangent of the first operand comes to its type.
template <class Strict, class R, class A, class... Bs>
struct StrictPart {
  using result = R;
  using first = A;
  using How = shardtype::detail::Finishes<
      cotangent_t<A>, typename PulledType<0, Strict, typed<R>, typed<A>, typed<Bs>...>::type,
      false>;
  static constexpr bool free = bool(How::verdict);
  template <class V, class S, class Given>
  static constexpr auto save(Strict const& op, V const& out, Given const& a, S const& bs) {
    return [&]<int... K>(std::integer_sequence<int, K...>) {
      return Vjp<Strict>::template save<V, Given>(op, out, a,
                                                  api::reshard<Bs>(autodiff::kept<K>(bs))...);
    }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Bs))>{});
  }
  template <class S, class C>
  static constexpr auto pull(Strict const& op, S const& saved, C const& ct) {
    return Vjp<Strict>::template pull<0, R, A, Bs...>(op, saved, ct);
  }
};

/// The operation with a named result reshards operands, computes `Strict`, and reshards its result:
/// the cotangent is moved back to that of Strict's result, pulled through it, and moved back to
/// that of the operand. Ids are resharded once more. Where there are two plans, it is the first
/// that is transposed, so that types do not depend on sizes. If that pull would hide a sum, but
/// that of the strict operation on the operands as they are given does not, this and the reshard of
/// its result are transposed.
template <class Op, class Strict>
struct NamedVjp {
  static constexpr bool exists = true;
  static constexpr bool communicates = true;

  template <class A, class... Bs>
  struct PartOf {
    using M = typename Resolve<Op, A, Bs...>::template met<0>;
    using Moved = StrictPart<Strict, typename M::result, typename M::template operand<0, A>,
                             typename M::template operand<1, Bs>...>;
    static constexpr auto decide() {
      if constexpr (Moved::free || !Resolve<Strict, A, Bs...>::verdict) {
        return Type<Moved>{};
      } else {
        using Given = StrictPart<Strict, typename Resolve<Strict, A, Bs...>::result, A, Bs...>;
        return Type<std::conditional_t<Given::free, Given, Moved>>{};
      }
    }
    using type = typename decltype(decide())::type;
  };
  static constexpr bool judged_by_types = true;
  template <int K, class V, class A, class... Bs>
  struct Judged {
    using type = typename PartOf<A, Bs...>::type::How;
  };

  template <class V, class A, class... Bs>
  static constexpr auto save(Op const& op, V const& out, A const& a, Bs const&... bs) {
    return PartOf<tensor_of<A>, tensor_of<Bs>...>::type::save(op.strict(), out, a,
                                                              autodiff::keep(bs...));
  }
  template <class V, class A, class... Bs, class S, class C>
  static constexpr auto prepare(Op const&, S const&, C const& ct) {
    using Strictly = typename PartOf<tensor_of<A>, tensor_of<Bs>...>::type;
    return autodiff::finished<cotangent_t<typename Strictly::result>, true>(ct);
  }
  template <int K, class V, class A, class... Bs, class S, class C>
  static constexpr auto pull(Op const& op, S const& saved, C const& ct) {
    return PartOf<tensor_of<A>, tensor_of<Bs>...>::type::pull(op.strict(), saved, ct);
  }
};

/// An `A` in the sharding of the named result `To`.
template <class A, class To>
struct BroughtTo {
  using S = Scope<A, To>;
  static constexpr Spec value = rules::brought(S::template spec<0>, S::template spec<1>);
  using type = tensor_from_spec<S, BroughtTo, element_t<A>, A>;
};
template <class To, class A>
constexpr auto brought(A const& a) {
  if constexpr (shardtype::detail::is_number<A>) {
    return a;
  } else {
    return api::reshard<typename BroughtTo<tensor_of<A>, To>::type>(a);
  }
}

/// The sum by ids `Ids` of a cotangent `C` to rows of the type `To`, and whether each rank adds to
/// its own rows what it has.
template <class V, class To, class C, class Ids>
struct AddsToOwnRows;
template <class V, class T, class... Parts, class C, class Ids>
struct AddsToOwnRows<V, Tensor<T, Parts...>, C, Ids> {
  using Op = op::ScatterAdd<V, Parts...>;
  static constexpr bool decide() {
    using R = Resolve<Op, C, Ids>;
    if constexpr (sizeof...(Parts) == 0 || !R::verdict) {
      return false;
    } else {
      using M = typename R::template met<0>;
      return std::is_same_v<typename M::template operand<0, C>, C> &&
             std::is_same_v<typename M::template operand<1, Ids>, Ids> &&
             std::is_same_v<typename M::result, typename R::result>;
    }
  }
  static constexpr bool value = decide();
};

/// The gradient of a lookup with a named result. Where no rank has to send for it (AddsToOwnRows),
/// each rank adds to its own rows of a table that is split over V.
template <class V, class... Out>
struct Vjp<op::Named<op::TakeRows<V>, Out...>>
    : NamedVjp<op::Named<op::TakeRows<V>, Out...>, op::TakeRows<V>> {
  using Op = op::Named<op::TakeRows<V>, Out...>;
  using Base = NamedVjp<Op, op::TakeRows<V>>;
  template <class A, class... Bs>
  using Own =
      AddsToOwnRows<V, cotangent_t<tensor_of<A>>,
                    cotangent_t<typename Resolve<Op, tensor_of<A>, tensor_of<Bs>...>::result>,
                    tensor_of<Bs>...>;
  template <int K, class R, class A, class... Bs>
  struct Judged {
    template <bool own>
    static constexpr auto decide() {
      if constexpr (own) {
        using To = cotangent_t<tensor_of<A>>;
        return Type<shardtype::detail::Finishes<To, To, false>>{};
      } else {
        return Type<typename Base::template Judged<K, R, A, Bs...>::type>{};
      }
    }
    using type = typename decltype(decide<Own<A, Bs...>::value>())::type;
  };
  template <class R, class A, class... Bs>
  static constexpr auto save(Op const& op, R const& out, A const& a, Bs const&... bs) {
    if constexpr (Own<A, Bs...>::value) {
      return autodiff::keep(a.extents(), bs...);
    } else {
      return Base::template save<R, A, Bs...>(op, out, a, bs...);
    }
  }
  template <class R, class A, class... Bs, class S, class C>
  static constexpr auto prepare(Op const& op, S const& saved, C const& ct) {
    if constexpr (Own<A, Bs...>::value) {
      return ct;
    } else {
      return Base::template prepare<R, A, Bs...>(op, saved, ct);
    }
  }
  template <int K, class R, class A, class... Bs, class S, class C>
  static constexpr auto pull(Op const& op, S const& saved, C const& ct) {
    if constexpr (Own<A, Bs...>::value) {
      return api::call(
          typename Own<A, Bs...>::Op{{autodiff::kept<0>(saved)[place_of<tensor_of<A>, V>]}},
          std::source_location::current(), ct, autodiff::kept<1>(saved));
    } else {
      return Base::template pull<K, R, A, Bs...>(op, saved, ct);
    }
  }
};
template <class Op, class... Out>
  requires Op::named_pulls
struct Vjp<op::Named<Op, Out...>> : NamedVjp<op::Named<Op, Out...>, Op> {};

/// Any other operation with a named result, as what it consists of: reshards of the operands, the
/// operation, a reshard of its result. The first plan where there are two. Each is judged in its
/// call.
template <class Op, class... Out>
struct NamedByParts : Differentiable {
  template <int K, class V, class... As>
  static constexpr Verdict judge() {
    return {};
  }
  template <class... As>
  static constexpr auto instead(op::Named<Op, Out...> const& op, std::source_location const& where,
                                As const&... as) {
    using R = Resolve<op::Named<Op, Out...>, tensor_of<As>...>;
    return [&]<int... K>(std::integer_sequence<int, K...>) {
      return api::reshard<typename R::result>(api::call(
          op.strict(), where,
          api::reshard<typename R::template met<0>::template operand<K, tensor_of<As>>>(as)...));
    }(std::make_integer_sequence<int, static_cast<int>(sizeof...(As))>{});
  }
};

/// The Vjp of an operation with a named result: that of its parts, or what the operation says.
template <class Op, class... Out>
struct NamedGradient {
  using type = NamedByParts<Op, Out...>;
};
template <class Op, class... Out>
  requires requires { typename Op::template named_gradient<Out...>; }
struct NamedGradient<Op, Out...> {
  using type = typename Op::template named_gradient<Out...>;
};
template <class Op, class... Out>
  requires(Vjp<Op>::exists && !is_constant<Op> && !requires { Op::named_pulls; })
struct Vjp<op::Named<Op, Out...>> : NamedGradient<Op, Out...>::type {};

/// An elementwise function with a named result: the function, of operands that are brought to the
/// result's sharding where they do not fit, and a reshard of what it gives.
template <class F, class First, class... Out>
  requires(Derivative<F>::exists)
struct Vjp<op::Map<F, First, Out...>> : Differentiable {
  using Op = op::Map<F, First, Out...>;
  /// Refused: operands that do not fit of an unreduced result, and those of which none has all
  /// indices.
  template <int K, class V, class... As>
  static constexpr Verdict judge() {
    constexpr Verdict strict = Resolve<op::Map<F>, As...>::verdict;
    bool const reshards =
        strict.code != Code::P01_no_operand_has_all && Scope<V>::template spec<0>.unreduced.empty();
    return strict || reshards ? Verdict{} : refuse(Code::X03_not_differentiable);
  }
  template <class... As>
  static constexpr auto instead(Op const& op, std::source_location const&, As const&... as) {
    using To = typename Resolve<Op, tensor_of<As>...>::result;
    if constexpr (Resolve<op::Map<F>, tensor_of<As>...>::verdict) {
      return api::reshard<To>(shardtype::detail::fuse(op.function, as...).tensor());
    } else {
      auto const made = shardtype::detail::fuse(op.function, autodiff::brought<To>(as)...);
      return api::reshard<To>(made.tensor());
    }
  }
};

}  // namespace shardtype::autodiff
