#pragma once
/// `SHARDTYPE_CHECK=agree`: before every collective the ranks of a mesh compare what they are about
/// to do, so that a rank that skips one is named instead of hanging the job.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <sched.h>

#include <mpi.h>

#include <shardtype/runtime/environment.hpp>

namespace shardtype {

/// Whether SHARDTYPE_CHECK holds this word ("agree,values" holds two).
inline bool check_enabled(char const* word) {
  char const* const set = std::getenv("SHARDTYPE_CHECK");
  if (set == nullptr) return false;
  std::string const all = std::string(",") + set + ",";
  return all.find(std::string(",") + word + ",") != std::string::npos;
}

/// The comparison of one mesh's ranks, on a communicator of its own, nonblocking, with a time limit
/// (`SHARDTYPE_AGREE_SECONDS`, 10 by default). Leaving the mesh is a step called "end".
class Agreement {
 public:
  /// What one rank is about to do.
  struct Record {
    std::int64_t sequence = 0;
    std::uint64_t hash = 0;
    char text[112] = {};
  };

  Agreement() = default;
  Agreement(Agreement const&) = delete;
  Agreement& operator=(Agreement const&) = delete;
  ~Agreement() {
    int ended = 0;
    MPI_Finalized(&ended);
    if (comm_ != MPI_COMM_NULL && ended == 0) MPI_Comm_free(&comm_);
  }

  /// Turns the check on for the ranks of `comm`, if the environment asks for it.
  void start(MPI_Comm comm) {
    if (!check_enabled("agree")) return;
    MPI_Comm_dup(comm, &comm_);
    if (char const* const limit = std::getenv("SHARDTYPE_AGREE_SECONDS")) limit_ = std::atof(limit);
  }
  bool on() const { return comm_ != MPI_COMM_NULL; }

  /// Returns when every rank is about to do the same `step`; otherwise throws an Error that names
  /// both sides, or, when some rank does not come in time, ends the job with who is missing.
  void meet(std::string const& step, std::uint64_t hash) {
    int rank = 0;
    int size = 1;
    MPI_Comm_rank(comm_, &rank);
    MPI_Comm_size(comm_, &size);
    Record mine;
    mine.sequence = sequence_++;
    mine.hash = hash;
    std::strncpy(mine.text, step.c_str(), sizeof mine.text - 1);
    // records of a rank that is a step ahead wait in MPI: one tag per step keeps them apart
    int const tag = static_cast<int>(mine.sequence % 32768);
    std::vector<Record> theirs(static_cast<std::size_t>(size));
    std::vector<MPI_Request> requests;
    for (int g = 0; g < size; ++g) {
      if (g == rank) continue;
      requests.emplace_back();
      MPI_Irecv(&theirs[static_cast<std::size_t>(g)], sizeof(Record), MPI_BYTE, g, tag, comm_,
                &requests.back());
    }
    std::size_t const receives = requests.size();
    for (int g = 0; g < size; ++g) {
      if (g == rank) continue;
      requests.emplace_back();
      MPI_Isend(&mine, sizeof(Record), MPI_BYTE, g, tag, comm_, &requests.back());
    }
    auto const start = std::chrono::steady_clock::now();
    std::vector<bool> seen(static_cast<std::size_t>(size), false);
    for (;;) {
      bool all = true;
      std::size_t place = 0;
      for (int g = 0; g < size; ++g) {
        if (g == rank) continue;
        auto const k = static_cast<std::size_t>(g);
        int done = seen[k] ? 1 : 0;
        if (done == 0) MPI_Test(&requests[place], &done, MPI_STATUS_IGNORE);
        ++place;
        if (done == 0) {
          all = false;
        } else if (!seen[k]) {
          seen[k] = true;
          compare(mine, rank, theirs[k], g);
        }
      }
      if (all) break;
      double const waited =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (waited > limit_) expire(mine, seen, rank);
      sched_yield();
    }
    MPI_Waitall(static_cast<int>(requests.size() - receives), requests.data() + receives,
                MPI_STATUSES_IGNORE);
  }

 private:
  static void compare(Record const& mine, int rank, Record const& other, int g) {
    if (mine.hash == other.hash) return;
    if (rank > 0) ::sleep(2);  // rank 0 says it, if it still can
    detail::abort_job("[shardtype E03] the ranks disagree at step " +
                      std::to_string(mine.sequence) + ": rank " + std::to_string(rank) +
                      " is about to " + mine.text + ", rank " + std::to_string(g) +
                      " is about to " + other.text);
  }
  void expire(Record const& mine, std::vector<bool> const& seen, int rank) const {
    std::string missing;
    for (std::size_t g = 0; g < seen.size(); ++g)
      if (!seen[g] && static_cast<int>(g) != rank)
        missing += (missing.empty() ? "" : ", ") + std::to_string(g);
    if (rank > 0) ::sleep(2);
    detail::abort_job("[shardtype E04] waited " + std::to_string(static_cast<int>(limit_)) +
                      " s at step " + std::to_string(mine.sequence) + " to " + mine.text +
                      "; did not come: rank " + missing);
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  std::int64_t sequence_ = 0;
  double limit_ = 10;
};

}  // namespace shardtype
