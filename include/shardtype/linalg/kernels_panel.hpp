#pragma once
/// The local work of blocked factorizations on the host: products that are subtracted, triangles,
/// row exchanges, and the factorization of a panel. BLAS and LAPACK do it where the program has
/// them, else the loops below.

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <shardtype/kernels/gemm_blas.hpp>
#include <shardtype/kernels/matrix.hpp>
#include <shardtype/linalg/kernels_own.hpp>

namespace shardtype::linalg::kernels {

template <class T>
using Matrix = shardtype::kernels::Matrix<T>;

template <class T>
bool empty(Matrix<T> const& m) {
  return m.rows == 0 || m.cols == 0;
}
template <class T>
T& at(Matrix<T> const& m, std::int64_t row, std::int64_t col) {
  return m.data[row * m.row_stride + col * m.col_stride];
}
/// A column-major matrix without gaps.
template <class T>
Matrix<T> column_major(T* data, std::int64_t rows, std::int64_t cols) {
  return {data, rows, cols, 1, std::max<std::int64_t>(rows, 1), 0};
}
/// A row-major matrix without gaps.
template <class T>
Matrix<T> row_major(T* data, std::int64_t rows, std::int64_t cols) {
  return {data, rows, cols, std::max<std::int64_t>(cols, 1), 1, 0};
}

/// to = from, in tiles, because one may be row-major and the other column-major.
template <class T>
void copy(Matrix<T const> const& from, Matrix<T> const& to) {
  constexpr std::int64_t tile = 16;
  for (std::int64_t i0 = 0; i0 < from.rows; i0 += tile)
    for (std::int64_t j0 = 0; j0 < from.cols; j0 += tile) {
      std::int64_t const i1 = std::min(from.rows, i0 + tile);
      std::int64_t const j1 = std::min(from.cols, j0 + tile);
      if (to.row_stride == 1) {
        for (std::int64_t j = j0; j < j1; ++j)
          for (std::int64_t i = i0; i < i1; ++i) kernels::at(to, i, j) = kernels::at(from, i, j);
      } else {
        for (std::int64_t i = i0; i < i1; ++i)
          for (std::int64_t j = j0; j < j1; ++j) kernels::at(to, i, j) = kernels::at(from, i, j);
      }
    }
}

/// Zeros above a diagonal that begins in row `begin`, in the order in which they lie in memory.
template <class T>
void clear_above(Matrix<T> const& m, std::int64_t begin) {
  if (m.row_stride == 1) {
    for (std::int64_t j = 0; j < m.cols; ++j)
      for (std::int64_t i = 0; i < std::min(m.rows, begin + j); ++i) kernels::at(m, i, j) = T(0);
  } else {
    for (std::int64_t i = 0; i < m.rows; ++i)
      for (std::int64_t j = std::max<std::int64_t>(0, i - begin + 1); j < m.cols; ++j)
        kernels::at(m, i, j) = T(0);
  }
}
/// The conjugates, in place; real numbers stay.
template <class T>
void conjugate_all([[maybe_unused]] Matrix<T> const& m) {
  if constexpr (is_complex<T>)
    for (std::int64_t i = 0; i < m.rows; ++i)
      for (std::int64_t j = 0; j < m.cols; ++j)
        kernels::at(m, i, j) = kernels::conjugate(kernels::at(m, i, j));
}
/// The first column with a NaN, at or below the diagonal if only `lower` is read; -1: none. A
/// search of its own, because LAPACK returns 0 for a matrix with a NaN.
template <class T>
std::int64_t first_nan(Matrix<T const> const& m, bool lower) {
  for (std::int64_t j = 0; j < m.cols; ++j) {
    bool bad = false;
    for (std::int64_t i = lower ? j : 0; i < m.rows; ++i) {
      T const x = kernels::at(m, i, j);
      bad |= !(x == x);
    }
    if (bad) return j;
  }
  return -1;
}

/// Exchanges row i with row pivots[i], for i from 0 to before `count`; in the opposite order if
/// `back`.
template <class T, class Pivot>
void exchange_rows(Matrix<T> const& m, Pivot const* pivots, std::int64_t count, bool back = false) {
  auto const each = [&](auto const& exchange) {
    for (std::int64_t n = 0; n < count; ++n) {
      std::int64_t const i = back ? count - 1 - n : n;
      if (auto const to = static_cast<std::int64_t>(pivots[i]); to != i) exchange(i, to);
    }
  };
  if (kernels::empty(m)) return;
  if (m.col_stride == 1) {
    each([&](std::int64_t i, std::int64_t to) {
      std::swap_ranges(&kernels::at(m, i, 0), &kernels::at(m, i, 0) + m.cols,
                       &kernels::at(m, to, 0));
    });
  } else {
    for (std::int64_t j = 0; j < m.cols; ++j)
      each([&](std::int64_t i, std::int64_t to) {
        std::swap(kernels::at(m, i, j), kernels::at(m, to, j));
      });
  }
}

/// c -= a b.
template <class T>
void subtract_product(Matrix<T const> const& a, Matrix<T const> const& b, Matrix<T> const& c) {
  if (kernels::empty(c) || a.cols == 0) return;
#ifdef SHARDTYPE_HAVE_BLAS
  namespace blas = shardtype::kernels::detail;
  if (shardtype::kernels::blas_can(a, b, c)) {
    constexpr std::int64_t most = shardtype::kernels::blas_max_dim;
    T const minus(-1);
    T const one(1);
    auto const size = [](std::int64_t n) { return static_cast<std::int32_t>(n); };
    if (c.cols == 1) {
      bool const columns = blas::is_column_major(a);
      Matrix<T const> const seen = columns ? a : a.transposed();
      char const op = columns ? 'N' : 'T';
      std::int32_t const m = size(seen.rows), n = size(seen.cols);
      std::int32_t const ld = blas::leading_dimension(seen, most);
      std::int32_t const step_x = size(std::max<std::int64_t>(b.row_stride, 1));
      std::int32_t const step_y = size(std::max<std::int64_t>(c.row_stride, 1));
      blas::Blas<T>::gemv(&op, &m, &n, &minus, a.data, &ld, b.data, &step_x, &one, c.data, &step_y);
      return;
    }
    if (!blas::is_column_major(c)) {
      // (a b)^T = b^T a^T
      return kernels::subtract_product<T>(b.transposed(), a.transposed(), c.transposed());
    }
    auto const first = blas::BlasFactor::of(a, most);
    auto const second = blas::BlasFactor::of(b, most);
    std::int32_t const m = size(c.rows), n = size(c.cols), k = size(a.cols);
    std::int32_t const ld = blas::leading_dimension(c, most);
    blas::Blas<T>::gemm(&first.op, &second.op, &m, &n, &k, &minus, a.data, &first.ld, b.data,
                        &second.ld, &one, c.data, &ld);
    return;
  }
#endif
  bool const by_rows = c.col_stride == 1;
  std::int64_t const outer = by_rows ? c.rows : c.cols;
  std::int64_t const inner = by_rows ? c.cols : c.rows;
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t k = 0; k < a.cols; ++k) {
      T const f = by_rows ? kernels::at(a, o, k) : kernels::at(b, k, o);
      T* const to = by_rows ? &kernels::at(c, o, 0) : &kernels::at(c, 0, o);
      std::int64_t const step = by_rows ? c.col_stride : c.row_stride;
      for (std::int64_t n = 0; n < inner; ++n)
        to[n * step] -= by_rows ? f * kernels::at(b, k, n) : kernels::at(a, n, k) * f;
    }
}

