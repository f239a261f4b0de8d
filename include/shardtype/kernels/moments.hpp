#pragma once
/// Reducers of variances.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/prefetch.hpp>
#include <shardtype/kernels/reducers.hpp>
#include <shardtype/kernels/short_rows.hpp>
#include <shardtype/kernels/vector.hpp>
#include <shardtype/kernels/vector_functions.hpp>
#include <shardtype/kernels/vector_loop.hpp>

namespace shardtype::kernels {

/// The number of elements, a number near their mean, and the sums of the distances from it and of
/// their squares. The first sum corrects the number to the mean; the mean itself would not be
/// accurate enough if it is large compared to the distances.
template <class Real, class Mean>
struct Moments {
  Real count;
  Mean near;
  Mean distances;
  Real squares;
};

/// What ranks send of moments: the number of elements, their mean, and the root of the mean square
/// of the distances from it, which does not overflow where its square would. The mean is in double:
/// those of ranks may differ by less than its rounding to float.
template <class Real>
struct Spread {
  double mean;
  Real count;
  Real deviation;
};

namespace detail {

/// Of totals of float, in double; those of other elements are sent as they are.
template <class T, class Total>
struct SentMoments {};
template <class T, class Total>
  requires std::is_same_v<shardtype::detail::computed_t<T>, float>
struct SentMoments<T, Total> {
  using Sent = Spread<float>;
  KOKKOS_FUNCTION static Sent narrow(Total const& a) {
    if (a.count == 0) return {0, 0.0F, 0.0F};
    double const off = a.distances / a.count;
    double const square = a.squares / a.count - off * off;
    double const none_below = square < 0 ? 0 : square;  // keeps NaN
    return {a.near + off, static_cast<float>(a.count), static_cast<float>(math::sqrt(none_below))};
  }
  KOKKOS_FUNCTION static Total widened(Sent const& a) {
    double const count = static_cast<double>(a.count);
    double const deviation = static_cast<double>(a.deviation);
    return {count, a.mean, 0, count == 0 ? 0 : deviation * deviation * count};
  }
};

}  // namespace detail

/// The sum of squared distances from the mean; its square root if `Root`. Elements are processed
/// block by block: first a block's mean, then the distances from it, so that a large mean costs no
/// accuracy. Blocks are joined as in Chan, Golub and LeVeque, "Algorithms for computing the sample
/// variance" (1983), with the sum of distances that corrects their two-pass algorithm. Computed in
/// double for float.
template <class T, bool Root>
struct VarianceReducer
    : detail::SentMoments<T, Moments<wide_t<shardtype::detail::real_of<T>>, wide_t<T>>> {
  using Element = T;
  using Result = shardtype::detail::real_of<T>;
  using Real = wide_t<Result>;
  using Mean = wide_t<T>;
  using Total = Moments<Real, Mean>;
  using Part = Total;

  KOKKOS_FUNCTION static Part nothing() { return {Real(0), Mean(0), Mean(0), Real(0)}; }
  KOKKOS_FUNCTION static Total widen(Part const& a) { return a; }
  KOKKOS_FUNCTION static Real squared(Mean const& x) { return product(x, x); }
  [[gnu::noinline]] KOKKOS_FUNCTION static void join(Total& a, Total const& b) {
    if (b.count == Real(0)) return;
    if (a.count == Real(0)) {
      a = b;
      return;
    }
    Real const count = a.count + b.count;
    Mean const near = a.near + (b.near - a.near) * (b.count / count);
    Total from = b;
    bool const numbers = a.squares == a.squares && b.squares == b.squares;
    move(a, near);
    move(from, near);
    Real const squares = a.squares + from.squares;
    // NaN of elements that are numbers: distances overflowed
    a = {count, near, a.distances + from.distances,
         numbers && squares != squares ? infinity() : squares};
  }
  template <class Real>
  KOKKOS_FUNCTION static void join(Spread<Real>& a, Spread<Real> const& b) {
    Total both = VarianceReducer::widened(a);
    join(both, VarianceReducer::widened(b));
    a = VarianceReducer::narrow(both);
  }
  KOKKOS_FUNCTION static void deposit(Total& total, T const* x, std::int64_t n,
                                      std::int64_t stride) {
    for (std::int64_t from = 0; from < n; from += together) {
      std::int64_t const m = n - from < together ? n - from : together;
      T const* const first = x + from * stride;
      if (stride == 1) {
        block<1>(&total, 1, m, Neighbours{first, {}});
      } else {
        block<1>(&total, 1, m, Apart<std::int64_t>{first, stride});
      }
    }
  }

  /// Terms whose mean is computed first; they stay in the cache for the distances from it.
  static constexpr std::int64_t together = 256;
  /// Columns whose elements in one row fill a line of the cache, and those that `deposit_rows`
  /// takes.
  static constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(T));
  static constexpr std::int64_t columns = 8 * line;

