#pragma once
/// FFTW's measurements (its wisdom), kept in a file between programs.

#include <cerrno>
#include <cstdio>
#include <string>

#include <shardtype/core/printable.hpp>
#include <shardtype/runtime/files.hpp>
#include <shardtype/runtime/records.hpp>

namespace shardtype::kernels {

/// FFTW's functions of one precision for its wisdom.
struct WisdomFunctions {
  int (*read)(std::FILE*) = nullptr;
  void (*write)(std::FILE*) = nullptr;
  char const* version = nullptr;
};

/// The wisdom of one precision, in the file at `path`; empty: in none. A file that cannot be used
/// stays as it is, and rank 0 says so (E77).
class FftwWisdom {
 public:
  FftwWisdom(std::string path, WisdomFunctions const& functions)
      : path_(std::move(path)), functions_(functions) {
    if (path_.empty()) return;
    int fault = 0;
    if (std::FILE* const file = runtime::open_to_read(path_, fault)) {
      usable_ = functions_.read(file) != 0;
      std::fclose(file);
      if (!usable_) say("holds no wisdom of " + std::string(functions_.version));
    } else if (fault != ENOENT) {
      usable_ = false;
      say("cannot be read: " + runtime::file_fault_text(fault));
    }
  }

  /// Adds what this rank knows to the file. No reader finds half a file.
  void keep() const {
    if (path_.empty() || !usable_) return;
    int fault = 0;
    if (std::FILE* const file = runtime::open_to_read(path_, fault)) {
      functions_.read(file);
      std::fclose(file);
    }
    runtime::ReplacedFile file;
    fault = file.create(path_);
    if (fault == 0) {
      if (std::FILE* const to = file.stream()) functions_.write(to);
      fault = file.finish();
    }
    if (fault != 0) say("cannot be written: " + runtime::file_fault_text(fault));
  }

 private:
  void say(std::string const& why) const {
    if (rank_ != 0) return;
    std::fprintf(stderr,
                 "[shardtype E77] SHARDTYPE_FFTW_WISDOM: %s %s; what FFTW measures is not kept\n",
                 shardtype::detail::printable(path_).c_str(), why.c_str());
  }

  std::string path_;
  WisdomFunctions functions_;
  int rank_ = shardtype::detail::job_rank();  // the file is written when MPI has ended
  bool usable_ = true;
};

}  // namespace shardtype::kernels
