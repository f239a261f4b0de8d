#pragma once
/// Definitions of machine_file.hpp.

#include <shardtype/runtime/machine_file.hpp>
#include <shardtype/runtime/node.hpp>

namespace shardtype {

namespace api {

SHARDTYPE_INLINE std::string to_text(core::Taken<Machine> taken) {
  Machine const& m = taken;
  std::string out;
  for (detail::MachineRate const& r : detail::machine_rates) {
    if (m.*r.value == 0) continue;  // of a node: as between nodes
    char line[96];
    std::snprintf(line, sizeof line, "%s %.6g\n", r.name, m.*r.value);
    out += line;
  }
  return out;
}

SHARDTYPE_INLINE Machine machine_from_text(std::string_view text, std::string_view source) {
  Machine out;
  int number = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const end = std::min(text.find('\n', at), text.size());
    std::string line(text.substr(at, end - at));
    at = end + 1;
    ++number;
    line = line.substr(0, line.find('#'));
    std::size_t const from = line.find_first_not_of(" \t\r");
    if (from == std::string::npos) continue;
    std::size_t const gap = std::min(line.find_first_of(" \t", from), line.size());
    std::string const name = line.substr(from, gap - from);
    char* rest = nullptr;
    double const value = std::strtod(line.c_str() + gap, &rest);
    bool const ends =
        line.find_first_not_of(" \t\r", static_cast<std::size_t>(rest - line.c_str())) ==
        std::string::npos;
    bool known = false;
    for (detail::MachineRate const& r : detail::machine_rates)
      if (name == r.name && ends && std::isfinite(value) && value > 0) {
        out.*r.value = value;
        known = true;
      }
    if (!known)
      throw Error("E68",
                  std::string(source) + " line " + std::to_string(number) + ": '" + line +
                      "' is no rate of a machine; one is 'latency 2e-6', and scripts/calibrate "
                      "writes them all",
                  FailedOn::every_rank);
  }
  return out;
}

SHARDTYPE_INLINE Machine read_machine(MPI_Comm comm, std::string_view path) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  detail::begin_together(detail::ranks_in_job(comm));
  std::string text;
  int failed = 0;
  if (rank == 0) {
    if (std::FILE* const file = runtime::open_to_read(std::string(path), failed)) {
      char some[4096];
      for (std::size_t n = 0;
           (n = std::fread(some, 1, sizeof some, file)) > 0 && text.size() < 1U << 16U;)
        text.append(some, n);
      failed = std::ferror(file) != 0 ? EIO : 0;
      if (text.size() >= 1U << 16U) failed = EFBIG;
      std::fclose(file);
    }
  }
  failed = static_cast<int>(detail::reduce_number(comm, failed, MPI_MAX));
  if (failed != 0)
    throw Error("E68",
                "the machine's rates in " + std::string(path) +
                    " cannot be read: " + runtime::file_fault_text(failed),
                FailedOn::every_rank);
  detail::share_text(comm, text, 0);
  return machine_from_text(text, path);
}

}  // namespace api

}  // namespace shardtype
