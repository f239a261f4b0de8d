#pragma once
/// Definitions of thin_product.hpp.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/matrix.hpp>
#include <shardtype/kernels/short_rows.hpp>
#include <shardtype/kernels/thin_micro.hpp>
#include <shardtype/kernels/thin_product.hpp>
#include <shardtype/runtime/run_time.hpp>

namespace shardtype::kernels::detail {

/// A product of matrices of few terms and few columns: C = A B, or C += A B if `add`, of a batch.
/// Rows of A are turned, so that loops run along rows. One call computes `together` rows of C.
template <class T>
struct ShortProduct {
  using Real = std::conditional_t<std::is_same_v<T, bfloat16>, float, T>;
  Matrix<T const> a, b;
  Matrix<Real> c;
  bool add;
  std::int64_t parts;  ///< of C's rows

  static constexpr std::int64_t most = 16;  ///< terms, columns
  static constexpr std::int64_t together = 256;

  /// Whether it is worth it: measured against BLAS.
  bool serves() const {
    bool const of_rows = a.col_stride == 1 && a.row_stride == a.cols;
    return c.rows >= 4 * together && c.cols >= 1 && c.cols <= most && a.cols >= 1 &&
           a.cols <= most && (of_rows || a.row_stride == 1);
  }
  void operator()(std::int64_t work) const {
    std::int64_t const t = work / parts;
    std::int64_t const first = work % parts * together;
    std::int64_t const m = std::min(together, c.rows - first);
    Matrix<T const> const x = a.member(t).block(first, 0, m, a.cols);
    Matrix<T const> const y = b.member(t);
    Matrix<Real> const to = c.member(t).block(first, 0, m, c.cols);
    constexpr auto room = static_cast<std::size_t>(most * together);
    alignas(64) T turned[room];
    alignas(64) Real terms[room];
    alignas(64) Real sums[room];
    if (x.row_stride != 1) detail::turn_rows(x.data, x.cols, m, turned, together);
    for (std::int64_t k = 0; k < x.cols; ++k) {
      T const* const from = x.row_stride != 1 ? turned + k * together : x.data + k * x.col_stride;
      for (std::int64_t i = 0; i < m; ++i) terms[k * together + i] = static_cast<Real>(from[i]);
    }
    for (std::int64_t j = 0; j < to.cols; ++j) {
      Real* const sum = sums + j * together;
      auto const factor = [&](std::int64_t k) {
        return static_cast<Real>(*y.block(k, j, 1, 1).data);
      };
      Real const by = factor(0);
      for (std::int64_t i = 0; i < m; ++i) sum[i] = terms[i] * by;
      for (std::int64_t k = 1; k < x.cols; ++k) {
        Real const* const term = terms + k * together;
        Real const next = factor(k);
        for (std::int64_t i = 0; i < m; ++i) sum[i] += term[i] * next;
      }
    }
    put(to, sums);
  }

