#pragma once
/// The only file that calls MPI's collectives. Contiguous host buffers, 64-bit counts.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include <mpi.h>
#include <sched.h>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/core/running_call.hpp>
#include <shardtype/plan/two_stages.hpp>
#include <shardtype/runtime/messages.hpp>
#include <shardtype/runtime/node_sums.hpp>
#include <shardtype/runtime/settings.hpp>
#include <shardtype/runtime/staged_exchange.hpp>
#include <shardtype/runtime/started_sum.hpp>
#include <shardtype/runtime/timed_collective.hpp>
#include <shardtype/runtime/two_stages.hpp>
#include <shardtype/runtime/wait.hpp>
#include <shardtype/runtime/wire_type.hpp>

namespace shardtype {

namespace detail {

/// Examines the placement of the job's ranks on nodes. If a host has more ranks than cores that
/// they may use, waiting must yield. SHARDTYPE_WAIT=yield or spin overrides how ranks wait.
void look_at_node();

/// Copies a rank's own part of an exchange. In the memory of a device, which the host does not
/// read, MPI copies it.
void copy_own(void* to, void const* from, std::size_t bytes);

/// The node of each rank of `comm`, numbered by their first ranks. Collective.
List<int> nodes_of(MPI_Comm comm);

/// The members of `comm` as ranks of the job.
List<int> ranks_in_job(MPI_Comm comm);

/// Broadcasts `text` of rank `root` over a communicator that is not owned here. Collective.
void share_text(MPI_Comm comm, std::string& text, int root);

/// Broadcasts `number` of the first rank. Collective.
void share_number(MPI_Comm comm, std::int64_t& number);

/// Waits until all ranks have come here; also after the end of the Environment. Collective.
void meet(MPI_Comm comm);

/// The least or largest (`op`) of all ranks' numbers. Collective.
std::int64_t reduce_number(MPI_Comm comm, std::int64_t mine, MPI_Op op);

}  // namespace detail

}  // namespace shardtype

namespace shardtype::runtime {

/// The kind of segments of an all_to_all. One rank's own counts do not determine it, so the caller
/// passes a value that holds on all ranks. `sparse`: most segments are empty, so the others are
/// sent as messages.
enum class Segments { even, uneven, huge, sparse };

/// One number for each rank of a communicator.
using Counts = detail::List<std::int64_t>;

/// Pending calls of MPI, and the counts that MPI reads until they are done.
struct UnderWay {
  detail::Messages requests;
  Counts offsets;
  detail::List<int> ints[4];
  /// A sum by messages, if the caller gave memory for what arrives (Comm::arrivals).
  detail::StartedSum sum;
  void* arrivals = nullptr;
  /// Such a sum in two stages.
  detail::TwoStages stages;
  planning::Collective collective = planning::Collective::none;

  /// Waits for all calls, and completes the sum.
  void finish() {
    TimedCollective const timing(collective);
    requests.finish();
    sum.finish(requests);
    stages.finish();
  }
};

/// One communicator and the collectives over it. Every member call is collective. With an UnderWay
/// `later`, a collective is only started: buffers must not change until its requests are done.
class Comm {
 public:
  /// Messages of one stream along a ring, in order.
  struct Messages {
    detail::List<MPI_Request> received, sent;
  };

  Comm() = default;
  /// Takes ownership of `comm`.
  explicit Comm(MPI_Comm comm);
  Comm(Comm const&) = delete;
  Comm& operator=(Comm const&) = delete;
  Comm(Comm&& other) noexcept
      : comm_(other.comm_),
        rank_(other.rank_),
        size_(other.size_),
        inside_(other.inside_),
        places_(static_cast<detail::NodePlaces&&>(other.places_)),
        window_(other.window_) {
    other.comm_ = MPI_COMM_NULL;
    other.window_ = nullptr;
  }
  ~Comm();

  MPI_Comm raw() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  /// Whether all ranks share one node.
  bool on_one_node() const { return run_time.on_one_node || inside_; }
  /// Whether a collective, whose parts for a rank have `bytes` bytes, runs in two stages: by the
  /// machine's rates inside of nodes and between them.
  bool in_two_stages(planning::Collective c, std::int64_t bytes) const;
  /// The messages of the stream with this tag, 1 to 4; kept, so that a steady loop allocates
  /// nothing.
  Messages& stream(int tag) { return streams_[tag - 1]; }

