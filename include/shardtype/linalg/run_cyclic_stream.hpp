#pragma once
/// This rank's columns of one matrix, and what ranks give each other of it: panels in turn to all
/// others, the next one under way while one is used; and the sums and solutions of triangles, which
/// are solved without gathering them.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <shardtype/linalg/kernels_panel.hpp>
#include <shardtype/linalg/types_cyclic_plan.hpp>
#include <shardtype/linalg/types_loops.hpp>
#include <shardtype/runtime/comm.hpp>
#include <shardtype/runtime/run_time.hpp>
#include <shardtype/runtime/shared_window.hpp>

namespace shardtype::execute {

using linalg::kernels::Matrix;
using planning::CyclicBlocks;

/// This rank's columns of one matrix over the ranks of `comm`, n x (number of them).
template <class T>
struct CyclicColumns {
  Comm& comm;
  CyclicBlocks blocks;
  Matrix<T> mine;

  std::int64_t me() const { return comm.rank(); }
  bool owns(std::int64_t k) const { return blocks.owner(k) == me(); }
  /// The rows from `begin` on of block `k`, which this rank holds.
  Matrix<T> block(std::int64_t k, std::int64_t begin) const {
    return mine.block(begin, blocks.local(k), blocks.n - begin, blocks.width(k));
  }
};

/// Sends `n` elements to all other ranks of `comm`.
template <class T>
void send_to_others(detail::Messages& sent, Comm& comm, T const* data, std::int64_t n) {
  for (int g = 0; g < comm.size(); ++g)
    if (g != comm.rank()) sent.template send<T>(comm.raw(), {g, data, n});
}

/// The slots of panels: a rank's own, between which they travel by messages, or, on one node, those
/// of all ranks in the shared window.
template <class T>
struct PanelSlots {
  T* memory = nullptr;
  runtime::SharedWindow* window = nullptr;   ///< null: by messages
  detail::List<int> const* ranks = nullptr;  ///< those of the panels, as ranks of the window
};

/// The panels on their way; number `turn` is in slot turn % slots. By messages, one for each rank,
/// it is received into that slot as soon as the panel before it there has also been sent. In the
/// window its owner writes it where all ranks read it, as soon as all have released the panel that
/// was there. Between `begin` and `end` of all ranks the window has no other use.
template <class T, std::int64_t slots>
class PanelStream {
 public:
  /// `room`: elements of a slot.
  PanelStream(Comm& comm, PanelSlots<T> const& where, std::int64_t room)
      : comm_(comm), where_(where), room_(room) {}

  void begin() {
    if (where_.window != nullptr) where_.window->enter();
  }
  T* at(std::int64_t turn) const { return where_.memory + turn % slots * room_; }
  /// The slot of panel `turn`, as `at`; waits until it is free to be written.
  T* write(std::int64_t turn) {
    if (where_.window == nullptr) {
      sent_[slot(turn)].finish();
    } else if (turn >= slots) {
      for (int g : *where_.ranks) where_.window->wait_for(g, read(turn - slots));
    }
    return at(turn);
  }
  /// Gives a panel, which this rank has written, to all others.
  void send(std::int64_t turn, std::int64_t elements) {
    if (where_.window != nullptr) return where_.window->post(written(turn));
    execute::send_to_others<T>(sent_[slot(turn)], comm_, at(turn), elements);
  }
  /// Posts the receive of another rank's panel.
  void expect(std::int64_t turn, std::int64_t owner, std::int64_t elements) {
    if (where_.window != nullptr) return;
    sent_[slot(turn)].finish();
    received_[slot(turn)].template receive<T>(comm_.raw(),
                                              {static_cast<int>(owner), at(turn), elements});
  }
  /// One of both: `make(memory)` writes a panel of this rank.
  template <class Make>
  void start(std::int64_t turn, std::int64_t owner, std::int64_t elements, Make make) {
    if (owner != comm_.rank()) return expect(turn, owner, elements);
    make(write(turn));
    send(turn, elements);
  }
  /// Waits for a panel, unless it is this rank's.
  T* arrive(std::int64_t turn, std::int64_t owner, std::int64_t elements) {
    if (where_.window == nullptr) {
      received_[slot(turn)].finish();
    } else if (owner != comm_.rank()) {
      where_.window->wait_for((*where_.ranks)[static_cast<std::size_t>(owner)], written(turn));
      // what a message would bring
      runtime::run_time.exchanged_in_windows += elements * std::int64_t{sizeof(T)};
    }
    return at(turn);
  }
  /// This rank reads a panel no more.
  void release(std::int64_t turn) {
    if (where_.window != nullptr) where_.window->post(read(turn));
  }
  /// Lets MPI make progress.
  void poke() {
    if (comm_.size() == 1 || where_.window != nullptr) return;
    for (detail::Messages& m : received_) m.poke();
    for (detail::Messages& m : sent_) m.poke();
  }
  /// Waits until all of `count` panels are sent.
  void end(std::int64_t count) {
    if (where_.window != nullptr) return where_.window->leave(read(count));
    for (detail::Messages& m : sent_) m.finish();
  }