  /// Host: adds `rows` rows, at most `together`, of `n` elements, at most `columns`, to as many
  /// totals; `row(k)` is where row k lies. Elements are copied once: rows that are a power of two
  /// apart would displace each other from the cache.
  template <class Row>
  static void deposit_rows(Total* total, Row const& row, std::int64_t n, std::int64_t rows) {
    if constexpr (std::is_same_v<Mean, double>) {
      if (rows <= few)
        return few_terms(n, rows, 0, row,
                         [total](std::int64_t c, Total const& made) { join(total[c], made); });
    }
    static thread_local Mean tiles[static_cast<std::size_t>(columns / line)]
                                  [static_cast<std::size_t>(together * line)];
    constexpr std::int64_t ahead = 8;
    for (std::int64_t k = 0; k < rows; ++k) {
      T const* const x = row(k);
      if (k + ahead < rows) vectors::prefetch(row(k + ahead), n);
      for (std::int64_t i = 0; i < n; i += line)
        convert(x + i, n - i < line ? n - i : line, tiles[i / line] + k * line);
    }
    for (std::int64_t i = 0; i < n; i += line)
      block<line>(total + i, n - i < line ? n - i : line, rows, Tile{tiles[i / line]});
  }

 private:
  /// Numbers that are added at once.
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP) || defined(KOKKOS_ENABLE_SYCL)
  static constexpr bool vectorised = false;
#else
  static constexpr bool vectorised = std::is_same_v<Mean, double>;
