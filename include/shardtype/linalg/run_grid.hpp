#pragma once
/// One call on one matrix over a grid of ranks.

#include <algorithm>
#include <cstdint>
#include <source_location>
#include <type_traits>
#include <utility>

#include <shardtype/linalg/run_cyclic_call.hpp>
#include <shardtype/linalg/run_grid_factor.hpp>

namespace shardtype::execute {

/// Runs loops::triangle, t x = b, of a matrix over a grid. `b`: own rows, of which the ranks with
/// blocks of the diagonal need those blocks, zeros elsewhere; sums of products are added to it.
/// `x`: own columns, of the solution.
template <class T>
class TriangleOnGrid {
 public:
  /// `wire`: a block.
  TriangleOnGrid(GridMatrix<T const> const& t, bool lower, bool unit, Matrix<T> const& b,
                 Matrix<T> const& x, T* wire)
      : t_(t), lower_(lower), unit_(unit), b_(b), x_(x), wire_(wire) {}

  void solve(std::int64_t turn) {
    std::int64_t const k = block(turn);
    if (!t_.has_rows(k)) return;
    std::int64_t const n = t_.width(k) * b_.cols;
    Matrix<T> const mine = b_.block(t_.row(k), 0, t_.width(k), b_.cols);
    if (!t_.has_columns(k)) {
      sent_.template send<T>(t_.along.raw(), {static_cast<int>(t_.columns.owner(k)), mine.data, n});
      return;
    }
    for (int g = 0; g < t_.along.size(); ++g) {
      if (g == t_.along.rank()) continue;
      received_.template receive<T>(t_.along.raw(), {g, wire_, n});
      received_.finish();
      for (std::int64_t i = 0; i < n; ++i) mine.data[i] += wire_[i];
    }
    linalg::kernels::solve_triangle<T>(t_.part(k, k + 1, k), lower_, unit_, mine);
    linalg::kernels::copy<T>(mine, solved(k));
  }
  void spread(std::int64_t turn) {
    std::int64_t const k = block(turn);
    if (!t_.has_columns(k)) return;
    Matrix<T> const x = solved(k);
    std::int64_t const n = x.rows * x.cols;
    if (t_.has_rows(k)) return execute::send_to_others<T>(sent_, t_.down, x.data, n);
    received_.template receive<T>(t_.down.raw(), {static_cast<int>(t_.rows.owner(k)), x.data, n});
    received_.finish();
  }
  void subtract(std::int64_t turn) {
    std::int64_t const k = block(turn);
    if (!t_.has_columns(k)) return;
    std::int64_t const first = lower_ ? k + 1 : 0;
    std::int64_t const last = lower_ ? t_.rows.count() : k;
    std::int64_t const row = t_.row(first);
    linalg::kernels::subtract_product<T>(t_.part(first, last, k), solved(k),
                                         b_.block(row, 0, t_.row(last) - row, b_.cols));
  }
  void finish() { sent_.finish(); }

 private:
  std::int64_t block(std::int64_t turn) const { return lower_ ? turn : t_.rows.count() - 1 - turn; }
  Matrix<T> solved(std::int64_t k) const {
    return x_.block(t_.columns.local(k), 0, t_.width(k), b_.cols);
  }

  GridMatrix<T const> const& t_;
  bool lower_;
  bool unit_;
  Matrix<T> b_;
  Matrix<T> x_;
  T* wire_;
  detail::Messages received_;
  detail::Messages sent_;
};
template <class T>
void solve_on_grid(GridMatrix<T const> const& t, bool lower, bool unit, Matrix<T> const& b,
                   Matrix<T> const& x, T* wire) {
  TriangleOnGrid<T> on(t, lower, unit, b, x, wire);
  planning::loops::triangle(0, t.rows.count(), on);
}

/// One call on the calling rank, with the matrix `A` as its first operand; `R` is what the types
/// resolve to.
template <class R, class A>
class GridRun : public CyclicRun<R, A> {
 public:
  using Base = CyclicRun<R, A>;
  using typename Base::T;
  static constexpr bool grid = true;

