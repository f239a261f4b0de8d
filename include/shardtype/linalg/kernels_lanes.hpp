#pragma once
/// Small matrices, as many at once as a register has lanes: lane l of each vector belongs to matrix
/// l. Element (i, j) of all is a[i * width + j]. Each lane has its own pivots, those of LAPACK: the
/// first of the largest.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <shardtype/kernels/vector.hpp>
#include <shardtype/linalg/kernels_scale.hpp>
#include <shardtype/linalg/kernels_stack.hpp>

namespace shardtype::linalg::kernels {

/// The largest matrices that are done in lanes.
inline constexpr std::int64_t lanes_most = 32;
/// The most right-hand sides of each that are.
inline constexpr std::int64_t lanes_columns = 32;
template <class T>
inline constexpr bool has_lanes = std::is_same_v<T, float> || std::is_same_v<T, double>;
template <class T>
inline constexpr int lanes = shardtype::kernels::detail::vector_lanes<T>;
template <class T>
using Lanes = shardtype::kernels::detail::vector_of<T>;

/// Copies matrices t to t + lanes to the columns from `begin` on of `to`, whose rows have `width`
/// elements. Lanes behind the last matrix repeat it.
template <class T, class U>
void pack_lanes(Stack<U> const& s, std::int64_t t, T* to, std::int64_t width, std::int64_t begin) {
  constexpr int n = lanes<T>;
  U const* from[static_cast<unsigned>(n)];
  for (int l = 0; l < n; ++l) from[l] = s.member(std::min(t + l, s.count - 1));
  for (std::int64_t i = 0; i < s.rows; ++i)
    for (std::int64_t j = 0; j < s.width; ++j) {
      T* const v = to + (i * width + begin + j) * n;
      std::int64_t const at = i * s.row_stride + kernels::offset(s.cols, j);
      for (int l = 0; l < n; ++l) v[l] = from[l][at];
    }
}
/// The way back, for lanes that belong to a matrix; NaN for those in `bad`.
template <class T>
void unpack_lanes(T const* from, std::int64_t width, std::int64_t begin, Stack<T> const& s,
                  std::int64_t t, std::uint32_t bad) {
  constexpr int n = lanes<T>;
  for (int l = 0; l < n && t + l < s.count; ++l) {
    T* const to = s.member(t + l);
    T const nan = std::numeric_limits<T>::quiet_NaN();
    bool const is_bad = (bad >> l & 1U) != 0;
    for (std::int64_t i = 0; i < s.rows; ++i)
      for (std::int64_t j = 0; j < s.width; ++j)
        to[i * s.row_stride + kernels::offset(s.cols, j)] =
            is_bad ? nan : from[(i * width + begin + j) * n + l];
  }
}

/// The exponents of the powers of two by which lanes are scaled (kernels_scale.hpp); most often
/// none is.
template <class T>
struct LaneScales {
  int of[static_cast<unsigned>(lanes<T>)]{};
  bool any = false;
};
/// Scales the columns from `begin` to before `end` of the n rows of each lane that needs it.
template <class T>
LaneScales<T> scale_lanes(int n, int width, int begin, int end, Lanes<T>* a) {
  using V = Lanes<T>;
  V most{};
  for (int i = 0; i < n; ++i)
    for (int j = begin; j < end; ++j) {
      V const x = a[i * width + j];
      V const size = x < T(0) ? -x : x;
      most = size > most ? size : most;
    }
  LaneScales<T> out;
  for (int l = 0; l < lanes<T>; ++l) {
    out.of[l] = kernels::scaling_exponent(most[l]);
    out.any = out.any || out.of[l] != 0;
  }
  if (out.any)
    for (int i = 0; i < n; ++i)
      for (int j = begin; j < end; ++j)
        for (int l = 0; l < lanes<T>; ++l)
          a[i * width + j][l] = kernels::times_power(T(a[i * width + j][l]), out.of[l]);
  return out;
}
/// Scales solutions back, the columns from `begin` on: the matrices were scaled by `of_a`, the
/// right-hand sides by `of_b`.
template <class T>
void scale_lanes_back(int n, int width, int begin, Lanes<T>* a, LaneScales<T> const& of_a,
                      LaneScales<T> const& of_b) {
  if (!of_a.any && !of_b.any) return;
  for (int i = 0; i < n; ++i)
    for (int j = begin; j < width; ++j)
      for (int l = 0; l < lanes<T>; ++l)
        a[i * width + j][l] = kernels::times_power(T(a[i * width + j][l]), of_a.of[l] - of_b.of[l]);
}

/// P A = L U of each lane in the first n columns of the rows, and the same exchanges and
/// eliminations in the others. With `whole`, L is kept, and the exchanges reach it; `pivots` of n
/// vectors, or null. Returns the lanes that are singular, as bits.
template <class T>
std::uint32_t factor_lanes(int n, int width, Lanes<T>* a, Lanes<T>* pivots, bool whole) {
  using V = Lanes<T>;
  constexpr int count = lanes<T>;
  std::uint32_t bad = 0;
  for (int k = 0; k < n; ++k) {
    V* const row = a + k * width;
    V most = row[k] < T(0) ? -row[k] : row[k];
    V at = V{} + static_cast<T>(k);
    for (int i = k + 1; i < n; ++i) {
      V const v = a[i * width + k];
      V const w = v < T(0) ? -v : v;
      auto const more = w > most;
      most = more ? w : most;
      at = more ? V{} + static_cast<T>(i) : at;
    }
    if (pivots != nullptr) pivots[k] = at;
    // the rows that are exchanged with row k in any lane
    std::uint32_t rows = 0;
    bool tiny = false;
    for (int l = 0; l < count; ++l) {
      rows |= 1U << static_cast<unsigned>(static_cast<int>(at[l]));
      tiny = tiny || !(most[l] >= std::numeric_limits<T>::min());
      if (!(most[l] > T(0)) && !std::isnan(row[k][l])) bad |= 1U << static_cast<unsigned>(l);
    }
    for (int i = k + 1; i < n; ++i) {
      if ((rows >> static_cast<unsigned>(i) & 1U) == 0) continue;
      V* const other = a + i * width;
      auto const swapped = at == V{} + static_cast<T>(i);
      for (int j = whole ? 0 : k; j < width; ++j) {
        V const x = row[j], y = other[j];
        row[j] = swapped ? y : x;
        other[j] = swapped ? x : y;
      }
    }
    // below a pivot of 0 are zeros, which stay
    V const pivot = row[k] == T(0) ? V{} + T(1) : row[k];
    V const inverse = T(1) / pivot;
    auto const factor = [&](V const& x) { return tiny ? x / pivot : x * inverse; };
    int i = k + 1;
    // four rows at once, which read the pivot's row once
    for (; i + 4 <= n; i += 4) {
      V* const r0 = a + i * width;
      V* const r1 = r0 + width;
      V* const r2 = r1 + width;
      V* const r3 = r2 + width;
      V const f0 = factor(r0[k]), f1 = factor(r1[k]), f2 = factor(r2[k]), f3 = factor(r3[k]);
      r0[k] = f0, r1[k] = f1, r2[k] = f2, r3[k] = f3;
      for (int j = k + 1; j < width; ++j) {
        V const p = row[j];
        r0[j] -= f0 * p;
        r1[j] -= f1 * p;
        r2[j] -= f2 * p;
        r3[j] -= f3 * p;
      }
    }
    for (; i < n; ++i) {
      V* const r = a + i * width;
      V const f = factor(r[k]);
      r[k] = f;
      for (int j = k + 1; j < width; ++j) r[j] -= f * row[j];
    }
  }
  return bad;
}

/// x = U^-1 x for the columns from n on, with U in the upper triangle of the first n.
template <class T>
void back_lanes(int n, int width, Lanes<T>* a) {
  using V = Lanes<T>;
  for (int k = n - 1; k >= 0; --k) {
    V* const row = a + k * width;
    V const pivot = row[k];
    for (int c = n; c < width; ++c) row[c] = row[c] / pivot;
    for (int i = 0; i < k; ++i) {
      V* const r = a + i * width;
      V const f = r[k];
      for (int c = n; c < width; ++c) r[c] -= f * row[c];
    }
  }
}

/// A = L L^T of each lane, in the lower triangle; zeros above it. Returns the lanes that are not
/// positive definite.
template <class T>
std::uint32_t cholesky_lanes(int n, Lanes<T>* a) {
  using V = Lanes<T>;
  constexpr int count = lanes<T>;
  std::uint32_t bad = 0;
  // column by column, each from those before it: sums in registers, of four rows at once
  for (int j = 0; j < n; ++j) {
    V* const row = a + j * n;
    V d = row[j];
    for (int k = 0; k < j; ++k) d -= row[k] * row[k];
    for (int l = 0; l < count; ++l) {
      if (!(d[l] > T(0))) bad |= 1U << static_cast<unsigned>(l);
      d[l] = std::sqrt(d[l] > T(0) ? d[l] : T(1));
    }
    row[j] = d;
    for (int k = j + 1; k < n; ++k) row[k] = V{};
    V const inverse = T(1) / d;
    int i = j + 1;
    for (; i + 4 <= n; i += 4) {
      V* const r0 = a + i * n;
      V* const r1 = r0 + n;
      V* const r2 = r1 + n;
      V* const r3 = r2 + n;
      V s0 = r0[j], s1 = r1[j], s2 = r2[j], s3 = r3[j];
      for (int k = 0; k < j; ++k) {
        V const p = row[k];
        s0 -= r0[k] * p;
        s1 -= r1[k] * p;
        s2 -= r2[k] * p;
        s3 -= r3[k] * p;
      }
      r0[j] = s0 * inverse, r1[j] = s1 * inverse, r2[j] = s2 * inverse, r3[j] = s3 * inverse;
    }
    for (; i < n; ++i) {
      V* const r = a + i * n;
      V sum = r[j];
      for (int k = 0; k < j; ++k) sum -= r[k] * row[k];
      r[j] = sum * inverse;
    }
  }
  return bad;
}

namespace detail {

/// A reflector I - tau v v^T of each lane, v beginning with 1, that maps a vector to (beta, 0,
/// ...).
template <class T>
struct LaneReflector {
  Lanes<T> beta{}, tau{}, divisor{};

