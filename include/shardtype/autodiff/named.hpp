#pragma once
/// The gradients of lookups, sums by ids and slices with a named result.

#include <type_traits>

#include <shardtype/autodiff/along.hpp>
#include <shardtype/autodiff/lookups.hpp>
#include <shardtype/autodiff/record.hpp>
#include <shardtype/check/named.hpp>

namespace shardtype::autodiff {

/// The operation with a named result reshards operands, computes `Strict`, and reshards its result: the
/// cotangent is moved back to that of Strict's result, pulled through it, and moved back to that of
/// the operand. Ids are resharded once more. Where there are two plans, it is the first that is
/// transposed, so that types do not depend on sizes.
template <class Op, class Strict>
struct NamedVjp {
  static constexpr bool exists = true;
  static constexpr bool communicates = true;

  /// The strict operation's types, for operands `A, Bs...`.
  template <class A, class... Bs>
  struct Met {
    using M = typename Resolve<Op, A, Bs...>::template met<0>;
    using result = typename M::result;
    using first = typename M::template operand<0, A>;
    template <class B>
    using second = typename M::template operand<1, B>;
    template <int K>
    using Pulled = PulledType<K, Strict, typed<result>, typed<first>, typed<second<Bs>>...>;
  };
  /// A refused strict form of the pull is refused here as well.
  template <int K, class V, class A, class... Bs>
  using Judged =
      shardtype::detail::Settles<cotangent_t<typename Met<A, Bs...>::first>,
                                 typename Met<A, Bs...>::template Pulled<K>::type, false>;

  template <class V, class A, class... Bs>
  static constexpr auto save(Op const& op, V const& out, A const& a, Bs const&... bs) {
    using M = Met<tensor_of<A>, tensor_of<Bs>...>;
    return Vjp<Strict>::template save<V, A>(
        op.strict(), out, a, reshard<typename M::template second<tensor_of<Bs>>>(bs)...);
  }
  template <class V, class A, class... Bs, class S, class C>
  static constexpr auto prepare(Op const&, S const&, C const& ct) {
    using M = Met<tensor_of<A>, tensor_of<Bs>...>;
    return autodiff::settled<cotangent_t<typename M::result>, true>(ct);
  }
  template <int K, class V, class A, class... Bs, class S, class C>
  static constexpr auto pull(Op const& op, S const& saved, C const& ct) {
    using M = Met<tensor_of<A>, tensor_of<Bs>...>;
    return Vjp<Strict>::template pull<K, typename M::result, typename M::first,
                                      typename M::template second<tensor_of<Bs>>...>(op.strict(),
                                                                                     saved, ct);
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
    return reshard<typename BroughtTo<tensor_of<A>, To>::type>(a);
  }
}

template <class I, class Out, class... More>
struct Vjp<op::Take<I, Out, More...>> : NamedVjp<op::Take<I, Out, More...>, op::Take<I>> {};
template <class I, class Out, class... More>
struct Vjp<op::At<I, Out, More...>> : NamedVjp<op::At<I, Out, More...>, op::At<I>> {};
template <class I, class Out, class... More>
struct Vjp<op::ScatterAdd<I, Out, More...>>
    : NamedVjp<op::ScatterAdd<I, Out, More...>, op::ScatterAdd<I>> {};
template <class I, class To, class Out, class... More>
  requires(shardtype::detail::names_slice<I, To, Out, More...>)
struct Vjp<op::Slice<I, To, Out, More...>>
    : NamedVjp<op::Slice<I, To, Out, More...>, op::Slice<I, To>> {};

/// Any other operation with a named result, as what it consists of: reshards of the operands, the
/// operation, a reshard of its result. The first plan where there are two. Each is judged in its call.
template <class Op, class... Out>
  requires(Vjp<Op>::exists && !is_constant<Op>)
struct Vjp<op::Named<Op, Out...>> : Differentiable {
  template <int K, class V, class... As>
  static constexpr Verdict judge() {
    return {};
  }
  template <class... As>
  static constexpr auto instead(op::Named<Op, Out...> const& op, std::source_location const& where,
                                As const&... as) {
    using R = Resolve<op::Named<Op, Out...>, tensor_of<As>...>;
    return [&]<int... K>(std::integer_sequence<int, K...>) {
      return reshard<typename R::result>(
          call(op.strict(), where,
               reshard<typename R::template met<0>::template operand<K, tensor_of<As>>>(as)...));
    }(std::make_integer_sequence<int, static_cast<int>(sizeof...(As))>{});
  }
};

/// An elementwise function with a named result: the function, of operands that are brought to the
/// result's sharding where they do not fit, and a reshard of what it gives.
template <class F, class First, class... Out>
  requires(Derivative<F>::exists)
struct Vjp<op::Map<F, First, Out...>> : Differentiable {
  using Op = op::Map<F, First, Out...>;
  /// Refused: operands that do not fit of an unreduced result, and those of which none has all indices.
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
      return reshard<To>(shardtype::detail::fuse(op.function, as...).tensor());
    } else {
      auto const made = shardtype::detail::fuse(op.function, autodiff::brought<To>(as)...);
      return reshard<To>(made.tensor());
    }
  }
};

}  // namespace shardtype::autodiff
