#pragma once
/// Plans of whole expressions as a picture of their time and memory.

#include <string>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/dim.hpp>
#include <shardtype/lazy/planned_program.hpp>

namespace shardtype::checking {
struct TimelineHeader {};  // check/elsewhere.hpp
}  // namespace shardtype::checking

namespace shardtype::api {

/// The plan as an SVG picture: which steps compute and which send, each as wide as its predicted
/// time, and below them the bytes that the busiest rank holds. Resting the pointer on a step shows
/// its text. For light and dark screens.
std::string to_svg(core::Taken<PlannedProgram> program);

/// Writes that picture to the file at `path`; to be called on one rank. Error E72: it cannot be
/// written.
void write_svg(core::Taken<PlannedProgram> program, std::string const& path);

}  // namespace shardtype::api

#ifndef SHARDTYPE_COMPILED
#include <shardtype/visualize/timeline.ipp>
#endif
