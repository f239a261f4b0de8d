#pragma once
/// Runs solves of one matrix over many ranks by factors of half the precision.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <shardtype/linalg/run_cyclic.hpp>
#include <shardtype/linalg/types_cyclic_refined.hpp>

namespace shardtype::execute {

template <class T>
struct HalfOf {
  using type = float;
  static float of(double x) { return static_cast<float>(x); }
};
template <>
struct HalfOf<Kokkos::complex<double>> {
  using type = Kokkos::complex<float>;
  static type of(Kokkos::complex<double> const& x) {
    return {static_cast<float>(x.real()), static_cast<float>(x.imag())};
  }
};

/// LU of a in half the precision, corrected by residuals until they are small (LAPACK's dsgesv). `C`: the CyclicRun.
template <class C>
class Refinement {
 public:
  using T = typename C::T;
  using F = typename HalfOf<T>::type;

  /// `a`: this rank's columns; `b`: the right-hand sides; `x`: this rank's rows of the solution.
  Refinement(C const& run, CyclicColumns<T const> const& a, Matrix<T const> const& b,
             Matrix<T> const& x)
      : run_(run),
        a_(a),
        b_(b),
        x_(x),
        sums_(run.take(a.blocks.n * (2 * b.cols + 1))),
        norms_(run.template take<double>(4 * b.cols)) {}

  /// Whether x is the solution to the accuracy of one in full precision: alike on all ranks, because it is decided by maxima
  /// over them.
  bool solves() {
    if (n() == 0 || right() == 0 || !bounded()) return false;
    Buffer const factors = run_.template take<F>(a_.mine.rows * a_.mine.cols);
    Buffer const pivots = run_.template take<F>(planning::pivot_elements(n(), sizeof(F)));
    auto* const row_of = static_cast<std::int32_t*>(pivots.data());
    if (!factor(static_cast<F*>(factors.data()), row_of)) return false;
    Buffer const solution = run_.template take<F>(n() * right());
    CyclicColumns<F const> const lu = columns(static_cast<F const*>(factors.data()));
    Matrix<F> const y = linalg::kernels::row_major(static_cast<F*>(solution.data()), n(), right());
    for (std::int64_t j = 0; j < right(); ++j)
      for (std::int64_t i = 0; i < x_.rows; ++i) linalg::kernels::at(x_, i, j) = T(0);
    linalg::kernels::copy<T>(b_, residual());
    for (int k = 0; k <= linalg::corrections; ++k) {
      correct(lu, row_of, y);
      find_residual();
      if (double const e = error(); e <= 1 || !std::isfinite(e)) return e <= 1;
    }
    return false;
  }

 private:
  static constexpr int parts = linalg::kernels::is_complex<T> ? 2 : 1;
  static constexpr double most = std::numeric_limits<float>::max();

  std::int64_t n() const { return a_.blocks.n; }
  std::int64_t right() const { return b_.cols; }
  T* sums() const { return static_cast<T*>(sums_.data()); }
  Matrix<T> part() const { return linalg::kernels::row_major(sums(), n(), right()); }
  Matrix<T> residual() const {
    return linalg::kernels::row_major(sums() + n() * right(), n(), right());
  }
  template <class U>
  CyclicColumns<U> columns(U* memory) const {
    Matrix<T const> const& m = a_.mine;
    return {a_.comm, a_.blocks, {memory, m.rows, m.cols, m.row_stride, m.col_stride, 0}};
  }
  static double size(T const& x) {
    if constexpr (parts == 2) {
      return std::abs(x.real()) + std::abs(x.imag());
    } else {
      return std::abs(x);
    }
  }
  /// The larger number; infinite if one is a NaN, which a maximum over ranks may lose.
  static double larger(double a, double b) {
    return std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::infinity()
                                          : std::max(a, b);
  }
  double* norms() const { return static_cast<double*>(norms_.data()); }
  /// The maxima over all ranks of two numbers of each right-hand side.
  double const* agreed() {
    std::int64_t const count = 2 * right();
    a_.comm.template all_reduce<double>(norms(), norms() + count, count, ReduceKind::max);
    return norms() + count;
  }