namespace detail {

/// solve_triangle by loops, for a few rows.
template <class T>
void solve_rows(Matrix<T const> const& t, bool lower, bool unit, Matrix<T> const& b) {
  for (std::int64_t n = 0; n < t.rows; ++n) {
    std::int64_t const i = lower ? n : t.rows - 1 - n;
    for (std::int64_t m = 0; m < n; ++m) {
      std::int64_t const k = lower ? m : t.rows - 1 - m;
      T const f = kernels::at(t, i, k);
      for (std::int64_t j = 0; j < b.cols; ++j) kernels::at(b, i, j) -= f * kernels::at(b, k, j);
    }
    if (unit) continue;
    T const d = kernels::at(t, i, i);
    for (std::int64_t j = 0; j < b.cols; ++j)
      kernels::at(b, i, j) = kernels::divided(kernels::at(b, i, j), d);
  }
}

}  // namespace detail

namespace detail {

template <class T>
void solve_scaled_triangle(Matrix<T const> const& t, bool lower, bool unit, Matrix<T> const& b) {
  if (kernels::empty(b)) return;
#ifdef SHARDTYPE_HAVE_LAPACK
  namespace blas = shardtype::kernels::detail;
  bool const columns = blas::is_column_major(t);
  bool const b_columns = blas::is_column_major(b);
  if ((columns || blas::is_column_major(t.transposed())) &&
      (b_columns || blas::is_column_major(b.transposed()))) {
    constexpr std::int64_t most = shardtype::kernels::blas_max_dim;
    // a row-major t is its transpose to BLAS; of a row-major b, x^T t^T = b^T
    Triangle const part = lower == columns ? Triangle::lower : Triangle::upper;
    Trans const op = columns == b_columns ? Trans::no : Trans::yes;
    Matrix<T const> const seen = columns ? t : t.transposed();
    Matrix<T> const to = b_columns ? b : b.transposed();
    kernels::trsm(b_columns ? Side::left : Side::right, part, op,
                  unit ? Diagonal::unit : Diagonal::general, to.rows, to.cols, seen.data,
                  blas::leading_dimension(seen, most), to.data, blas::leading_dimension(to, most));
    return;
  }
#endif
  constexpr std::int64_t few = 16;
  if (t.rows <= few) return detail::solve_rows(t, lower, unit, b);
  std::int64_t const h = t.rows / 2;
  std::int64_t const rest = t.rows - h;
  Matrix<T> const top = b.block(0, 0, h, b.cols);
  Matrix<T> const bottom = b.block(h, 0, rest, b.cols);
  if (lower) {
    detail::solve_scaled_triangle(t.block(0, 0, h, h), lower, unit, top);
    kernels::subtract_product<T>(t.block(h, 0, rest, h), top, bottom);
    detail::solve_scaled_triangle(t.block(h, h, rest, rest), lower, unit, bottom);
  } else {
    detail::solve_scaled_triangle(t.block(h, h, rest, rest), lower, unit, bottom);
    kernels::subtract_product<T>(t.block(0, h, h, rest), bottom, top);
    detail::solve_scaled_triangle(t.block(0, 0, h, h), lower, unit, top);
  }
}

}  // namespace detail

