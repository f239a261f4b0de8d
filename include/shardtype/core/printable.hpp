#pragma once
/// Texts from outside in messages.

#include <string>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/namespaces.hpp>

namespace shardtype::detail {

/// Text for a terminal or a log, on one line: control characters become `\n`, `\x1b` and the like.
std::string printable(std::string const& text);

}  // namespace shardtype::detail

#ifndef SHARDTYPE_COMPILED
#include <shardtype/core/printable.ipp>
#endif
