#pragma once
/// The only file that calls MPI's collectives. Contiguous host buffers, counts in 64 bit.

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <mpi.h>
#include <sched.h>

#include <shardtype/runtime/error.hpp>
#include <shardtype/runtime/wire_type.hpp>

namespace shardtype {

namespace detail {

/// Whether waiting yields the core, and whether all ranks of the job share one node. Set once, by
/// Environment.
inline bool yield_while_waiting = false;
inline bool on_one_node = false;

/// Looks at where the ranks of the job are. Where more of them share a node than cores they may run
/// on, waiting must yield.
inline void look_at_node() {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int ranks = 1;
  int job = 1;
  MPI_Comm_size(node, &ranks);
  MPI_Comm_size(MPI_COMM_WORLD, &job);
  cpu_set_t mine;
  cpu_set_t all;
  CPU_ZERO(&mine);
  sched_getaffinity(0, sizeof mine, &mine);
  std::memcpy(&all, &mine, sizeof all);
  MPI_Allreduce(&mine, &all, static_cast<int>(sizeof mine), MPI_BYTE, MPI_BOR, node);
  MPI_Comm_free(&node);
  on_one_node = ranks == job;
  yield_while_waiting = ranks > CPU_COUNT(&all);
}

}  // namespace detail

/// Throws the Error of an MPI call that failed.
inline void check_mpi(int status, char const* call) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw Error("E01", std::string(call) + " failed: " + std::string(text, text + length));
}

/// Waits for a request: by a blocking wait, or yielding the core between tests when ranks share
/// cores, because MPICH itself never yields.
inline void wait_for(MPI_Request& request) {
  if (!detail::yield_while_waiting) {
    check_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
    return;
  }
  for (;;) {
    int done = 0;
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) return;
    sched_yield();
  }
}

namespace detail {

/// The members of `comm` as ranks of the job.
inline std::vector<int> ranks_in_job(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  std::vector<int> places(static_cast<std::size_t>(size));
  for (int k = 0; k < size; ++k) places[static_cast<std::size_t>(k)] = k;
  std::vector<int> ranks(places.size());
  MPI_Group members = MPI_GROUP_NULL;
  MPI_Group job = MPI_GROUP_NULL;
  MPI_Comm_group(comm, &members);
  MPI_Comm_group(MPI_COMM_WORLD, &job);
  MPI_Group_translate_ranks(members, size, places.data(), job, ranks.data());
  MPI_Group_free(&members);
  MPI_Group_free(&job);
  return ranks;
}

/// Collective over a communicator that is not ours to keep: `text` of rank `root` on all ranks.
inline void share_text(MPI_Comm comm, std::string& text, int root) {
  int length = static_cast<int>(text.size());
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibcast(&length, 1, MPI_INT, root, comm, &request), "MPI_Ibcast");
  wait_for(request);
  text.resize(static_cast<std::size_t>(length));
  check_mpi(MPI_Ibcast(text.data(), length, MPI_CHAR, root, comm, &request), "MPI_Ibcast");
  wait_for(request);
}

/// Likewise: the least or largest (`op`) of all ranks' numbers.
inline std::int64_t reduce_number(MPI_Comm comm, std::int64_t mine, MPI_Op op) {
  std::int64_t all = mine;
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallreduce(&mine, &all, 1, MPI_INT64_T, op, comm, &request), "MPI_Iallreduce");
  wait_for(request);
  return all;
}

}  // namespace detail

/// How the segments of an all_to_all are sized. One rank's own counts cannot tell, so the caller
/// says what holds on all ranks. `sparse`: most are empty, so each that is not goes as a message.
enum class Segments { even, uneven, huge, sparse };

/// `n` elements at `data` that go to, or come from, rank `rank` of a communicator.
template <class T>
struct Message {
  int rank = 0;
  T* data = nullptr;
  std::int64_t n = 0;
};

/// One communicator and the collectives over it. Every member call is collective.
class Comm {
 public:
  Comm() = default;
  /// Takes ownership of `comm`.
  explicit Comm(MPI_Comm comm) : comm_(comm) {
    if (comm_ == MPI_COMM_NULL) return;
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }
  Comm(Comm const&) = delete;
  Comm& operator=(Comm const&) = delete;
  Comm(Comm&& other) noexcept : comm_(other.comm_), rank_(other.rank_), size_(other.size_) {
    other.comm_ = MPI_COMM_NULL;
  }
  ~Comm() {
    int ended = 0;
    MPI_Finalized(&ended);
    if (comm_ != MPI_COMM_NULL && ended == 0) MPI_Comm_free(&comm_);
  }

