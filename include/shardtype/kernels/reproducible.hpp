#pragma once
/// Sums whose bits do not depend on the order of the terms: binned accumulation, after Demmel and
/// Nguyen.
///
/// The exponents of double are divided into fixed bins of 30 bits. A sum keeps three neighbouring
/// bins, the highest of which is the bin of the largest term so far. A term is rounded to the
/// nearest multiple of the lowest bin's unit, half to even, in three slices, one per bin: they
/// depend only on the term and the bin. Slices are added as integers, so exactly. When a larger
/// term arrives, the lowest bins are dropped, which gives the same slices as if the earlier terms
/// had been added to the higher bins at once. So the result is the sum of the terms, each rounded
/// by less than 2^-61 of the largest, for any order and grouping. It is rounded once, to double, at
/// the end.
///
/// Three bins instead of one integer that spans all exponents: 40 bytes per result instead of 270,
/// and slices that vectorise; 30 bits leave room for 2^22 slices in a double.

#include <cstdint>
#include <cstring>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/reducers.hpp>

namespace shardtype::kernels {

/// A sum in three bins; bin b holds multiples of 2^(30 b).
struct Binned {
  static constexpr int width = 30;
  static constexpr int bins = 3;
  static constexpr std::int32_t none = -1000;  ///< the top bin of a sum of zeros
  static constexpr std::int64_t carried = std::int64_t{1} << 61;
  enum Special : std::int8_t { plus_infinity = 1, minus_infinity = 2, not_a_number = 4 };

  std::int64_t part[bins] = {};   ///< the top bin first; absolute value at most `carried`
  std::int32_t carry[bins] = {};  ///< in units of `carried`
  std::int16_t top = none;
  std::int8_t special = 0;  ///< which special values (infinities, NaN) were among the terms

