#pragma once
/// Definitions of node.hpp.

#include <cstdio>

#include <shardtype/runtime/node.hpp>
#include <shardtype/runtime/wait.hpp>
#include <shardtype/runtime/watcher.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE MPI_Comm ranks_of_node(MPI_Comm comm) {
  MPI_Comm node = MPI_COMM_NULL;
  runtime::check_mpi(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node),
                     "MPI_Comm_split_type");
  if (run_time.settings.node_size == 0) return node;
  MPI_Comm pretended = MPI_COMM_NULL;
  runtime::check_mpi(MPI_Comm_split(node, job_rank() / run_time.settings.node_size, 0, &pretended),
                     "MPI_Comm_split");
  MPI_Comm_free(&node);
  return pretended;
}

SHARDTYPE_INLINE MPI_Comm ranks_of_host(MPI_Comm comm) {
  // the kernel's number of this start of the host: alike in all containers and namespaces
  char text[MPI_MAX_PROCESSOR_NAME + 1] = "";
  std::size_t length = 0;
  if (std::FILE* const file = std::fopen("/proc/sys/kernel/random/boot_id", "r")) {
    length = std::fread(text, 1, sizeof text, file);
    std::fclose(file);
  }
  if (length == 0) {
    int n = 0;
    MPI_Get_processor_name(text, &n);
    length = static_cast<std::size_t>(n);
  }
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (std::size_t k = 0; k < length; ++k)
    hash = (hash ^ static_cast<unsigned char>(text[k])) * 16777619U;
  MPI_Comm host = MPI_COMM_NULL;
  runtime::check_mpi(MPI_Comm_split(comm, static_cast<int>(hash >> 1U), 0, &host),
                     "MPI_Comm_split");
  return host;
}

SHARDTYPE_INLINE MPI_Win share_node() {
  MPI_Comm here = detail::ranks_of_node(MPI_COMM_WORLD);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(here, &rank);
  MPI_Comm_size(here, &ranks);
  MPI_Win window = MPI_WIN_NULL;
  MPI_Aint bytes = 0;
  if (rank == 0)
    bytes = static_cast<MPI_Aint>(sizeof(Node) +
                                  static_cast<std::size_t>(ranks) *
                                      (sizeof(Progress) + static_cast<std::size_t>(ranks) *
                                                              sizeof(std::atomic<std::int64_t>)));
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
    std::atomic<std::int64_t>* const together = run_time.node->together_from(rank, ranks);
    for (int k = 0; k < ranks; ++k) new (together + k) std::atomic<std::int64_t>{0};
    run_time.progress->rank = job_rank();
  }
  MPI_Comm_free(&here);
  return window;
}

/// This rank's number on its node.
inline int place_on_node() {
  return static_cast<int>(run_time.progress - &run_time.node->progress(0));
}

SHARDTYPE_INLINE void StepCount::begin(std::int64_t id) {
  static int made = 0;
  id_ = id;
  slot_ = made++ % Progress::meshes;  // replaces the oldest
  if (run_time.progress == nullptr) return;
  Progress::Mesh& told = run_time.progress->mesh[slot_];
  told.id.store(0);
  told.steps.store(0);
  told.id.store(id);
}

SHARDTYPE_INLINE void StepCount::step() {
  ++steps_;
  detail::publish_call();
  if (run_time.progress == nullptr) return;
  Progress::Mesh& told = run_time.progress->mesh[slot_];
  if (told.id.load(std::memory_order_relaxed) == id_) told.steps.store(steps_);
}

SHARDTYPE_INLINE void begin_together(List<int> const& ranks) {
  if (run_time.node == nullptr) return;
  Node& node = *run_time.node;
  int const mine = place_on_node();
  for (int k = 0; k < node.ranks; ++k)
    for (int const r : ranks)
      if (node.progress(k).rank == r) ++node.together(mine, k);
}

SHARDTYPE_INLINE Ahead rank_ahead() {
  // A rank begins a step before it makes the groups of that step, and the step says more. So the
  // steps are read last: one that has made groups by now is seen in its step.
  Ahead in_groups;
  int const me = place_on_node();
  for (int k = 0; k < run_time.node->ranks && in_groups.who < 0; ++k)
    if (run_time.node->together(k, me) > run_time.node->together(me, k))
      in_groups.who = run_time.node->progress(k).rank;
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
  return in_groups;
}

SHARDTYPE_INLINE bool all_leave() {
  if (run_time.node == nullptr) return true;
  for (int k = 0; k < 200 && run_time.node->leaving < run_time.node->ranks; ++k) sleep_ms(10);
  return run_time.node->leaving >= run_time.node->ranks;
}

}  // namespace shardtype::detail
