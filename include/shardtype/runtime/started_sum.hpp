#pragma once
/// Sums over the ranks of one node that are started.

#include <algorithm>
#include <cstdint>

#include <mpi.h>

#include <shardtype/core/list.hpp>
#include <shardtype/runtime/messages.hpp>

namespace shardtype::detail {

/// A sum whose messages are under way: the messages of NodeSums, all at once, and at the end its
/// additions in its order, so that the result has the same bits. A sum that all ranks get ends with
/// further messages: all ranks finish it at the same place of the program.
class StartedSum {
 public:
  /// Sends each rank its segment of `send`, `counts[g]` elements for rank g, and receives theirs in
  /// `arrivals`. `finish` writes the sum of this rank's segments to `out`.
  template <class T>
  void begin(MPI_Comm comm, int rank, T const* send, T* out, T* arrivals,
             List<std::int64_t> const& counts, Messages& messages) {
    int const size = static_cast<int>(counts.size());
    std::int64_t const n = counts[static_cast<std::size_t>(rank)];
    for (int k = 1; k < size; ++k)
      messages.receive<T>(comm, {(rank + k) % size, arrivals + (k - 1) * n, n});
    T const* own = send;
    for (int g = 0; g < size; ++g) {
      std::int64_t const count = counts[static_cast<std::size_t>(g)];
      if (g == rank) {
        own = send;
      } else {
        messages.send<T>(comm, {g, send, count});
      }
      send += count;
    }
    *this = {};
    comm_ = comm;
    rank_ = rank;
    size_ = size;
    n_ = n;
    own_ = own;
    out_ = out;
    arrivals_ = arrivals;
    end_ = &end<T>;
  }
  /// `begin` with segments of `part` elements; at the end all ranks get the whole sum in `all`,
  /// which may be `send`.
  template <class T>
  void begin_everywhere(MPI_Comm comm, int rank, int size, T const* send, T* all, T* arrivals,
                        std::int64_t part, List<std::int64_t>& counts, Messages& messages) {
    counts.assign(static_cast<std::size_t>(size), part);
    begin(comm, rank, send, all + part * rank, arrivals, counts, messages);
    everywhere_ = true;
  }
  /// After the messages: adds, and gets the other ranks' sums. Without a sum nothing.
  void finish(Messages& messages) {
    if (end_ != nullptr) end_(*this, messages);
    *this = {};
  }

 private:
  template <class T>
  static void end(StartedSum const& s, Messages& messages) {
    T* const out = static_cast<T*>(s.out_);
    constexpr std::int64_t block = 4096;
    for (std::int64_t from = 0; from < s.n_; from += block) {
      std::int64_t const to = std::min(from + block, s.n_);
      for (int k = 0; k + 1 < s.size_; ++k) {
        T const* const a = k == 0 ? static_cast<T const*>(s.own_) : out;
        T const* const b = static_cast<T const*>(s.arrivals_) + k * s.n_;
        for (std::int64_t i = from; i < to; ++i) out[i] = a[i] + b[i];
      }
    }
    if (!s.everywhere_) return;
    for (int k = 1; k < s.size_; ++k) {
      int const g = (s.rank_ + k) % s.size_;
      messages.receive<T>(s.comm_, {g, out + (g - s.rank_) * s.n_, s.n_});
    }
    for (int k = 1; k < s.size_; ++k)
      messages.send<T>(s.comm_, {(s.rank_ + s.size_ - k) % s.size_, out, s.n_});
    messages.finish();
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  std::int64_t n_ = 0;
  void const* own_ = nullptr;
  void* out_ = nullptr;
  void* arrivals_ = nullptr;
  bool everywhere_ = false;
  void (*end_)(StartedSum const&, Messages&) = nullptr;
};

}  // namespace shardtype::detail
