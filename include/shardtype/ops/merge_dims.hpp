#pragma once
/// Two neighbouring dims as one.

#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/shape.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace execute {
template <class First, class Second, class I>
struct Run<op::MergeDims<First, Second, I>> : LocalBlock<Run<op::MergeDims<First, Second, I>>> {
  template <class Call>
  static Buffer block(op::MergeDims<First, Second, I> const&, Call const& run) {
    return run.buffer;
  }
};
}  // namespace execute

/// Merges two neighbouring dims into one: `A[J@X, K@Y]` -> `merge_dims<J, K, I>` -> `A[I@(X,Y)]`.
/// Legal if the inverse `split_dim` is. Local; shares memory. Refused: D01, D02, D06, D08, D09,
/// B03. Error E40.
template <class First, class Second, class I, class A>
constexpr auto merge_dims(A const& a, checking::CallSite where = std::source_location::current()) {
  return call(op::MergeDims<First, Second, I>{}, where, a);
}

}  // namespace shardtype