  MPI_Comm raw() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }

  void barrier() {
    run(
        "MPI_Barrier", [&] { return MPI_Barrier(comm_); },
        [&](MPI_Request* r) { return MPI_Ibarrier(comm_, r); });
  }

  /// `n` elements of rank `root` to all.
  template <class T>
  void broadcast(T* data, std::int64_t n, int root) {
    for_chunks(n, [&](std::int64_t at, int count) {
      MPI_Datatype const t = WireType<T>::get();
      run(
          "MPI_Bcast", [&] { return MPI_Bcast(data + at, count, t, root, comm_); },
          [&](MPI_Request* r) { return MPI_Ibcast(data + at, count, t, root, comm_, r); });
    });
  }

  /// Each rank's `send` to all: rank g's lies in `recv` behind those of the ranks before it, with
  /// `counts[g]` elements.
  template <class T>
  void all_gather(T const* send, T* recv, std::span<std::int64_t const> counts) {
    std::int64_t const n = counts[static_cast<std::size_t>(rank_)];
    MPI_Datatype const t = WireType<T>::get();
    offsets(counts, recv_at_);
    if (!fits(counts)) {
      std::vector<std::int64_t> const same(counts.size(), n);
      std::vector<std::int64_t> const starts(counts.size(), 0);
      return exchange<T>(send, same, starts, recv, counts, recv_at_);
    }
    int const own = static_cast<int>(n);
    if (even(counts)) {
      run(
          "MPI_Allgather", [&] { return MPI_Allgather(send, own, t, recv, own, t, comm_); },
          [&](MPI_Request* r) { return MPI_Iallgather(send, own, t, recv, own, t, comm_, r); });
      return;
    }
    int const* c = ints(counts, int_a_);
    int const* d = ints(recv_at_, int_b_);
    run(
        "MPI_Allgatherv", [&] { return MPI_Allgatherv(send, own, t, recv, c, d, t, comm_); },
        [&](MPI_Request* r) { return MPI_Iallgatherv(send, own, t, recv, c, d, t, comm_, r); });
  }

  /// The reduction of everybody's `send`, on all ranks. `send` may be `recv`.
  template <class T>
  void all_reduce(T const* send, T* recv, std::int64_t n, ReduceKind kind) {
    MPI_Datatype const t = WireType<T>::get();
    MPI_Op const op = wire_operation<T>(kind);
    for_chunks(n, [&](std::int64_t at, int count) {
      if (sums_by_messages<T>(count, kind)) return all_sum(send + at, recv + at, count);
      void const* in = send == recv ? MPI_IN_PLACE : static_cast<void const*>(send + at);
      run(
          "MPI_Allreduce", [&] { return MPI_Allreduce(in, recv + at, count, t, op, comm_); },
          [&](MPI_Request* r) { return MPI_Iallreduce(in, recv + at, count, t, op, comm_, r); });
    });
  }

  /// The reduction of everybody's `send`, which holds a segment of `counts[g]` elements for each
  /// rank g; rank g gets its segment.
  template <class T>
  void reduce_scatter(T const* send, T* recv, std::span<std::int64_t const> counts,
                      ReduceKind kind) {
    MPI_Datatype const t = WireType<T>::get();
    MPI_Op const op = wire_operation<T>(kind);
    if (sums_by_messages<T>(sum_of(counts), kind)) return sum_segments(send, recv, counts);
    if (!fits(counts)) return reduce_scatter_by_chunks(send, recv, counts, kind);
    if (even(counts)) {
      int const n = static_cast<int>(counts[0]);
      run(
          "MPI_Reduce_scatter_block",
          [&] { return MPI_Reduce_scatter_block(send, recv, n, t, op, comm_); },
          [&](MPI_Request* r) {
            return MPI_Ireduce_scatter_block(send, recv, n, t, op, comm_, r);
          });
      return;
    }
    int const* c = ints(counts, int_a_);
    run(
        "MPI_Reduce_scatter", [&] { return MPI_Reduce_scatter(send, recv, c, t, op, comm_); },
        [&](MPI_Request* r) { return MPI_Ireduce_scatter(send, recv, c, t, op, comm_, r); });
  }

  /// The segment of `send` that begins at `send_at[g]` to rank g; its segment for us comes to
  /// `recv_at[g]`. `sized` is the same on all ranks: `even` when all counts are equal and segments
  /// lie one behind the other, `huge` when some rank's elements may exceed `largest_count`.
  template <class T>
  void all_to_all(T const* send, std::span<std::int64_t const> send_counts,
                  std::span<std::int64_t const> send_at, T* recv,
                  std::span<std::int64_t const> recv_counts, std::span<std::int64_t const> recv_at,
                  Segments sized) {
    MPI_Datatype const t = WireType<T>::get();
    if (sized == Segments::huge || sized == Segments::sparse)
      return exchange(send, send_counts, send_at, recv, recv_counts, recv_at);
    if (sized == Segments::even) {
      int const n = static_cast<int>(send_counts[0]);
      run(
          "MPI_Alltoall", [&] { return MPI_Alltoall(send, n, t, recv, n, t, comm_); },
          [&](MPI_Request* r) { return MPI_Ialltoall(send, n, t, recv, n, t, comm_, r); });
      return;
    }
    int const* sc = ints(send_counts, int_a_);
    int const* sd = ints(send_at, int_b_);
    int const* rc = ints(recv_counts, int_c_);
    int const* rd = ints(recv_at, int_d_);
    run(
        "MPI_Alltoallv", [&] { return MPI_Alltoallv(send, sc, sd, t, recv, rc, rd, t, comm_); },
        [&](MPI_Request* r) { return MPI_Ialltoallv(send, sc, sd, t, recv, rc, rd, t, comm_, r); });
  }

  /// `n` elements to rank `to`, and `m` elements from rank `from`.
  template <class T>
  void permute(T const* send, std::int64_t n, int to, T* recv, std::int64_t m, int from) {
    MPI_Datatype const t = WireType<T>::get();
    if (to == rank_) {
      std::copy(send, send + n, recv);
      return;
    }
    std::vector<MPI_Request>& requests = requests_;
    requests.clear();
    post(m, [&](std::int64_t at, int count, MPI_Request* r) {
      return MPI_Irecv(recv + at, count, t, from, 0, comm_, r);
    });
    post(n, [&](std::int64_t at, int count, MPI_Request* r) {
      return MPI_Isend(send + at, count, t, to, 0, comm_, r);
    });
    for (MPI_Request& r : requests) wait_for(r);
  }

  /// Sends the messages of `out` and receives those of `in`, none of them to oneself. Only ranks
  /// that have a message need call it.
  template <class T>
  void messages(std::vector<Message<T const>> const& out, std::vector<Message<T>> const& in) {
    MPI_Datatype const t = WireType<T>::get();
    requests_.clear();
    for (Message<T> const& m : in)
      post(m.n, [&](std::int64_t at, int count, MPI_Request* r) {
        return MPI_Irecv(m.data + at, count, t, m.rank, 0, comm_, r);
      });
    for (Message<T const> const& m : out)
      post(m.n, [&](std::int64_t at, int count, MPI_Request* r) {
        return MPI_Isend(m.data + at, count, t, m.rank, 0, comm_, r);
      });
    for (MPI_Request& r : requests_) wait_for(r);
  }

  /// Most elements in one MPI call; larger ones go in pieces. Lowered by tests only.
  static inline std::int64_t largest_count = INT_MAX;
  /// From how many bytes per rank on a sum within one node goes by messages of our own. Changed by
  /// tests only.
  static inline std::int64_t least_segment = 8192;

 private:
  template <class Blocking, class Starting>
  void run(char const* call, Blocking blocking, Starting start) {
    if (size_ == 1 || !detail::yield_while_waiting) {
      check_mpi(blocking(), call);
      return;
    }
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(start(&request), call);
    wait_for(request);
  }

  template <class Body>
  void for_chunks(std::int64_t n, Body body) {
    for (std::int64_t at = 0; at < n; at += largest_count)
      body(at, static_cast<int>(std::min(largest_count, n - at)));
  }

  template <class Start>
  void post(std::int64_t n, Start start) {
    for_chunks(n, [&](std::int64_t at, int count) {
      requests_.push_back(MPI_REQUEST_NULL);
      check_mpi(start(at, count, &requests_.back()), "MPI_Isend or MPI_Irecv");
    });
  }

  /// Pairwise messages in pieces: for segments whose counts do not fit MPI's int.
  template <class T>
  void exchange(T const* send, std::span<std::int64_t const> send_counts,
                std::span<std::int64_t const> send_at, T* recv,
                std::span<std::int64_t const> recv_counts, std::span<std::int64_t const> recv_at) {
    MPI_Datatype const t = WireType<T>::get();
    requests_.clear();
    for (int g = 0; g < size_; ++g) {
      auto const k = static_cast<std::size_t>(g);
      if (g == rank_) {
        std::copy(send + send_at[k], send + send_at[k] + send_counts[k], recv + recv_at[k]);
        continue;
      }
      post(recv_counts[k], [&](std::int64_t at, int count, MPI_Request* r) {
        return MPI_Irecv(recv + recv_at[k] + at, count, t, g, 0, comm_, r);
      });
    }
    for (int g = 0; g < size_; ++g) {
      auto const k = static_cast<std::size_t>(g);
      if (g == rank_) continue;
      post(send_counts[k], [&](std::int64_t at, int count, MPI_Request* r) {
        return MPI_Isend(send + send_at[k] + at, count, t, g, 0, comm_, r);
      });
    }
    for (MPI_Request& r : requests_) wait_for(r);
  }

  template <class T>
  void reduce_scatter_by_chunks(T const* send, T* recv, std::span<std::int64_t const> counts,
                                ReduceKind kind) {
    MPI_Datatype const t = WireType<T>::get();
    MPI_Op const op = wire_operation<T>(kind);
    std::int64_t from = 0;
    for (int g = 0; g < size_; ++g) {
      std::int64_t const n = counts[static_cast<std::size_t>(g)];
      for_chunks(n, [&](std::int64_t at, int count) {
        T const* in = send + from + at;
        T* out = recv + at;
        run(
            "MPI_Reduce", [&] { return MPI_Reduce(in, out, count, t, op, g, comm_); },
            [&](MPI_Request* r) { return MPI_Ireduce(in, out, count, t, op, g, comm_, r); });
      });
      from += n;
    }
  }

  /// Whether a sum of `n` elements goes by messages of our own. Within one node they are up to ten
  /// times faster than MPICH's reductions, which take memory anew at each call; between nodes MPI
  /// knows the network better.
  template <class T>
  bool sums_by_messages(std::int64_t n, ReduceKind kind) const {
    return kind == ReduceKind::sum && detail::on_one_node && size_ > 1 &&
           n / size_ * static_cast<std::int64_t>(sizeof(T)) >= least_segment;
  }

  /// Puts the sum of everybody's segment for this rank at `out`, where rank g's segment of `send`
  /// has `counts[g]` elements. Pieces are added while they are in cache, always in the same order.
  /// `out` may be this rank's own segment of `send`.
  template <class T>
  void sum_segments(T const* send, T* out, std::span<std::int64_t const> counts) {
    constexpr auto width = static_cast<std::int64_t>(sizeof(T));
    constexpr std::int64_t in_flight = 4 << 20;  // bytes of one round of pieces, all peers together
    MPI_Datatype const t = WireType<T>::get();
    std::int64_t const peers = size_ - 1;
    std::int64_t const longest = *std::max_element(counts.begin(), counts.end());
    std::int64_t const most = std::clamp<std::int64_t>(in_flight / peers, 1 << 16, 1 << 20) / width;
    std::int64_t const piece = std::max<std::int64_t>(1, std::min({longest, most, largest_count}));
    offsets(counts, recv_at_);
    // two rounds at a time; in each, a message from and one to every peer
    arrivals_.resize(static_cast<std::size_t>(2 * peers * piece * width));
    auto const arrived = [&](std::int64_t round, std::int64_t k) {
      return reinterpret_cast<T*>(arrivals_.data()) + (round % 2 * peers + k) * piece;
    };
    requests_.assign(static_cast<std::size_t>(4 * peers), MPI_REQUEST_NULL);
    auto const incoming = [&](std::int64_t round, std::int64_t k) -> MPI_Request& {
      return requests_[static_cast<std::size_t>((round % 2 * peers + k) * 2)];
    };
    auto const outgoing = [&](std::int64_t round, std::int64_t k) -> MPI_Request& {
      return requests_[static_cast<std::size_t>((round % 2 * peers + k) * 2 + 1)];
    };
    auto const length = [&](int g, std::int64_t round) {
      std::int64_t const left = counts[static_cast<std::size_t>(g)] - round * piece;
      return static_cast<int>(std::clamp<std::int64_t>(left, 0, piece));
    };
    auto const start = [&](std::int64_t round) {
      for (std::int64_t k = 0; k < peers; ++k) {
        int const g = static_cast<int>((rank_ + 1 + k) % size_);
        wait_for(outgoing(round, k));
        if (int const n = length(rank_, round); n > 0)
          check_mpi(MPI_Irecv(arrived(round, k), n, t, g, 0, comm_, &incoming(round, k)),
                    "MPI_Irecv");
        if (int const n = length(g, round); n > 0)
          check_mpi(MPI_Isend(send + recv_at_[static_cast<std::size_t>(g)] + round * piece, n, t, g,
                              0, comm_, &outgoing(round, k)),
                    "MPI_Isend");
      }
    };
    T const* const own = send + recv_at_[static_cast<std::size_t>(rank_)];
    std::int64_t const rounds = (longest + piece - 1) / piece;
    if (rounds > 0) start(0);
    for (std::int64_t round = 0; round < rounds; ++round) {
      if (round + 1 < rounds) start(round + 1);
      for (std::int64_t k = 0; k < peers; ++k) wait_for(incoming(round, k));
      std::int64_t const n = length(rank_, round);
      constexpr std::int64_t block = 4096;
      for (std::int64_t from = 0; from < n; from += block) {
        std::int64_t const at = round * piece + from;
        for (std::int64_t k = 0; k < peers; ++k)
          add((k == 0 ? own : out) + at, arrived(round, k) + from, out + at,
              std::min(block, n - from));
      }
    }
    for (MPI_Request& r : requests_) wait_for(r);
  }
  template <class T>
  static void add(T const* a, T const* b, T* sum, std::int64_t n) {
    for (std::int64_t k = 0; k < n; ++k) sum[k] = a[k] + b[k];
  }

  /// The sum of everybody's `send` at `recv`, on all ranks: each rank adds up one part of it and
  /// sends that to all. `send` may be `recv`.
  template <class T>
  void all_sum(T const* send, T* recv, int n) {
    MPI_Datatype const t = WireType<T>::get();
    int const part = n / size_;
    parts_.assign(static_cast<std::size_t>(size_), part);
    T* const mine = recv + std::int64_t{part} * rank_;
    sum_segments(send, mine, parts_);
    requests_.clear();
    for (int k = 1; k < size_; ++k) {
      int const g = (rank_ + k) % size_;
      post(part, [&](std::int64_t at, int count, MPI_Request* r) {
        return MPI_Irecv(recv + std::int64_t{part} * g + at, count, t, g, 0, comm_, r);
      });
    }
    for (int k = 1; k < size_; ++k) {
      int const g = (rank_ + size_ - k) % size_;
      post(part, [&](std::int64_t at, int count, MPI_Request* r) {
        return MPI_Isend(mine + at, count, t, g, 0, comm_, r);
      });
    }
    for (MPI_Request& r : requests_) wait_for(r);
    // fewer elements than ranks are left
    int const rest = n % size_;
    if (rest == 0) return;
    void const* const in = send == recv ? MPI_IN_PLACE : static_cast<void const*>(send + n - rest);
    T* const out = recv + n - rest;
    MPI_Op const op = wire_operation<T>(ReduceKind::sum);
    run(
        "MPI_Allreduce", [&] { return MPI_Allreduce(in, out, rest, t, op, comm_); },
        [&](MPI_Request* r) { return MPI_Iallreduce(in, out, rest, t, op, comm_, r); });
  }

  static std::int64_t sum_of(std::span<std::int64_t const> counts) {
    std::int64_t sum = 0;
    for (std::int64_t c : counts) sum += c;
    return sum;
  }
  /// Whether ints can describe segments, of which every rank sees the same counts.
  static bool fits(std::span<std::int64_t const> counts) { return sum_of(counts) <= largest_count; }
  static bool even(std::span<std::int64_t const> counts) {
    return std::all_of(counts.begin(), counts.end(),
                       [&](std::int64_t c) { return c == counts[0]; });
  }
  static void offsets(std::span<std::int64_t const> counts, std::vector<std::int64_t>& at) {
    at.resize(counts.size());
    std::int64_t sum = 0;
    for (std::size_t g = 0; g < counts.size(); ++g) {
      at[g] = sum;
      sum += counts[g];
    }
  }
  static int const* ints(std::span<std::int64_t const> counts, std::vector<int>& to) {
    to.resize(counts.size());
    std::transform(counts.begin(), counts.end(), to.begin(),
                   [](std::int64_t c) { return static_cast<int>(c); });
    return to.data();
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  // reused, so that no call allocates after the first of its size
  std::vector<std::int64_t> recv_at_;
  std::vector<int> int_a_, int_b_, int_c_, int_d_;
  std::vector<MPI_Request> requests_;
  std::vector<std::int64_t> parts_;
  std::vector<std::byte> arrivals_;
};

}  // namespace shardtype
