#pragma once
/// Names of kernels for Kokkos's tools.

#include <string>

#include <shardtype/core/compiled.hpp>

namespace shardtype::kernels {

/// `text`, a literal, as the string that Kokkos takes; made at its first use, because a string of
/// its own would cost every launch an allocation.
std::string const& launch_name(char const* text);

}  // namespace shardtype::kernels

#ifndef SHARDTYPE_COMPILED
#include <shardtype/kernels/launch_name.ipp>
#endif
