#pragma once
/// Rows of a matrix over a grid of ranks on their way between the ranks of a process column.

#include <algorithm>
#include <cstdint>
#include <utility>

#include <shardtype/core/list.hpp>
#include <shardtype/linalg/run_cyclic_panels.hpp>

namespace shardtype::execute {

/// This rank's part of one matrix whose rows and columns are block-cyclic, or of its transpose.
template <class T>
struct GridMatrix {
  Comm& down;            ///< the ranks of a process column, which hold the same columns
  Comm& along;           ///< the ranks of a process row, which hold the same rows
  CyclicBlocks rows;     ///< over `down`
  CyclicBlocks columns;  ///< over `along`
  Matrix<T> mine;

  bool has_rows(std::int64_t k) const { return rows.owner(k) == down.rank(); }
  bool has_columns(std::int64_t k) const { return columns.owner(k) == along.rank(); }
  /// The number of own rows, and columns, in the blocks before `k`.
  std::int64_t row(std::int64_t k) const { return rows.below(k, down.rank()); }
  std::int64_t column(std::int64_t k) const { return columns.below(k, along.rank()); }
  std::int64_t width(std::int64_t k) const { return rows.width(k); }
  /// The own rows of the blocks first, ..., last - 1 in the own block of columns `k`.
  Matrix<T> part(std::int64_t first, std::int64_t last, std::int64_t k) const {
    return mine.block(row(first), columns.local(k), row(last) - row(first), width(k));
  }
  GridMatrix transposed() const { return {along, down, columns, rows, mine.transposed()}; }
};

/// Row `i` of `to` becomes row `j` of `from`.
template <class T>
void copy_row(Matrix<T const> const& from, std::int64_t j, Matrix<T> const& to, std::int64_t i) {
  if (from.col_stride == 1 && to.col_stride == 1) {
    std::copy_n(from.data + j * from.row_stride, from.cols, to.data + i * to.row_stride);
  } else {
    for (std::int64_t c = 0; c < from.cols; ++c)
      linalg::kernels::at(to, i, c) = linalg::kernels::at(from, j, c);
  }
}
template <class T>
void swap_rows(Matrix<T> const& m, std::int64_t i, std::int64_t j) {
  std::swap_ranges(m.data + i * m.row_stride, m.data + i * m.row_stride + m.cols,
                   m.data + j * m.row_stride);
}

/// Numbers of rows to or from each rank of a group, and where they begin in a message buffer.
class RowCounts {
 public:
  void reset(int ranks) {
    begin_.clear();
    begin_.resize(static_cast<std::size_t>(ranks) + 1, 0);
  }
  void add(std::int64_t rank) { ++begin_[static_cast<std::size_t>(rank) + 1]; }
  /// After all are added; `next` then counts the rows of each rank.
  void sum() {
    for (std::size_t g = 1; g < begin_.size(); ++g) begin_[g] += begin_[g - 1];
    next_ = begin_;
  }
  std::int64_t begin(std::int64_t rank) const { return begin_[static_cast<std::size_t>(rank)]; }
  std::int64_t size(std::int64_t rank) const { return begin(rank + 1) - begin(rank); }
  std::int64_t next(std::int64_t rank) { return next_[static_cast<std::size_t>(rank)]++; }
  /// Receives what the other ranks have, rows of `cols` elements each at its place in `data`; and
  /// sends them theirs.
  template <class T>
  void receive(detail::Messages& received, Comm& comm, T* data, std::int64_t cols) const {
    for (int g = 0; g < comm.size(); ++g)
      if (g != comm.rank())
        received.template receive<T>(comm.raw(), {g, data + begin(g) * cols, size(g) * cols});
  }
  template <class T>
  void send(detail::Messages& sent, Comm& comm, T const* data, std::int64_t cols) const {
    for (int g = 0; g < comm.size(); ++g)
      if (g != comm.rank())
        sent.template send<T>(comm.raw(), {g, data + begin(g) * cols, size(g) * cols});
  }

