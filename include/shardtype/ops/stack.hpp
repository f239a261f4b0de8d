#pragma once
/// Tensors stacked along a new dim.

#include <cstdint>
#include <source_location>

#include <shardtype/check/along.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace execute {
template <class I>
struct Run<op::Stack<I>> : LocalBlock<Run<op::Stack<I>>> {
  template <class Call>
  static Buffer block(op::Stack<I> const&, Call const& run) {
    return run.join(0, [](int) { return std::int64_t{1}; });
  }
};
}  // namespace execute

/// Stacks tensors along a new first dim: `A[I@X]`, `B[I@X]` -> `stack<K>(a, b)` -> `[K, I@X]`.
/// Otherwise as concat. Refused: C10, D02, D06, D12, D13, T07. Errors: E23, E24.
template <class K, class A, class B>
constexpr auto stack(A const& a, B const& b,
                     std::source_location const& where = std::source_location::current()) {
  return call(op::Stack<K>{}, where, a, b);
}
template <class K, class A, class B, class C>
constexpr auto stack(A const& a, B const& b, C const& c,
                     std::source_location const& where = std::source_location::current()) {
  return call(op::Stack<K>{}, where, a, b, c);
}
template <class K, class A, class B, class C, class D>
constexpr auto stack(A const& a, B const& b, C const& c, D const& d,
                     std::source_location const& where = std::source_location::current()) {
  return call(op::Stack<K>{}, where, a, b, c, d);
}
template <class K, class A, class B, class C, class D, class E>
constexpr auto stack(A const& a, B const& b, C const& c, D const& d, E const& e,
                     std::source_location const& where = std::source_location::current()) {
  return call(op::Stack<K>{}, where, a, b, c, d, e);
}
// of others a line cannot be known
template <class K, class A, class... Bs>
  requires(sizeof...(Bs) == 0 || sizeof...(Bs) > 4)
constexpr auto stack(A const& a, Bs const&... bs) {
  return call(op::Stack<K>{}, std::source_location{}, a, bs...);
}

}  // namespace shardtype
