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

/// t x = b, in place of `y` (n rows), which holds summands of b: their sums over the ranks are b,
/// and each is at the owner of its block or at an owner of a block that is solved before. Then an
/// owner holds its blocks of x. The sums of the blocks behind travel from owner to owner, as many
/// blocks at a time as there are other ranks (Li and Coleman, A parallel triangular solver for a
/// distributed-memory multiprocessor, 1988). `wires`: 2 min(n, ranks * block) rows.
template <class T>
void solve_by_ring(CyclicTriangleOf<T> const& t, Matrix<T> const& y, T* wires) {
  CyclicBlocks const& b = t.a.blocks;
  Comm& comm = t.a.comm;
  std::int64_t const ranks = b.ranks;
  std::int64_t const room = std::min(b.n, ranks * b.block) * y.cols;
  T* const incoming = wires;
  T* const outgoing = wires + room;
  detail::Messages received;
  detail::Messages sent;
  // the rows of `count` blocks behind the one of turn `turn`
  auto const behind = [&](std::int64_t k, std::int64_t count) {
    std::int64_t const end = b.begin(k) + b.width(k);
    return t.lower ? Range{end, std::min(b.n, end + count * b.block)}
                   : Range{std::max<std::int64_t>(0, b.begin(k) - count * b.block), b.begin(k)};
  };
  auto const rows_of_y = [&](Range r) { return y.block(r.begin, 0, r.size(), y.cols); };
  for (std::int64_t turn = 0; turn < b.count(); ++turn) {
    std::int64_t const k = t.block(turn, false);
    if (!t.a.owns(k)) continue;
    Range const own{b.begin(k), b.begin(k) + b.width(k)};
    if (turn > 0 && ranks > 1) {
      std::int64_t const before = t.block(turn - 1, false);
      Range const r = behind(before, ranks - 1);
      received.receive<T>(comm.raw(),
                          {static_cast<int>(b.owner(before)), incoming, r.size() * y.cols});
      received.finish();
      for (std::int64_t n = 0; n < r.size() * y.cols; ++n)
        y.data[r.begin * y.cols + n] += incoming[n];
    }
    Matrix<T> const x = rows_of_y(own);
    linalg::kernels::solve_triangle<T>(t.diagonal(k), t.lower, t.unit, x);
    Range const near = behind(k, ranks - 1);
    linalg::kernels::subtract_product<T>(t.part(k, near.begin, near.size()), x, rows_of_y(near));
    if (near.size() > 0 && ranks > 1) {
      sent.finish();
      T* const from = y.data + near.begin * y.cols;
      std::copy_n(from, near.size() * y.cols, outgoing);
      std::fill_n(from, near.size() * y.cols, T(0));
      sent.send<T>(comm.raw(), {static_cast<int>(b.owner(t.block(turn + 1, false))), outgoing,
                                near.size() * y.cols});
    }
    Range const far = t.lower ? Range{near.end, b.n} : Range{0, near.begin};
    linalg::kernels::subtract_product<T>(t.part(k, far.begin, far.size()), x, rows_of_y(far));
  }
  sent.finish();
}

/// t^T x = b, in place of `y` (n rows), of which an owner needs its blocks of b. Then all ranks
/// hold x.
template <class T>
void solve_by_spread(CyclicTriangleOf<T> const& t, Matrix<T> const& y) {
  CyclicBlocks const& b = t.a.blocks;
  Comm& comm = t.a.comm;
  detail::Messages received;
  detail::Messages sent;
  std::int64_t const count = b.count();
  // the next turn of this rank from `turn` on
  auto const next_of = [&](std::int64_t turn) {
    while (turn < count && !t.a.owns(t.block(turn, true))) ++turn;
    return turn;
  };
  auto const rows_of_y = [&](Range r) { return y.block(r.begin, 0, r.size(), y.cols); };
  // what the rows `r` of x do to block k
  auto const subtract = [&](std::int64_t k, Range r) {
    linalg::kernels::subtract_product<T>(t.part(k, r.begin, r.size()).transposed(), rows_of_y(r),
                                         rows_of_y({b.begin(k), b.begin(k) + b.width(k)}));
  };
  std::int64_t next = next_of(0);
  for (std::int64_t turn = 0; turn < count; ++turn) {
    std::int64_t const k = t.block(turn, true);
    Range const own{b.begin(k), b.begin(k) + b.width(k)};
    Matrix<T> const x = rows_of_y(own);
    T* const data = y.data + own.begin * y.cols;
    std::int64_t const elements = own.size() * y.cols;
    if (turn != next) {
      received.receive<T>(comm.raw(), {static_cast<int>(b.owner(k)), data, elements});
      received.finish();
      if (next < count) subtract(t.block(next, true), own);
      continue;
    }
    linalg::kernels::solve_triangle<T>(t.diagonal(k).transposed(), !t.lower, t.unit, x);
    execute::send_to_others<T>(sent, comm, data, elements);
    next = next_of(turn + 1);
    // all that is known so far; the rest as it arrives
    if (next < count)
      subtract(t.block(next, true), t.lower ? Range{own.begin, b.n} : Range{0, own.end});
  }
  sent.finish();
}

}  // namespace shardtype::execute
