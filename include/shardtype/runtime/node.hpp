#pragma once
/// State shared by the ranks of a node: which rank reports a failure, which ranks have left, and
/// how far each has come.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>

#include <mpi.h>
#include <unistd.h>

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
};
static_assert(sizeof(Node) % alignof(Progress) == 0 &&
              std::atomic<std::int64_t>::is_always_lock_free);

/// Creates `run_time.node` and `run_time.progress`; null if MPI cannot share memory. Complete on
/// all ranks after the next collective.
inline MPI_Win share_node() {
  MPI_Comm here = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(here, &rank);
  MPI_Comm_size(here, &ranks);
  MPI_Win window = MPI_WIN_NULL;
  MPI_Aint bytes = 0;
  if (rank == 0)
    bytes =
        static_cast<MPI_Aint>(sizeof(Node) + static_cast<std::size_t>(ranks) * sizeof(Progress));
  int unit = 1;
  void* memory = nullptr;
  if (MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, here, &memory, &window) == MPI_SUCCESS) {
    MPI_Win_shared_query(window, 0, &bytes, &unit, &memory);
    if (rank == 0) {
      run_time.node = new (memory) Node;
      run_time.node->ranks = ranks;
      run_time.node->first = job_rank() == 0;
    }
    run_time.node = static_cast<Node*>(memory);
    run_time.progress = new (&run_time.node->progress(rank)) Progress;
    run_time.progress->rank = job_rank();
  }
  MPI_Comm_free(&here);
  return window;
}

/// Publishes the number of steps of one mesh that this rank has begun, so that a rank that leaves
/// can see which ranks wait for it in vain. One store per step.
class StepCount {
 public:
  /// The ranks of a mesh pass the same `id`, unique to this mesh and not 0.
  void begin(std::int64_t id) {
    static int made = 0;
    id_ = id;
    slot_ = made++ % Progress::meshes;  // replaces the oldest
    if (run_time.progress == nullptr) return;
    Progress::Mesh& told = run_time.progress->mesh[slot_];
    told.id.store(0);
    told.steps.store(0);
    told.id.store(id);
  }
  void step() {
    ++steps_;
    if (run_time.progress == nullptr) return;
    Progress::Mesh& told = run_time.progress->mesh[slot_];
    if (told.id.load(std::memory_order_relaxed) == id_) told.steps.store(steps_);
  }

 private:
  std::int64_t steps_ = 0;
  std::int64_t id_ = 0;
  int slot_ = 0;
};

/// Rank `who` of the job has begun step `step` of a mesh of which this rank has begun `own`.
struct Ahead {
  int who = -1;  ///< -1: no rank
  std::int64_t step = 0;
  std::int64_t own = 0;
};

/// A rank of this node that has begun a step which this rank, at the end of its program, will never
/// take.
inline Ahead rank_ahead() {
  for (int k = 0; k < run_time.node->ranks; ++k)
    for (Progress::Mesh const& theirs : run_time.node->progress(k).mesh)
      for (Progress::Mesh const& mine : run_time.progress->mesh) {
        std::int64_t const id = mine.id.load();
        if (id == 0 || theirs.id.load() != id) continue;
        std::int64_t const step = theirs.steps.load();
        // in the meantime it may have reused the entry for another mesh
        if (step > mine.steps.load() && theirs.id.load() == id)
          return {run_time.node->progress(k).rank, step, mine.steps.load()};
      }
  return {};
}

inline void sleep_ms(int n) {
  for (; n > 0; n -= 100) usleep(static_cast<useconds_t>(std::min(n, 100)) * 1000);
}

/// Whether every rank of this node reaches the end of its Environment within two seconds.
inline bool all_leave() {
  if (run_time.node == nullptr) return true;
  for (int k = 0; k < 200 && run_time.node->leaving < run_time.node->ranks; ++k) sleep_ms(10);
  return run_time.node->leaving >= run_time.node->ranks;
}

}  // namespace detail

}  // namespace shardtype
