#pragma once
/// `SHARDTYPE_CHECK=agree`: before every collective the ranks of a mesh compare their next step, so
/// that a rank that skips one is reported instead of hanging the job.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <source_location>
#include <string>

#include <mpi.h>
#include <sched.h>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/core/running_call.hpp>
#include <shardtype/runtime/comm.hpp>
#include <shardtype/runtime/environment.hpp>
#include <shardtype/runtime/node.hpp>
#include <shardtype/runtime/records.hpp>
#include <shardtype/runtime/run_time.hpp>
#include <shardtype/runtime/step_name.hpp>

namespace shardtype::runtime {

/// Compares the steps of one mesh's ranks, with a time limit (`SHARDTYPE_AGREE_SECONDS`, 10 by
/// default). Works while an Environment exists.
class Agreement {
 public:
  Agreement() = default;
  Agreement(Agreement const&) = delete;
  Agreement& operator=(Agreement const&) = delete;
  ~Agreement() { leave("nothing more: it left the mesh by an exception"); }

  /// Starts counting the steps of the ranks of `comm`, and turns the check on if the environment
  /// asks for it. Collective.
  void start(MPI_Comm comm);
  /// Counts a step that all ranks of the mesh take; returns whether they compare it first, by
  /// `meet`.
  bool begin_step() {
    core::RunningCall::check_thread();
    if (apart_) return false;
    steps_.step();
    return on();
  }
  /// Ends or begins a part of the program in which ranks take steps of their own, such as the
  /// stages of a pipeline: these are neither counted nor compared. Returns what held before.
  bool apart(bool apart) {
    bool const before = apart_;
    apart_ = apart;
    return before;
  }
  /// Compares the creation of a mesh of `comm`, which is collective as well: as `meet`, for the
  /// ranks of `comm`.
  static void meet_before_mesh(MPI_Comm comm, std::string const& step, std::uint64_t hash) {
    if (run_time.record_comm != MPI_COMM_NULL)
      meet_before_mesh(detail::ranks_in_job(comm), step, hash);
  }
  /// The same for given ranks of the job.
  static void meet_before_mesh(detail::List<int> const& ranks, std::string const& step,
                               std::uint64_t hash);
  bool on() const { return !ranks_.empty() && !apart_; }
  /// Counts a step that all ranks of the mesh take and, if the check is on, compares it first: its
  /// name, the user's line, and numbers that all ranks must pass alike.
  void agree(char const* name, std::source_location const& where,
             std::initializer_list<std::int64_t> numbers = {}) {
    if (begin_step()) meet(name + core::source_text(core::RunningCall::place(where)), numbers);
  }

  /// Returns when every rank is about to do the same `step`. Otherwise ends the job and reports the
  /// step of each rank (E03) or, if a rank does not arrive in time, the missing ranks (E04). The
  /// step "end" with hash 0 means leaving the mesh and waits for nobody.
  void meet(std::string const& step, std::uint64_t hash);
  /// The same with the hash of the text and of these numbers.
  void meet(std::string const& step, std::initializer_list<std::int64_t> numbers = {});

 private:
  void take_ranks(detail::List<int> const& ranks);
  detail::Record say(std::string const& text, std::uint64_t hash, std::int32_t leaves);
  void leave(char const* how);

  /// Ranks with the same next step.
  struct Side {
    std::string text;
    std::uint64_t hash = 0;
    detail::List<int> ranks;
  };
  /// The next step of each rank: "rank 3 calls all_gather ...; ranks 0-2 call all_reduce ...".
  std::string sides(detail::Record const& mine, detail::List<int>& missing) const;
  [[noreturn]] void disagree(detail::Record const& mine) const;
  [[noreturn]] void expire(detail::Record const& mine) const;

  detail::StepCount steps_;
  detail::List<int> ranks_;  ///< of the job; empty while off
  int me_ = 0;
  std::int64_t mesh_ = 0;
  std::int64_t step_ = 0;
  double limit_ = 10;
  bool apart_ = false;
};

}  // namespace shardtype::runtime

#ifndef SHARDTYPE_COMPILED
#include <shardtype/runtime/agreement.ipp>
#endif
