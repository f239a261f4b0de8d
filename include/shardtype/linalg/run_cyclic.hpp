#pragma once
/// Runs the factorizations and solves of one matrix over many ranks.

#include <algorithm>
#include <cstdint>

#include <shardtype/linalg/run_cyclic_call.hpp>

namespace shardtype::execute {

/// a^T x = b by the factors of P a = L U, in place of y, of which each rank has its own blocks of
/// b.
template <class T>
void solve_transposed(CyclicColumns<T const> const& factors, std::int32_t const* pivots,
                      Matrix<T> const& y) {
  execute::solve_by_spread<T>({factors, false, false}, y);
  execute::solve_by_spread<T>({factors, true, true}, y);
  linalg::kernels::exchange_rows(y, pivots, y.rows, true);
}

template <class I, class J, bool Singular>
struct Run<op::CyclicLu<I, J, Singular>> : FactoredLu<CyclicRun, op::CyclicLu<I, J, Singular>> {};

template <class I, class J>
struct Run<op::CyclicCholesky<I, J>> : FactoredCholesky<CyclicRun, op::CyclicCholesky<I, J>> {};

/// a x = b, or a^T x = b, by LU of a, in the memory of a if `takes`.
template <bool Transposed, class C, class A, class T>
void solve_by_lu(C const& run, bool takes, A const& a, Matrix<T const> const& given,
                 Matrix<T> const& made, Groups groups = Groups::alike) {
  CyclicBlocks const& blocks = run.blocks();
  Buffer const factors = takes ? Buffer(a.buffer()) : run.take(a.local_size());
  Buffer const right = run.take(blocks.n * given.cols);
  Buffer const pivots = run.take(planning::pivot_elements(blocks.n, sizeof(T)));
  auto* const row_of = static_cast<std::int32_t*>(pivots.data());
  run.copy_block(a, C::writable(factors));
  Matrix<T> const y = linalg::kernels::row_major(C::writable(right), blocks.n, given.cols);
  CyclicColumns<T const> const columns = run.columns_in(static_cast<T const*>(factors.data()), a);
  if constexpr (Transposed) {
    run.factor_lu(a, C::writable(factors), row_of);
    run.gather_own(given, y);
    execute::solve_transposed<T>(columns, row_of, y);
    linalg::kernels::copy<T>(y, made);
  } else {
    // the right-hand sides go along at the rank where the way back begins
    bool const carries = blocks.count() > 0 && run.owns(blocks.count() - 1);
    if (carries) {
      linalg::kernels::copy<T>(given, y);
    } else {
      std::fill_n(y.data, blocks.n * given.cols, T(0));
    }
    run.factor(a, C::writable(factors), row_of, carries ? y : Matrix<T>{}, false, groups);
    run.template solve_by_ring<T>({columns, false, false}, y);
    run.leave_own(y, made);
  }
}

template <class I, class J, bool Transposed>
struct Run<op::CyclicSolve<I, J, Transposed>>
    : Solved<CyclicRun, op::CyclicSolve<I, J, Transposed>> {
  template <class C, class A, class T, class B>
  static void solve_for(auto const& op, C const& run, A const& a, Matrix<T const> const& given,
                        Matrix<T> const& made, B const&) {
    execute::solve_by_lu<Transposed>(run, C::takes(op, a), a, given, made);
  }
};

/// A solve by triangles that are given: `Run<Op>::solve(op, run, columns, y, others...)` does it in
/// place of y, the right-hand sides on all ranks, of which then each has its own blocks of the
/// solution; transposed the other way round.
template <class Op>
struct CyclicSolved : Solved<CyclicRun, Op> {
  template <class C, class A, class T, class... Bs>
  static void solve_for(Op const& op, C const& run, A const& a, Matrix<T const> const& given,
                        Matrix<T> const& made, Bs const&... bs) {
    std::int64_t const n = run.blocks().n;
    Buffer const right = run.take(n * given.cols);
    Matrix<T> const y = linalg::kernels::row_major(C::writable(right), n, given.cols);
    CyclicColumns<T const> const columns =
        run.columns_in(static_cast<T const*>(a.buffer().data()), a);
    if constexpr (Op::transposed) {
      run.gather_own(given, y);
      Run<Op>::solve(op, run, columns, y, bs...);
      linalg::kernels::copy<T>(y, made);
    } else {
      linalg::kernels::copy<T>(given, y);
      Run<Op>::solve(op, run, columns, y, bs...);
      run.leave_own(y, made);
    }
  }
};

template <class I, class J, bool Transposed>
struct Run<op::CyclicLuSolve<I, J, Transposed>>
    : CyclicSolved<op::CyclicLuSolve<I, J, Transposed>> {
  template <class C, class T, class P, class B>
  static void solve(auto const&, C const& run, CyclicColumns<T const> const& columns,
                    Matrix<T> const& y, P const& pivots, B const&) {
    auto const* const rows = static_cast<std::int32_t const*>(pivots.buffer().data());
    if constexpr (Transposed) {
      execute::solve_transposed<T>(columns, rows, y);
    } else {
      linalg::kernels::exchange_rows(y, rows, y.rows);
      run.clear_others(y);
      run.template solve_by_ring<T>({columns, true, true}, y);
      run.template solve_by_ring<T>({columns, false, false}, y);
    }
  }
};

template <class I, class J>
struct Run<op::CyclicCholeskySolve<I, J>> : CyclicSolved<op::CyclicCholeskySolve<I, J>> {
  template <class C, class T, class B>
  static void solve(auto const&, C const& run, CyclicColumns<T const> const& columns,
                    Matrix<T> const& y, B const&) {
    run.clear_others(y);
    run.template solve_by_ring<T>({columns, true, false}, y);
    // L^H x = y, as L^T conj(x) = conj(y)
    linalg::kernels::conjugate_all(y);
    execute::solve_by_spread<T>({columns, true, false}, y);
    linalg::kernels::conjugate_all(y);
  }
};

template <class I, class J, bool Transposed>
struct Run<op::CyclicTriangle<I, J, Transposed>>
    : CyclicSolved<op::CyclicTriangle<I, J, Transposed>> {
  template <class C, class T, class B>
  static void solve(auto const& op, C const& run, CyclicColumns<T const> const& columns,
                    Matrix<T> const& y, B const&) {
    if constexpr (Transposed) {
      execute::solve_by_spread<T>({columns, op.lower, op.unit}, y);
    } else {
      run.clear_others(y);
      run.template solve_by_ring<T>({columns, op.lower, op.unit}, y);
    }
  }
};

}  // namespace shardtype::execute
