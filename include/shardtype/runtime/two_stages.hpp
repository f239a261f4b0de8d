#pragma once
/// Collectives over ranks of several nodes in two stages: inside of nodes and between them.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <mpi.h>

#include <shardtype/core/list.hpp>
#include <shardtype/runtime/messages.hpp>
#include <shardtype/runtime/node_places.hpp>
#include <shardtype/runtime/node_sums.hpp>
#include <shardtype/runtime/node_window.hpp>

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
  void set(List<std::int64_t> const& lengths) {
    begins.clear();
    counts = lengths;
    std::int64_t at = 0;
    for (std::int64_t const n : counts) {
      begins.push_back(at);
      at += n;
    }
  }
  /// Parts of `n` elements: as many for each node, and of these as many for each of its ranks. So
  /// nodes send equally many bytes also where one has more ranks.
  void set(NodePlaces const& places, std::int64_t n) {
    begins.assign(places.node.size(), 0);
    counts.assign(places.node.size(), 0);
    for (int k = 0; k < places.nodes(); ++k)
      for (int j = 0; j < places.ranks(k); ++j) {
        Range const part = even_part(even_part({0, n}, places.nodes(), k), places.ranks(k), j);
        auto const g = static_cast<std::size_t>(places.member(k, j));
        begins[g] = part.begin;
        counts[g] = part.size();
      }
  }
};

/// A rank sends a byte of its node's sum, or of a block, once to each other node at most.
///
/// For a segment of another node's rank, the ranks of a node sum their parts first: the one at the
/// same place does, or, if that node has another number of ranks, each sums a part of the segment.
/// It sends the sum to the segment's rank. A gather goes the same way back: a segment goes once to
/// each other node, and there to the other ranks.
class TwoStages {
 public:
  /// Begins the reduction of all ranks' `send`, which has their segments; `finish` writes this
  /// rank's one to `out`. `out` may be its segment of `send`. Sums for other nodes lie in `into`,
  /// at the places of the segments in `send`, which may be `send`; null: in memory of this object.
  /// `arrivals`: memory for `arriving` elements; null: as well.
  template <class T>
  void begin(MPI_Comm comm, int rank, NodePlaces const& places, NodeSums& sums, NodeWindow* window,
             T const* send, T* out, T* into, T* arrivals, ReduceKind kind) {
    comm_ = comm;
    rank_ = rank;
    places_ = &places;
    window_ = window;
    out_ = out;
    kind_ = kind;
    end_ = &end<T>;
    int const mine = places.node_of(rank);
    int const j = places.place_of(rank);
    Range const own = segments.of(rank);
    if (arrivals == nullptr) {
      arrivals_.resize(bytes<T>(arriving(places, own.size())));
      arrivals = reinterpret_cast<T*>(arrivals_.data());
    }
    came_ = arrivals;
    for (int step = 1; step < places.nodes(); ++step) {
      int const k = (mine + step) % places.nodes();
      for (int i = 0; i < places.ranks(k); ++i)
        pieces<T>(held(k, i, rank), [&](Range r) {
          received_.push_back({r.begin - own.begin, r.size(), MPI_REQUEST_NULL});
          receive(arrivals, r.size(), places.member(k, i), received_.back().request);
          arrivals += r.size();
        });
    }
    if (into == nullptr) {
      std::int64_t most = 0;
      for (int g = 0; g < static_cast<int>(places.node.size()); ++g)
        if (places.node_of(g) != mine) most += held(mine, j, g).size();
      sums_.resize(bytes<T>(most));
    }
    T* free = reinterpret_cast<T*>(sums_.data());
    // those that wait for the link between nodes first
    for (int step = 1; step < places.nodes(); ++step) {
      int const k = (mine + step) % places.nodes();
      bool const alike = places.ranks(k) == places.ranks(mine);
      for (int i = 0; i < places.ranks(k); ++i) {
        if (alike && i != j) continue;
        int const owner = places.member(k, i);
        Range const mine_of_it = held(mine, j, owner);
        T* const to = into != nullptr ? into + mine_of_it.begin : free;
        if (into == nullptr) free += mine_of_it.size();
        // each message leaves when its sums are there
        std::int64_t left = 0;
        sum_inside(sums, send, to, k, alike ? -1 : owner, [&](std::int64_t ready) {
          pieces<T>({left, mine_of_it.size()}, [&](Range r) {
            if (r.begin != left || r.end > ready) return;
            transmit(to + r.begin, r.size(), owner);
            left = r.end;
          });
        });
      }
    }
    sum_inside(sums, send, out, mine, -1, [](std::int64_t) {});
  }
  /// The elements that arrive for a segment of `n` elements.
  static std::int64_t arriving(NodePlaces const& places, std::int64_t n) {
    return n * (places.nodes() - 1);
  }
  /// As `begin` with equal parts of `n` elements for all; at the end all ranks get the whole result
  /// in `all`, which may be `send`.
  template <class T>
  void begin_everywhere(MPI_Comm comm, int rank, NodePlaces const& places, NodeSums& sums,
                        NodeWindow* window, T const* send, T* all, T* arrivals, std::int64_t n,
                        ReduceKind kind) {
    segments.set(places, n);
    begin(comm, rank, places, sums, window, send, all + segments.of(rank).begin, all, arrivals,
          kind);
    all_ = all;
  }
  /// Waits for what `begin` has begun.
  void finish() {
    if (end_ == nullptr) return;
    void (*const rest)(TwoStages&) = end_;
    end_ = nullptr;
    rest(*this);
    all_ = nullptr;
  }