  GridRun(A const& a, std::source_location const& where, char const* name)
      : Base(a, where, name),
        down_(&this->group(Base::matrix.dims[Base::matrix.find(Base::rows)].axes.suffix(0))),
        of_rows_{this->blocks().n, this->blocks().block, down_->size()},
        all_(&this->group(Base::matrix.dims[Base::matrix.find(Base::rows)].axes.suffix(0).plus(
            Base::matrix.dims[Base::matrix.find(Base::columns)].axes.suffix(0)))) {}

  Comm& everyone() const { return *all_; }
  template <class Visit>
  void for_diagonal(A const& a, Visit visit) const {
    GridMatrix<T const> const m = grid_in(static_cast<T const*>(a.buffer().data()), a);
    for (std::int64_t k = 0; k < m.rows.count(); ++k)
      if (m.has_rows(k) && m.has_columns(k))
        for (std::int64_t i = 0; i < m.width(k); ++i)
          visit(m.rows.begin(k) + i,
                linalg::kernels::at(m.mine, m.row(k) + i, m.columns.local(k) + i));
  }

  template <class U>
  GridMatrix<U> grid_in(U* memory, A const& a) const {
    return {*down_, this->comm(), of_rows_, this->blocks(), Base::matrix_in(memory, a)};
  }

  /// LU in the memory of m, which has a copy of the matrix; the pivots, from 0 on. Without all
  /// pivots the failure.
  template <class U>
  FactorFailure try_factor_lu(GridMatrix<U> const& m, std::int32_t* pivots) const {
    planning::GridRoom const room = GridMemory<U>::room_of(m);
    Buffer const panels = this->template take<U>(room.all());
    GridMemory<U> const parts{room, static_cast<U*>(panels.data())};
    GridPanels<U> stream(m, true, parts.slots(), room.slot);
    GridLu<U> method(m, stream, parts, pivots);
    FactorFailure const failed = execute::run_grid(m, stream, method);
    if (failed.kind != FactorFailure::none) return failed;
    Buffer const numbers =
        this->template take<U>(planning::pivot_elements(2 * of_rows_.n, sizeof(U)));
    auto* const from = static_cast<std::int32_t*>(numbers.data());
    method.finish(from, from + of_rows_.n);
    this->count_pivots_from_0(pivots);
    return failed;
  }
  FactorFailure try_factor_lu(A const& a, T* memory, std::int32_t* pivots) const {
    return try_factor_lu(grid_in(memory, a), pivots);
  }
  void factor_lu(A const& a, T* memory, std::int32_t* pivots) const {
    Base::check(try_factor_lu(a, memory, pivots), of_rows_.n);
  }
  template <class Triangle = CholeskyTriangle<T>>
  FactorFailure try_factor_cholesky(A const& a, T* memory, Triangle const& triangle = {}) const {
    GridMatrix<T> const m = grid_in(memory, a);
    planning::GridRoom const room = GridMemory<T>::room_of(m);
    Buffer const panels = this->take(room.all());
    GridMemory<T> const parts{room, Base::writable(panels)};
    GridPanels<T> stream(m, Triangle::goes_along, parts.slots(), room.slot);
    GridCholesky<T, Triangle> method(m, stream, parts, triangle);
    FactorFailure const failed = execute::run_grid(m, stream, method);
    if (failed.kind == FactorFailure::none) method.finish();
    return failed;
  }

