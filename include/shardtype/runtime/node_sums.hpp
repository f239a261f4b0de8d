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
    starts_.clear();
    std::int64_t total = 0;
    for (std::int64_t n : counts) {
      starts_.push_back(total);
      total += n;
    }
    segments(comm, nullptr, rank, send, out, starts_, counts, ReduceKind::sum);
  }
  /// The same reduction of segments anywhere in `send`, over the ranks `members` of `comm`, of
  /// which this one is number `rank`; null: all ranks.
  template <class T>
  void segments(MPI_Comm comm, int const* members, int rank, T const* send, T* out,
                List<std::int64_t> const& begins, List<std::int64_t> const& counts,
                ReduceKind kind) {
    constexpr auto width = static_cast<std::int64_t>(sizeof(T));
    constexpr std::int64_t in_flight = 4 << 20;  // bytes of one round of pieces, for all peers
                                                 // together
    int const size = static_cast<int>(counts.size());
    std::int64_t const peers = size - 1;
    T const* const own = send + begins[static_cast<std::size_t>(rank)];
    if (peers == 0) {
      if (out != own) std::copy_n(own, counts[0], out);
      return;
    }
    std::int64_t longest = 0;
    for (std::int64_t n : counts) longest = std::max(longest, n);
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
        int const peer = members == nullptr ? g : members[g];
        runtime::wait_for(request(round, k, true));
        if (int const n = length(rank, round); n > 0)
          runtime::check_mpi(
              MPI_Irecv(arrived(round, k), n, t, peer, 0, comm, &request(round, k, false)),
              "MPI_Irecv");
        T const* const piece_of_g = send + begins[static_cast<std::size_t>(g)] + round * piece;
        if (int const n = length(g, round); n > 0)
          runtime::check_mpi(MPI_Isend(piece_of_g, n, t, peer, 0, comm, &request(round, k, true)),
                             "MPI_Isend");
      }
    };
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
          join((k == 0 ? own : out) + at, arrived(round, k) + from, out + at,
               std::min(block, n - from), kind);
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

  /// The reduction of `n` elements of `a` and of `b`; `out` may be `a`.
  template <class T>
  static void join(T const* a, T const* b, T* out, std::int64_t n, ReduceKind kind) {
    if (kind == ReduceKind::sum) {
      for (std::int64_t k = 0; k < n; ++k) out[k] = a[k] + b[k];
      return;
    }
    if constexpr (requires(T const& x) { x < x; })
      for (std::int64_t k = 0; k < n; ++k) {
        T one = a[k];
        kind == ReduceKind::max ? JoinExtremes<T, true>::join(one, b[k])
                                : JoinExtremes<T, false>::join(one, b[k]);
        out[k] = one;
      }
  }

 private:
  // reused, so that only the first call of a size allocates
  List<std::int64_t> starts_, parts_;
  List<std::byte> arrivals_;
  List<MPI_Request> requests_;
  Messages messages_;
};

}  // namespace shardtype::detail
