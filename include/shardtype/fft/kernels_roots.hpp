#pragma once
/// Roots of unity, and the multiplications by them in long Fourier transforms.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/core/list.hpp>
#include <shardtype/fft/types_four_step_lengths.hpp>
#include <shardtype/kernels/launch.hpp>
#include <shardtype/runtime/copy_bytes.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype::kernels {

/// exp(-2 pi i k / n) for 0 <= k < n <= 2^59. The angle is reduced to an eighth of a turn in whole
/// numbers, so that the result is exact to the last digits for every k.
inline Kokkos::complex<double> root_of_unity(std::int64_t k, std::int64_t n) {
  std::int64_t eighths = 8 * k;  // of n
  bool const upper = eighths > 4 * n;
  if (upper) eighths = 8 * n - eighths;
  bool const left = eighths > 2 * n;
  if (left) eighths = 4 * n - eighths;
  bool const steep = eighths > n;
  if (steep) eighths = 2 * n - eighths;
  constexpr long double eighth_of_turn = 0.785398163397448309615660845819875721L;
  long double const angle =
      eighth_of_turn * static_cast<long double>(eighths) / static_cast<long double>(n);
  auto cosine = static_cast<double>(std::cos(angle));
  auto sine = static_cast<double>(std::sin(angle));
  if (steep) std::swap(cosine, sine);
  return {left ? -cosine : cosine, upper ? sine : -sine};
}

/// k^2 mod m for 0 <= k, m < 2^60.
KOKKOS_INLINE_FUNCTION std::int64_t square_mod(std::int64_t k, std::int64_t m) {
  k %= m;
  if (k < std::int64_t{1} << 31) return k * k % m;
  std::int64_t sum = 0;
  std::int64_t term = k;
  for (std::int64_t bits = k; bits != 0; bits >>= 1) {
    if ((bits & 1) != 0) sum = (sum + term) % m;
    term = 2 * term % m;
  }
  return sum;
}

/// The powers of exp(-2 pi i / n), or of its inverse, as products from two tables.
class Roots {
 public:
  /// With the tables in `memory` of this space, of planning::RootTables(n).bytes() bytes.
  template <class Space>
  static Roots in(std::int64_t n, bool forward, void* memory) {
    planning::RootTables const tables(n);
    Roots out(tables, forward, memory);
    if constexpr (runtime::host_reads<Space>) {
      fill(tables, n, static_cast<Kokkos::complex<double>*>(memory));
    } else {
      shardtype::detail::List<Kokkos::complex<double>> on_host(
          static_cast<std::size_t>(tables.low + tables.high));
      fill(tables, n, on_host.data());
      runtime::copy_bytes<Space, Kokkos::HostSpace>(memory, on_host.data(),
                                                    static_cast<std::size_t>(tables.bytes()));
    }
    return out;
  }
  /// The power `k`, less than n.
  KOKKOS_FUNCTION Kokkos::complex<double> operator()(std::int64_t k) const {
    Kokkos::complex<double> const& a = high_[k >> shift_];
    Kokkos::complex<double> const& b = low_[k & ((std::int64_t{1} << shift_) - 1)];
    return {a.real() * b.real() - a.imag() * b.imag(),
            sign_ * (a.real() * b.imag() + a.imag() * b.real())};
  }

 private:
  Roots(planning::RootTables const& tables, bool forward, void const* memory)
      : shift_(tables.shift),
        sign_(forward ? 1 : -1),
        low_(static_cast<Kokkos::complex<double> const*>(memory)),
        high_(low_ + tables.low) {}
  static void fill(planning::RootTables const& tables, std::int64_t n,
                   Kokkos::complex<double>* low) {
    for (std::int64_t k = 0; k < tables.low; ++k) low[k] = root_of_unity(k % n, n);
    Kokkos::complex<double>* const high = low + tables.low;
    for (std::int64_t k = 0; k < tables.high; ++k) high[k] = root_of_unity(k << tables.shift, n);
  }

  int shift_;
  double sign_;
  Kokkos::complex<double> const* low_;
  Kokkos::complex<double> const* high_;
};

/// A block of a matrix: [outer, rows, columns, inner], packed, of which the first row and column
/// have these numbers in the whole matrix, which has `width` columns.
struct MatrixBlock {
  std::int64_t outer = 1, rows = 0, columns = 0, inner = 1;
  std::int64_t first_row = 0, first_column = 0, width = 0;

  std::int64_t elements() const { return outer * rows * columns * inner; }
};

