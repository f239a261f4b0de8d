#pragma once
/// Machine rates in a file, as written by scripts/calibrate.

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/dim.hpp>
#include <shardtype/core/error.hpp>
#include <shardtype/plan/machine.hpp>
#include <shardtype/runtime/comm.hpp>
#include <shardtype/runtime/files.hpp>

namespace shardtype {

namespace detail {

struct MachineRate {
  char const* name;
  double Machine::* value;
};
inline constexpr MachineRate machine_rates[] = {
    {"latency", &Machine::latency},
    {"bytes_per_second", &Machine::bytes_per_second},
    {"flops_per_second", &Machine::flops_per_second},
    {"memory_bytes_per_second", &Machine::memory_bytes_per_second},
    {"cut_product", &Machine::cut_product},
    {"reducing", &Machine::reducing},
    {"inside_latency", &Machine::inside_latency},
    {"inside_bytes_per_second", &Machine::inside_bytes_per_second},
};

}  // namespace detail

namespace api {

/// The machine for run-time decisions: the one in the file that SHARDTYPE_MACHINE names, or the
/// default.
inline Machine const& machine_here() { return runtime::run_time.machine; }

/// A machine as text: a line `name value` for each rate, in seconds, bytes and flops.
std::string to_text(core::Taken<Machine> m);

/// Parses such text. Missing rates keep their defaults; `#` starts a comment. Error E68 for any
/// other line, which names `source`.
Machine machine_from_text(std::string_view text, std::string_view source);

/// Reads the file at `path` on the first rank of `comm`, for all ranks. Collective over `comm`.
/// Error E68.
Machine read_machine(MPI_Comm comm, std::string_view path);

}  // namespace api

}  // namespace shardtype

#ifndef SHARDTYPE_COMPILED
#include <shardtype/runtime/machine_file.ipp>
#endif
