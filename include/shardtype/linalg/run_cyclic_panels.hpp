#pragma once
/// Runs the loop of panels of a factorization of split columns (loops::panels): each is factorized
/// by the rank that holds it, and given to all.

#include <algorithm>
#include <cstdint>

#include <shardtype/linalg/run_cyclic_stream.hpp>
#include <shardtype/linalg/types_cyclic_plan.hpp>
#include <shardtype/linalg/types_loops.hpp>
#include <shardtype/runtime/comm.hpp>
#include <shardtype/runtime/run_time.hpp>

namespace shardtype::execute {

using planning::cholesky_group;

/// Why a factorization stopped, the same on all ranks: it travels with the panel.
struct FactorFailure {
  enum Kind : std::int32_t { none, no_pivot, not_positive, not_a_number };
  Kind kind = none;
  std::int64_t column = -1;

  /// Packs a failure into one number: 0 if there is none, else 4 times the column, from 0 on in its
  /// panel, plus the kind.
  static std::int32_t pack(Kind kind, std::int64_t in_panel) {
    return kind == none ? 0 : static_cast<std::int32_t>(4 * in_panel + kind);
  }
  static FactorFailure unpack(std::int32_t packed, std::int64_t begin) {
    if (packed == 0) return {};
    return {static_cast<Kind>(packed % 4), begin + packed / 4};
  }
};

/// Runs loops::panels: `Method` has `factor(panel, k)`, which returns the packed failure, and
/// `apply(panel, k, first, count, poke)` for this rank's columns first, ..., first + count - 1;
/// `pivots()`, or null; `applied(panel, k)`, on all ranks.
template <class T, class Method>
class ColumnPanels {
 public:
  ColumnPanels(CyclicColumns<T> const& a, Method& method, PanelSlots<T> const& slots)
      : a_(a), blocks_(a.blocks), method_(method), stream_(a.comm, slots, elements(0)) {
    stream_.begin();
  }
  FactorFailure const& failed() const { return failed_; }

  bool ahead() const { return ahead_; }
  std::int64_t end() const { return blocks_.count(); }
  void panel(std::int64_t k) {
    if (a_.owns(k)) {
      factor(k);
    } else {
      stream_.expect(k, blocks_.owner(k), elements(k));
    }
  }
  bool arrive(std::int64_t k) {
    now_ = panel_at(k, stream_.arrive(k, blocks_.owner(k), elements(k)));
    failed_ = FactorFailure::unpack(tail_of(now_).read(pivots(k)), blocks_.begin(k));
    return failed_.kind == FactorFailure::none;
  }
  /// Each rank has all rows of its columns.
  void row_panel(std::int64_t) const {}
  void update(std::int64_t k, std::int64_t first, std::int64_t last) {
    std::int64_t const begin = blocks_.below(first, a_.me());
    method_.apply(now_, k, begin, blocks_.below(last, a_.me()) - begin, [&] { stream_.poke(); });
  }
  void release(std::int64_t k) {
    method_.applied(now_, k);
    stream_.release(k);
  }
  void finish() { stream_.end(end()); }

 private:
  std::int64_t elements(std::int64_t k) const {
    return planning::panel_elements(blocks_, k, sizeof(T));
  }
  std::int32_t* pivots(std::int64_t k) {
    std::int32_t* const p = method_.pivots();
    return p == nullptr ? nullptr : p + blocks_.begin(k);
  }
  /// From the diagonal on.
  Matrix<T> panel_at(std::int64_t k, T* data) const {
    return linalg::kernels::column_major(data, blocks_.n - blocks_.begin(k), blocks_.width(k));
  }
  static PanelTail<T> tail_of(Matrix<T> const& panel) {
    return {panel.data + panel.rows * panel.cols, panel.cols};
  }
  void factor(std::int64_t k) {
    Matrix<T> const panel = panel_at(k, stream_.write(k));
    Matrix<T> const own = a_.block(k, blocks_.begin(k));
    linalg::kernels::copy<T>(own, panel);
    std::int32_t const failure = method_.factor(panel, k);
    tail_of(panel).write(pivots(k), failure);
    stream_.send(k, elements(k));
    if (failure == 0) linalg::kernels::copy<T>(panel, own);
  }

