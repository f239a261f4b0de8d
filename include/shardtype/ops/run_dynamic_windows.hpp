#pragma once
/// Execution of windows with a run-time start.

#include <cstdint>
#include <source_location>
#include <type_traits>

#include <shardtype/execute/call.hpp>
#include <shardtype/ops/dynamic_windows.hpp>
#include <shardtype/ops/run_to_host.hpp>

namespace shardtype::execute {

/// Reads the number in a tensor without dims, as `item` does. Of Locals: manual/dynamic.hpp.
template <class P>
struct StartOf {
  static std::int64_t read(P const& start, std::source_location const& where) {
    return start.mesh().here() ? static_cast<std::int64_t>(api::item(start, where)) : 0;
  }
};
template <class T, class... Parts>
struct StartOf<Local<T, Parts...>>;

template <class Op>
  requires Op::from_start
struct Run<Op> {
  template <class R, class... As>
  static auto run(Op op, std::source_location const& where, As const&... as) {
    static_cast<void>(execute::result_extents<R>(op, as...));  // errors come before a start is read
    auto const read = [&]<class A>(A const& a) {
      if constexpr (A::rank == 0) op.start = StartOf<A>::read(a, where);
    };
    (read(as), ...);
    return execute::run_local<R>(op, where, as...);
  }
};

}  // namespace shardtype::execute