  /// The memory of a solve with `cols` right-hand sides.
  template <class U>
  struct Vectors {
    Buffer all;
    Matrix<U> rows;
    Matrix<U> columns;
    U* out;
    U* in;
  };
  template <class U>
  Vectors<U> vectors(GridMatrix<U const> const& m, std::int64_t cols) const {
    std::int64_t const held = m.mine.rows;
    std::int64_t const across = m.mine.cols;
    Vectors<U> v{this->template take<U>(planning::grid_vectors(of_rows_, held, across, cols)),
                 {},
                 {},
                 nullptr,
                 nullptr};
    U* const data = static_cast<U*>(v.all.data());
    v.rows = linalg::kernels::row_major(data, held, cols);
    v.columns = linalg::kernels::row_major(data + held * cols, across, cols);
    v.out = data + (held + across) * cols;
    v.in = v.out + std::max({held, across, std::min(of_rows_.n, of_rows_.block)}) * cols;
    return v;
  }
  /// Where each row of a vector comes from when all pivots have exchanged rows.
  Buffer order(std::int32_t const* pivots) const {
    std::int64_t const n = of_rows_.n;
    Buffer out = this->take(planning::pivot_elements(n, sizeof(T)));
    auto* const from = static_cast<std::int32_t*>(out.data());
    for (std::int64_t i = 0; i < n; ++i) from[i] = static_cast<std::int32_t>(i);
    for (std::int64_t i = 0; i < n; ++i) std::swap(from[i], from[pivots[i]]);
    return out;
  }
  /// The blocks of the diagonal of m, of rows or columns; zeros elsewhere. `given`: null if they
  /// are in place.
  template <class U>
  static void on_diagonal(GridMatrix<U const> const& m,
                          std::type_identity_t<Matrix<U const>> const* given, Matrix<U> const& to) {
    for (std::int64_t k = 0; k < m.rows.count(); ++k) {
      if (!m.has_rows(k)) continue;
      Matrix<U> const own = to.block(m.row(k), 0, m.width(k), to.cols);
      if (!m.has_columns(k)) {
        std::fill_n(own.data, own.rows * own.cols, U(0));
      } else if (given != nullptr) {
        linalg::kernels::copy<U>(given->block(m.row(k), 0, m.width(k), to.cols), own);
      }
    }
  }
  /// The same, of solutions of an earlier triangle, which lie as the columns of m.
  template <class U>
  static void from_columns(GridMatrix<U const> const& m, Matrix<U> const& x, Matrix<U> const& to) {
    for (std::int64_t k = 0; k < m.rows.count(); ++k)
      if (m.has_rows(k) && m.has_columns(k))
        linalg::kernels::copy<U>(x.block(m.columns.local(k), 0, m.width(k), to.cols),
                                 to.block(m.row(k), 0, m.width(k), to.cols));
    on_diagonal(m, nullptr, to);
  }
  /// a x = b by the factors of P a = L U: `given`, own rows; the solution in v.columns.
  template <class U>
  void solve_lu(GridMatrix<U const> const& m, std::int32_t const* pivots,
                std::type_identity_t<Matrix<U const>> const& given, Vectors<U> const& v) const {
    {
      Buffer const from = order(pivots);
      auto const* const source = static_cast<std::int32_t const*>(from.data());
      RowMover<U>(m.down, m.rows)
          .move(
              [&](std::int64_t i) -> std::int64_t {
                return m.has_columns(i / m.rows.block) ? source[i] : -1;
              },
              0, given, v.rows, v.out, v.in);
    }
    on_diagonal(m, nullptr, v.rows);
    execute::solve_on_grid<U>(m, true, true, v.rows, v.columns, v.out);
    from_columns(m, v.columns, v.rows);
    execute::solve_on_grid<U>(m, false, false, v.rows, v.columns, v.out);
  }
  /// a^T x = b: `given`, own columns; the solution at `made`, own rows.
  template <class U>
  void solve_transposed(GridMatrix<U const> const& m, std::int32_t const* pivots,
                        std::type_identity_t<Matrix<U const>> const& given, Vectors<U> const& v,
                        Matrix<U> const& made) const {
    GridMatrix<U const> const t = m.transposed();
    on_diagonal(t, &given, v.columns);
    execute::solve_on_grid<U>(t, true, false, v.columns, v.rows, v.out);
    from_columns(t, v.rows, v.columns);
    execute::solve_on_grid<U>(t, false, true, v.columns, v.rows, v.out);
    Buffer const from = order(pivots);
    Buffer const inverse = this->take(planning::pivot_elements(of_rows_.n, sizeof(T)));
    auto const* const source = static_cast<std::int32_t const*>(from.data());
    auto* const to = static_cast<std::int32_t*>(inverse.data());
    for (std::int64_t i = 0; i < of_rows_.n; ++i) to[source[i]] = static_cast<std::int32_t>(i);
    RowMover<U>(m.down, m.rows)
        .move([&](std::int64_t i) -> std::int64_t { return to[i]; }, 0, v.rows, made, v.out, v.in);
  }

