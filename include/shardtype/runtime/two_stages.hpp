#pragma once
/// Collectives over ranks of several nodes in two stages: inside of nodes and between them.

#include <cstddef>
#include <cstdint>

#include <mpi.h>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/runtime/node_places.hpp>
#include <shardtype/runtime/node_window.hpp>
#include <shardtype/runtime/wire_type.hpp>

namespace shardtype::detail {

/// The segments of a collective, one of each rank: where it begins among all elements, and its
/// length.
struct Segments {
  List<std::int64_t> begins, counts;

  Range of(int g) const {
    auto const k = static_cast<std::size_t>(g);
    return {begins[k], begins[k] + counts[k]};
  }
  /// Consecutive ones.
  void set(List<std::int64_t> const& lengths);
  /// Parts of `n` elements: as many for each node, and of these as many for each of its ranks. So
  /// nodes send equally many bytes also where one has more ranks.
  void set(NodePlaces const& places, std::int64_t n);
};

/// An element type without its type, so that all that follows is compiled once.
struct WireElement {
  std::int64_t width = 1;
  MPI_Datatype type = MPI_BYTE;
  /// `out` becomes the reduction of `a` and `b`; it may be `a`. Null for a gather.
  void (*join)(void const* a, void const* b, void* out, std::int64_t n, ReduceKind kind) = nullptr;
};

template <class T>
void join_elements(void const* a, void const* b, void* out, std::int64_t n, ReduceKind kind) {
  auto const* const x = static_cast<T const*>(a);
  auto const* const y = static_cast<T const*>(b);
  auto* const to = static_cast<T*>(out);
  if (kind == ReduceKind::sum) {
    for (std::int64_t k = 0; k < n; ++k) to[k] = x[k] + y[k];
  } else if constexpr (requires(T const& v) { v < v; }) {
    for (std::int64_t k = 0; k < n; ++k)  // a NaN always gives a NaN
      to[k] = (kind == ReduceKind::max ? y[k] > x[k] : y[k] < x[k]) || y[k] != y[k] ? y[k] : x[k];
  }
}
/// A rank sends a byte of its node's sum, or of a block, once to each other node at most.
///
/// For a segment of another node's rank, the ranks of a node sum their parts first: the one at the
/// same place does, or, if that node has another number of ranks, each sums a part of the segment.
/// It sends the sum to the segment's rank. A gather goes the same way back: a segment goes once to
/// each other node, and there to the other ranks.
class TwoStages {
 public:
  /// The ranks and elements of the collective that follows. `window`: memory of the ranks of this
  /// node; null: they exchange by messages.
  void set(MPI_Comm comm, int rank, NodePlaces const& places, NodeWindow* window,
           WireElement const& element);

  /// Begins the reduction of all ranks' `send`, which has their segments; `finish` writes this
  /// rank's one to `out`. `out` may be its segment of `send`. Sums for other nodes lie in `into`,
  /// at the places of the segments in `send`, which may be `send`; null: in memory of this object.
  /// `arrivals`: memory for `arriving` elements; null: as well.
  void begin(void const* send, void* out, void* into, void* arrivals, ReduceKind kind);
  /// The elements that arrive for a segment of `n` elements.
  static std::int64_t arriving(NodePlaces const& places, std::int64_t n) {
    return n * (places.nodes() - 1);
  }
  /// As `begin` with equal parts of `n` elements for all; at the end all ranks get the whole result
  /// in `all`, which may be `send`.
  void begin_everywhere(void const* send, void* all, void* arrivals, std::int64_t n,
                        ReduceKind kind);
  /// Waits for what `begin` has begun; without it, does nothing.
  void finish();

  /// Gathers all ranks' segments in `all`, where this rank's is already.
  void gather(void* all);

  Segments segments;  ///< set before `begin` and `gather`

 private:
  std::byte* at(void* data, std::int64_t k) const {
    return static_cast<std::byte*>(data) + k * element_.width;
  }
  std::byte const* at(void const* data, std::int64_t k) const {
    return static_cast<std::byte const*>(data) + k * element_.width;
  }
  void copy(void const* from, std::int64_t n, void* to) const;
  /// What of rank `g`'s segment passes place `j` of node `k`.
  Range held(int k, int j, int g) const;
  /// The message of a range that begins at `from`; sender and receiver cut it alike.
  Range piece(Range r, std::int64_t from) const;
  void receive(void* to, std::int64_t n, int from, MPI_Request& request);
  void transmit(void const* from, std::int64_t n, int to, MPI_Request& request);
  /// The node's sums of the segments of node `k`, by place, or of rank `owner`'s one, by parts:
  /// this rank's part to `out`, from where messages of it leave for `to` as soon as they are ready;
  /// -1: none.
  void sum_inside(void const* send, void* out, int k, int owner, int to);
  /// One round of that: the elements from `from` on of every part, `most` at most.
  void sum_round(void const* send, void* out, std::int64_t from, std::int64_t most);
  std::int64_t length(int i, std::int64_t from, std::int64_t most) const;
  /// Gives the other ranks of the node this rank's segment and what of other nodes' came here, and
  /// gets theirs.
  void pass_by_messages(void* all);
  void pass_in_window(void* all);
  /// Appends the pieces that place `i` of this node passes on: of its segment, and of those of
  /// other nodes' ranks.
  void list_passed(int i);
  void wait_for_all();

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  NodePlaces const* places_ = nullptr;
  NodeWindow* window_ = nullptr;
  WireElement element_;
  int node_ = 0;         ///< this rank's
  int place_ = 0;        ///< this rank's in it
  int ranks_ = 1;        ///< of this node
  List<int> others_;     ///< members of other nodes, in an order that all ranks of a node share
  void* out_ = nullptr;  ///< not null: a reduction has begun
  void* all_ = nullptr;  ///< null: only this rank's segment is wanted
  void const* came_ = nullptr;
  ReduceKind kind_ = ReduceKind::sum;
  List<Range> arriving_;  ///< the elements of each message in `received_`
  List<MPI_Request> received_, waiting_, inside_;
  // reused, so that only the first call of a size allocates
  List<std::byte> arrivals_, sums_, beside_;
  List<std::int64_t> begins_, counts_;
  List<Range> passed_;
};

}  // namespace shardtype::detail

#ifndef SHARDTYPE_COMPILED
#include <shardtype/runtime/two_stages.ipp>
#endif
