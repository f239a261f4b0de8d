#pragma once
/// AllToAll over ranks of several nodes in two stages: inside of nodes, then between them.

#include <cstddef>
#include <cstdint>

#include <mpi.h>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/runtime/node_places.hpp>
#include <shardtype/runtime/node_window.hpp>

namespace shardtype::detail {

/// The segments of a rank in an AllToAll, one for or from each rank, in elements of `data`.
template <class Data>
struct PlacedSegments {
  Data* data = nullptr;
  List<std::int64_t> const* counts = nullptr;
  List<std::int64_t> const* at = nullptr;

  std::int64_t count(int g) const { return (*counts)[static_cast<std::size_t>(g)]; }
  std::int64_t begin(int g) const { return (*at)[static_cast<std::size_t>(g)]; }
};

/// A rank sends one message to each other node, or one to each rank of a node with more ranks.
///
/// For a rank at place j of another node, the rank at place j of this node (modulo its ranks) gets
/// the segments of all ranks of this node, and sends them on as one message.
class StagedExchange {
 public:
  /// The ranks and elements of the exchange that follows. `window`: memory of the ranks of this
  /// node; null: they exchange by messages.
  void set(MPI_Comm comm, int rank, NodePlaces const& places, NodeWindow* window,
           std::int64_t width, MPI_Datatype type);
  /// Sends the segments of `send`, and receives those of `recv`. `even`: all ranks' segments have
  /// one length; if not, the ranks of a node tell each other theirs.
  void run(PlacedSegments<std::byte const> const& send, PlacedSegments<std::byte> const& recv,
           bool even);

 private:
  static std::byte* bytes(List<std::byte>& memory, std::int64_t n);
  void copy(std::byte const* from, std::int64_t n, std::byte* to) const;
  void receive(std::byte* to, std::int64_t n, int from, List<MPI_Request>& requests) const;
  void transmit(std::byte const* from, std::int64_t n, int to);
  static void wait(List<MPI_Request>& requests);

  /// The ranks whose segments of this node go to place `c` of it first: that rank itself, and those
  /// of other nodes.
  Range targets(int c) const {
    auto const k = static_cast<std::size_t>(c);
    return {first_[k], first_[k + 1]};
  }
  int target(std::int64_t k) const { return targets_[static_cast<std::size_t>(k)]; }
  /// Length of the segment of this node's place `i` for rank `g`.
  std::int64_t count(int i, int g) const {
    return counts_[static_cast<std::size_t>(i) * places_->node.size() +
                   static_cast<std::size_t>(g)];
  }
  /// What place `i` gives place `c`: its segments for `targets(c)`, one after the other.
  std::int64_t length(int i, int c) const;
  void tell_counts(bool even);
  void tell_counts_in_window();
  /// Where the segment of place `i` for target `k` of this rank goes: into the result, or into a
  /// message.
  std::byte* destination(int i, std::int64_t k) const;
  /// Copies `r` of what this rank gives place `c` to `to`.
  void load(int c, Range r, std::byte* to) const;
  /// Copies `r` of what place `i` gives this rank from `from`.
  void store(int i, Range r, std::byte const* from) const;
  void keep_own() const;
  void pass_in_window();
  void pass_by_messages();
  void receive_from_nodes();
  void send_to_nodes();
  void place_arrivals() const;
  /// The segments of node `m`'s ranks for this rank: their length, and whether they lie in `recv_`
  /// one after the other.
  std::int64_t arriving(int m) const;
  bool consecutive(int m) const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  NodePlaces const* places_ = nullptr;
  NodeWindow* window_ = nullptr;
  std::int64_t width_ = 1;
  MPI_Datatype type_ = MPI_BYTE;
  int node_ = 0;   ///< this rank's
  int place_ = 0;  ///< this rank's in it
  int ranks_ = 1;  ///< of this node
  PlacedSegments<std::byte const> send_;
  PlacedSegments<std::byte> recv_;
  List<int> targets_;              ///< of place 0, 1, ...
  List<std::int64_t> first_;       ///< where those of each place begin; one more: the end
  List<std::int64_t> onward_at_;   ///< where the message to each target of this rank begins
  List<std::int64_t> counts_;      ///< of each place of this node, for each rank
  std::byte* onward_ = nullptr;    ///< the messages to other nodes
  std::byte* arrivals_ = nullptr;  ///< of other nodes, unless their segments are consecutive
  List<MPI_Request> received_, waiting_, inside_;
  // reused, so that only the first call of a size allocates
  List<std::byte> onward_memory_, arrivals_memory_, leaving_memory_, coming_memory_;
};

}  // namespace shardtype::detail

#ifndef SHARDTYPE_COMPILED
#include <shardtype/runtime/staged_exchange.ipp>
#endif