 private:
  /// `N`: the number of columns, a constant for which compilers write vectors, or 0.
  template <std::int64_t N>
  static void put_rows(Matrix<Real> const& to, Real const* sums, bool plus) {
    std::int64_t const n = N > 0 ? N : to.cols;
    for (std::int64_t i = 0; i < to.rows; ++i) {
      Real* const row = to.data + i * n;
      for (std::int64_t j = 0; j < n; ++j) {
        Real const sum = sums[j * together + i];
        row[j] = plus ? row[j] + sum : sum;
      }
    }
  }
  void put(Matrix<Real> const& to, Real const* sums) const {
    if (to.col_stride == 1 && to.row_stride == to.cols) {
      switch (to.cols) {
        case 1:
          return put_rows<1>(to, sums, add);
        case 2:
          return put_rows<2>(to, sums, add);
        case 3:
          return put_rows<3>(to, sums, add);
        case 4:
          return put_rows<4>(to, sums, add);
        default:
          if (add) return put_rows<0>(to, sums, true);
          return detail::turn_squares(sums, together, to.rows, to.cols, to.data, to.row_stride);
      }
    }
    for (std::int64_t j = 0; j < to.cols; ++j)
      for (std::int64_t i = 0; i < to.rows; ++i) {
        Real& one = *to.block(i, j, 1, 1).data;
        Real const sum = sums[j * together + i];
        one = add ? one + sum : sum;
      }
  }
};
/// As multiply_thin.
template <class T>
bool multiply_short(Kokkos::DefaultHostExecutionSpace const& exec, std::int64_t batch,
                    Matrix<T const> a, Matrix<T const> b, Matrix<typename ShortProduct<T>::Real> c,
                    bool add) {
  if (c.rows < c.cols) {
    std::swap(a, b);
    a = a.transposed();
    b = b.transposed();
    c = c.transposed();
  }
  constexpr std::int64_t together = ShortProduct<T>::together;
  ShortProduct<T> const work{a, b, c, add, (c.rows + together - 1) / together};
  if (batch <= 0 || !work.serves()) return false;
  kernels::launch(exec, "shardtype::gemm", batch * work.parts, work);
  return true;
}

#ifdef SHARDTYPE_THIN_PRODUCTS

/// A product C = A B, or C += A B, of a batch, with few columns. One call computes `rows` rows of C
/// of one member.
template <class T>
struct ThinProduct {
  using Real = thin_real<T>;
  Matrix<T const> a, b;
  Matrix<Real> c;
  bool add;
  std::int64_t rows = 0;  ///< per call

  static constexpr std::int64_t most = 32;  ///< columns

  std::int64_t calls() const { return (c.rows + rows - 1) / rows; }
  /// The part of one call.
  ThinProduct part(std::int64_t work) const {
    std::int64_t const t = work / calls();
    std::int64_t const first = work % calls() * rows;
    std::int64_t const m = std::min(rows, c.rows - first);
    return {a.member(t).block(first, 0, m, a.cols), b.member(t),
            c.member(t).block(first, 0, m, c.cols), add, m};
  }
  static void put(Real& to, Real sum, bool plus) { to = plus ? to + sum : sum; }
};

/// For rows of A whose terms are neighbours: sums along the terms, in registers of neighbours.
template <class T>
struct ThinDots : ThinProduct<T> {
  using Real = thin_real<T>;
  static constexpr int parts = ThinElements<T>::parts;
  static constexpr int lanes = ThinElements<T>::lanes;
  static constexpr int step = ThinElements<T>::step;
  static constexpr int high = thin_dot_rows;
  /// Numbers of packed columns: a part of the L2 cache.
  static constexpr auto room = static_cast<std::int64_t>((256 << 10) / sizeof(Real));

  void operator()(std::int64_t work) const {
    auto const p = this->part(work);
    std::int64_t const n = p.c.cols;
    std::int64_t const block = std::max<std::int64_t>(room / (n * step), 1) * step;
    alignas(64) Real panel[static_cast<std::size_t>(room)];
    for (std::int64_t k = 0; k < p.a.cols; k += block) {
      std::int64_t const terms = std::min(block, p.a.cols - k);
      pack(p.b.block(k, 0, terms, n), panel);
      for (std::int64_t i = 0; i < p.c.rows; i += high) rows_of(p, k, terms, i, panel);
    }
  }