  /// Finds the norm of the matrix, the largest sum of a row. Whether it and the right-hand sides are numbers of float.
  bool bounded() {
    auto* const rows = reinterpret_cast<double*>(sums());
    std::fill_n(rows, n(), 0.);
    Matrix<T const> const& m = a_.mine;
    bool const by_rows = m.col_stride == 1;
    for (std::int64_t o = 0; o < (by_rows ? m.rows : m.cols); ++o)
      for (std::int64_t k = 0; k < (by_rows ? m.cols : m.rows); ++k) {
        std::int64_t const i = by_rows ? o : k;
        rows[i] += size(linalg::kernels::at(m, i, by_rows ? k : o));
      }
    double* const all = rows + n();
    a_.comm.template all_reduce<double>(rows, all, n(), ReduceKind::sum);
    std::fill_n(norms(), 2 * right(), 0.);
    for (std::int64_t i = 0; i < n(); ++i) norms()[0] = larger(norms()[0], all[i]);
    for (std::int64_t j = 0; j < right(); ++j)
      for (std::int64_t i = 0; i < n(); ++i)
        norms()[1] = larger(norms()[1], size(linalg::kernels::at(b_, i, j)));
    double const* const of_all = agreed();
    norm_ = of_all[0];
    return of_all[0] <= most && of_all[1] <= most;
  }
  /// LU in half the precision. Whether it has all pivots.
  bool factor(F* memory, std::int32_t* row_of) {
    std::transform(a_.mine.data, a_.mine.data + a_.mine.rows * a_.mine.cols, memory, HalfOf<T>::of);
    CyclicColumns<F> const to = columns(memory);
    Buffer const panels = run_.template take<F>(PanelStream<F>::memory(a_.blocks));
    LuMethod<F> method{to, row_of, Matrix<F>{}};
    if (run_panels(to, method, static_cast<F*>(panels.data())).kind != FactorFailure::none)
      return false;
    method.finish();
    run_.count_pivots_from_0(row_of);
    return true;
  }
  /// Adds to x what the factors make of the residual.
  void correct(CyclicColumns<F const> const& lu, std::int32_t const* row_of, Matrix<F> const& y) {
    std::transform(residual().data, residual().data + n() * right(), y.data, HalfOf<T>::of);
    linalg::kernels::exchange_rows(y, row_of, n());
    run_.clear_others(y);
    run_.template solve_by_ring<F>({lu, true, true}, y);
    run_.template solve_by_ring<F>({lu, false, false}, y);
    run_.for_own_blocks([&](std::int64_t begin, std::int64_t local, std::int64_t width) {
      for (std::int64_t i = 0; i < width; ++i)
        for (std::int64_t j = 0; j < right(); ++j)
          linalg::kernels::at(x_, local + i, j) += T(linalg::kernels::at(y, begin + i, j));
    });
  }
  /// b - a x, on all ranks.
  void find_residual() {
    if (a_.me() == 0) {
      linalg::kernels::copy<T>(b_, part());
    } else {
      std::fill_n(part().data, n() * right(), T(0));
    }
    linalg::kernels::subtract_product<T>(a_.mine, x_, part());
    a_.comm.template all_reduce<double>(reinterpret_cast<double const*>(part().data),
                                        reinterpret_cast<double*>(residual().data),
                                        n() * right() * parts, ReduceKind::sum);
  }
  /// The largest residual over what that of a solution in full precision would be; infinite if float does not have it.
  double error() {
    std::fill_n(norms(), 2 * right(), 0.);
    for (std::int64_t j = 0; j < right(); ++j) {
      for (std::int64_t i = 0; i < x_.rows; ++i)
        norms()[2 * j] = larger(norms()[2 * j], size(linalg::kernels::at(x_, i, j)));
      for (std::int64_t i = 0; i < n(); ++i)
        norms()[2 * j + 1] =
            larger(norms()[2 * j + 1], size(linalg::kernels::at(residual(), i, j)));
    }
    double const* const of_all = agreed();
    double const unit = std::numeric_limits<double>::epsilon() / 2;
    double worst = 0;
    for (std::int64_t j = 0; j < right(); ++j) {
      double const x = of_all[2 * j], r = of_all[2 * j + 1];
      if (!(x <= std::numeric_limits<double>::max()) || !(r <= most))
        return std::numeric_limits<double>::infinity();
      double const allowed = x * norm_ * unit * std::sqrt(static_cast<double>(n()));
      worst = std::max(worst, r <= allowed ? 0 : std::min(r / allowed, most));
    }
    return worst;
  }

  C const& run_;
  CyclicColumns<T const> const& a_;
  Matrix<T const> b_;
  Matrix<T> x_;
  Buffer sums_;
  Buffer norms_;
  double norm_ = 0;
};

template <class I, class J>
struct Run<op::CyclicRefinedSolve<I, J>>
    : Solved<CyclicRun, Run<op::CyclicRefinedSolve<I, J>>, op::CyclicRefinedSolve<I, J>, false> {
  template <class C, class A, class T, class B>
  static void solve_for(op::CyclicRefinedSolve<I, J> const&, C const& run, A const& a,
                        Matrix<T const> const& given, Matrix<T> const& made, B const&) {
    CyclicColumns<T const> const columns =
        run.columns_in(static_cast<T const*>(a.buffer().data()), a);
    if (!Refinement<C>(run, columns, given, made).solves())
      solve_by_lu<false>(run, false, a, given, made);
  }
};

}  // namespace shardtype::execute