  CyclicColumns<T> const& a_;
  CyclicBlocks const& blocks_;
  Method& method_;
  PanelStream<T, planning::panel_slots> stream_;
  bool ahead_ = runtime::run_time.settings.linalg.ahead;
  Matrix<T> now_{};  ///< the panel that is applied
  FactorFailure failed_;
};
/// Runs the loop by `method`. The bits do not depend on the slots, planning::panel_slots, nor on
/// whether there is look-ahead.
template <class T, class Method>
FactorFailure run_panels(CyclicColumns<T> const& a, Method& method, PanelSlots<T> const& slots) {
  if (a.blocks.count() == 0) return {};
  ColumnPanels<T, Method> on(a, method, slots);
  planning::loops::panels(0, a.blocks.count(), on);
  return on.failed();
}

/// c -= a b, in blocks of rows between which MPI makes progress.
template <class T, class Poke>
void subtract_in_pieces(Matrix<T const> const& a, Matrix<T const> const& b, Matrix<T> const& c,
                        Poke poke) {
  constexpr std::int64_t piece = 1024;
  for (std::int64_t row = 0; row < c.rows; row += piece) {
    std::int64_t const rows = std::min(piece, c.rows - row);
    poke();
    linalg::kernels::subtract_product<T>(a.block(row, 0, rows, a.cols), b,
                                         c.block(row, 0, rows, c.cols));
  }
}

/// Calls `product(rows, own)` for blocks of rows and own blocks of columns, each a range, until the
/// columns `own` have all rows from their diagonal on, to before block `end`. `block_of`: the
/// number of an own block. By halves, for wide products.
template <class BlockOf, class Product>
void each_below_diagonal(Range own, std::int64_t end, BlockOf block_of, Product product) {
  if (own.size() == 1) return product(Range{block_of(own.begin), end}, own);
  std::int64_t const middle = own.begin + own.size() / 2;
  std::int64_t const diagonal = block_of(middle);
  execute::each_below_diagonal({own.begin, middle}, diagonal, block_of, product);
  product(Range{diagonal, end}, Range{own.begin, middle});
  execute::each_below_diagonal({middle, own.end}, end, block_of, product);
}
/// The same for all `count` blocks of rows: those from the last diagonal block on by one product.
template <class BlockOf, class Product>
void each_lower_product(Range own, std::int64_t count, BlockOf block_of, Product product) {
  std::int64_t const last = block_of(own.end - 1);
  execute::each_below_diagonal(own, last, block_of, product);
  product(Range{last, count}, own);
}

/// LU with partial pivoting: rows are exchanged in the columns behind a panel at once, in those
/// before it by `finish`.
template <class T>
struct LuMethod {
  CyclicColumns<T> const& a;
  std::int32_t* row_of;  ///< the pivots, of all columns, relative to their panel's first row
  Matrix<T> right{};     ///< right-hand sides that are carried along, n rows; none on other ranks

  std::int32_t* pivots() const { return row_of; }
  std::int32_t factor(Matrix<T> const& panel, std::int64_t k) {
    if (std::int64_t const j = linalg::kernels::first_nan<T>(panel, false); j >= 0)
      return FactorFailure::pack(FactorFailure::not_a_number, j);
    std::int64_t const info = linalg::kernels::factor_panel(panel, row_of + a.blocks.begin(k));
    return info == 0 ? 0 : FactorFailure::pack(FactorFailure::no_pivot, info - 1);
  }
  template <class Poke>
  void apply(Matrix<T> const& panel, std::int64_t k, std::int64_t first, std::int64_t count,
             Poke poke) {
    if (count <= 0) return;
    std::int64_t const begin = a.blocks.begin(k);
    apply_to(panel, k, a.mine.block(begin, first, a.blocks.n - begin, count), poke);
  }
  void applied(Matrix<T> const& panel, std::int64_t k) {
    std::int64_t const begin = a.blocks.begin(k);
    if (right.cols > 0)
      apply_to(panel, k, right.block(begin, 0, a.blocks.n - begin, right.cols), [] {});
  }
  /// The exchanges of rows in the columns before each panel.
  void finish() {
    CyclicBlocks const& b = a.blocks;
    for (std::int64_t k = 1; k < b.count(); ++k) {
      std::int64_t const before = b.below(k, a.me());
      std::int64_t const begin = b.begin(k);
      linalg::kernels::exchange_rows(a.mine.block(begin, 0, b.n - begin, before), row_of + begin,
                                     b.width(k));
    }
  }

 private:
  /// `to`: columns behind the panel, from its first row on.
  template <class Poke>
  void apply_to(Matrix<T> const& panel, std::int64_t k, Matrix<T> const& to, Poke poke) {
    std::int64_t const w = panel.cols;
    std::int64_t const below = panel.rows - w;
    Matrix<T> const top = to.block(0, 0, w, to.cols);
    linalg::kernels::exchange_rows(to, row_of + a.blocks.begin(k), w);
    linalg::kernels::solve_triangle<T>(panel.block(0, 0, w, w), true, true, top);
    execute::subtract_in_pieces<T>(panel.block(w, 0, below, w), top, to.block(w, 0, below, to.cols),
                                   poke);
  }
};

template <class T>
void copy_conjugates(Matrix<T> const& from, Matrix<T> const& to) {
  for (std::int64_t j = 0; j < from.cols; ++j)
    for (std::int64_t i = 0; i < from.rows; ++i)
      linalg::kernels::at(to, i, j) = linalg::kernels::conjugate(linalg::kernels::at(from, i, j));
}
/// The conjugates of a matrix, in `scratch`; of real numbers itself.
template <class T>
Matrix<T> conjugated(Matrix<T> const& m, [[maybe_unused]] T* scratch) {
  if constexpr (!linalg::kernels::is_complex<T>) {
    return m;
  } else {
    Matrix<T> const out = linalg::kernels::column_major(scratch, m.rows, m.cols);
    execute::copy_conjugates(m, out);
    return out;
  }
}

/// What Cholesky does with the triangle at the top of a panel; other factorizations of Hermitian
/// matrices stand in its place.
template <class T>
struct CholeskyTriangle {
  static constexpr bool goes_along = false;  ///< whether all ranks of a grid need the triangle