  /// a x = b by LU of a, in the memory of a if `takes`.
  template <bool Transposed>
  void solve(bool takes, A const& a, Matrix<T const> const& given, Matrix<T> const& made,
             Groups = Groups::alike) const {
    static_assert(!Transposed);
    Buffer const factors = takes ? Buffer(a.buffer()) : this->take(a.local_size());
    Buffer const pivots = this->take(planning::pivot_elements(of_rows_.n, sizeof(T)));
    auto* const row_of = static_cast<std::int32_t*>(pivots.data());
    Base::copy_block(a, Base::writable(factors));
    factor_lu(a, Base::writable(factors), row_of);
    lu_solve_in<false>(grid_in(static_cast<T const*>(factors.data()), a), row_of, given, made);
  }
  /// By factors that are given. Transposed, the right-hand sides are own columns.
  template <bool Transposed>
  void lu_solve(A const& a, std::int32_t const* pivots, Matrix<T const> const& given,
                Matrix<T> const& made) const {
    lu_solve_in<Transposed>(given_in(a), pivots, given, made);
  }
  template <class Between>
  void cholesky_solve(A const& a, Matrix<T const> const& given, Matrix<T> const& made,
                      Between between) const {
    GridMatrix<T const> const m = given_in(a);
    Vectors<T> const v = vectors(m, given.cols);
    on_diagonal(m, &given, v.rows);
    execute::solve_on_grid<T>(m, true, false, v.rows, v.columns, v.out);
    // L^H x = y, as L^T conj(x) = conj(y); y is on the diagonal
    from_columns(m, v.columns, v.rows);
    for (std::int64_t k = 0; k < m.rows.count(); ++k)
      if (m.has_rows(k) && m.has_columns(k))
        between(m.rows.begin(k), v.rows.block(m.row(k), 0, m.width(k), given.cols));
    GridMatrix<T const> const t = m.transposed();
    from_columns(t, v.rows, v.columns);
    linalg::kernels::conjugate_all(v.columns);
    execute::solve_on_grid<T>(t, false, false, v.columns, v.rows, v.out);
    linalg::kernels::conjugate_all(v.rows);
    spread(m, v.rows, v.columns);
    linalg::kernels::copy<T>(v.columns, made);
  }
  template <bool Transposed>
  void triangular_solve(bool lower, bool unit, A const& a, Matrix<T const> const& given,
                        Matrix<T> const& made) const {
    GridMatrix<T const> const m = given_in(a);
    Vectors<T> const v = vectors(m, given.cols);
    Matrix<T> const& from = Transposed ? v.columns : v.rows;
    Matrix<T> const& to = Transposed ? v.rows : v.columns;
    GridMatrix<T const> const seen = Transposed ? m.transposed() : m;
    on_diagonal(seen, &given, from);
    execute::solve_on_grid<T>(seen, lower != Transposed, unit, from, to, v.out);
    linalg::kernels::copy<T>(to, made);
  }

 private:
  GridMatrix<T const> given_in(A const& a) const {
    return grid_in(static_cast<T const*>(a.buffer().data()), a);
  }
  template <bool Transposed>
  void lu_solve_in(GridMatrix<T const> const& m, std::int32_t const* pivots,
                   Matrix<T const> const& given, Matrix<T> const& made) const {
    Vectors<T> const v = vectors(m, given.cols);
    if constexpr (Transposed) {
      solve_transposed(m, pivots, given, v, made);
    } else {
      solve_lu(m, pivots, given, v);
      linalg::kernels::copy<T>(v.columns, made);
    }
  }
  /// From the rows of the diagonal's ranks to the columns of all ranks.
  static void spread(GridMatrix<T const> const& m, Matrix<T> const& rows,
                     Matrix<T> const& columns) {
    detail::Messages received;
    detail::Messages sent;
    for (std::int64_t k = 0; k < m.rows.count(); ++k) {
      if (!m.has_columns(k)) continue;
      Matrix<T> const to = columns.block(m.columns.local(k), 0, m.width(k), columns.cols);
      std::int64_t const n = to.rows * to.cols;
      if (!m.has_rows(k)) {
        received.template receive<T>(m.down.raw(), {static_cast<int>(m.rows.owner(k)), to.data, n});
        continue;
      }
      linalg::kernels::copy<T>(rows.block(m.row(k), 0, to.rows, to.cols), to);
      execute::send_to_others<T>(sent, m.down, to.data, n);
    }
    received.finish();
    sent.finish();
  }

  Comm* down_;
  CyclicBlocks of_rows_;
  Comm* all_;
};

}  // namespace shardtype::execute
