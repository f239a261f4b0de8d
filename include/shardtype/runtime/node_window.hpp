#pragma once
/// Memory that the ranks of one node of a communicator share, one area each.

#include <cstddef>
#include <cstdint>

#include <mpi.h>

namespace shardtype::detail {

/// A SharedWindow of `area` bytes for each rank of a node, for use in rounds: every rank writes its
/// own area, the ranks meet, and read the others'. Defined in comm.ipp.
class NodeWindow {
 public:
  static constexpr std::int64_t area = 1 << 20;

  /// Of the ranks of `comm` with this number of a node, in their order. Collective over `comm`.
  NodeWindow(MPI_Comm comm, int node);
  NodeWindow(NodeWindow const&) = delete;
  NodeWindow& operator=(NodeWindow const&) = delete;
  ~NodeWindow();

  /// Whether there is memory for it; the same on all its ranks, which all ask.
  bool ready();
  /// Begins a round: all ranks have read the areas of the round before. Then this rank writes its
  /// own.
  void enter();
  /// Waits until all ranks have written theirs.
  void meet();
  /// Ends a round: this rank has read the others'.
  void leave();
  std::byte* of(int place) const { return base_ + place * area; }

 private:
  struct State;
  State* state_;
  std::byte* base_ = nullptr;
};

}  // namespace shardtype::detail
