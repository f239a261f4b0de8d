#pragma once
/// Triangles whose columns are block-cyclic over ranks, solved without gathering them.

#include <algorithm>
#include <cstdint>

#include <shardtype/linalg/run_cyclic_panels.hpp>

namespace shardtype::execute {

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
