#pragma once
/// Sums over the ranks of one node.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <mpi.h>

#include <shardtype/core/list.hpp>
#include <shardtype/runtime/messages.hpp>
#include <shardtype/runtime/wait.hpp>
#include <shardtype/runtime/wire_type.hpp>

namespace shardtype::detail {

/// Sums by our own messages. Within one node they are up to ten times faster than MPICH's
/// reductions, which allocate memory at each call; between nodes MPI knows the network better.
class NodeSums {
 public:
  /// Whether a sum of `n` elements of `width` bytes over `size` ranks, if they are on one node,
  /// uses these messages.
  static bool fit(std::int64_t n, std::int64_t width, int size, bool on_one_node) {
    return on_one_node && size > 1 && n / size * width >= run_time.sending().least_segment;
  }

  /// Writes the sum of all ranks' segments for rank `rank` of `comm` to `out`; rank g's segment of
  /// `send` has `counts[g]` elements. Pieces are added while they are in cache, always in the same
  /// order. `out` may be this rank's own segment of `send`.
  template <class T>
  void segments(MPI_Comm comm, int rank, T const* send, T* out, List<std::int64_t> const& counts) {
    constexpr auto width = static_cast<std::int64_t>(sizeof(T));
    constexpr std::int64_t in_flight = 4 << 20;  // bytes of one round of pieces, for all peers
                                                 // together
    int const size = static_cast<int>(counts.size());
    std::int64_t const peers = size - 1;
    std::int64_t longest = 0;
    starts_.clear();
    std::int64_t total = 0;
    for (std::int64_t n : counts) {
      starts_.push_back(total);
      total += n;
      longest = std::max(longest, n);
    }
    std::int64_t const most = std::clamp<std::int64_t>(in_flight / peers, 1 << 16, 1 << 20) / width;
    std::int64_t const piece =
        std::max<std::int64_t>(1, std::min({longest, most, run_time.sending().largest_count}));
    // two rounds at a time; in each, one message from and one to every peer
    arrivals_.resize(static_cast<std::size_t>(2 * peers * piece * width));
    requests_.assign(static_cast<std::size_t>(4 * peers), MPI_REQUEST_NULL);
    auto const slot = [&](std::int64_t round, std::int64_t k) { return round % 2 * peers + k; };
    auto const arrived = [&](std::int64_t round, std::int64_t k) {
      return reinterpret_cast<T*>(arrivals_.data()) + slot(round, k) * piece;
    };
    auto const request = [&](std::int64_t round, std::int64_t k, bool out_going) -> MPI_Request& {
      return requests_[static_cast<std::size_t>(2 * slot(round, k) + (out_going ? 1 : 0))];
    };
    auto const length = [&](int g, std::int64_t round) {
      std::int64_t const left = counts[static_cast<std::size_t>(g)] - round * piece;
      return static_cast<int>(std::clamp<std::int64_t>(left, 0, piece));
    };
    MPI_Datatype const t = WireType<T>::get();
    auto const start = [&](std::int64_t round) {
      for (std::int64_t k = 0; k < peers; ++k) {
        int const g = static_cast<int>((rank + 1 + k) % size);
        runtime::wait_for(request(round, k, true));
        if (int const n = length(rank, round); n > 0)
          runtime::check_mpi(
              MPI_Irecv(arrived(round, k), n, t, g, 0, comm, &request(round, k, false)),
              "MPI_Irecv");
        T const* const piece_of_g = send + starts_[static_cast<std::size_t>(g)] + round * piece;
        if (int const n = length(g, round); n > 0)
          runtime::check_mpi(MPI_Isend(piece_of_g, n, t, g, 0, comm, &request(round, k, true)),
                             "MPI_Isend");
      }
    };
    T const* const own = send + starts_[static_cast<std::size_t>(rank)];
    std::int64_t const rounds = (longest + piece - 1) / piece;
    if (rounds > 0) start(0);
    for (std::int64_t round = 0; round < rounds; ++round) {
      if (round + 1 < rounds) start(round + 1);
      for (std::int64_t k = 0; k < peers; ++k) runtime::wait_for(request(round, k, false));
      std::int64_t const n = length(rank, round);
      constexpr std::int64_t block = 4096;
      for (std::int64_t from = 0; from < n; from += block) {
        std::int64_t const at = round * piece + from;
        for (std::int64_t k = 0; k < peers; ++k)
          add((k == 0 ? own : out) + at, arrived(round, k) + from, out + at,
              std::min(block, n - from));
      }
    }
    for (MPI_Request& r : requests_) runtime::wait_for(r);
  }

  /// Writes the sum of all ranks' `send` to `recv`, on all ranks of `comm`: each rank sums one part
  /// and sends it to all. `send` may be `recv`. `n` is a multiple of `size`.
  template <class T>
  void everywhere(MPI_Comm comm, int rank, int size, T const* send, T* recv, std::int64_t n) {
    std::int64_t const part = n / size;
    parts_.assign(static_cast<std::size_t>(size), part);
    T* const mine = recv + part * rank;
    segments(comm, rank, send, mine, parts_);
    for (int k = 1; k < size; ++k) {
      int const g = (rank + k) % size;
      messages_.receive<T>(comm, {g, recv + part * g, part});
    }
    for (int k = 1; k < size; ++k) messages_.send<T>(comm, {(rank + size - k) % size, mine, part});
    messages_.finish();
  }

 private:
  template <class T>
  static void add(T const* a, T const* b, T* sum, std::int64_t n) {
    for (std::int64_t k = 0; k < n; ++k) sum[k] = a[k] + b[k];
  }

  // reused, so that only the first call of a size allocates
  List<std::int64_t> starts_, parts_;
  List<std::byte> arrivals_;
  List<MPI_Request> requests_;
  Messages messages_;
};

}  // namespace shardtype::detail