  /// Raises the top bin to `b`, for terms of that bin.
  KOKKOS_FUNCTION void raise(int b) {
    if (b <= top) return;
    int const by = top == none || b - top > bins ? bins : b - top;
    for (int k = bins - 1; k >= 0; --k) {
      part[k] = k >= by ? part[k - by] : 0;
      carry[k] = k >= by ? carry[k - by] : 0;
    }
    top = static_cast<std::int16_t>(b);
  }
  /// Adds `x` units, at most `carried` in absolute value, to bin k.
  KOKKOS_FUNCTION void add(int k, std::int64_t x) {
    part[k] += x;
    if (part[k] >= carried) {
      part[k] -= carried;
      ++carry[k];
    } else if (part[k] <= -carried) {
      part[k] += carried;
      --carry[k];
    }
  }
  KOKKOS_FUNCTION void add(Binned const& b) {
    special = static_cast<std::int8_t>(special | b.special);
    if (b.top == none) return;
    raise(b.top);
    int const by = top - b.top;
    for (int k = by; k < bins; ++k) {
      add(k, b.part[k - by]);
      carry[k] += b.carry[k - by];
    }
  }
};

namespace detail {

/// 2^e for -1022 <= e <= 1023.
KOKKOS_INLINE_FUNCTION double power_of_two(int e) {
  auto const bits = static_cast<std::uint64_t>(e + 1023) << 52;
  double out;
  std::memcpy(&out, &bits, sizeof out);
  return out;
}
/// The bin of numbers of the magnitude of `x`: the lowest whose unit times 2^30 exceeds it. Not for
/// 0.
KOKKOS_INLINE_FUNCTION int bin_of(double x) {
  std::uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  int const exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  return (exponent + 1050) / Binned::width - 35;
}
KOKKOS_INLINE_FUNCTION bool is_number(double x) { return x - x == 0; }

/// Adds `n` <= 2^20 terms, which it may overwrite.
KOKKOS_INLINE_FUNCTION void add_terms(Binned& sum, double* x, std::int64_t n) {
  constexpr int lanes = 8;
  double largest[lanes] = {};
  double odd[lanes] = {};  // 0, or NaN if a term is not finite
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (int l = 0; l < lanes; ++l) {
      double const size = x[i + l] < 0 ? -x[i + l] : x[i + l];
      largest[l] = size > largest[l] ? size : largest[l];
      odd[l] += x[i + l] - x[i + l];
    }
  for (; i < n; ++i) {
    double const size = x[i] < 0 ? -x[i] : x[i];
    largest[0] = size > largest[0] ? size : largest[0];
    odd[0] += x[i] - x[i];
  }
  for (int l = 1; l < lanes; ++l) {
    largest[0] = largest[l] > largest[0] ? largest[l] : largest[0];
    odd[0] += odd[l];
  }
  if (!is_number(odd[0])) {
    largest[0] = 0;
    for (i = 0; i < n; ++i) {
      double const size = x[i] < 0 ? -x[i] : x[i];
      if (is_number(x[i])) {
        largest[0] = size > largest[0] ? size : largest[0];
        continue;
      }
      int const what = x[i] != x[i] ? Binned::not_a_number
                       : x[i] > 0   ? Binned::plus_infinity
                                    : Binned::minus_infinity;
      sum.special = static_cast<std::int8_t>(sum.special | what);
      x[i] = 0;
    }
  }
  if (largest[0] == 0) return;
  sum.raise(bin_of(largest[0]));
  // near the ends of double's range, terms are scaled away from them
  int const exponent = Binned::width * sum.top;
  int const shift = exponent > 300 ? -600 : exponent < -300 ? 600 : 0;
  double const scale = power_of_two(shift);
  double unit[Binned::bins];
  double round[Binned::bins];  // adding and subtracting this rounds to multiples of the unit
  for (int k = 0; k < Binned::bins; ++k) {
    unit[k] = power_of_two(exponent + shift - Binned::width * k);
    round[k] = unit[k] * 6755399441055744.0;  // 1.5 * 2^52
  }
  double slices[Binned::bins][lanes] = {};
  auto const slice = [&](double const* from, int count) {
    for (int l = 0; l < count; ++l) {
      double rest = from[l] * scale;
      double const high = (rest + round[0]) - round[0];
      rest -= high;
      double const middle = (rest + round[1]) - round[1];
      rest -= middle;
      slices[0][l] += high;
      slices[1][l] += middle;
      slices[2][l] += (rest + round[2]) - round[2];
    }
  };
  for (i = 0; i + lanes <= n; i += lanes) slice(x + i, lanes);
  slice(x + i, static_cast<int>(n - i));
  for (int k = 0; k < Binned::bins; ++k) {
    double total = 0;  // exact: fewer than 2^53 units
    for (int l = 0; l < lanes; ++l) total += slices[k][l];
    sum.add(k, static_cast<std::int64_t>(total / unit[k]));
  }
}

/// The sum, rounded once.
KOKKOS_INLINE_FUNCTION double value_of(Binned const& sum) {
  double const infinity = extreme_value<double, true>();
  if (sum.special != 0) {
    bool const up = (sum.special & Binned::plus_infinity) != 0;
    bool const down = (sum.special & Binned::minus_infinity) != 0;
    if ((sum.special & Binned::not_a_number) != 0 || (up && down)) return infinity - infinity;
    return up ? infinity : -infinity;
  }
  // digits of 30 bits in units of the lowest bin; the last one has the sign
  constexpr int digits = 6;
  constexpr std::int64_t low = (std::int64_t{1} << Binned::width) - 1;
  std::int64_t digit[digits] = {};
  for (int k = 0; k < Binned::bins; ++k) {
    int const at = Binned::bins - 1 - k;
    digit[at] += sum.part[k] & low;
    digit[at + 1] += sum.part[k] >> Binned::width & low;
    digit[at + 2] += (sum.part[k] >> 2 * Binned::width) + 2 * std::int64_t{sum.carry[k]};
  }
  auto const carry = [&] {
    for (int d = 0; d + 1 < digits; ++d) {
      digit[d + 1] += digit[d] >> Binned::width;
      digit[d] &= low;
    }
  };
  carry();
  bool const negative = digit[digits - 1] < 0;
  if (negative) {
    for (std::int64_t& d : digit) d = -d;
    carry();
  }
  // the leading bits, at least 54 if there are as many, and whether lower bits are set
  auto bits = static_cast<std::uint64_t>(digit[digits - 1]);
  int exponent = Binned::width * (sum.top - Binned::bins + 1) + Binned::width * (digits - 1);
  bool more = false;
  for (int d = digits - 2; d >= 0; --d)
    for (int shift = 20; shift >= 0; shift -= 10) {
      auto const ten = static_cast<std::uint64_t>(digit[d] >> shift & 1023);
      if (bits >> 54 == 0) {
        bits = bits << 10 | ten;
        exponent -= 10;
      } else {
        more = more || ten != 0;
      }
    }
  if (bits == 0) return 0;
  int extra = 0;
  while (bits >> extra >> 53 != 0) ++extra;
  if (extra > 0) {  // halves to even
    std::uint64_t const half = std::uint64_t{1} << (extra - 1);
    std::uint64_t const rest = bits & (2 * half - 1);
    bits >>= extra;
    if (rest > half || (rest == half && (more || bits % 2 != 0))) ++bits;
    exponent += extra;
  }
  // exact, or infinite: below the least normal number all digits are multiples of the least
  // denormal
  auto out = static_cast<double>(bits);
  for (; exponent > 500; exponent -= 500) out *= power_of_two(500);
  for (; exponent < -500; exponent += 500) out *= power_of_two(-500);
  out *= power_of_two(exponent);
  return negative ? -out : out;
}

}  // namespace detail

/// The reducer: of elements, or for norms of the squares of their absolute values (rounded to
/// double). It accepts many elements at once, because the bins are chosen for them together.
template <class T, bool Squares>
struct ReproducibleReducer {
  static constexpr bool complex = shardtype::detail::is_complex<T>;
  static constexpr int sums = complex && !Squares ? 2 : 1;
  struct Total {
    Binned of[static_cast<std::size_t>(sums)];
  };
  using Element = T;
  using Part = Total;
  using Result = std::conditional_t<Squares, shardtype::detail::real_of<T>, T>;

