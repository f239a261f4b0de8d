#pragma once
/// Runs solves of one matrix over many ranks by factors of half the precision.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <shardtype/linalg/run_cyclic.hpp>
#include <shardtype/linalg/types_cyclic_solutions.hpp>

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

/// LU of a in half the precision, corrected by residuals until they are small (LAPACK's dsgesv).
/// `Half` is the call's: `mine`, the own columns of those rows of a of which this rank has the
/// right-hand sides; `comm`, the ranks that have the others; `factor()`, LU in half the precision,
/// and whether it has all pivots; `correct(residual, x)`, which adds to the own rows of the
/// solution what the factors make of the residual.
template <class C, class Half>
class Refinement {
 public:
  using T = typename C::T;

  /// `b`: the right-hand sides; `x`: this rank's rows of the solution.
  Refinement(C const& run, Half& half, Matrix<T const> const& b, Matrix<T> const& x)
      : run_(run),
        half_(half),
        b_(b),
        x_(x),
        sums_(run.take(rows() * (2 * b.cols + 1))),
        norms_(run.template take<double>(4 * b.cols)) {}

  /// Whether x is the solution to the accuracy of one in full precision: alike on all ranks,
  /// because it is decided by maxima over them.
  bool solves() {
    if (run_.blocks().n == 0 || right() == 0 || !bounded() || !half_.factor(right())) return false;
    for (std::int64_t j = 0; j < right(); ++j)
      for (std::int64_t i = 0; i < x_.rows; ++i) linalg::kernels::at(x_, i, j) = T(0);
    linalg::kernels::copy<T>(b_, residual());
    for (int k = 0; k <= linalg::corrections; ++k) {
      half_.correct(residual(), x_);
      find_residual();
      if (double const e = error(); e <= 1 || !std::isfinite(e)) return e <= 1;
    }
    return false;
  }

 private:
  static constexpr int parts = linalg::kernels::is_complex<T> ? 2 : 1;
  static constexpr double most = std::numeric_limits<float>::max();

  std::int64_t rows() const { return half_.mine.rows; }
  std::int64_t right() const { return b_.cols; }
  T* sums() const { return static_cast<T*>(sums_.data()); }
  Matrix<T> part() const { return linalg::kernels::row_major(sums(), rows(), right()); }
  Matrix<T> residual() const {
    return linalg::kernels::row_major(sums() + rows() * right(), rows(), right());
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
    run_.everyone().template all_reduce<double>(norms(), norms() + count, count, ReduceKind::max);
    return norms() + count;
  }

  /// Finds the norm of the matrix, the largest sum of a row. Whether it and the right-hand sides
  /// are numbers of float.
  bool bounded() {
    auto* const sizes = reinterpret_cast<double*>(sums());
    std::fill_n(sizes, rows(), 0.);
    Matrix<T const> const& m = half_.mine;
    bool const by_rows = m.col_stride == 1;
    for (std::int64_t o = 0; o < (by_rows ? m.rows : m.cols); ++o)
      for (std::int64_t k = 0; k < (by_rows ? m.cols : m.rows); ++k) {
        std::int64_t const i = by_rows ? o : k;
        sizes[i] += size(linalg::kernels::at(m, i, by_rows ? k : o));
      }
    double* const all = sizes + rows();
    half_.comm.template all_reduce<double>(sizes, all, rows(), ReduceKind::sum);
    std::fill_n(norms(), 2 * right(), 0.);
    for (std::int64_t i = 0; i < rows(); ++i) norms()[0] = larger(norms()[0], all[i]);
    for (std::int64_t j = 0; j < right(); ++j)
      for (std::int64_t i = 0; i < rows(); ++i)
        norms()[1] = larger(norms()[1], size(linalg::kernels::at(b_, i, j)));
    double const* const of_all = agreed();
    norm_ = of_all[0];
    return of_all[0] <= most && of_all[1] <= most;
  }
  /// b - a x.
  void find_residual() {
    if (half_.comm.rank() == 0) {
      linalg::kernels::copy<T>(b_, part());
    } else {
      std::fill_n(part().data, rows() * right(), T(0));
    }
    linalg::kernels::subtract_product<T>(half_.mine, x_, part());
    half_.comm.template all_reduce<double>(reinterpret_cast<double const*>(part().data),
                                           reinterpret_cast<double*>(residual().data),
                                           rows() * right() * parts, ReduceKind::sum);
  }
  /// The largest residual over what that of a solution in full precision would be; infinite if
  /// float does not have it.
  double error() {
    std::fill_n(norms(), 2 * right(), 0.);
    for (std::int64_t j = 0; j < right(); ++j) {
      for (std::int64_t i = 0; i < x_.rows; ++i)
        norms()[2 * j] = larger(norms()[2 * j], size(linalg::kernels::at(x_, i, j)));
      for (std::int64_t i = 0; i < rows(); ++i)
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
      double const allowed = x * norm_ * unit * std::sqrt(static_cast<double>(run_.blocks().n));
      worst = std::max(worst, r <= allowed ? 0 : std::min(r / allowed, most));
    }
    return worst;
  }

  C const& run_;
  Half& half_;
  Matrix<T const> b_;
  Matrix<T> x_;
  Buffer sums_;
  Buffer norms_;
  double norm_ = 0;
};

