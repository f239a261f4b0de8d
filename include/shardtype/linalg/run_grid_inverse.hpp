#pragma once
/// Runs what types_grid_inverse.hpp declares: the inverse, in the places of the matrix, and the
/// determinant.

#include <algorithm>
#include <cstdint>

#include <shardtype/linalg/run_cyclic_inverse.hpp>
#include <shardtype/linalg/run_grid.hpp>
#include <shardtype/linalg/types_grid_inverse.hpp>

namespace shardtype::execute {

/// L x = y (`lower`) or U x = y in place of x, whose rows are split as those of the factors and
/// whose columns are this process column's own. `memory`: planning::factor_slots panels of all own
/// rows, and a block of own columns.
template <bool lower, class T>
void solve_own_columns(GridMatrix<T const> const& m, Matrix<T> const& x, T* memory) {
  std::int64_t const room = m.mine.rows * std::min(m.rows.n, m.rows.block);
  T* const wire = memory + planning::factor_slots * room;
  detail::Messages sent;
  detail::Messages received;
  auto const rows = [&](std::int64_t k) {
    return lower ? RowRange{m.row(k), m.mine.rows - m.row(k)} : RowRange{0, m.row(k + 1)};
  };
  auto const apply = [&](std::int64_t k, Matrix<T> const& panel) {
    std::int64_t const w = panel.cols;
    bool const holds = m.has_rows(k);
    Matrix<T> const solved = linalg::kernels::row_major(wire, w, x.cols);
    sent.finish();
    if (holds) {
      Matrix<T> const own = x.block(m.row(k), 0, w, x.cols);
      linalg::kernels::solve_triangle<T>(panel.block(lower ? 0 : panel.rows - w, 0, w, w), lower,
                                         lower, own);
      linalg::kernels::copy<T>(own, solved);
      execute::send_to_others<T>(sent, m.down, wire, w * x.cols);
    } else {
      received.template receive<T>(m.down.raw(),
                                   {static_cast<int>(m.rows.owner(k)), wire, w * x.cols});
      received.finish();
    }
    std::int64_t const rest = panel.rows - (holds ? w : 0);
    linalg::kernels::subtract_product<T>(panel.block(lower && holds ? w : 0, 0, rest, w), solved,
                                         x.block(lower ? m.row(k + 1) : 0, 0, rest, x.cols));
  };
  execute::panels_come_by(CyclicColumns<T const>{m.along, m.columns, m.mine}, lower, rows, memory,
                          apply);
  sent.finish();
}

template <class I, class J>
struct Run<op::GridInverse<I, J>> : Called<GridRun, op::GridInverse<I, J>> {
  template <class C, class Out, class A, class P>
  static void fill(auto const&, C const& run, Out& out, A const& a, P const& pivots) {
    using T = typename A::element;
    GridMatrix<T const> const m = run.grid(static_cast<T const*>(a.buffer().data()), a);
    // it lies as the matrix
    Matrix<T> const x = C::matrix_in(static_cast<T*>(out.buffer().data()), out);
    set_exchanged_identity(run, static_cast<std::int32_t const*>(pivots.buffer().data()), m, x);
    std::int64_t const w = std::min(m.rows.n, m.rows.block);
    Buffer const memory = run.take(w * (planning::factor_slots * m.mine.rows + m.mine.cols));
    execute::solve_own_columns<true>(m, x, C::writable(memory));
    execute::solve_own_columns<false>(m, x, C::writable(memory));
  }

 private:
  /// The identity whose rows the pivots have exchanged.
  template <class C, class T>
  static void set_exchanged_identity(C const& run, std::int32_t const* pivots,
                                     GridMatrix<T const> const& m, Matrix<T> const& x) {
    std::fill_n(x.data, x.rows * x.cols, T(0));
    Buffer const order = run.order(pivots);
    auto const* const from = static_cast<std::int32_t const*>(order.data());
    for (std::int64_t k = 0; k < m.rows.count(); ++k) {
      if (!m.has_rows(k)) continue;
      for (std::int64_t i = 0; i < m.width(k); ++i) {
        std::int64_t const j = from[m.rows.begin(k) + i];
        std::int64_t const block = j / m.columns.block;
        if (m.has_columns(block))
          linalg::kernels::at(x, m.row(k) + i, m.columns.local(block) + j % m.columns.block) = T(1);
      }
    }
  }
};

template <class I, class J, linalg::detail::Product what>
struct Run<op::GridLuProduct<I, J, what>>
    : LuProduct<GridRun, op::GridLuProduct<I, J, what>, what> {};

}  // namespace shardtype::execute
