#pragma once
/// Run-time errors.

#include <stdexcept>
#include <string>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/namespaces.hpp>
#include <shardtype/core/printable.hpp>
#include <shardtype/core/running_call.hpp>

namespace shardtype {

/// Whether all ranks fail together or one rank fails alone. A failure of all ranks is printed once.
enum class FailedOn { this_rank, every_rank };

/// A run-time failure: a stable code (docs/errors.md), and a text that names the file, dimension,
/// axis or rank, and the operation that runs with the program's line; all on one line: of texts
/// from outside, such as names of files, control characters are escaped. Uncaught, it ends the job
/// on all ranks with this text (runtime/environment.hpp).
class Error : public std::runtime_error {
 public:
  Error(std::string code, std::string const& text, FailedOn where = FailedOn::this_rank)
      : std::runtime_error("[shardtype " + code + "] " + detail::printable(text) +
                           core::RunningCall::text()),
        code_(std::move(code)),
        where_(where) {}

  std::string const& code() const { return code_; }
  FailedOn where() const { return where_; }

 private:
  std::string code_;
  FailedOn where_;
};

}  // namespace shardtype

#ifndef SHARDTYPE_COMPILED
#include <shardtype/core/error.ipp>
#endif
