#pragma once
/// What FFTW has measured, kept in a file between programs.

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include <mpi.h>
#include <unistd.h>

namespace shardtype::runtime {

/// FFTW's functions of one precision for its wisdom.
struct WisdomFunctions {
  int (*read)(std::FILE*) = nullptr;
  int (*write)(char const*) = nullptr;
  char const* version = nullptr;
};

/// The wisdom of one precision, in the file at `path`; empty: in none. A file that cannot be used
/// stays as it is, and rank 0 says so (E77).
class FftwWisdom {
 public:
  FftwWisdom(std::string path, WisdomFunctions const& functions)
      : path_(std::move(path)), functions_(functions) {
    if (path_.empty()) return;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    if (std::FILE* const file = std::fopen(path_.c_str(), "r")) {
      usable_ = functions_.read(file) != 0;
      std::fclose(file);
      if (!usable_) say("holds no wisdom of " + std::string(functions_.version));
    } else if (errno != ENOENT) {
      usable_ = false;
      say("cannot be read: " + std::string(std::strerror(errno)));
    }
  }

  /// Adds what this rank knows to the file. It is written under a name of its own first, so that no
  /// reader finds half a file.
  void keep() const {
    if (path_.empty() || !usable_) return;
    if (std::FILE* const file = std::fopen(path_.c_str(), "r")) {
      functions_.read(file);
      std::fclose(file);
    }
    std::string const mine = path_ + "." + std::to_string(rank_) + "." + std::to_string(getpid());
    errno = 0;
    if (functions_.write(mine.c_str()) != 0 && std::rename(mine.c_str(), path_.c_str()) == 0)
      return;
    say("cannot be written: " + std::string(std::strerror(errno)));
    std::remove(mine.c_str());
  }

 private:
  void say(std::string const& why) const {
    if (rank_ != 0) return;
    std::fprintf(stderr,
                 "[shardtype E77] SHARDTYPE_FFTW_WISDOM: %s %s; what FFTW measures is not kept\n",
                 path_.c_str(), why.c_str());
  }

  std::string path_;
  WisdomFunctions functions_;
  int rank_ = 0;
  bool usable_ = true;
};

}  // namespace shardtype::runtime
