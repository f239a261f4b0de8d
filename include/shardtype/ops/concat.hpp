#pragma once
/// Tensors concatenated along a dim.

#include <cstdint>
#include <source_location>

#include <shardtype/check/along.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace execute {
template <class I, class... Result>
struct Run<op::Concat<I, Result...>> : LocalBlock<Run<op::Concat<I, Result...>>> {
  template <class Call>
  static Buffer block(op::Concat<I, Result...> const&, Call const& run) {
    int const d = run.call.dim();
    return run.join(d, [&](int k) { return run.call.given[k][d]; });
  }
};
}  // namespace execute

/// Concatenates tensors along I: `A[I@X, J]`, `B[I@X, J]` -> `concat<J>(a, b)` -> `[I@X, J]`. The
/// operands have the same sharding and the same unreduced axes; if one is reduced, so is the
/// result. Local; copies. Refused: C10, D01, D02, D03, D05, D06, D07, D12, D13. Errors: E23, E24,
/// E41.
template <class I, class... Result, class A, class B>
constexpr auto concat(A const& a, B const& b,
                      std::source_location const& where = std::source_location::current()) {
  return call(op::Concat<I, Result...>{}, where, a, b);
}
template <class I, class... Result, class A, class B, class C>
constexpr auto concat(A const& a, B const& b, C const& c,
                      std::source_location const& where = std::source_location::current()) {
  return call(op::Concat<I, Result...>{}, where, a, b, c);
}
template <class I, class... Result, class A, class B, class C, class D>
constexpr auto concat(A const& a, B const& b, C const& c, D const& d,
                      std::source_location const& where = std::source_location::current()) {
  return call(op::Concat<I, Result...>{}, where, a, b, c, d);
}
template <class I, class... Result, class A, class B, class C, class D, class E>
constexpr auto concat(A const& a, B const& b, C const& c, D const& d, E const& e,
                      std::source_location const& where = std::source_location::current()) {
  return call(op::Concat<I, Result...>{}, where, a, b, c, d, e);
}
// of others a line cannot be known
template <class I, class... Result, class A, class... Bs>
  requires(sizeof...(Bs) == 0 || sizeof...(Bs) > 4)
constexpr auto concat(A const& a, Bs const&... bs) {
  return call(op::Concat<I, Result...>{}, std::source_location{}, a, bs...);
}

}  // namespace shardtype