  /// The failure, packed.
  static std::int32_t factor(Matrix<T> const& top) {
    std::int64_t const info = linalg::kernels::factor_cholesky(top.rows, top.data, top.col_stride);
    return info == 0 ? 0 : FactorFailure::pack(FactorFailure::not_positive, info - 1);
  }
  /// The rows below. `scratch`: as many elements as the triangle.
  static void solve(Matrix<T> const& top, T* scratch, Matrix<T> const& below) {
    // x L^H = b, as conj(L) x^T = b^T
    linalg::kernels::solve_triangle<T>(execute::conjugated(top, scratch), true, false,
                                       below.transposed());
  }
  /// On all ranks, when panel and triangle, its first row `begin`, have arrived.
  static void keep(Matrix<T> const&, std::int64_t) {}
  /// The conjugates of rows of the panel, with which it is multiplied.
  static void scale(Matrix<T> const&, Matrix<T> const&) {}
  /// A block of the result on the diagonal.
  static void finish(Matrix<T> const&) {}
};

/// Cholesky, and what is like it: the lower triangle is read; what is above it in a block on the
/// diagonal is overwritten.
template <class T, class Triangle = CholeskyTriangle<T>>
struct CholeskyMethod {
  CyclicColumns<T> const& a;
  T* scratch;  ///< planning::cholesky_scratch elements
  Triangle triangle{};

  static std::int32_t* pivots() { return nullptr; }
  std::int32_t factor(Matrix<T> const& panel, std::int64_t) {
    if (std::int64_t const j = linalg::kernels::first_nan<T>(panel, true); j >= 0)
      return FactorFailure::pack(FactorFailure::not_a_number, j);
    std::int64_t const w = panel.cols;
    if (std::int32_t const failed = triangle.factor(top(panel)); failed != 0) return failed;
    triangle.solve(top(panel), scratch, panel.block(w, 0, panel.rows - w, w));
    return 0;
  }
  /// Several blocks at a time, so that products are wide, with a copy of the rows of the panel that
  /// belong to them.
  template <class Poke>
  void apply(Matrix<T> const& panel, std::int64_t k, std::int64_t first, std::int64_t count,
             Poke poke) {
    CyclicBlocks const& b = a.blocks;
    auto const block_of = [&](std::int64_t own) { return own * b.ranks + a.me(); };
    if (count <= 0) return;
    Range const all{first / b.block, ceil_div(first + count, b.block)};
    for (std::int64_t begin = all.begin; begin < all.end; begin += cholesky_group(b.block)) {
      Range const own{begin, std::min(all.end, begin + cholesky_group(b.block))};
      std::int64_t const columns = std::min(a.mine.cols, own.end * b.block) - own.begin * b.block;
      Matrix<T> const rows = linalg::kernels::column_major(scratch, columns, panel.cols);
      for (std::int64_t j = own.begin; j < own.end; ++j) {
        std::int64_t const width = b.width(block_of(j));
        execute::copy_conjugates(
            panel.block(b.begin(block_of(j)) - b.begin(k), 0, width, panel.cols),
            rows.block((j - own.begin) * b.block, 0, width, panel.cols));
      }
      triangle.scale(top(panel), rows);
      execute::each_lower_product(own, b.count(), block_of, [&](Range at, Range blocks) {
        std::int64_t const row = b.begin(at.begin);
        std::int64_t const height = std::min(b.n, b.begin(at.end)) - row;
        std::int64_t const column = blocks.begin * b.block;
        std::int64_t const width = std::min(a.mine.cols, blocks.end * b.block) - column;
        execute::subtract_in_pieces<T>(
            panel.block(row - b.begin(k), 0, height, panel.cols),
            rows.block(column - own.begin * b.block, 0, width, panel.cols).transposed(),
            a.mine.block(row, column, height, width), poke);
      });
    }
  }
  void applied(Matrix<T> const& panel, std::int64_t k) {
    triangle.keep(top(panel), a.blocks.begin(k));
  }
  /// Zeros above the diagonal.
  void finish() {
    CyclicBlocks const& b = a.blocks;
    for (std::int64_t k = a.me(); k < b.count(); k += b.ranks) {
      std::int64_t const w = b.width(k);
      linalg::kernels::clear_above(a.mine.block(0, b.local(k), b.begin(k) + w, w), b.begin(k));
      triangle.finish(a.mine.block(b.begin(k), b.local(k), w, w));
    }
  }

 private:
  static Matrix<T> top(Matrix<T> const& panel) { return panel.block(0, 0, panel.cols, panel.cols); }
};

}  // namespace shardtype::execute
