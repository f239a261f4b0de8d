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

}  // namespace shardtype::autodiff
