#pragma once
/// State shared by the ranks of a node: which rank reports a failure, which ranks have left, and
/// how far each has come.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>

#include <mpi.h>
#include <unistd.h>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/runtime/records.hpp>

namespace shardtype {

namespace detail {

/// State that one rank publishes for the others of its node: the steps it has begun on the meshes
/// it created last.
struct Progress {
  static constexpr int meshes = 32;

  struct Mesh {
    std::atomic<std::int64_t> id{0};  ///< 0: none
    std::atomic<std::int64_t> steps{0};
  };
  Mesh mesh[meshes];
  int rank = 0;  ///< of the job
};

/// State shared by the ranks of a node, in memory that needs no MPI call, because the other ranks
/// may be blocked in one.
struct Node {
  std::atomic<int> speaks{0};   ///< 1 after a rank has reported why the job ends
  std::atomic<int> leaving{0};  ///< number of ranks at the end of their Environment
  int ranks = 1;
  bool first = true;  ///< whether rank 0 of the job is on this node

  /// The state of the k-th rank of this node; stored after this object.
  Progress& progress(int k) { return reinterpret_cast<Progress*>(this + 1)[k]; }
  /// Number of collective calls outside of the steps of a mesh, such as the creation of a mesh,
  /// that the k-th rank has begun together with the m-th one; stored after the states.
  std::atomic<std::int64_t>& together(int k, int m) { return together_from(k, ranks)[m]; }
  std::atomic<std::int64_t>* together_from(int k, int of_ranks) {
    return reinterpret_cast<std::atomic<std::int64_t>*>(&progress(of_ranks)) + k * of_ranks;
  }
};
static_assert(sizeof(Node) % alignof(Progress) == 0 &&
              std::atomic<std::int64_t>::is_always_lock_free);

/// The ranks of `comm` that share this rank's node, in their order there; of pretended nodes
/// (SHARDTYPE_NODE_SIZE) those of its pretended one. To be freed. Collective.
MPI_Comm ranks_of_node(MPI_Comm comm);

/// The ranks of `comm` that share this rank's host, and so its cores: containers and network
/// namespaces of one host are several nodes. To be freed. Collective.
MPI_Comm ranks_of_host(MPI_Comm comm);

/// Creates `run_time.node` and `run_time.progress`; null if MPI cannot share memory. Complete on
/// all ranks after the next collective.
MPI_Win share_node();

/// Publishes the number of steps of one mesh that this rank has begun, so that a rank that leaves
/// can see which ranks wait for it in vain. One store per step.
class StepCount {
 public:
  /// The ranks of a mesh pass the same `id`, unique to this mesh and not 0.
  void begin(std::int64_t id);
  void step();

 private:
  std::int64_t steps_ = 0;
  std::int64_t id_ = 0;
  int slot_ = 0;
};

/// Counts a call that is collective over `ranks` of the job and no step of a mesh: a mesh is made,
/// say.
void begin_together(List<int> const& ranks);

/// Rank `who` of the job has begun step `step` of a mesh of which this rank has begun `own`.
struct Ahead {
  int who = -1;           ///< -1: no rank
  std::int64_t step = 0;  ///< 0: no step, but a call of `begin_together`
  std::int64_t own = 0;
};

/// A rank of this node that has begun a step which this rank, at the end of its program, will never
/// take.
Ahead rank_ahead();

inline void sleep_ms(int n) {
  for (; n > 0; n -= 100) usleep(static_cast<useconds_t>(std::min(n, 100)) * 1000);
}

/// Whether every rank of this node reaches the end of its Environment within two seconds.
bool all_leave();

}  // namespace detail

}  // namespace shardtype

#ifndef SHARDTYPE_COMPILED
#include <shardtype/runtime/node.ipp>
#endif