 private:
  static std::size_t slot(std::int64_t turn) { return static_cast<std::size_t>(turn % slots); }
  /// The numbers that a rank posts after it has written panel `turn`, and after it has read it.
  /// It may write the next panel before it has read this one, so read(turn) > written(turn + 1).
  static std::int64_t written(std::int64_t turn) { return 2 * turn + 1; }
  static std::int64_t read(std::int64_t turn) { return 2 * turn + 4; }

  Comm& comm_;
  PanelSlots<T> where_;
  std::int64_t room_;
  std::array<detail::Messages, static_cast<std::size_t>(slots)> sent_;
  std::array<detail::Messages, static_cast<std::size_t>(slots)> received_;
};

/// The data behind a panel's elements: `width` pivots, and the packed failure.
template <class T>
struct PanelTail {
  T* data;
  std::int64_t width;

  /// `pivots`: null if there are none.
  void write(std::int32_t const* pivots, std::int32_t failure) const {
    auto const elements = static_cast<std::size_t>(planning::panel_tail(width, sizeof(T)));
    std::memset(static_cast<void*>(data), 0, elements * sizeof(T));
    if (pivots != nullptr) std::memcpy(static_cast<void*>(data), pivots, bytes());
    std::memcpy(failure_at(), &failure, sizeof failure);
  }
  /// The failure; `pivots`: where they go, or null.
  std::int32_t read(std::int32_t* pivots) const {
    if (pivots != nullptr) std::memcpy(pivots, data, bytes());
    std::int32_t failure = 0;
    std::memcpy(&failure, failure_at(), sizeof failure);
    return failure;
  }

 private:
  std::size_t bytes() const { return static_cast<std::size_t>(width) * sizeof(std::int32_t); }
  char* failure_at() const { return reinterpret_cast<char*>(data) + bytes(); }
};

/// A triangle of a matrix of which this rank holds columns.
template <class T>
struct CyclicTriangleOf {
  CyclicColumns<T const> const& a;
  bool lower = true;
  bool unit = false;

  /// The block that is solved in turn `t`, of the triangle or of its transpose.
  std::int64_t block(std::int64_t t, bool transposed) const {
    return lower != transposed ? t : a.blocks.count() - 1 - t;
  }
  Matrix<T const> diagonal(std::int64_t k) const {
    return part(k, a.blocks.begin(k), a.blocks.width(k));
  }
  /// `rows` rows from `begin` on of block column `k`.
  Matrix<T const> part(std::int64_t k, std::int64_t begin, std::int64_t rows) const {
    return a.mine.block(begin, a.blocks.local(k), rows, a.blocks.width(k));
  }
};

/// Runs loops::triangle, t x = b, in place of `y` (n rows), which holds summands of b: their sums
/// over the ranks are b, and each is at the owner of its block or at an owner of a block that is
/// solved before. Then an owner holds its blocks of x. The sums of the blocks behind travel from
/// owner to owner, as many blocks at a time as there are other ranks (Li and Coleman, A parallel
/// triangular solver for a distributed-memory multiprocessor, 1988).
template <class T>
class RingOfSums {
 public:
  /// `wires`: 2 min(n, ranks * block) rows.
  RingOfSums(CyclicTriangleOf<T> const& t, Matrix<T> const& y, T* wires)
      : t_(t),
        b_(t.a.blocks),
        y_(y),
        incoming_(wires),
        outgoing_(wires + std::min(b_.n, b_.ranks * b_.block) * y.cols) {}

  void solve(std::int64_t turn) {
    std::int64_t const k = t_.block(turn, false);
    if (!t_.a.owns(k)) return;
    if (turn > 0 && b_.ranks > 1) {
      std::int64_t const before = t_.block(turn - 1, false);
      Range const r = near(before);
      received_.receive<T>(comm().raw(),
                           {static_cast<int>(b_.owner(before)), incoming_, r.size() * y_.cols});
      received_.finish();
      for (std::int64_t n = 0; n < r.size() * y_.cols; ++n)
        y_.data[r.begin * y_.cols + n] += incoming_[n];
    }
    linalg::kernels::solve_triangle<T>(t_.diagonal(k), t_.lower, t_.unit, own(k));
  }
  /// To the next owner, the sums for the blocks near behind.
  void spread(std::int64_t turn) {
    std::int64_t const k = t_.block(turn, false);
    if (!t_.a.owns(k)) return;
    Range const r = near(k);
    subtract_from(k, r);
    if (r.size() == 0 || b_.ranks == 1) return;
    sent_.finish();
    T* const from = y_.data + r.begin * y_.cols;
    std::copy_n(from, r.size() * y_.cols, outgoing_);
    std::fill_n(from, r.size() * y_.cols, T(0));
    sent_.send<T>(comm().raw(), {static_cast<int>(b_.owner(t_.block(turn + 1, false))), outgoing_,
                                 r.size() * y_.cols});
  }
  /// From the sums for the others, which stay.
  void subtract(std::int64_t turn) {
    std::int64_t const k = t_.block(turn, false);
    if (!t_.a.owns(k)) return;
    Range const r = near(k);
    subtract_from(k, t_.lower ? Range{r.end, b_.n} : Range{0, r.begin});
  }
  void finish() { sent_.finish(); }

