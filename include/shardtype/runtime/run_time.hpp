#pragma once
/// All variables of the running program that are not part of a tensor or a mesh. Caches are with
/// what they keep.

#include <climits>
#include <cstdint>

#include <mpi.h>

#include <shardtype/core/list.hpp>
#include <shardtype/plan/collective.hpp>
#include <shardtype/plan/machine.hpp>
#include <shardtype/plan/two_stages.hpp>
#include <shardtype/runtime/bytes_in_use.hpp>
#include <shardtype/runtime/instructions.hpp>
#include <shardtype/runtime/settings.hpp>

namespace shardtype::detail {

struct Node;
struct Progress;
class Trace;
struct WatchedRank;

}  // namespace shardtype::detail

namespace shardtype::runtime {

class MeshRef;

/// Sizes that decide how messages are sent. Only tests change them, by a `Sending`
/// (tests/harness/sending.hpp).
struct SendingLimits {
  std::int64_t largest_count = INT_MAX;  ///< elements of one MPI call; a block with more takes more
  std::int64_t least_segment =
      planning::least_staged_segment;  ///< bytes of a segment from which own sums are faster
  std::int64_t message_bytes = std::int64_t{1} << 17;  ///< least bytes of a message of a ring; less
                                                       ///< lowers the bandwidth
  std::int64_t least_piece = std::int64_t{1} << 20;  ///< least bytes of a piece of an exchange that
                                                     ///< Fourier transforms overlap
  bool node_windows = true;  ///< whether ranks of a node exchange in shared memory in the
                             ///< collectives of two stages
};

/// The state of the running program.
struct RunTime {
  // set by Environment
  Settings settings{};
  Machine machine{};                 ///< from the file that SHARDTYPE_MACHINE names
  bool yield_while_waiting = false;  ///< whether waiting yields the core
  bool device_messages = false;      ///< whether MPI reads and writes the memory of a device
  bool on_one_node = false;          ///< whether all ranks of the job share one node
  /// The node of each rank of the job, numbered by their first ranks; empty without an Environment.
  shardtype::detail::List<int> nodes{};
  MPI_Comm record_comm = MPI_COMM_NULL;  ///< of records; null unless SHARDTYPE_CHECK says `agree`
  shardtype::detail::Trace* trace = nullptr;        ///< null unless SHARDTYPE_TRACE names a file
  shardtype::detail::Node* node = nullptr;          ///< this node, if MPI can share memory
  shardtype::detail::Progress* progress = nullptr;  ///< what this rank publishes on its node
  /// What this rank publishes for the watcher of its host; null: none watches it.
  shardtype::detail::WatchedRank* watched = nullptr;
  /// Whether an Environment exists: then a rank that calls exit would leave the others waiting.
  bool in_environment = false;
  /// The instructions that the compiled part's elementary functions and products of bfloat16 use;
  /// all ranks have them.
  Instructions instructions = Instructions::sse2;

  /// Deletes the meshes that other threads have let go of; null: none was made.
  void (*delete_let_go)() = nullptr;

  // what happens now
  /// The mesh of the shard_map in which this thread is; null outside of one.
  static inline thread_local MeshRef const* manual_mesh = nullptr;

  // counted
  BytesInUse memory{};
  BytesInUse staging{};    ///< messages of a device's blocks, in the host's memory
  BytesInUse workspace{};  ///< tables and partial results for kernels of a device
  double in_collective[planning::collective_rows] = {};  ///< seconds, only with a trace
  std::int64_t exchanged_in_windows = 0;  ///< bytes of this rank, counted as in plans

  SendingLimits const& sending() const { return sending_; }

 private:
  friend struct ChangeSending;  // tests/harness/sending.hpp
  SendingLimits sending_{};
};

/// The state of this program. Whoever reads it is not a pure function of its arguments.
inline RunTime run_time;

}  // namespace shardtype::runtime
