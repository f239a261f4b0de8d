#pragma once
/// Runs LU and Cholesky of one matrix over a grid of ranks: the loop of panels (loops::panels), and
/// what a panel does to the columns behind it.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <shardtype/linalg/run_grid_panels.hpp>

namespace shardtype::execute {

/// The memory of a factorization.
template <class T>
struct GridMemory {
  planning::GridRoom room;
  T* data;

  static planning::GridRoom room_of(GridMatrix<T> const& a) {
    return {a.rows, a.mine.rows, a.mine.cols, sizeof(T)};
  }
  T* slots() const { return data; }
  T* row_panels() const { return data + planning::grid_slots * room.slot; }
  T* wires() const { return row_panels() + 2 * room.row_panel; }
};

/// Runs loops::panels. `Method` has `factor(k)`, which the ranks of a process column call together,
/// and which leaves the panel in its slot and returns the packed failure; `bring(k)`, the row
/// panel, on all ranks; `apply(k, first, count, poke)` for the own columns first, ..., first +
/// count - 1; and `pivots(k)`.
template <class T, class Method>
class RunOnGrid {
 public:
  RunOnGrid(GridMatrix<T> const& a, GridPanels<T>& panels, Method& method)
      : a_(a), panels_(panels), method_(method) {}
  FactorFailure const& failed() const { return failed_; }

  static constexpr bool ahead() { return true; }
  std::int64_t end() const { return a_.columns.count(); }
  void panel(std::int64_t k) {
    if (a_.has_columns(k)) {
      factor(k);
    } else {
      panels_.expect(k);
    }
  }
  bool arrive(std::int64_t k) {
    failed_ = FactorFailure::unpack(panels_.arrive(k, method_.pivots(k)), a_.columns.begin(k));
    if (failed_.kind == FactorFailure::none) return true;
    panels_.arrive_below(k);
    return false;
  }
  void row_panel(std::int64_t k) {
    method_.bring(k);
    panels_.arrive_below(k);
  }
  void update(std::int64_t k, std::int64_t first, std::int64_t last) {
    std::int64_t const begin = a_.column(first);
    method_.apply(k, begin, a_.column(last) - begin, [&] { panels_.poke(); });
  }
  void release(std::int64_t) const {}
  void finish() { panels_.finish(); }

 private:
  void factor(std::int64_t k) {
    panels_.write(k);
    if (a_.has_rows(k)) linalg::kernels::copy<T>(a_.part(k, k + 1, k), panels_.top(k));
    linalg::kernels::copy<T>(a_.part(k + 1, end(), k), panels_.below(k));
    std::int32_t const failure = method_.factor(k);
    panels_.say(k, method_.pivots(k), failure);
    panels_.send(k);
    if (failure != 0) return;
    if (a_.has_rows(k)) linalg::kernels::copy<T>(panels_.top(k), a_.part(k, k + 1, k));
    linalg::kernels::copy<T>(panels_.below(k), a_.part(k + 1, end(), k));
  }

  GridMatrix<T> const& a_;
  GridPanels<T>& panels_;
  Method& method_;
  FactorFailure failed_;
};
template <class T, class Method>
FactorFailure run_grid(GridMatrix<T> const& a, GridPanels<T>& panels, Method& method) {
  RunOnGrid<T, Method> on(a, panels, method);
  planning::loops::panels(0, on.end(), on);
  return on.failed();
}

/// LU with partial pivoting: rows are exchanged in the columns behind a panel at once, in those
/// before it by `finish`.
template <class T>
class GridLu {
 public:
  /// `pivots`: of all columns, relative to their panel's first row.
  GridLu(GridMatrix<T> const& a, GridPanels<T>& panels, GridMemory<T> const& memory,
         std::int32_t* pivots)
      : a_(a),
        panels_(panels),
        rows_(a, memory.row_panels(), memory.room.row_panel),
        wires_(memory.wires()),
        row_of_(pivots) {}

