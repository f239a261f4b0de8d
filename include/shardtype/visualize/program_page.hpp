#pragma once
/// Plans of whole expressions as HTML pages.

// A user's global may have the name of a local variable of ours.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/dim.hpp>
#include <shardtype/core/error.hpp>
#include <shardtype/lazy/planned_program.hpp>
#include <shardtype/runtime/files.hpp>

namespace shardtype {

namespace checking {
struct PageHeader {};  // check/elsewhere.hpp
}  // namespace checking

namespace api {

/// The plan as one self-contained HTML page: the text of `explain`, a picture of the values, their
/// shardings and the steps between them, and the predicted time per step. Blocks have the colours
/// of the ranks that hold them; unreduced values are hatched.
std::string to_html(core::Taken<PlannedProgram> program);

/// Writes that page to the file at `path`; to be called on one rank. Error E72: it cannot be
/// written.
void write_html(core::Taken<PlannedProgram> program, std::string const& path);

}  // namespace api

}  // namespace shardtype

#ifndef SHARDTYPE_COMPILED
#include <shardtype/visualize/program_page.ipp>
#endif

#pragma GCC diagnostic pop