/// b = t^-1 b for the lower or upper triangle of t, with ones for its diagonal if `unit`; both are
/// scaled for it where that is needed.
template <class T>
void solve_triangle(Matrix<T const> const& t, bool lower, bool unit, Matrix<T> const& b) {
  if (kernels::empty(b)) return;
  std::int64_t const n = t.rows;
  bool const look = !unit && detail::extreme_diagonal(n, t.data, t.row_stride + t.col_stride);
  std::vector<T> copies(static_cast<std::size_t>(look ? n * (n + b.cols) : 0));
  if (look) {
    Matrix<T> const triangle = kernels::column_major(copies.data(), n, n);
    Part const read = lower ? Part::lower : Part::upper;
    kernels::copy(t, triangle);
    if (int const exponent =
            kernels::scaling_exponent(kernels::largest_part(n, n, triangle.data, n, read));
        exponent != 0) {
      kernels::scale_by_power(exponent, n, n, triangle.data, n, read);
      Matrix<T> const right = kernels::column_major(copies.data() + n * n, n, b.cols);
      kernels::copy<T>(b, right);
      int const of_b = kernels::scale_matrix(n, b.cols, right.data, n);
      detail::solve_scaled_triangle<T>(triangle, lower, unit, right);
      kernels::scale_by_power(exponent - of_b, n, b.cols, right.data, n);
      return kernels::copy<T>(right, b);
    }
  }
  detail::solve_scaled_triangle(t, lower, unit, b);
}

namespace detail {

/// factor_panel by halves: the left columns, what they do to the right ones, and those.
template <class T>
std::int64_t factor_by_halves(Matrix<T> const& p, std::int32_t* pivots) {
  if (p.cols == 1) {
    std::int64_t most = 0;
    for (std::int64_t i = 1; i < p.rows; ++i)
      if (kernels::size_of(kernels::at(p, i, 0)) > kernels::size_of(kernels::at(p, most, 0)))
        most = i;
    pivots[0] = static_cast<std::int32_t>(most);
    T const pivot = kernels::at(p, most, 0);
    if (pivot == T(0)) return 1;
    std::swap(kernels::at(p, 0, 0), kernels::at(p, most, 0));
    for (std::int64_t i = 1; i < p.rows; ++i) kernels::at(p, i, 0) /= pivot;
    return 0;
  }
  std::int64_t const h = p.cols / 2;
  std::int64_t const rest = p.cols - h;
  Matrix<T> const left = p.block(0, 0, p.rows, h);
  Matrix<T> const right = p.block(0, h, p.rows, rest);
  Matrix<T> const below = right.block(h, 0, p.rows - h, rest);
  if (std::int64_t const info = detail::factor_by_halves(left, pivots); info != 0) return info;
  kernels::exchange_rows(right, pivots, h);
  kernels::solve_triangle<T>(left.block(0, 0, h, h), true, true, right.block(0, 0, h, rest));
  kernels::subtract_product<T>(left.block(h, 0, p.rows - h, h), right.block(0, 0, h, rest), below);
  if (std::int64_t const info = detail::factor_by_halves(below, pivots + h); info != 0)
    return h + info;
  kernels::exchange_rows(left.block(h, 0, p.rows - h, h), pivots + h, rest);
  for (std::int64_t k = h; k < p.cols; ++k) pivots[k] += static_cast<std::int32_t>(h);
  return 0;
}

}  // namespace detail

/// P A = L U of a column-major panel that is at least as high as it is wide, in place: row k was
/// exchanged with row pivots[k], from 0 on, the first of equal candidates; it is scaled for it.
/// Returns 0, or k + 1 if column k has no pivot.
template <class T>
std::int64_t factor_panel(Matrix<T> const& p, std::int32_t* pivots) {
  if (kernels::empty(p)) return 0;
  int const exponent = kernels::scale_matrix(p.rows, p.cols, p.data, p.col_stride);
#ifdef SHARDTYPE_HAVE_LAPACK
  std::int64_t const info = kernels::getrf(p.rows, p.cols, p.data, p.col_stride, pivots);
  for (std::int64_t k = 0; k < p.cols; ++k) --pivots[k];
#else
  std::int64_t const info = detail::factor_by_halves(p, pivots);
#endif
  kernels::scale_by_power(-exponent, p.rows, p.cols, p.data, p.col_stride, Part::upper);
  return info;
}

}  // namespace shardtype::linalg::kernels