/// Whether the refinement finds the solution; its memory is free again.
template <class Half, class C, class A, class T>
bool refine(C const& run, A const& a, Matrix<T const> const& given, Matrix<T> const& made) {
  Half half(run, a);
  return Refinement<C, Half>(run, half, given, made).solves();
}

/// Copies of elements in half the precision.
template <class T>
void copy_half(T const* from, std::int64_t count, typename HalfOf<T>::type* to) {
  std::transform(from, from + count, to, HalfOf<T>::of);
}
/// Adds rows of y to rows of x.
template <class F, class T>
void add_rows(Matrix<F> const& y, Matrix<T> const& x) {
  for (std::int64_t i = 0; i < y.rows; ++i)
    for (std::int64_t j = 0; j < y.cols; ++j)
      linalg::kernels::at(x, i, j) += T(linalg::kernels::at(y, i, j));
}

/// One matrix, and memory for its factors in half the precision.
template <class C, class A>
class HalfOfOne {
 public:
  using T = typename C::T;
  using F = typename HalfOf<T>::type;

  HalfOfOne(C const& run, A const& a)
      : mine(C::matrix_in(static_cast<T const*>(a.buffer().data()), a)),
        comm(run.comm()),
        run_(run),
        a_(a) {}

  Matrix<T const> const mine;
  Comm& comm;

 protected:
  /// A copy of the matrix, to be factorized.
  F* copied() {
    factors_ = run_.template take<F>(mine.rows * mine.cols);
    pivots_ = run_.template take<F>(planning::pivot_elements(run_.blocks().n, sizeof(F)));
    auto* const to = static_cast<F*>(factors_.data());
    execute::copy_half(mine.data, mine.rows * mine.cols, to);
    return to;
  }
  F const* factors() const { return static_cast<F const*>(factors_.data()); }
  std::int32_t* row_of() const { return static_cast<std::int32_t*>(pivots_.data()); }

  C const& run_;
  A const& a_;

 private:
  Buffer factors_;
  Buffer pivots_;
};

/// The half of columns over one axis.
template <class C, class A>
class CyclicHalf : public HalfOfOne<C, A> {
  using Base = HalfOfOne<C, A>;
  using Base::a_, Base::run_, Base::row_of;

 public:
  using Base::Base;
  using typename Base::F, typename Base::T;

  bool factor(std::int64_t right) {
    CyclicColumns<F> const to = run_.columns_in(this->copied(), a_);
    Buffer own;
    LuMethod<F> method{to, row_of(), Matrix<F>{}};
    if (execute::run_panels(to, method, run_.template factor_slots<F>(own, Groups::each)).kind !=
        FactorFailure::none)
      return false;
    method.finish();
    run_.count_pivots_from_0(row_of());
    solution_ = run_.template take<F>(run_.blocks().n * right);
    return true;
  }
  void correct(Matrix<T> const& residual, Matrix<T> const& x) const {
    CyclicColumns<F const> const lu = run_.columns_in(this->factors(), a_);
    Matrix<F> const y =
        linalg::kernels::row_major(static_cast<F*>(solution_.data()), residual.rows, residual.cols);
    execute::copy_half(residual.data, y.rows * y.cols, y.data);
    linalg::kernels::exchange_rows(y, row_of(), y.rows);
    run_.clear_others(y);
    run_.template solve_by_ring<F>({lu, true, true}, y);
    run_.template solve_by_ring<F>({lu, false, false}, y);
    run_.for_own_blocks([&](std::int64_t begin, std::int64_t local, std::int64_t width) {
      execute::add_rows(y.block(begin, 0, width, y.cols), x.block(local, 0, width, y.cols));
    });
  }

 private:
  Buffer solution_;
};

/// The half of a matrix over a grid.
template <class C, class A>
class GridHalf : public HalfOfOne<C, A> {
  using Base = HalfOfOne<C, A>;
  using Base::a_, Base::run_, Base::row_of;

 public:
  using Base::Base;
  using typename Base::F, typename Base::T;

  bool factor(std::int64_t right) {
    GridMatrix<F> const to = run_.grid_in(this->copied(), a_);
    if (run_.try_factor_lu(to, row_of()).kind != FactorFailure::none) return false;
    given_ = run_.template take<F>(this->mine.rows * right);
    vectors_ = run_.vectors(lu(), right);
    return true;
  }
  void correct(Matrix<T> const& residual, Matrix<T> const& x) const {
    Matrix<F> const y =
        linalg::kernels::row_major(static_cast<F*>(given_.data()), residual.rows, residual.cols);
    execute::copy_half(residual.data, y.rows * y.cols, y.data);
    run_.solve_lu(lu(), row_of(), y, vectors_);
    execute::add_rows(vectors_.columns, x);
  }

 private:
  GridMatrix<F const> lu() const { return run_.grid_in(this->factors(), a_); }

  Buffer given_;
  typename C::template Vectors<F> vectors_{};
};

template <class I, class J>
struct Run<op::CyclicRefinedSolve<I, J>> : Solved<op::CyclicRefinedSolve<I, J>> {
  template <class C, class A, class T, class B>
  static void solve_for(auto const&, C const& run, A const& a, Matrix<T const> const& given,
                        Matrix<T> const& made, B const&) {
    using Half = std::conditional_t<C::grid, GridHalf<C, A>, CyclicHalf<C, A>>;
    if (!execute::refine<Half>(run, a, given, made))
      run.template solve<false>(false, a, given, made, Groups::each);
  }
};

}  // namespace shardtype::execute
