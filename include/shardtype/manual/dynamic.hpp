#pragma once
/// Windows of blocks whose start is a run-time value of each rank.

#include <cstdint>
#include <source_location>

#include <shardtype/manual/local.hpp>
#include <shardtype/ops/run_dynamic_windows.hpp>

namespace shardtype::execute {

/// The calling rank's own start.
template <class T, class... Parts>
struct StartOf<Local<T, Parts...>> {
  static std::int64_t read(Local<T, Parts...> const& start, std::source_location const&) {
    return static_cast<std::int64_t>(shardtype::detail::own_element(start));
  }
};

}  // namespace shardtype::execute