  std::int32_t* pivots(std::int64_t k) const { return row_of_ + a_.rows.begin(k); }
  std::int32_t factor(std::int64_t k) {
    return PivotSearch<T>(a_, k, panels_.top(k), panels_.below(k), wires_).factor(pivots(k));
  }
  /// The row panel: the pivots' rows, solved with the triangle on each rank.
  void bring(std::int64_t k) {
    first_ = a_.column(k + 1);
    moves_.set(pivots(k), a_.width(k));
    row_panel_ = rows_.bring(moves_, k, first_);
    linalg::kernels::solve_triangle<T>(panels_.top(k), true, true, row_panel_);
    if (a_.has_rows(k))
      linalg::kernels::copy<T>(row_panel_,
                               a_.mine.block(a_.row(k), first_, row_panel_.rows, row_panel_.cols));
  }
  template <class Poke>
  void apply(std::int64_t k, std::int64_t first, std::int64_t count, Poke poke) {
    if (count <= 0) return;
    std::int64_t const row = a_.row(k + 1);
    execute::subtract_in_pieces<T>(panels_.below(k),
                                   row_panel_.block(0, first - first_, row_panel_.rows, count),
                                   a_.mine.block(row, first, a_.mine.rows - row, count), poke);
  }
  /// The exchanges of rows in the columns before each panel, of all later panels at once. `from`
  /// and `moved`: n numbers.
  void finish(std::int32_t* from, std::int32_t* moved) {
    std::int64_t const n = a_.rows.n;
    RowMover<T> mover(a_.down, a_.rows);
    for (std::int64_t i = 0; i < n; ++i) from[i] = moved[i] = static_cast<std::int32_t>(i);
    for (std::int64_t k = a_.rows.count() - 1; k >= 0; --k) {
      std::int64_t const begin = a_.rows.begin(k);
      if (a_.has_columns(k)) {
        Matrix<T> const own = a_.mine.block(0, a_.columns.local(k), a_.mine.rows, a_.width(k));
        mover.move([&](std::int64_t i) -> std::int64_t { return from[i] == i ? -1 : from[i]; },
                   begin + a_.width(k), own, own, panels_.unused(0), panels_.unused(1));
      }
      // panel k exchanges its rows first
      moves_.set(pivots(k), a_.width(k));
      auto const touch = [&](bool back) {
        auto const set = [&](std::int64_t to, std::int64_t source) {
          moved[begin + to] = static_cast<std::int32_t>(begin + (back ? to : source));
        };
        for (std::int64_t i = 0; i < a_.width(k); ++i)
          set(i, moves_.source()[static_cast<std::size_t>(i)]);
        for (PanelRows::Placed const& p : moves_.placed()) set(p.row, p.from);
      };
      touch(false);
      for (std::int64_t i = begin; i < n; ++i) from[i] = moved[from[i]];
      touch(true);
    }
  }

 private:
  GridMatrix<T> const& a_;
  GridPanels<T>& panels_;
  RowPanel<T> rows_;
  T* wires_;
  std::int32_t* row_of_;
  PanelRows moves_;
  Matrix<T> row_panel_{};
  std::int64_t first_ = 0;  ///< the first own column of the row panel
};

/// Cholesky, and what is like it (CholeskyTriangle): the lower triangle is read; what is above it
/// in a block on the diagonal is overwritten.
template <class T, class Triangle = CholeskyTriangle<T>>
class GridCholesky {
 public:
  GridCholesky(GridMatrix<T> const& a, GridPanels<T>& panels, GridMemory<T> const& memory,
               Triangle const& triangle = {})
      : a_(a),
        panels_(panels),
        rows_(memory.row_panels()),
        wire_(memory.row_panels() + memory.room.row_panel),
        scratch_(memory.wires()),
        triangle_(triangle) {}

  static std::int32_t* pivots(std::int64_t) { return nullptr; }
  std::int32_t factor(std::int64_t k) {
    Matrix<T> const top = panels_.top(k);
    Matrix<T> const below = panels_.below(k);
    bool const holds = a_.has_rows(k);
    std::int64_t nan = linalg::kernels::first_nan<T>(below, false);
    if (holds)
      if (std::int64_t const j = linalg::kernels::first_nan<T>(top, true); j >= 0)
        nan = nan < 0 ? j : std::min(nan, j);
    nan = tell(k, nan);
    if (holds) {
      std::int32_t failed =
          FactorFailure::pack(nan < 0 ? FactorFailure::none : FactorFailure::not_a_number,
                              std::max<std::int64_t>(0, nan));
      if (failed == 0) failed = triangle_.factor(top);
      panels_.say(k, nullptr, failed);
    }
    share(k);
    std::int32_t const failed = panels_.failure(k);
    if (failed == 0) triangle_.solve(top, scratch_, below);
    return failed;
  }
  /// The rows of the panel that belong to the own columns, conjugated. They are in this process
  /// column.
  void bring(std::int64_t k) {
    panels_.arrive_below(k);
    triangle_.keep(panels_.top(k), a_.rows.begin(k));
    Matrix<T> const below = panels_.below(k);
    Comm& comm = a_.down;
    int const me = comm.rank();
    std::int64_t const w = below.cols;
    first_ = a_.column(k + 1);
    row_panel_ = linalg::kernels::row_major(rows_, a_.mine.cols - first_, w);
    counts_.reset(comm.size());
    each_block(k, [&](std::int64_t j) {
      for (std::int64_t i = 0; i < a_.width(j); ++i) counts_.add(a_.rows.owner(j));
    });
    counts_.sum();
    counts_.receive(received_, comm, wire_, w);
    Matrix<T> const wire = linalg::kernels::row_major(wire_, row_panel_.rows, w);
    std::int64_t next = counts_.begin(me);
    each_block(k, [&](std::int64_t j) {
      if (!a_.has_rows(j)) return;
      linalg::kernels::copy<T>(below.block(a_.row(j) - a_.row(k + 1), 0, a_.width(j), w),
                               wire.block(next, 0, a_.width(j), w));
      next += a_.width(j);
    });
    execute::send_to_others<T>(sent_, comm, wire_ + counts_.begin(me) * w, counts_.size(me) * w);
    received_.finish();
    std::int64_t at = 0;
    each_block(k, [&](std::int64_t j) {
      for (std::int64_t i = 0; i < a_.width(j); ++i, ++at) {
        T const* const from = wire_ + counts_.next(a_.rows.owner(j)) * w;
        for (std::int64_t c = 0; c < w; ++c)
          rows_[at * w + c] = linalg::kernels::conjugate(from[c]);
      }
    });
    triangle_.scale(panels_.top(k), row_panel_);
    sent_.finish();
  }
  /// Several blocks at a time, so that products are wide.
  template <class Poke>
  void apply(std::int64_t k, std::int64_t first, std::int64_t count, Poke poke) {
    CyclicBlocks const& b = a_.columns;
    if (count <= 0) return;
    Range const all{first / b.block, ceil_div(first + count, b.block)};
    std::int64_t const group = planning::cholesky_group(b.block);
    for (std::int64_t begin = all.begin; begin < all.end; begin += group)
      execute::each_lower_product(
          Range{begin, std::min(all.end, begin + group)}, a_.rows.count(),
          [&](std::int64_t own) { return own * b.ranks + a_.along.rank(); },
          [&](Range at, Range columns) { subtract(k, at, columns, poke); });
  }
  /// Zeros above the diagonal.
  void finish() {
    for (std::int64_t k = a_.along.rank(); k < a_.columns.count(); k += a_.columns.ranks) {
      linalg::kernels::clear_above(
          a_.mine.block(0, a_.columns.local(k), a_.row(k + (a_.has_rows(k) ? 1 : 0)), a_.width(k)),
          a_.row(k));
      if (a_.has_rows(k)) triangle_.finish(a_.part(k, k + 1, k));
    }
  }