  /// Of the vector with the elements alpha, x[0], x[step], ..., as LAPACK's larfg; the other
  /// elements of v are those of x over the divisor.
  LaneReflector(Lanes<T> const& alpha, int count, Lanes<T> const* x, int step) {
    using V = Lanes<T>;
    V const one = V{} + T(1);
    V most{}, squares{};
    for (int i = 0; i < count; ++i) {
      V const v = x[i * step];
      V const size = v < T(0) ? -v : v;
      most = size > most ? size : most;
      squares += v * v;
    }
    auto const zero = most == V{};
    V const first = alpha < T(0) ? -alpha : alpha;
    V const largest = first > most ? first : most;
    squares += alpha * alpha;
    V norm = shardtype::kernels::detail::root(squares);
    // squares between these do not leave the range of T
    constexpr T least = sizeof(T) == sizeof(double) ? T(1e-140) : T(1e-12);
    bool far = false;
    for (int l = 0; l < lanes<T>; ++l)
      far = far || (largest[l] != T(0) && !(largest[l] > least && largest[l] < T(1) / least));
    if (far) {
      V const unit = largest == V{} ? one : largest;
      V const begin = alpha / unit;
      squares = begin * begin;
      for (int i = 0; i < count; ++i) {
        V const v = x[i * step] / unit;
        squares += v * v;
      }
      norm = unit * shardtype::kernels::detail::root(squares);
    }
    V const other = alpha < T(0) ? norm : -norm;
    beta = zero ? alpha : other;
    divisor = zero ? one : alpha - beta;
    tau = zero ? V{} : (beta - alpha) / beta;
  }
};

}  // namespace detail

/// The reflectors of A = Q R of each lane, m x n, in place: R, and below its diagonal the v of each
/// column but for their first element 1; their tau in `tau`.
template <class T>
void reflect_lanes(int m, int n, Lanes<T>* a, Lanes<T>* tau) {
  using V = Lanes<T>;
  for (int k = 0; k < std::min(m, n); ++k) {
    V* const row = a + k * n;
    V* const below = row + n;
    int const count = m - k - 1;
    detail::LaneReflector<T> const h(row[k], count, below + k, n);
    for (int i = 0; i < count; ++i) below[i * n + k] /= h.divisor;
    row[k] = h.beta;
    tau[k] = h.tau;
    for (int j = k + 1; j < n; ++j) {
      V sum = row[j];
      for (int i = 0; i < count; ++i) sum += below[i * n + k] * below[i * n + j];
      sum *= h.tau;
      row[j] -= sum;
      for (int i = 0; i < count; ++i) below[i * n + j] -= below[i * n + k] * sum;
    }
  }
}
/// The first min(m, n) columns of Q in place of these reflectors.
template <class T>
void make_q_lanes(int m, int n, Lanes<T>* a, Lanes<T> const* tau) {
  using V = Lanes<T>;
  int const least = std::min(m, n);
  for (int k = least - 1; k >= 0; --k) {
    V* const row = a + k * n;
    V* const below = row + n;
    int const count = m - k - 1;
    for (int j = k + 1; j < least; ++j) {
      V sum{};
      for (int i = 0; i < count; ++i) sum += below[i * n + k] * below[i * n + j];
      sum *= tau[k];
      row[j] = -sum;
      for (int i = 0; i < count; ++i) below[i * n + j] -= below[i * n + k] * sum;
    }
    row[k] = T(1) - tau[k];
    for (int i = 0; i < count; ++i) below[i * n + k] *= -tau[k];
  }
}

}  // namespace shardtype::linalg::kernels