  /// Gathers all ranks' segments in `all`, where this rank's is already.
  template <class T>
  void gather(MPI_Comm comm, int rank, NodePlaces const& places, NodeWindow* window, T* all) {
    comm_ = comm;
    rank_ = rank;
    places_ = &places;
    int const mine = places.node_of(rank);
    int const j = places.place_of(rank);
    each_of_others(mine, [&](int g) {
      pieces<T>(held(mine, j, g), [&](Range r) {
        received_.push_back({r.begin, r.size(), MPI_REQUEST_NULL});
        receive(all + r.begin, r.size(), g, received_.back().request);
      });
    });
    for (int step = 1; step < places.nodes(); ++step) {
      int const k = (mine + step) % places.nodes();
      for (int i = 0; i < places.ranks(k); ++i)
        pieces<T>(held(k, i, rank),
                  [&](Range r) { transmit(all + r.begin, r.size(), places.member(k, i)); });
    }
    if (window != nullptr) {
      pass_in_window(*window, mine, j, all);
    } else {
      pass_by_messages(mine, j, all);
    }
    received_.clear();
    wait_for_all();
  }

  Segments segments;  ///< set before `begin` and `gather`

 private:
  struct Arriving {
    std::int64_t at = 0;
    std::int64_t n = 0;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  template <class T>
  static constexpr auto width = static_cast<std::int64_t>(sizeof(T));
  template <class T>
  static std::size_t bytes(std::int64_t n) {
    return static_cast<std::size_t>(n) * sizeof(T);
  }
  /// What of rank `g`'s segment passes place `j` of node `k`.
  Range held(int k, int j, int g) const {
    Range const whole = segments.of(g);
    if (places_->ranks(k) != places_->ranks(places_->node_of(g)))
      return even_part(whole, places_->ranks(k), j);
    return places_->place_of(g) == j ? whole : Range{whole.begin, whole.begin};
  }
  /// Calls `body(piece)` for the messages of a range; sender and receiver cut it alike.
  template <class T, class Body>
  static void pieces(Range r, Body body) {
    std::int64_t const most = std::max<std::int64_t>(
        1, std::min<std::int64_t>(NodeWindow::area / width<T>, run_time.sending().largest_count));
    for (std::int64_t at = r.begin; at < r.end; at += most)
      body(Range{at, std::min(at + most, r.end)});
  }
  /// Calls `body(member)` for the members of other nodes, in an order that all ranks of a node
  /// share.
  template <class Body>
  void each_of_others(int mine, Body body) const {
    for (int step = 1; step < places_->nodes(); ++step) {
      int const k = (mine + step) % places_->nodes();
      for (int i = 0; i < places_->ranks(k); ++i) body(places_->member(k, i));
    }
  }
  /// Calls `body(place)` for the other places of a node.
  template <class Body>
  void each_beside(int mine, int j, Body body) const {
    int const ranks = places_->ranks(mine);
    for (int step = 1; step < ranks; ++step) body((j + step) % ranks);
  }
  template <class T>
  void receive(T* to, std::int64_t n, int from, MPI_Request& request) {
    runtime::check_mpi(
        MPI_Irecv(to, static_cast<int>(n), runtime::WireType<T>::get(), from, 0, comm_, &request),
        "MPI_Irecv");
  }
  template <class T>
  void transmit(T const* from, std::int64_t n, int to) {
    runtime::check_mpi(MPI_Isend(from, static_cast<int>(n), runtime::WireType<T>::get(), to, 0,
                                 comm_, &waiting_.push_back(MPI_REQUEST_NULL)),
                       "MPI_Isend");
  }
  /// The node's sums of the segments of node `k`, by place, or of rank `owner`'s one, by parts:
  /// this rank's part to `out`. Calls `ready(n)` when its first `n` elements are there.
  template <class T, class Ready>
  void sum_inside(NodeSums& sums, T const* send, T* out, int k, int owner, Ready ready) {
    int const mine = places_->node_of(rank_);
    int const ranks = places_->ranks(mine);
    group_.clear();
    begins_.clear();
    counts_.clear();
    for (int i = 0; i < ranks; ++i) {
      Range const r = held(mine, i, owner < 0 ? places_->member(k, i) : owner);
      group_.push_back(places_->member(mine, i));
      begins_.push_back(r.begin);
      counts_.push_back(r.size());
    }
    if (window_ != nullptr && ranks > 1) return sum_in_window(*window_, send, out, ready);
    sums.segments(comm_, group_.data(), places_->place_of(rank_), send, out, begins_, counts_,
                  kind_);
    ready(counts_[static_cast<std::size_t>(places_->place_of(rank_))]);
  }
  template <class T, class Ready>
  void sum_in_window(NodeWindow& window, T const* send, T* out, Ready ready) {
    auto const ranks = static_cast<int>(group_.size());
    int const me = places_->place_of(rank_);
    std::int64_t const most = std::max<std::int64_t>(
        1, std::min(NodeWindow::area / ranks / width<T>, run_time.sending().largest_count));
    std::int64_t longest = 0;
    for (std::int64_t const n : counts_) longest = std::max(longest, n);
    auto const part = [&](int i, int of) { return reinterpret_cast<T*>(window.of(i)) + of * most; };
    auto const length = [&](int i, std::int64_t from) {
      return std::clamp<std::int64_t>(counts_[static_cast<std::size_t>(i)] - from, 0, most);
    };
    for (std::int64_t from = 0; from < longest; from += most) {
      window.enter();
      for (int i = 0; i < ranks; ++i) {
        if (i == me) continue;
        std::copy_n(send + begins_[static_cast<std::size_t>(i)] + from, length(i, from),
                    part(me, i));
        run_time.exchanged_in_windows += length(i, from) * width<T>;
      }
      window.meet();
      T const* const own = send + begins_[static_cast<std::size_t>(me)] + from;
      for (int step = 1; step < ranks; ++step)
        NodeSums::join(step == 1 ? own : out + from, part((me + step) % ranks, me), out + from,
                       length(me, from), kind_);
      window.leave();
      ready(from + length(me, from));
    }
  }
  /// Gives the other ranks of the node this rank's segment and what of other nodes' came here, and
  /// gets theirs.
  template <class T>
  void pass_by_messages(int mine, int j, T* all) {
    each_beside(mine, j, [&](int i) {
      auto const from = [&](Range r) {
        receive(all + r.begin, r.size(), places_->member(mine, i), waiting_.push_back({}));
      };
      pieces<T>(segments.of(places_->member(mine, i)), from);
      each_of_others(mine, [&](int g) { pieces<T>(held(mine, i, g), from); });
    });
    auto const pass_on = [&](Range r) {
      each_beside(mine, j,
                  [&](int i) { transmit(all + r.begin, r.size(), places_->member(mine, i)); });
    };
    pieces<T>(segments.of(rank_), pass_on);
    for (Arriving& a : received_) {
      runtime::wait_for(a.request);
      pass_on({a.at, a.at + a.n});
    }
  }
  template <class T>
  void pass_in_window(NodeWindow& window, int mine, int j, T* all) {
    int const ranks = places_->ranks(mine);
    passed_.clear();  // the pieces of each place, one place after the other
    begins_.clear();
    std::size_t rounds = 0;
    for (int i = 0; i < ranks; ++i) {
      std::size_t const before = passed_.size();
      begins_.push_back(static_cast<std::int64_t>(before));
      auto const add = [&](Range r) { passed_.push_back(r); };
      pieces<T>(segments.of(places_->member(mine, i)), add);
      each_of_others(mine, [&](int g) { pieces<T>(held(mine, i, g), add); });
      rounds = std::max(rounds, passed_.size() - before);
    }
    begins_.push_back(static_cast<std::int64_t>(passed_.size()));
    auto const piece = [&](int i, std::size_t round) {
      auto const at = static_cast<std::size_t>(begins_[static_cast<std::size_t>(i)]) + round;
      return at < static_cast<std::size_t>(begins_[static_cast<std::size_t>(i) + 1]) ? passed_[at]
                                                                                     : Range{};
    };
    std::size_t own = 0;  // pieces that came from no other node
    pieces<T>(segments.of(rank_), [&](Range) { ++own; });
    for (std::size_t round = 0; round < rounds; ++round) {
      if (round >= own && round - own < received_.size())
        runtime::wait_for(received_[round - own].request);
      window.enter();
      Range const mine_now = piece(j, round);
      std::copy_n(all + mine_now.begin, mine_now.size(), reinterpret_cast<T*>(window.of(j)));
      run_time.exchanged_in_windows += mine_now.size() * (ranks - 1) * width<T>;
      window.meet();
      each_beside(mine, j, [&](int i) {
        Range const r = piece(i, round);
        std::copy_n(reinterpret_cast<T const*>(window.of(i)), r.size(), all + r.begin);
      });
      window.leave();
    }
  }
  void wait_for_all() {
    for (MPI_Request& r : waiting_) runtime::wait_for(r);
    waiting_.clear();
  }
  template <class T>
  static void end(TwoStages& s) {
    T* const out = static_cast<T*>(s.out_);
    T const* came = static_cast<T const*>(s.came_);
    for (Arriving& a : s.received_) {
      runtime::wait_for(a.request);
      NodeSums::join(out + a.at, came, out + a.at, a.n, s.kind_);
      came += a.n;
    }
    s.received_.clear();
    s.wait_for_all();
    if (s.all_ != nullptr)
      s.gather(s.comm_, s.rank_, *s.places_, s.window_, static_cast<T*>(s.all_));
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  NodePlaces const* places_ = nullptr;
  NodeWindow* window_ = nullptr;  ///< null: ranks of a node exchange by messages
  void* out_ = nullptr;
  void* all_ = nullptr;  ///< null: only this rank's segment is wanted
  void* came_ = nullptr;
  ReduceKind kind_ = ReduceKind::sum;
  void (*end_)(TwoStages&) = nullptr;
  List<Arriving> received_;
  List<MPI_Request> waiting_;
  // reused, so that only the first call of a size allocates
  List<std::byte> arrivals_, sums_;
  List<int> group_;
  List<std::int64_t> begins_, counts_;
  List<Range> passed_;
};

}  // namespace shardtype::detail
