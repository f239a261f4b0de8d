// A new folder that all ranks see; it is removed at the end.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <mpi.h>

#include <shardtype/runtime/comm.hpp>

namespace harness {

/// A barrier that yields the core while it waits.
inline void meet() { shardtype::detail::reduce_number(MPI_COMM_WORLD, 0, MPI_MIN); }

class TempDir {
 public:
  explicit TempDir(std::string const& what = "test") {
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char const* const base = std::getenv("TMPDIR");
    path_ = std::string(base != nullptr ? base : ".") + "/shardtype-" + what + "-np" +
            std::to_string(ranks) + "-XXXXXX";
    if (rank_ == 0 && mkdtemp(path_.data()) == nullptr) path_.clear();
    shardtype::detail::share_text(MPI_COMM_WORLD, path_, 0);
    if (path_.empty()) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  TempDir(TempDir const&) = delete;
  TempDir& operator=(TempDir const&) = delete;
  ~TempDir() {
    meet();
    std::error_code ignored;
    if (rank_ == 0) std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(std::string const& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
  int rank_ = 0;
};

/// The names in a folder, in order.
inline std::vector<std::string> names_in(std::string const& folder) {
  std::vector<std::string> out;
  for (auto const& entry : std::filesystem::directory_iterator(folder))
    out.push_back(entry.path().filename().string());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace harness
