#pragma once
/// Products of two tensors whose result indices are named.

#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/contraction.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace execute {
template <class... Out>
struct Run<op::Einsum<Out...>> : ByPlan {};
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
template <class A, class B>
constexpr auto einsum(char const*, A const&, B const&) {
  checking::refused<rules::Code::A06_no_such_argument, false, A, B>{};
  return checking::Poisoned{};
}
template <class... Out, class A, class B>
constexpr auto einsum(A const& a, B const& b, Overlap overlap,
                      checking::CallSite where = std::source_location::current()) {
  return call(op::Einsum<Out...>{overlap}, where, a, b);
}

}  // namespace shardtype
