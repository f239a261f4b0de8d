#pragma once
/// Products of two and more tensors: objects and functions.

#include <source_location>
#include <string_view>

#include <shardtype/check/call.hpp>
#include <shardtype/check/contraction.hpp>
#include <shardtype/check/operand.hpp>
#include <shardtype/plan/overlap.hpp>

namespace shardtype {

namespace op {

/// The product over the one index that two operands share; with `Out`, the result is named.
template <class... Out>
struct Matmul {
  using operation = Matmul;
  static constexpr std::string_view name = "matmul";
  static constexpr bool runs_plan = true;
  Overlap overlap = Overlap::none;
};
/// The product with the index labels `Out` (strict), or with a result named by dims and attributes.
template <class... Out>
struct Einsum {
  using operation = Einsum;
  static constexpr std::string_view name = "einsum";
  static constexpr bool runs_plan = true;
  Overlap overlap = Overlap::none;
  /// Three and more operands, pair by pair.
  template <class R, class A, class B, class C, class... More>
  typename R::result run(std::source_location const& where, A const& a, B const& b, C const& c,
                         More const&... more) const;
};

}  // namespace op

/// Whether `matmul(a, b)` compiles for tensors of these types.
template <class A, class B>
concept Contractible = bool(checking::Resolve<op::Matmul<>, A, B>::verdict);

namespace api {

/// The product of `a` and `b` over the one index they share; the result's dims are a's, then b's.
///
/// `matmul(a, b)` is strict: it never communicates. `A[I@X, J@Y] · B[J@Y, K]` gives `C[I@X,
/// K]{U:Y}`. Refused: C01 to C10, B06, T10 (docs/errors.md), with the fixes.
///
/// `matmul<Out...>(a, b)` names the result, by dims and attributes or by a Tensor type, and runs
/// the plan that `plan(op::Matmul<Out...>{}, a, b)` prints: operands are not moved if the strict
/// product is legal, else the cheaper repair is applied; then the result is resharded. Refused:
/// C01, C03, C08, C10, N01 to N06, T10. Errors: E20 a result of more than 2^58 elements, E23 two
/// meshes, E24 extents that differ.
///
/// `matmul<Out...>(a, b, Overlap::ring)` runs the same plan and sends the same bytes, but
/// communicates while it computes if an all_gather precedes the product, or a reduce_scatter or
/// all_reduce of a sum follows it. No rank then stores the gathered operand, or the product before
/// it is scattered: at most two blocks of it. The ranks' sums are added in another order. Steps
/// that cannot overlap (dims in an order that gemm does not accept, elements without a BLAS gemm,
/// memory that MPI cannot access) run one after the other. `Overlap::shared`: the ranks of one node
/// gather an operand into one shared window and read it from there, or write their products into a
/// window and sum from there.
template <class... Out, class A, class B>
constexpr auto matmul(core::Argument<A> const& a, B const& b, checking::CallSite where = {}) {
  return api::call(op::Matmul<Out...>{}, where, a.self(), b);
}
template <class... Out, class A, class B>
constexpr auto matmul(core::Argument<A> const& a, B const& b, Overlap overlap,
                      checking::CallSite where = {}) {
  return api::call(op::Matmul<Out...>{overlap}, where, a.self(), b);
}

/// The product of `a` and `b` with the named indices, as in einsum: indices of both operands that
/// are named are batch dims; indices that are not named, of both operands or of one, are summed
/// over.
///
/// `einsum<B, I, K>(a, b)` (labels) is strict and never communicates; `einsum<Dim<B, X>, Dim<I>,
/// Dim<K>>(a, b)` names the result's sharding and runs its plan. Refusals and errors as matmul.
template <class... Out, class A, class B>
constexpr auto einsum(core::Argument<A> const& a, B const& b, checking::CallSite where = {}) {
  return api::call(op::Einsum<Out...>{}, where, a.self(), b);
}
/// NumPy's notation for indices: refused, A06.
template <class A, class... More>
constexpr auto einsum(char const*, A const&, More const&...) {
  checking::refused<rules::Code::A06_no_such_argument, false, A, More...>{};
  return checking::Poisoned{};
}
/// The product of three and more: an index is summed over once no later operand and not the result
/// has it.
///
/// `einsum<I, L>(a, b, c)` (labels) is strict: the product of `a` and `b`, times `c`, and so on,
/// from left to right whatever it costs; nothing is sent. A product of two is refused as einsum of
/// these two is, and named by its operands. `einsum<Dim<I, X>, Dim<L>>(a, b, c)` names the result
/// and is planned as `evaluate` plans: the order of neighbouring products, the shardings between
/// and what is sent. Refused as well: L02, L03, L07, R02. JAX: einsum; its order of products may be
/// another.
template <class... Out, class A, class B, class C>
  requires(detail::are_operands<A, C>)
constexpr auto einsum(core::Argument<A> const& a, B const& b, C const& c,
                      std::source_location const& where = std::source_location::current()) {
  return api::call(op::Einsum<Out...>{}, where, a.self(), b, c);
}
template <class... Out, class A, class B, class C, class D>
  requires(detail::are_operands<A, C>)
constexpr auto einsum(core::Argument<A> const& a, B const& b, C const& c, D const& d,
                      std::source_location const& where = std::source_location::current()) {
  return api::call(op::Einsum<Out...>{}, where, a.self(), b, c, d);
}
template <class... Out, class A, class B, class C, class D, class E>
  requires(detail::are_operands<A, C>)
constexpr auto einsum(core::Argument<A> const& a, B const& b, C const& c, D const& d, E const& e,
                      std::source_location const& where = std::source_location::current()) {
  return api::call(op::Einsum<Out...>{}, where, a.self(), b, c, d, e);
}
// of more a line cannot be known
template <class... Out, detail::FieldType A, class B, detail::FieldType C, class... More>
  requires(sizeof...(More) > 2)
constexpr auto einsum(core::Argument<A> const& a, B const& b, C const& c, More const&... more) {
  return api::call(op::Einsum<Out...>{}, std::source_location{}, a.self(), b, c, more...);
}
template <class... Out, class A, class B>
constexpr auto einsum(core::Argument<A> const& a, B const& b, Overlap overlap,
                      checking::CallSite where = {}) {
  return api::call(op::Einsum<Out...>{overlap}, where, a.self(), b);
}

}  // namespace api

}  // namespace shardtype
