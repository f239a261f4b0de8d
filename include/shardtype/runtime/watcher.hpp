#pragma once
/// Error E16: a rank that dies without a message, by kill -9 or for lack of memory, is named with
/// its host and its call.
///
/// No rank can report it: launchers end the others within milliseconds. So the first rank of each
/// host forks a process that sleeps until ranks of the host end, and reads what they published. It
/// calls neither MPI nor Kokkos, and is in a session of its own, because launchers kill sessions.
/// Linux only.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <mpi.h>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/running_call.hpp>

namespace shardtype::detail {

/// What a rank publishes for the watcher of its host, in memory that outlives the rank.
struct WatchedRank {
  /// `ended`: its Environment has ended. `reported`: its message says why the job ends.
  enum Phase : int { runs, ended, reported };

  struct Call {
    char operation[60] = {};
    char file[44] = {};  ///< of the program's line; empty: none is known
    unsigned line = 0;
    bool backward = false;  ///< its cotangent is taken back
  };

  std::atomic<int> process{0};  ///< 0: not watched
  std::atomic<int> phase{runs};
  std::atomic<int> latest{-1};  ///< which entry has the last call; the other is being written
  int rank = 0;                 ///< of the job
  int pipe = -1;                ///< while the watcher starts: one end of its pipe
  Call calls[2];
};

/// Creates `run_time.watched` and starts the watcher of this host; null where none can run.
/// Collective over the job.
void start_watcher();

/// This rank is about to leave, with or without a message. Without a watcher, nothing.
void tell_watcher(WatchedRank::Phase phase);

/// Publishes the call that runs now, before it waits for other ranks: some tens of nanoseconds,
/// less where the rank published the same call last.
void publish_call();

}  // namespace shardtype::detail

#ifndef SHARDTYPE_COMPILED
#include <shardtype/runtime/watcher.ipp>
#endif