 private:
  Comm& comm() const { return t_.a.comm; }
  /// The rows of the blocks behind `k`, of as many as there are other ranks.
  Range near(std::int64_t k) const {
    std::int64_t const end = b_.begin(k) + b_.width(k), rows = (b_.ranks - 1) * b_.block;
    return t_.lower ? Range{end, std::min(b_.n, end + rows)}
                    : Range{std::max<std::int64_t>(0, b_.begin(k) - rows), b_.begin(k)};
  }
  Matrix<T> rows(Range r) const { return y_.block(r.begin, 0, r.size(), y_.cols); }
  Matrix<T> own(std::int64_t k) const { return rows({b_.begin(k), b_.begin(k) + b_.width(k)}); }
  void subtract_from(std::int64_t k, Range r) const {
    linalg::kernels::subtract_product<T>(t_.part(k, r.begin, r.size()), own(k), rows(r));
  }

  CyclicTriangleOf<T> const& t_;
  CyclicBlocks const& b_;
  Matrix<T> y_;
  T* incoming_;
  T* outgoing_;
  detail::Messages received_;
  detail::Messages sent_;
};
template <class T>
void solve_by_ring(CyclicTriangleOf<T> const& t, Matrix<T> const& y, T* wires) {
  RingOfSums<T> on(t, y, wires);
  planning::loops::triangle(0, t.a.blocks.count(), on);
}

/// Runs loops::triangle, t^T x = b, in place of `y` (n rows), of which an owner needs its blocks of
/// b. Then all ranks hold x.
template <class T>
class SolvedForAll {
 public:
  SolvedForAll(CyclicTriangleOf<T> const& t, Matrix<T> const& y)
      : t_(t), b_(t.a.blocks), y_(y), next_(next_from(0)) {}

  void solve(std::int64_t turn) {
    if (turn != next_) return;
    std::int64_t const k = t_.block(turn, true);
    linalg::kernels::solve_triangle<T>(t_.diagonal(k).transposed(), !t_.lower, t_.unit,
                                       rows(of(k)));
  }
  void spread(std::int64_t turn) {
    std::int64_t const k = t_.block(turn, true);
    T* const data = y_.data + b_.begin(k) * y_.cols;
    std::int64_t const elements = b_.width(k) * y_.cols;
    if (turn == next_) return execute::send_to_others<T>(sent_, t_.a.comm, data, elements);
    received_.receive<T>(t_.a.comm.raw(), {static_cast<int>(b_.owner(k)), data, elements});
    received_.finish();
  }
  /// From this rank's next block: after its own turn all that is known so far, then the rest as it
  /// arrives.
  void subtract(std::int64_t turn) {
    Range const own = of(t_.block(turn, true));
    bool const mine = turn == next_;
    if (mine) next_ = next_from(turn + 1);
    if (next_ == b_.count()) return;
    Range const r = !mine ? own : t_.lower ? Range{own.begin, b_.n} : Range{0, own.end};
    std::int64_t const k = t_.block(next_, true);
    linalg::kernels::subtract_product<T>(t_.part(k, r.begin, r.size()).transposed(), rows(r),
                                         rows(of(k)));
  }
  void finish() { sent_.finish(); }

 private:
  /// The next turn of this rank.
  std::int64_t next_from(std::int64_t turn) const {
    while (turn < b_.count() && !t_.a.owns(t_.block(turn, true))) ++turn;
    return turn;
  }
  Range of(std::int64_t k) const { return {b_.begin(k), b_.begin(k) + b_.width(k)}; }
  Matrix<T> rows(Range r) const { return y_.block(r.begin, 0, r.size(), y_.cols); }

  CyclicTriangleOf<T> const& t_;
  CyclicBlocks const& b_;
  Matrix<T> y_;
  std::int64_t next_;
  detail::Messages received_;
  detail::Messages sent_;
};
template <class T>
void solve_by_spread(CyclicTriangleOf<T> const& t, Matrix<T> const& y) {
  SolvedForAll<T> on(t, y);
  planning::loops::triangle(0, t.a.blocks.count(), on);
}

}  // namespace shardtype::execute