namespace detail {

template <class Real>
KOKKOS_INLINE_FUNCTION void multiply_in(Kokkos::complex<Real>& x,
                                        Kokkos::complex<double> const& w) {
  double const re = static_cast<double>(x.real());
  double const im = static_cast<double>(x.imag());
  x = Kokkos::complex<Real>(static_cast<Real>(re * w.real() - im * w.imag()),
                            static_cast<Real>(re * w.imag() + im * w.real()));
}

/// Calls `at(element, row, column)` for the first of the `inner` elements at each place of a row.
template <class Real, class At>
struct EachPlace {
  Kokkos::complex<Real>* data;
  MatrixBlock block;
  At at;
  KOKKOS_FUNCTION void operator()(std::int64_t line) const {
    std::int64_t const row = block.first_row + line % block.rows;
    Kokkos::complex<Real>* x = data + line * block.columns * block.inner;
    for (std::int64_t j = 0; j < block.columns; ++j, x += block.inner)
      at(x, row, block.first_column + j, block.inner);
  }
};

/// Element (k1, j2) times the root of unity of order n to the power k1 j2.
template <class Real>
struct ByProduct {
  Roots roots;
  KOKKOS_FUNCTION void operator()(Kokkos::complex<Real>* x, std::int64_t row, std::int64_t column,
                                  std::int64_t n) const {
    Kokkos::complex<double> const w = roots(row * column);
    for (std::int64_t k = 0; k < n; ++k) detail::multiply_in(x[k], w);
  }
};

/// Element j of the matrix, row by row, times exp(-pi i j^2 / n); zero from n on.
template <class Real>
struct ByChirp {
  Roots roots;  ///< of order 2 n
  std::int64_t n, width;
  double factor;
  KOKKOS_FUNCTION void operator()(Kokkos::complex<Real>* x, std::int64_t row, std::int64_t column,
                                  std::int64_t inner) const {
    std::int64_t const j = row * width + column;
    Kokkos::complex<double> w(0, 0);
    if (j < n) w = roots(square_mod(j, 2 * n)) * factor;
    for (std::int64_t k = 0; k < inner; ++k) {
      if (j < n)
        detail::multiply_in(x[k], w);
      else
        x[k] = Kokkos::complex<Real>(0, 0);
    }
  }
};

/// Element j becomes exp(+pi i j^2 / n), for j = -(n - 1) ... n - 1 modulo the matrix's `length`.
template <class Real>
struct ChirpFilter {
  Roots roots;  ///< of order 2 n, inverse
  std::int64_t n, width, length;
  KOKKOS_FUNCTION void operator()(Kokkos::complex<Real>* x, std::int64_t row, std::int64_t column,
                                  std::int64_t) const {
    std::int64_t j = row * width + column;
    if (j >= n) j = length - j;
    Kokkos::complex<double> w(0, 0);
    if (j < n) w = roots(square_mod(j, 2 * n));
    *x = Kokkos::complex<Real>(static_cast<Real>(w.real()), static_cast<Real>(w.imag()));
  }
};

template <class Real>
struct ByFilter {
  Kokkos::complex<Real>* data;
  Kokkos::complex<Real> const* filter;
  std::int64_t inner;
  KOKKOS_FUNCTION void operator()(std::int64_t place) const {
    for (std::int64_t k = 0; k < inner; ++k) data[place * inner + k] *= filter[place];
  }
};

template <class Real, class Exec, class At>
void each_place(char const* name, Exec const& exec, Kokkos::complex<Real>* data,
                MatrixBlock const& b, At const& at) {
  if (b.elements() == 0) return;
  kernels::launch(exec, name, b.outer * b.rows, EachPlace<Real, At>{data, b, at});
  runtime::fence(exec);
}

}  // namespace detail

/// Multiplies element (k1, j2) of a matrix by the root of unity to the power k1 j2.
template <class Real, class Exec>
void multiply_roots(Exec const& exec, Kokkos::complex<Real>* data, MatrixBlock const& b,
                    Roots const& roots) {
  detail::each_place("shardtype::multiply_roots", exec, data, b, detail::ByProduct<Real>{roots});
}
/// Multiplies element j of a matrix, row by row, by factor exp(-pi i j^2 / n); `roots` has order 2
/// n.
template <class Real, class Exec>
void multiply_chirp(Exec const& exec, Kokkos::complex<Real>* data, MatrixBlock const& b,
                    Roots const& roots, std::int64_t n, double factor) {
  detail::each_place("shardtype::multiply_chirp", exec, data, b,
                     detail::ByChirp<Real>{roots, n, b.width, factor});
}
/// Writes the sequence with which a product with a chirp is convolved; `roots` is the inverse one.
template <class Real, class Exec>
void chirp_filter(Exec const& exec, Kokkos::complex<Real>* data, MatrixBlock const& b,
                  Roots const& roots, std::int64_t n, std::int64_t length) {
  detail::each_place("shardtype::chirp_filter", exec, data, b,
                     detail::ChirpFilter<Real>{roots, n, b.width, length});
}
/// Multiplies the `inner` elements at each of `places` places by one of the filter.
template <class Real, class Exec>
void multiply_filter(Exec const& exec, Kokkos::complex<Real>* data,
                     Kokkos::complex<Real> const* filter, std::int64_t places, std::int64_t inner) {
  kernels::launch(exec, "shardtype::multiply_filter", places,
                  detail::ByFilter<Real>{data, filter, inner});
  runtime::fence(exec);
}

}  // namespace shardtype::kernels