 private:
  shardtype::detail::List<std::int64_t> begin_;
  shardtype::detail::List<std::int64_t> next_;
};

/// Moves rows that are block-cyclic over the ranks of `comm` to other places.
template <class T>
class RowMover {
 public:
  RowMover(Comm& comm, CyclicBlocks const& rows) : comm_(comm), rows_(rows) {}

  /// Row i of `to`, from row `begin` on, becomes row source(i) of `from`, unless that is negative.
  /// Both have this rank's rows, and may be the same; `out` and `in` have room for as many. The
  /// same calls on all ranks.
  template <class Source>
  void move(Source source, std::int64_t begin, Matrix<T const> const& from, Matrix<T> const& to,
            T* out, T* in) {
    std::int64_t const me = comm_.rank();
    leave_.reset(comm_.size());
    come_.reset(comm_.size());
    auto const each = [&](auto visit) {
      for (std::int64_t i = begin; i < rows_.n; ++i)
        if (std::int64_t const s = source(i); s >= 0) visit(i, s, owner(i), owner(s));
    };
    each([&](std::int64_t, std::int64_t, std::int64_t end, std::int64_t start) {
      if (start == me) leave_.add(end);
      if (end == me && start != me) come_.add(start);
    });
    leave_.sum();
    come_.sum();
    std::int64_t const cols = to.cols;
    come_.receive(received_, comm_, in, cols);
    Matrix<T> const leaving = linalg::kernels::row_major(out, leave_.begin(comm_.size()), cols);
    each([&](std::int64_t, std::int64_t s, std::int64_t end, std::int64_t start) {
      if (start == me) execute::copy_row<T>(from, local(s), leaving, leave_.next(end));
    });
    leave_.send<T>(sent_, comm_, out, cols);
    received_.finish();
    std::int64_t own = leave_.begin(me);
    Matrix<T> const coming = linalg::kernels::row_major(in, come_.begin(comm_.size()), cols);
    each([&](std::int64_t i, std::int64_t, std::int64_t end, std::int64_t start) {
      if (end != me) return;
      if (start == me) {
        execute::copy_row<T>(leaving, own++, to, local(i));
      } else {
        execute::copy_row<T>(coming, come_.next(start), to, local(i));
      }
    });
    sent_.finish();
  }

 private:
  std::int64_t owner(std::int64_t i) const { return rows_.owner(i / rows_.block); }
  std::int64_t local(std::int64_t i) const {
    return rows_.local(i / rows_.block) + i % rows_.block;
  }

  Comm& comm_;
  CyclicBlocks rows_;
  RowCounts leave_;
  RowCounts come_;
  detail::Messages received_;
  detail::Messages sent_;
};

/// The row exchanges of a panel's pivots. Rows are numbered from the panel's first row on.
class PanelRows {
 public:
  struct Placed {
    std::int64_t row;   ///< below the panel's triangle
    std::int64_t from;  ///< in it
  };

  void set(std::int32_t const* pivots, std::int64_t w) {
    source_.clear();
    placed_.clear();
    for (std::int64_t i = 0; i < w; ++i) source_.push_back(i);
    for (std::int64_t i = 0; i < w; ++i) {
      std::int64_t& top = source_[static_cast<std::size_t>(i)];
      std::int64_t const p = pivots[i];
      if (p < w) {
        std::swap(top, source_[static_cast<std::size_t>(p)]);
        continue;
      }
      auto* at = placed_.begin();
      while (at != placed_.end() && at->row != p) ++at;
      if (at == placed_.end()) {
        placed_.push_back({p, top});
        top = p;
      } else {
        std::swap(at->from, top);
      }
    }
  }
  /// Where each row of the triangle comes from.
  shardtype::detail::List<std::int64_t> const& source() const { return source_; }
  /// The rows below that get one of it. Those that leave it come from it: a row goes up once, and
  /// stays.
  shardtype::detail::List<Placed> const& placed() const { return placed_; }