  KOKKOS_FUNCTION static Total nothing() { return {}; }
  KOKKOS_FUNCTION static Total widen(Total const& a) { return a; }
  KOKKOS_FUNCTION static void join(Total& a, Total const& b) {
    for (int k = 0; k < sums; ++k) a.of[k].add(b.of[k]);
  }
  KOKKOS_FUNCTION static double term(T const& x, int part) {
    double y{};
    if constexpr (complex) {
      y = static_cast<double>(part == 0 ? x.real() : x.imag());
    } else {
      y = static_cast<double>(x);
    }
    return Squares ? y * y : y;
  }
  /// `n` elements, `stride` apart.
  KOKKOS_FUNCTION static void deposit(Total& total, T const* x, std::int64_t n,
                                      std::int64_t stride) {
    constexpr std::int64_t block = 512;
    for (std::int64_t from = 0; from < n; from += block) {
      std::int64_t const m = n - from < block ? n - from : block;
      for (int part = 0; part < (complex ? 2 : 1); ++part) {
        double terms[block];
        for (std::int64_t i = 0; i < m; ++i) terms[i] = term(x[(from + i) * stride], part);
        detail::add_terms(total.of[part % sums], terms, m);
      }
    }
  }
  KOKKOS_FUNCTION static Result finish(Total const& a) {
    using Real = shardtype::detail::real_of<T>;
    if constexpr (Squares) {
      return static_cast<Real>(math::sqrt(detail::value_of(a.of[0])));
    } else if constexpr (complex) {
      return T(static_cast<Real>(detail::value_of(a.of[0])),
               static_cast<Real>(detail::value_of(a.of[1])));
    } else {
      return static_cast<Real>(detail::value_of(a.of[0]));
    }
  }
};

}  // namespace shardtype::kernels