#endif
  using Register = detail::vector_of<Mean, vectorised>;
  using RealRegister = std::conditional_t<vectorised, Register, Real>;
  static constexpr std::int64_t in_register = sizeof(Register) / sizeof(Mean);
  /// The most terms of a block that is summed lane by lane, for as many outputs as a register has
  /// numbers.
  static constexpr std::int64_t few = 64;

 public:
  /// Host: totals of short rows, whose terms are all of one block.
  struct ShortRows {
    static constexpr std::int64_t longest = std::is_same_v<Mean, double> ? few : 0;
    /// Of `n` packed rows, at most 1024 elements; in the order of `block`.
    static void totals(T const* from, std::int64_t terms, std::int64_t n, Total* total)
      requires std::is_same_v<Mean, double>
    {
      constexpr std::int64_t most = 1024;
      // a register of the last rows may read behind them
      alignas(64) static thread_local T x[static_cast<std::size_t>(most + in_register)];
      detail::turn_rows(from, terms, n, static_cast<T*>(x), n);
      few_terms(
          n, terms, in_register, [n](std::int64_t k) { return x + k * n; },
          [total](std::int64_t c, Total const& made) { total[c] = made; });
    }
  };
  KOKKOS_FUNCTION static Result finish(Total const& a) {
    if (a.count == Real(0)) return Result(0);
    if (a.squares == infinity())
      return static_cast<Result>(infinity());  // not of infinite elements
    Real const sum = a.squares - squared(a.distances) / a.count;
    Real const none_below = sum < Real(0) ? Real(0) : sum;  // keeps NaN
    return static_cast<Result>(Root ? math::sqrt(none_below) : none_below);
  }
  template <class Real>
  KOKKOS_FUNCTION static Result finish(Spread<Real> const& a) {
    return finish(VarianceReducer::widened(a));
  }

 private:
  KOKKOS_FUNCTION static Real infinity() { return kernels::extreme_value<Real, true>(); }
  /// Changes the number from which distances are measured.
  KOKKOS_FUNCTION static void move(Total& a, Mean const& to) {
    Mean const by = a.near - to;
    a.squares += Real(2) * product(by, a.distances) + a.count * squared(by);
    a.distances = a.distances + by * a.count;
    a.near = to;
  }
  /// The real part of a times the conjugate of b.
  KOKKOS_FUNCTION static Real product(Mean const& a, Mean const& b) {
    if constexpr (shardtype::detail::is_complex<T>) {
      return a.real() * b.real() + a.imag() * b.imag();
    } else {
      return a * b;
    }
  }
  template <class V, class S>
  KOKKOS_FUNCTION static V load(S const* from) {
    V v;
    std::memcpy(static_cast<void*>(&v), from, sizeof(V));
    return v;
  }
  template <class V, class S>
  KOKKOS_FUNCTION static void store(S* to, V const& v) {
    std::memcpy(static_cast<void*>(to), &v, sizeof(V));
  }

  template <class V>
  KOKKOS_FUNCTION static V plus_square(V const& sum, V const& x) {
    return detail::fused(x, x, sum);
  }
  template <class R>
  KOKKOS_FUNCTION static Real plus_square(Real const& sum, Kokkos::complex<R> const& x) {
    return detail::fused(x.imag(), x.imag(), detail::fused(x.real(), x.real(), sum));
  }

  /// Elements `stride` apart, and those of a tile.
  template <class Stride>
  struct Apart {
    T const* x;
    Stride stride;
    KOKKOS_FUNCTION Mean one(std::int64_t k) const {
      return detail::converted<Mean>(x[k * stride]);
    }
    KOKKOS_FUNCTION Register some(std::int64_t k) const {
      Mean m[static_cast<std::size_t>(in_register)];
      for (std::int64_t e = 0; e < in_register; ++e) m[e] = one(k + e);
      return load<Register>(m);
    }
  };
  using Neighbours = Apart<std::integral_constant<std::int64_t, 1>>;
  struct Tile {
    Mean const* x;
    Mean one(std::int64_t k) const { return x[k]; }
    Register some(std::int64_t k) const { return load<Register>(x + k); }
  };

  static void convert(T const* __restrict x, std::int64_t n, Mean* __restrict to) {
    Neighbours const from{x, {}};
    if (n == line) {
      for (std::int64_t c = 0; c < line; c += in_register) store(to + c, from.some(c));
    } else {
      for (std::int64_t c = 0; c < n; ++c) to[c] = from.one(c);
    }
  }

  static constexpr std::int64_t lanes = 16;
  /// The sums of the lanes, pairwise, in the first lane.
  template <std::int64_t Width, class S>
  KOKKOS_FUNCTION static void fold(S* sum) {
    for (std::int64_t half = lanes / 2; half > 0; half /= 2)
      for (std::int64_t e = 0; e < half * Width; ++e) sum[e] = sum[e] + sum[e + half * Width];
  }
  /// Adds `rows` rows of `Width` columns, of which `n` are used, to `n` totals; `from` has the
  /// elements, row by row. One order for rows and for columns, so that a value has the same bits on
  /// every sharding of the kept dims: term k of a block is summed in lane k % lanes.
  template <std::int64_t Width, class From>
  SHARDTYPE_VECTOR_LOOP KOKKOS_FUNCTION static void block(Total* total, std::int64_t n,
                                                          std::int64_t rows, From from) {
    constexpr std::int64_t many = lanes * Width;
    constexpr std::int64_t registers = many / in_register;
    std::int64_t const all = rows * Width;
    std::int64_t const full = all - all % many;
    alignas(64) Mean sum[static_cast<std::size_t>(many)];
    alignas(64) Mean mean[static_cast<std::size_t>(many)];
    alignas(64) Real squares[static_cast<std::size_t>(many)];
    {
      Register s[static_cast<std::size_t>(registers)];
      for (std::int64_t r = 0; r < registers; ++r) s[r] = Register{};
      for (std::int64_t i = 0; i < full; i += many)
        for (std::int64_t r = 0; r < registers; ++r) s[r] = s[r] + from.some(i + r * in_register);
      for (std::int64_t r = 0; r < registers; ++r) store(sum + r * in_register, s[r]);
    }
    for (std::int64_t e = 0; e < all - full; ++e) sum[e] = sum[e] + from.one(full + e);
    fold<Width>(sum);
    for (std::int64_t c = 0; c < Width; ++c) mean[c] = sum[c] / static_cast<Real>(rows);
    for (std::int64_t e = Width; e < many; ++e) mean[e] = mean[e % Width];
    {
      Register s[static_cast<std::size_t>(registers)];
      RealRegister q[static_cast<std::size_t>(registers)];
      for (std::int64_t r = 0; r < registers; ++r) {
        s[r] = Register{};
        q[r] = RealRegister{};
      }
      for (std::int64_t i = 0; i < full; i += many)
        for (std::int64_t r = 0; r < registers; ++r) {
          Register const distance =
              from.some(i + r * in_register) - load<Register>(mean + r * in_register);
          s[r] = s[r] + distance;
          q[r] = plus_square(q[r], distance);
        }
      for (std::int64_t r = 0; r < registers; ++r) {
        store(sum + r * in_register, s[r]);
        store(squares + r * in_register, q[r]);
      }
    }
    for (std::int64_t e = 0; e < all - full; ++e) {
      Mean const distance = from.one(full + e) - mean[e];
      sum[e] = sum[e] + distance;
      squares[e] = plus_square(squares[e], distance);
    }
    fold<Width>(sum);
    fold<Width>(squares);
    for (std::int64_t c = 0; c < n; ++c)
      join(total[c], {static_cast<Real>(rows), mean[c], sum[c], squares[c]});
  }
  /// A sum of distances, and of their squares.
  struct Sums {
    Register distances, squares;
    Sums operator+(Sums const& b) const { return {distances + b.distances, squares + b.squares}; }
  };
  /// The sums of the lanes `l`, `l` + Stride, ..., pairwise as `fold` adds them. `Used`: lanes;
  /// those behind would add zeros.
  template <std::int64_t Stride, std::int64_t Used, class Lane>
  static auto folded(std::int64_t l, Lane const& lane) {
    if constexpr (Stride == Used) {
      return lane(l);
    } else {
      return folded<2 * Stride, Used>(l, lane) + folded<2 * Stride, Used>(l + Stride, lane);
    }
  }
  /// Host: `use(c, total)` of each of `n` outputs of at most `few` terms, in the order of `block`;
  /// `row(k)` has term k of each, and `spare` numbers behind them that may be read.
  template <class Row, class Use>
  static void few_terms(std::int64_t n, std::int64_t terms, std::int64_t spare, Row const& row,
                        Use const& use) {
    if (terms > lanes / 2) return lane_terms<lanes>(n, terms, spare, row, use);
    if (terms > lanes / 4) return lane_terms<lanes / 2>(n, terms, spare, row, use);
    if (terms > lanes / 8) return lane_terms<lanes / 4>(n, terms, spare, row, use);
    lane_terms<lanes / 8>(n, terms, spare, row, use);
  }
  template <std::int64_t Used, class Row, class Use>
  static void lane_terms(std::int64_t n, std::int64_t terms, std::int64_t spare, Row const& row,
                         Use const& use) {
    alignas(64) static thread_local Mean tile[static_cast<std::size_t>(few * in_register)];
    for (std::int64_t first = 0; first < n; first += in_register) {
      std::int64_t const m = n - first < in_register ? n - first : in_register;
      for (std::int64_t k = 0; k < terms; ++k) {
        T const* const x = row(k) + first;
        Mean* const to = tile + k * in_register;
        if (first + in_register <= n + spare) {
          for (std::int64_t c = 0; c < in_register; ++c) to[c] = static_cast<Mean>(x[c]);
        } else {
          for (std::int64_t c = 0; c < m; ++c) to[c] = static_cast<Mean>(x[c]);
        }
      }
      auto const term = [](std::int64_t k) { return load<Register>(tile + k * in_register); };
      Register const sum = folded<1, Used>(0, [&](std::int64_t l) {
        Register s = l < terms ? term(l) : Register{};
        for (std::int64_t k = l + lanes; k < terms; k += lanes) s = s + term(k);
        return s;
      });
      Register const mean = sum / static_cast<Real>(terms);
      Sums const sums = folded<1, Used>(0, [&](std::int64_t l) {
        Sums s{};
        for (std::int64_t k = l; k < terms; k += lanes) {
          Register const distance = term(k) - mean;
          s = {s.distances + distance, plus_square(s.squares, distance)};
        }
        return s;
      });
      Mean each[3][static_cast<std::size_t>(in_register)];
      store(each[0], mean);
      store(each[1], sums.distances);
      store(each[2], sums.squares);
      for (std::int64_t c = 0; c < m; ++c)
        use(first + c, {static_cast<Real>(terms), each[0][c], each[1][c], each[2][c]});
    }
  }
};

}  // namespace shardtype::kernels