 private:
  /// Calls `visit` for the own blocks of columns behind `k`.
  template <class Visit>
  void each_block(std::int64_t k, Visit visit) const {
    for (std::int64_t j = a_.along.rank(); j < a_.columns.count(); j += a_.columns.ranks)
      if (j > k) visit(j);
  }
  /// Blocks of rows in own blocks of columns.
  template <class Poke>
  void subtract(std::int64_t k, Range at, Range columns, Poke poke) const {
    std::int64_t const row = a_.row(at.begin);
    std::int64_t const rows = a_.row(at.end) - row;
    std::int64_t const column = columns.begin * a_.columns.block;
    std::int64_t const cols = std::min(a_.mine.cols, columns.end * a_.columns.block) - column;
    if (rows == 0) return;
    Matrix<T> const below = panels_.below(k);
    execute::subtract_in_pieces<T>(
        below.block(row - a_.row(k + 1), 0, rows, below.cols),
        row_panel_.block(column - first_, 0, cols, below.cols).transposed(),
        a_.mine.block(row, column, rows, cols), poke);
  }
  /// The first column with a NaN of all ranks of the process column, at the one that holds the
  /// triangle.
  std::int64_t tell(std::int64_t k, std::int64_t nan) {
    Comm& comm = a_.down;
    int const top = static_cast<int>(a_.rows.owner(k));
    // as many elements as the tail of a panel without pivots
    std::int64_t const n = planning::panel_tail(0, sizeof(T));
    auto packed = static_cast<std::int32_t>(nan);
    if (top != comm.rank()) {
      std::fill_n(scratch_, n, T(0));
      std::memcpy(static_cast<void*>(scratch_), &packed, sizeof packed);
      sent_.template send<T>(comm.raw(), {top, scratch_, n});
      sent_.finish();
      return nan;
    }
    for (int g = 0; g < comm.size(); ++g) {
      if (g == top) continue;
      received_.template receive<T>(comm.raw(), {g, scratch_, n});
      received_.finish();
      std::memcpy(&packed, scratch_, sizeof packed);
      if (packed >= 0) nan = nan < 0 ? packed : std::min<std::int64_t>(nan, packed);
    }
    return nan;
  }
  /// The triangle and the failure, to all ranks of the process column.
  void share(std::int64_t k) {
    Comm& comm = a_.down;
    std::int64_t const n = panels_.top_elements(k);
    if (!a_.has_rows(k)) {
      received_.template receive<T>(comm.raw(),
                                    {static_cast<int>(a_.rows.owner(k)), panels_.at(k), n});
      received_.finish();
      return;
    }
    execute::send_to_others<T>(sent_, comm, panels_.at(k), n);
    sent_.finish();
  }
  GridMatrix<T> const& a_;
  GridPanels<T>& panels_;
  T* rows_;
  T* wire_;
  T* scratch_;
  Triangle triangle_;
  RowCounts counts_;
  Matrix<T> row_panel_{};   ///< own columns x columns of the panel
  std::int64_t first_ = 0;  ///< the first own column of the row panel
  detail::Messages received_;
  detail::Messages sent_;
};

}  // namespace shardtype::execute