 private:
  /// For each group of columns the steps one after the other, filled up with zeros.
  static void pack(Matrix<T const> const& b, Real* to) {
    std::int64_t const filled = (b.rows + step - 1) / step * step;
    for (std::int64_t first = 0; first < b.cols;) {
      std::int64_t const n = next(b.cols - first);
      auto const at = [&](std::int64_t k, std::int64_t j) -> Real& {
        std::int64_t const in = k % step;
        return to[(k / step * n + j) * step + in % parts * lanes + in / parts];
      };
      Matrix<T const> const x = b.block(0, first, b.rows, n);
      if (b.row_stride == 1) {
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t k = 0; k < b.rows; ++k)
            at(k, j) = static_cast<Real>(x.data[j * x.col_stride + k]);
      } else {
        for (std::int64_t k = 0; k < b.rows; ++k)
          for (std::int64_t j = 0; j < n; ++j)
            at(k, j) = static_cast<Real>(x.data[k * x.row_stride + j * x.col_stride]);
      }
      for (std::int64_t k = b.rows; k < filled; ++k)
        for (std::int64_t j = 0; j < n; ++j) at(k, j) = 0;
      to += n * filled;
      first += n;
    }
  }
  /// Adds the products of terms from `k` to four rows from `i`; rows that do not exist are computed
  /// as the last one.
  static void rows_of(ThinProduct<T> const& p, std::int64_t k, std::int64_t terms, std::int64_t i,
                      Real const* panel) {
    std::int64_t const n = p.c.cols;
    std::int64_t const steps = terms / step;
    std::int64_t const rest = terms % step;
    std::int64_t const count = std::min<std::int64_t>(high, p.c.rows - i);
    T const* rows[high];
    T tails[static_cast<std::size_t>(high * step)];
    for (int r = 0; r < high; ++r)
      rows[r] = p.a.block(i + std::min<std::int64_t>(r, count - 1), k, 1, 1).data;
    if (rest > 0) {
      std::fill_n(tails, high * step, T(0));
      for (int r = 0; r < high; ++r)
        std::memcpy(static_cast<void*>(tails + r * step), rows[r] + steps * step,
                    static_cast<std::size_t>(rest) * sizeof(T));
    }
    alignas(64) Real sums[6 * high];
    for (std::int64_t j = 0; j < n;) {
      std::int64_t const cols = next(n - j);
      // the next rows are fetched to the L2 cache, which the processor does not foresee
      call(cols, steps, rows, rest > 0 ? tails : nullptr, j == 0 ? high * p.a.row_stride : 0, panel,
           sums);
      for (std::int64_t q = 0; q < cols; ++q)
        for (std::int64_t r = 0; r < count; ++r)
          p.put(*p.c.block(i + r, j + q, 1, 1).data, sums[q * high + r], p.add || k > 0);
      j += cols;
      panel += cols * (steps + (rest > 0 ? 1 : 0)) * step;
    }
  }
  /// Columns to compute at once: at most 6, in groups of about equal size.
  static std::int64_t next(std::int64_t left) {
    std::int64_t const groups = (left + 5) / 6;
    return (left + groups - 1) / groups;
  }
  static void call(std::int64_t cols, std::int64_t steps, T const* const* rows, T const* tails,
                   std::int64_t ahead, Real const* panel, Real* sums) {
    switch (cols) {
      case 1:
        return detail::thin_dots<T>(steps, rows, tails, ahead, panel, sums,
                                    std::make_index_sequence<4>());
      case 2:
        return detail::thin_dots<T>(steps, rows, tails, ahead, panel, sums,
                                    std::make_index_sequence<8>());
      case 3:
        return detail::thin_dots<T>(steps, rows, tails, ahead, panel, sums,
                                    std::make_index_sequence<12>());
      case 4:
        return detail::thin_dots<T>(steps, rows, tails, ahead, panel, sums,
                                    std::make_index_sequence<16>());
      case 5:
        return detail::thin_dots<T>(steps, rows, tails, ahead, panel, sums,
                                    std::make_index_sequence<20>());
      default:
        return detail::thin_dots<T>(steps, rows, tails, ahead, panel, sums,
                                    std::make_index_sequence<24>());
    }
  }
};

/// For columns of A whose rows are neighbours: sums in registers of rows.
template <class T>
struct ThinColumns : ThinProduct<T> {
  using Real = thin_real<T>;
  static constexpr int lanes = ThinElements<T>::lanes;
  static constexpr std::int64_t block = 16;  ///< terms whose rows are read at once
  static constexpr std::int64_t wide = 4 * lanes;
  static constexpr std::int64_t room = 16384;  ///< sums

