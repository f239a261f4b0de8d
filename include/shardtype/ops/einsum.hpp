#pragma once
/// Products of two tensors whose result indices are named.

#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/contraction.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/ops/elementwise.hpp>

namespace shardtype {

namespace execute {
template <class... Out>
struct Run<op::Einsum<Out...>> : ByPlan {
  using ByPlan::run;
  template <class R, class A, class B, class C, class... More>
  static typename R::result run(op::Einsum<Out...> const& op, std::source_location const& where,
                                A const& a, B const& b, C const& c, More const&... more) {
    if constexpr (R::communicates) {
      return R::run(where, a, b, c, more...);
    } else {
      return product<R>(op, where, std::optional<A>(a), b, c, more...);
    }
  }

 private:
  /// Pair by pair; what a pair gave goes when the next has read it.
  template <class R, class A, class B, class... Rest>
  static typename R::result product(op::Einsum<Out...> const& op, std::source_location const& where,
                                    std::optional<A> a, B const& b, Rest const&... rest) {
    if constexpr (sizeof...(Rest) == 0) {
      return call(op, where, *a, b);
    } else {
      std::optional made = call(typename R::pair_operation{}, where, *a, b);
      a.reset();
      return product<typename R::next>(op, where, std::move(made), rest...);
    }
  }
};
}  // namespace execute

/// The product of `a` and `b` with the named indices, as in einsum: indices of both operands that
/// are named are batch dims; indices that are not named, of both operands or of one, are summed
/// over.
///
/// `einsum<B, I, K>(a, b)` (labels) is strict and never communicates; `einsum<Dim<B, X>, Dim<I>,
/// Dim<K>>(a, b)` names the result's sharding and runs its plan. Refusals and errors as matmul.
template <class... Out, class A, class B>
constexpr auto einsum(A const& a, B const& b,
                      checking::CallSite where = std::source_location::current()) {
  return call(op::Einsum<Out...>{}, where, a, b);
}
/// NumPy's notation for indices: refused, A06.
template <class A, class... More>
constexpr auto einsum(char const*, A const&, More const&...) {
  checking::refused<rules::Code::A06_no_such_argument, false, A, More...>{};
  return checking::Poisoned{};
}
/// The product of three and more: an index is summed over once no later operand and not the result has
/// it.
///
/// `einsum<I, L>(a, b, c)` (labels) is strict: the product of `a` and `b`, times `c`, and so on, from left
/// to right whatever it costs; nothing is sent. A product of two is refused as einsum of these two
/// is, and named by its operands. `einsum<Dim<I, X>, Dim<L>>(a, b, c)` names the result and is planned
/// as `evaluate` plans: the order of neighbouring products, the shardings between and what is sent.
/// Refused as well: L02, L03, L07, R02. JAX: einsum; its order of products may be another.
template <class... Out, class A, class B, class C>
  requires(detail::are_operands<A, C>)
constexpr auto einsum(A const& a, B const& b, C const& c,
                      std::source_location const& where = std::source_location::current()) {
  return call(op::Einsum<Out...>{}, where, a, b, c);
}
template <class... Out, class A, class B, class C, class D>
  requires(detail::are_operands<A, C>)
constexpr auto einsum(A const& a, B const& b, C const& c, D const& d,
                      std::source_location const& where = std::source_location::current()) {
  return call(op::Einsum<Out...>{}, where, a, b, c, d);
}
template <class... Out, class A, class B, class C, class D, class E>
  requires(detail::are_operands<A, C>)
constexpr auto einsum(A const& a, B const& b, C const& c, D const& d, E const& e,
                      std::source_location const& where = std::source_location::current()) {
  return call(op::Einsum<Out...>{}, where, a, b, c, d, e);
}
// of more a line cannot be known
template <class... Out, class A, class B, class C, class... More>
  requires(detail::are_operands<A> && detail::are_operands<C> && sizeof...(More) > 2)
constexpr auto einsum(A const& a, B const& b, C const& c, More const&... more) {
  return call(op::Einsum<Out...>{}, std::source_location{}, a, b, c, more...);
}
template <class... Out, class A, class B>
constexpr auto einsum(A const& a, B const& b, Overlap overlap,
                      checking::CallSite where = std::source_location::current()) {
  return call(op::Einsum<Out...>{overlap}, where, a, b);
}

}  // namespace shardtype