  void barrier();

  /// Sends `n` elements of rank `root` to all ranks.
  template <class T>
  void broadcast(T* data, std::int64_t n, int root, UnderWay* later = nullptr);

  /// Gathers each rank's `send` on all ranks: `recv` has the segments of all ranks in order,
  /// `counts[g]` elements for rank g.
  template <class T>
  void all_gather(T const* send, T* recv, Counts const& counts, UnderWay* later = nullptr);

  /// The reduction of all ranks' `send`, on all ranks. `send` may be `recv`.
  template <class T>
  void all_reduce(T const* send, T* recv, std::int64_t n, ReduceKind kind,
                  UnderWay* later = nullptr);

  /// The reduction of all ranks' `send`, which has a segment of `counts[g]` elements for each rank
  /// g; rank g receives its segment.
  template <class T>
  void reduce_scatter(T const* send, T* recv, Counts const& counts, ReduceKind kind,
                      UnderWay* later = nullptr);

  /// The number of elements that arrive in a started sum of `n` elements, of which `segment` are
  /// this rank's, if its result is to have the bits of the blocking sum; 0: MPI computes both.
  template <class T>
  std::int64_t arrivals(std::int64_t n, std::int64_t segment, ReduceKind kind) const {
    if (in_two_stages(planning::Collective::all_reduce,
                      n / size_ * static_cast<std::int64_t>(sizeof(T)))) {
      std::int64_t const ranks = places_.ranks(places_.node_of(rank_));
      return std::max<std::int64_t>(
          1,
          detail::TwoStages::arriving(places_, std::max(segment, n / places_.nodes() / ranks + 2)));
    }
    bool const ours =
        kind == ReduceKind::sum && n <= run_time.sending().largest_count &&
        detail::NodeSums::fit(n, static_cast<std::int64_t>(sizeof(T)), size_, on_one_node());
    return ours ? std::max<std::int64_t>(1, segment * (size_ - 1)) : 0;
  }

  /// Sends the segment of `send` at `send_at[g]` to rank g, and receives rank g's segment for this
  /// rank at `recv_at[g]`. `sized` is the same on all ranks: `even` if all counts are equal and
  /// segments are consecutive, `huge` if some rank's elements may exceed
  /// `SendingLimits::largest_count`. `segment`: the elements of the largest rank's segments on
  /// average, the same number on all ranks; by it an exchange that is `even` or `uneven` may run in
  /// two stages, in which the host copies elements. -1: it does not.
  template <class T>
  void all_to_all(T const* send, Counts const& send_counts, Counts const& send_at, T* recv,
                  Counts const& recv_counts, Counts const& recv_at, Segments sized,
                  UnderWay* later = nullptr, std::int64_t segment = -1);

  /// Sends `n` elements to rank `to`, and receives `m` elements from rank `from`; -1: none.
  template <class T>
  void permute(T const* send, std::int64_t n, int to, T* recv, std::int64_t m, int from,
               UnderWay* later = nullptr);

  /// Sends the messages of `out` and receives those of `in`, none of them to itself. Only ranks
  /// that have a message need to call it.
  template <class T>
  void messages(detail::List<Message<T const>> const& out, detail::List<Message<T>> const& in);

 private:
  /// Memory that this rank's node shares; null: there is none. Collective over the node.
  detail::NodeWindow* node_window();
  /// Counts the caller's time, and the wait for what it starts, as that of `c`.
  static TimedCollective timed(planning::Collective c, UnderWay* later) {
    if (later != nullptr) later->collective = c;
    return TimedCollective(c);
  }
  template <class Blocking, class Starting, class... As>
  void run(char const* call, Blocking blocking, Starting starting, UnderWay* later, As... as) {
    core::RunningCall::check_thread();
    if (later != nullptr) {
      runtime::check_mpi(starting(as..., comm_, &later->requests.next()), call);
    } else if (size_ == 1 || !run_time.yield_while_waiting) {
      runtime::check_mpi(blocking(as..., comm_), call);
    } else {
      MPI_Request request = MPI_REQUEST_NULL;
      runtime::check_mpi(starting(as..., comm_, &request), call);
      runtime::wait_for(request);
    }
  }