  /// Rows of C per call: their sums fill the buffer.
  static std::int64_t rows_for(std::int64_t n) { return (room / (n + 3) - lanes) / wide * wide; }

  void operator()(std::int64_t work) const {
    auto const p = this->part(work);
    std::int64_t const n = p.c.cols;
    // not a power of two, so that the columns lie at different places of the cache
    std::int64_t const pitch = (p.c.rows + wide - 1) / wide * wide + lanes;
    alignas(64) Real sums[static_cast<std::size_t>(room)];
    alignas(64) Real x[static_cast<std::size_t>((ThinProduct<T>::most + 3) * block)] = {};
    std::fill_n(sums, (n + 3) * pitch, Real(0));
    for (std::int64_t k = 0; k < p.a.cols; k += block) {
      std::int64_t const terms = std::min(block, p.a.cols - k);
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t s = 0; s < terms; ++s)
          x[j * block + s] = static_cast<Real>(*p.b.block(k + s, j, 1, 1).data);
      T const* const from = p.a.block(0, k, 1, 1).data;
      std::int64_t i = 0;
      for (; i + wide <= p.c.rows; i += wide)
        rows_of(n, terms, x, from + i, p.a.col_stride, sums + i, pitch);
      if (i == p.c.rows) continue;
      alignas(64) T edge[static_cast<std::size_t>(block * wide)] = {};
      for (std::int64_t s = 0; s < terms; ++s)
        std::memcpy(static_cast<void*>(edge + s * wide), from + s * p.a.col_stride + i,
                    static_cast<std::size_t>(p.c.rows - i) * sizeof(T));
      rows_of(n, terms, x, edge, wide, sums + i, pitch);
    }
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < p.c.rows; ++i)
        p.put(*p.c.block(i, j, 1, 1).data, sums[j * pitch + i], p.add);
  }

 private:
  /// Adds the products of some terms of 4 registers of rows to the sums of all columns; there is
  /// room for three more columns.
  static void rows_of(std::int64_t n, std::int64_t terms, Real const* x, T const* from,
                      std::int64_t stride, Real* sums, std::int64_t pitch) {
    // the next block of terms is fetched to the L2 cache, which the processor does not foresee
    std::int64_t const next = block * stride;
    for (std::int64_t j = 0; j < n;) {
      std::int64_t const left = n - j;
      Real const* const xs = x + j * block;
      Real* const to = sums + j * pitch;
      std::int64_t const ahead = j == 0 ? next : 0;
      if (left > 16 || (left > 8 && left <= 12)) {
        call<12, 2>(terms, xs, from, stride, ahead, to, pitch);
        j += 12;
      } else if (left > 6) {
        call<8, 2>(terms, xs, from, stride, ahead, to, pitch);
        j += 8;
      } else if (left > 4) {
        call<6, 4>(terms, xs, from, stride, ahead, to, pitch);
        j += 6;
      } else if (left > 2) {
        call<4, 4>(terms, xs, from, stride, ahead, to, pitch);
        j += 4;
      } else if (left == 2) {
        call<2, 4>(terms, xs, from, stride, ahead, to, pitch);
        j += 2;
      } else {
        call<1, 4>(terms, xs, from, stride, ahead, to, pitch);
        j += 1;
      }
    }
  }
  template <int Rows, int Vectors>
  static void call(std::int64_t terms, Real const* x, T const* from, std::int64_t stride,
                   std::int64_t ahead, Real* to, std::int64_t pitch) {
    constexpr std::int64_t part = Vectors * lanes;
    for (std::int64_t i = 0; i < wide; i += part)
      detail::thin_rows<T, Vectors>(
          terms, x, block, from + i, stride, ahead, to + i, pitch,
          std::make_index_sequence<static_cast<std::size_t>(Rows * Vectors)>());
  }
};

