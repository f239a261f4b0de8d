#pragma once
/// The namespace of checkpoints, and what it needs.

#include <shardtype/core/namespaces.hpp>

namespace shardtype::checkpoint {

using namespace execute;

namespace detail {

/// Whether nlohmann-json was found. Of any type, so that a static_assert in a template can ask.
template <class>
#ifdef SHARDTYPE_HAVE_JSON
inline constexpr bool has_json = true;
#else
inline constexpr bool has_json = false;
#endif

}  // namespace detail

}  // namespace shardtype::checkpoint