  /// Pairwise messages in pieces, for segments whose counts do not fit MPI's int.
  template <class T>
  void exchange(T const* send, Counts const& send_counts, Counts const& send_at, T* recv,
                Counts const& recv_counts, Counts const& recv_at, UnderWay* later);

  template <class T>
  void reduce_scatter_in_pieces(T const* send, T* recv, Counts const& counts, ReduceKind kind,
                                UnderWay* later);

  static std::int64_t sum_of(Counts const& counts) {
    std::int64_t sum = 0;
    for (std::int64_t c : counts) sum += c;
    return sum;
  }
  /// Whether ints can represent segments whose counts are the same on every rank.
  static bool fits(Counts const& counts) {
    return sum_of(counts) <= run_time.sending().largest_count;
  }
  static bool even(Counts const& counts) {
    bool equal = true;
    for (std::int64_t c : counts) equal = equal && c == counts[0];
    return equal;
  }
  static void offsets(Counts const& counts, Counts& at);
  static int const* ints(Counts const& counts, detail::List<int>& to);

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  bool inside_ = false;  ///< whether all are on one of the job's nodes
  detail::NodePlaces places_;
  detail::NodeWindow* window_ = nullptr;  ///< made at the first collective in two stages
  // reused, so that only the first call of a size allocates
  UnderWay now_;
  Messages streams_[4];
  detail::NodeSums sums_;
  detail::StagedExchange exchange_;
};

// Not `inline`: see core/compiled.hpp.

template <class T>
void Comm::broadcast(T* data, std::int64_t n, int root, UnderWay* later) {
  TimedCollective const timing = timed(planning::Collective::broadcast, later);
  detail::for_pieces(n, [&](std::int64_t at, int count) {
    MPI_Datatype const t = WireType<T>::get();
    run("MPI_Bcast", &MPI_Bcast, &MPI_Ibcast, later, data + at, count, t, root);
  });
}

template <class T>
void Comm::all_gather(T const* send, T* recv, Counts const& counts, UnderWay* later) {
  TimedCollective const timing = timed(planning::Collective::all_gather, later);
  std::int64_t const n = counts[static_cast<std::size_t>(rank_)];
  MPI_Datatype const t = WireType<T>::get();
  if (later == nullptr &&
      in_two_stages(planning::Collective::all_gather,
                    sum_of(counts) / size_ * static_cast<std::int64_t>(sizeof(T)))) {
    core::RunningCall::check_thread();
    now_.stages.segments.set(counts);
    std::int64_t const at = now_.stages.segments.of(rank_).begin;
    if (n > 0 && recv + at != send)
      std::memcpy(static_cast<void*>(recv + at), send, static_cast<std::size_t>(n) * sizeof(T));
    now_.stages.set(comm_, rank_, places_, node_window(), {sizeof(T), t, nullptr});
    now_.stages.gather(recv);
    return;
  }
  UnderWay& w = later != nullptr ? *later : now_;
  offsets(counts, w.offsets);
  if (!fits(counts)) {
    Counts const same(counts.size(), n);
    Counts const starts(counts.size(), 0);
    return exchange<T>(send, same, starts, recv, counts, w.offsets, later);
  }
  int const own = static_cast<int>(n);
  if (even(counts)) {
    run("MPI_Allgather", &MPI_Allgather, &MPI_Iallgather, later, send, own, t, recv, own, t);
    return;
  }
  int const* c = ints(counts, w.ints[0]);
  int const* d = ints(w.offsets, w.ints[1]);
  run("MPI_Allgatherv", &MPI_Allgatherv, &MPI_Iallgatherv, later, send, own, t, recv, c, d, t);
}

template <class T>
void Comm::all_reduce(T const* send, T* recv, std::int64_t n, ReduceKind kind, UnderWay* later) {
  TimedCollective const timing = timed(planning::Collective::all_reduce, later);
  MPI_Datatype const t = WireType<T>::get();
  MPI_Op const op = runtime::wire_operation<T>(kind);
  if ((later == nullptr || later->arrivals != nullptr) &&
      in_two_stages(planning::Collective::all_reduce,
                    n / size_ * static_cast<std::int64_t>(sizeof(T)))) {
    core::RunningCall::check_thread();
    UnderWay& w = later != nullptr ? *later : now_;
    w.stages.set(comm_, rank_, places_, node_window(), {sizeof(T), t, &detail::join_elements<T>});
    w.stages.begin_everywhere(send, recv, w.arrivals, n, kind);
    if (later == nullptr) w.stages.finish();
    return;
  }
  detail::for_pieces(n, [&](std::int64_t at, int count) {
    int by_messages = 0;
    if (later == nullptr && kind == ReduceKind::sum &&
        detail::NodeSums::fit(count, sizeof(T), size_, on_one_node())) {
      by_messages = count - count % size_;
      sums_.everywhere(comm_, rank_, size_, send + at, recv + at, by_messages);
    } else if (later != nullptr && later->arrivals != nullptr) {
      by_messages = count - count % size_;
      later->sum.begin_everywhere(comm_, rank_, size_, send, recv, static_cast<T*>(later->arrivals),
                                  by_messages / size_, later->offsets, later->requests);
    }
    int const rest = count - by_messages;  // all elements, if there are fewer than ranks
    if (rest == 0) return;
    T* const out = recv + at + by_messages;
    void const* const in = send == recv ? MPI_IN_PLACE : send + at + by_messages;
    run("MPI_Allreduce", &MPI_Allreduce, &MPI_Iallreduce, later, in, out, rest, t, op);
  });
}

template <class T>
void Comm::reduce_scatter(T const* send, T* recv, Counts const& counts, ReduceKind kind,
                          UnderWay* later) {
  TimedCollective const timing = timed(planning::Collective::reduce_scatter, later);
  MPI_Datatype const t = WireType<T>::get();
  MPI_Op const op = runtime::wire_operation<T>(kind);
  if ((later == nullptr || later->arrivals != nullptr) &&
      in_two_stages(planning::Collective::reduce_scatter,
                    sum_of(counts) / size_ * static_cast<std::int64_t>(sizeof(T)))) {
    core::RunningCall::check_thread();
    UnderWay& w = later != nullptr ? *later : now_;
    w.stages.segments.set(counts);
    w.stages.set(comm_, rank_, places_, node_window(), {sizeof(T), t, &detail::join_elements<T>});
    w.stages.begin(send, recv, nullptr, w.arrivals, kind);
    if (later == nullptr) w.stages.finish();
    return;
  }
  if (later == nullptr && kind == ReduceKind::sum &&
      detail::NodeSums::fit(sum_of(counts), sizeof(T), size_, on_one_node()))
    return sums_.segments(comm_, rank_, send, recv, counts);
  if (later != nullptr && later->arrivals != nullptr)
    return later->sum.begin(comm_, rank_, send, recv, static_cast<T*>(later->arrivals), counts,
                            later->requests);
  if (!fits(counts)) return reduce_scatter_in_pieces(send, recv, counts, kind, later);
  if (even(counts)) {
    int const n = static_cast<int>(counts[0]);
    run("MPI_Reduce_scatter_block", &MPI_Reduce_scatter_block, &MPI_Ireduce_scatter_block, later,
        send, recv, n, t, op);
    return;
  }
  int const* c = ints(counts, (later != nullptr ? *later : now_).ints[0]);
  run("MPI_Reduce_scatter", &MPI_Reduce_scatter, &MPI_Ireduce_scatter, later, send, recv, c, t, op);
}

template <class T>
void Comm::all_to_all(T const* send, Counts const& send_counts, Counts const& send_at, T* recv,
                      Counts const& recv_counts, Counts const& recv_at, Segments sized,
                      UnderWay* later, std::int64_t segment) {
  TimedCollective const timing = timed(planning::Collective::all_to_all, later);
  MPI_Datatype const t = WireType<T>::get();
  if (sized == Segments::huge || sized == Segments::sparse)
    return exchange(send, send_counts, send_at, recv, recv_counts, recv_at, later);
  if (later == nullptr && segment >= 0 &&
      in_two_stages(planning::Collective::all_to_all,
                    segment * static_cast<std::int64_t>(sizeof(T)))) {
    core::RunningCall::check_thread();
    exchange_.set(comm_, rank_, places_, node_window(), sizeof(T), t);
    exchange_.run({reinterpret_cast<std::byte const*>(send), &send_counts, &send_at},
                  {reinterpret_cast<std::byte*>(recv), &recv_counts, &recv_at},
                  sized == Segments::even);
    return;
  }
  if (sized == Segments::even) {
    int const n = static_cast<int>(send_counts[0]);
    run("MPI_Alltoall", &MPI_Alltoall, &MPI_Ialltoall, later, send, n, t, recv, n, t);
    return;
  }
  UnderWay& w = later != nullptr ? *later : now_;
  int const* sc = ints(send_counts, w.ints[0]);
  int const* sd = ints(send_at, w.ints[1]);
  int const* rc = ints(recv_counts, w.ints[2]);
  int const* rd = ints(recv_at, w.ints[3]);
  run("MPI_Alltoallv", &MPI_Alltoallv, &MPI_Ialltoallv, later, send, sc, sd, t, recv, rc, rd, t);
}

template <class T>
void Comm::permute(T const* send, std::int64_t n, int to, T* recv, std::int64_t m, int from,
                   UnderWay* later) {
  TimedCollective const timing = timed(planning::Collective::permute, later);
  if (to == rank_) return detail::copy_own(recv, send, static_cast<std::size_t>(n) * sizeof(T));
  core::RunningCall::check_thread();
  detail::Messages& messages = (later != nullptr ? *later : now_).requests;
  if (from >= 0) messages.receive<T>(comm_, {from, recv, m});
  if (to >= 0) messages.send<T>(comm_, {to, send, n});
  if (later == nullptr) messages.finish();
}

template <class T>
void Comm::messages(detail::List<Message<T const>> const& out, detail::List<Message<T>> const& in) {
  TimedCollective const timing(planning::Collective::none);
  core::RunningCall::check_thread();
  for (Message<T> const& m : in) now_.requests.receive(comm_, m);
  for (Message<T const> const& m : out) now_.requests.send<T>(comm_, m);
  now_.requests.finish();
}

template <class T>
void Comm::exchange(T const* send, Counts const& send_counts, Counts const& send_at, T* recv,
                    Counts const& recv_counts, Counts const& recv_at, UnderWay* later) {
  core::RunningCall::check_thread();
  detail::Messages& messages = (later != nullptr ? *later : now_).requests;
  for (int g = 0; g < size_; ++g) {
    auto const k = static_cast<std::size_t>(g);
    if (g != rank_) messages.receive<T>(comm_, {g, recv + recv_at[k], recv_counts[k]});
  }
  for (int g = 0; g < size_; ++g) {
    auto const k = static_cast<std::size_t>(g);
    if (g != rank_) messages.send<T>(comm_, {g, send + send_at[k], send_counts[k]});
  }
  auto const own = static_cast<std::size_t>(rank_);
  detail::copy_own(recv + recv_at[own], send + send_at[own],
                   static_cast<std::size_t>(send_counts[own]) * sizeof(T));
  if (later == nullptr) messages.finish();
}

template <class T>
void Comm::reduce_scatter_in_pieces(T const* send, T* recv, Counts const& counts, ReduceKind kind,
                                    UnderWay* later) {
  MPI_Datatype const t = WireType<T>::get();
  MPI_Op const op = runtime::wire_operation<T>(kind);
  std::int64_t from = 0;
  for (int g = 0; g < size_; ++g) {
    std::int64_t const n = counts[static_cast<std::size_t>(g)];
    detail::for_pieces(n, [&](std::int64_t at, int count) {
      T const* in = send + from + at;
      T* out = recv + at;
      run("MPI_Reduce", &MPI_Reduce, &MPI_Ireduce, later, in, out, count, t, op, g);
    });
    from += n;
  }
}

}  // namespace shardtype::runtime

#ifndef SHARDTYPE_COMPILED
#include <shardtype/runtime/comm.ipp>
#endif
