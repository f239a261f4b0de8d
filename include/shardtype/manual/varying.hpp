#pragma once
/// Casts to varying: free.

#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/manual/moves.hpp>

namespace shardtype {

/// Casts an invariant or reduced block to varying: `a[I]` or `a[I]{R:X}` -> `varying<X>(a)` ->
/// `[I]{V:X}`. Operations cast operands themselves; the carry of a loop may need an explicit cast.
/// Shares memory; communicates nothing. JAX: pvary, pcast(to='varying'). Refused: V01, V04, V06.
template <class... Xs, class A>
  requires(detail::is_field<A>)
constexpr auto varying(A const& a, checking::CallSite where = std::source_location::current()) {
  return call(op::ToVarying<Xs...>{}, where, a);
}

}  // namespace shardtype
