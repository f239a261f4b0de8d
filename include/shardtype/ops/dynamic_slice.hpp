#pragma once
/// Windows along one dim whose start is a run-time value. Local, except that a start given as a
/// tensor without dims is read as by `item`: one broadcast of a number.

#include <algorithm>
#include <cstdint>
#include <source_location>
#include <type_traits>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/indexing.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/ops/to_host.hpp>

namespace shardtype {

namespace execute {

/// The start of a window of `size` rows, moved so that the window fits into `extent`.
constexpr std::int64_t clamped(std::int64_t start, std::int64_t size, std::int64_t extent) {
  return std::clamp<std::int64_t>(start, 0, extent - size);
}
/// Reads the number in a tensor without dims, as `item` does. Of Locals: manual/dynamic.hpp.
template <class P>
struct StartOf {
  static std::int64_t read(P const& start, std::source_location const& where) {
    return start.mesh().here() ? static_cast<std::int64_t>(item(start, where)) : 0;
  }
};
template <class T, class... Parts>
struct StartOf<Local<T, Parts...>>;

template <class I, class... Result>
struct Run<op::DynamicSlice<I, Result...>> {
  using Op = op::DynamicSlice<I, Result...>;
  template <class R, class A, class... Start>
  static auto run(Op op, std::source_location const& where, A const& a, Start const&... start) {
    static_cast<void>(result_extents<R>(op, a, start...));
    constexpr auto d = static_cast<std::size_t>(R::along);
    ((op.start = StartOf<Start>::read(start, where)), ...);
    op.start = clamped(op.start, op.size, a.extents()[d]);
    return run_local<R, Run>(op, where, a, start...);
  }
  template <class Call>
  static Buffer block(Op const& op, Call const& run) {
    return run.slice(op.start, 1);
  }
};
}  // namespace execute

/// Takes `size` rows from `start` on along I: `a[I@X, J]` -> `dynamic_slice<J, Head>(a, start, 10)`
/// -> `[I@X, Head]`. The start is an integer, equal on all ranks, or a tensor of integers without
/// dims, read as by `item`. As in jax.lax.dynamic_slice, it is moved so that the window fits; a
/// negative start counts as 0. Otherwise as `slice`. If both are Locals, each rank reads its own
/// start, nothing is sent, and the result varies where the start varies: `a[I]{V:X}`,
/// `start[]{V:Y}` -> `[Head]{V:X,Y}`. Refused: D01, D02, D03, D05, D07; of the start A01, A02, I01,
/// P06, V01. Errors: E23, E41 a negative size, or a size beyond the extent.
template <class I, class... Result, class A, class Start>
constexpr auto dynamic_slice(A const& a, Start const& start, std::int64_t size,
                             checking::CallSite where = std::source_location::current()) {
  if constexpr (std::is_integral_v<Start>) {
    return call(op::DynamicSlice<I, Result...>{size, static_cast<std::int64_t>(start)}, where, a);
  } else {
    return call(op::DynamicSlice<I, Result...>{size}, where, a, start);
  }
}

}  // namespace shardtype
