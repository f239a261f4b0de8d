#pragma once
/// A range of rows of a dim.

#include <cstdint>
#include <source_location>

#include <shardtype/check/along.hpp>
#include <shardtype/check/call_site.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace execute {
template <class I, class... Result>
struct Run<op::Slice<I, Result...>> : LocalBlock<Run<op::Slice<I, Result...>>> {
  template <class Call>
  static Buffer block(op::Slice<I, Result...> const& op, Call const& run) {
    return run.slice(op.begin, op.step);
  }
};
}  // namespace execute

/// Takes rows begin, begin + step, ... below end: `A[I@X, J]` -> `slice<J, Head>(a, 0, 10)` ->
/// `A[I@X, Head]`. Local; shares memory if all rows are kept, else copies. Refused: D01, D02, D03,
/// D05, D07. Error E41: not 0 <= begin <= end <= extent, or a step below 1.
template <class I, class... Result, class A>
constexpr auto slice(A const& a, std::int64_t begin, std::int64_t end, std::int64_t step = 1,
                     checking::CallSite where = std::source_location::current()) {
  return call(op::Slice<I, Result...>{begin, end, step}, where, a);
}

}  // namespace shardtype