/// Whether a product of a matrix of `m` rows and `k` terms with `n` columns is computed by these
/// kernels: measured against BLAS. `rows`: whether terms are neighbours.
template <class T>
bool thin_pays(std::int64_t m, std::int64_t n, std::int64_t k, bool rows) {
  std::int64_t const least = std::min(m, k);
  if (n < 1 || n > ThinProduct<T>::most || least < 64 || least < 4 * n) return false;
  // smaller products are made without copies by OpenBLAS
  bool const large = m * n * k > 1000000;
  // against copies in float
  if (std::is_same_v<T, bfloat16>) return n < 12 || large;
  // a product with a vector is made without copies by BLAS as well, but not fetched ahead
  constexpr std::int64_t cached = std::int64_t{1} << 25;
  if (n == 1) return rows && m * k * static_cast<std::int64_t>(sizeof(T)) >= cached;
  return large;
}

/// As multiply_thin.
template <class T>
bool multiply_thin_of(Kokkos::DefaultHostExecutionSpace const& exec, std::int64_t batch,
                      Matrix<T const> a, Matrix<T const> b, Matrix<thin_real<T>> c, bool add) {
  if (runtime::run_time.instructions < runtime::Instructions::avx512 || batch <= 0) return false;
  if (c.rows < c.cols) {
    std::swap(a, b);
    a = a.transposed();
    b = b.transposed();
    c = c.transposed();
  }
  bool const rows = a.col_stride == 1;
  if (!rows && a.row_stride != 1) return false;
  auto const threads = static_cast<std::int64_t>(exec.concurrency());
  if (!detail::thin_pays<T>(c.rows, c.cols, a.cols, rows)) return false;
  if (!std::is_same_v<T, bfloat16> && detail::blas_has_more(threads)) return false;
  std::int64_t const each = (c.rows + threads - 1) / threads;
  auto const run = [&](auto work, std::int64_t unit, std::int64_t limit) {
    work.rows = std::min((each + unit - 1) / unit * unit, limit);
    kernels::launch(exec, "shardtype::gemm", batch * work.calls(), work);
  };
  if (rows) {
    run(ThinDots<T>{{a, b, c, add}}, ThinDots<T>::high, std::int64_t{1} << 62);
  } else {
    using Columns = ThinColumns<T>;
    run(Columns{{a, b, c, add}}, Columns::wide, Columns::rows_for(c.cols));
  }
  return true;
}
#else
/// As multiply_thin: other processors have no such kernels.
template <class T, class R>
bool multiply_thin_of(Kokkos::DefaultHostExecutionSpace const&, std::int64_t,
                      Matrix<T const> const&, Matrix<T const> const&, Matrix<R> const&, bool) {
  return false;
}
#endif

SHARDTYPE_INLINE bool multiply_thin_on_host(Kokkos::DefaultHostExecutionSpace const& exec,
                                            std::int64_t batch, Matrix<float const> const& a,
                                            Matrix<float const> const& b, Matrix<float> const& c,
                                            bool add) {
  return detail::multiply_short<float>(exec, batch, a, b, c, add) ||
         detail::multiply_thin_of<float>(exec, batch, a, b, c, add);
}
SHARDTYPE_INLINE bool multiply_thin_on_host(Kokkos::DefaultHostExecutionSpace const& exec,
                                            std::int64_t batch, Matrix<double const> const& a,
                                            Matrix<double const> const& b, Matrix<double> const& c,
                                            bool add) {
  return detail::multiply_short<double>(exec, batch, a, b, c, add) ||
         detail::multiply_thin_of<double>(exec, batch, a, b, c, add);
}
SHARDTYPE_INLINE bool multiply_thin_on_host(Kokkos::DefaultHostExecutionSpace const& exec,
                                            std::int64_t batch, Matrix<bfloat16 const> const& a,
                                            Matrix<bfloat16 const> const& b, Matrix<float> const& c,
                                            bool add) {
  return detail::multiply_short<bfloat16>(exec, batch, a, b, c, add) ||
         detail::multiply_thin_of<bfloat16>(exec, batch, a, b, c, add);
}

}  // namespace shardtype::kernels::detail