 private:
  shardtype::detail::List<std::int64_t> source_;
  shardtype::detail::List<Placed> placed_;
};

/// Brings the rows that a panel's pivots name to all ranks of the process column, and gives the
/// rows that make room for them to the ranks that held those. A rank receives as many rows as the
/// panel has, the one that holds the triangle only those of others.
template <class T>
class RowPanel {
 public:
  /// `memory`: two row panels of `room` elements.
  RowPanel(GridMatrix<T> const& a, T* memory, std::int64_t room)
      : a_(a), rows_(memory), leaving_(memory + room) {}

  /// The rows of panel `k` in the own columns from `first` on.
  Matrix<T> bring(PanelRows const& moves, std::int64_t k, std::int64_t first) {
    std::int64_t const w = a_.width(k);
    std::int64_t const cols = a_.mine.cols - first;
    Matrix<T> const panel = linalg::kernels::row_major(rows_, w, cols);
    if (cols == 0) return panel;
    Matrix<T> const mine = a_.mine.block(0, first, a_.mine.rows, cols);
    Comm& comm = a_.down;
    int const me = comm.rank();
    std::int64_t const top = a_.rows.owner(k);
    group(moves, k, w);
    come_.receive(received_, comm, rows_, cols);
    for (std::int64_t i = come_.begin(me); i < come_.begin(me + 1); ++i)
      execute::copy_row<T>(mine, local(k, moves.source()[static_cast<std::size_t>(at_[index(i)])]),
                           panel, i);
    Matrix<T> const leaving = linalg::kernels::row_major(leaving_, w, cols);
    if (top == me)
      for (PanelRows::Placed const& p : moves.placed())
        execute::copy_row<T>(mine, local(k, p.from), leaving, leave_.next(owner(k, p.row)));
    execute::send_to_others<T>(sent_, comm, rows_ + come_.begin(me) * cols, come_.size(me) * cols);
    std::int64_t next = 0;
    if (top == me) {
      leave_.send<T>(sent_, comm, leaving_, cols);
      next = leave_.begin(me);
    } else {
      received_.template receive<T>(comm.raw(),
                                    {static_cast<int>(top), leaving_, leave_.size(me) * cols});
    }
    received_.finish();
    for (PanelRows::Placed const& p : moves.placed())
      if (owner(k, p.row) == me) execute::copy_row<T>(leaving, next++, mine, local(k, p.row));
    sent_.finish();
    // they have come rank by rank
    for (std::int64_t i = 0; i < w; ++i)
      while (at_[index(i)] != i) {
        std::int64_t const j = at_[index(i)];
        execute::swap_rows(panel, i, j);
        std::swap(at_[index(i)], at_[index(j)]);
      }
    return panel;
  }

 private:
  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
  std::int64_t owner(std::int64_t k, std::int64_t i) const {
    return a_.rows.owner(k + i / a_.rows.block);
  }
  std::int64_t local(std::int64_t k, std::int64_t i) const {
    return a_.rows.local(k + i / a_.rows.block) + i % a_.rows.block;
  }
  /// Sorts both kinds of rows by the rank that holds their place.
  void group(PanelRows const& moves, std::int64_t k, std::int64_t w) {
    come_.reset(a_.down.size());
    leave_.reset(a_.down.size());
    for (std::int64_t const s : moves.source()) come_.add(owner(k, s));
    for (PanelRows::Placed const& p : moves.placed()) leave_.add(owner(k, p.row));
    come_.sum();
    leave_.sum();
    at_.resize(index(w));
    for (std::int64_t i = 0; i < w; ++i)
      at_[index(come_.next(owner(k, moves.source()[index(i)])))] = i;
  }

  GridMatrix<T> const& a_;
  T* rows_;
  T* leaving_;
  RowCounts come_;
  RowCounts leave_;
  shardtype::detail::List<std::int64_t> at_;  ///< which row of the panel has come at each place
  detail::Messages received_;
  detail::Messages sent_;
};

}  // namespace shardtype::execute
