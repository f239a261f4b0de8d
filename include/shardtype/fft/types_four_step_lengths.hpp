#pragma once
/// The lengths n1 and n2 of a long Fourier transform of n1 n2 rows, chosen by value.

#include <cstdint>

#include <shardtype/core/block.hpp>

namespace shardtype::planning {

/// The lengths of the short transforms. For more than one rank, (n, 1) means Bluestein's algorithm:
/// n has no factors with which all ranks have work.
struct FourStepLengths {
  std::int64_t rows = 0;     ///< n1
  std::int64_t columns = 1;  ///< n2
  friend constexpr bool operator==(FourStepLengths const&, FourStepLengths const&) = default;
};
/// Whether a transform of these lengths on `p` ranks is a convolution (Bluestein 1970).
constexpr bool is_convolution(FourStepLengths const& n, std::int64_t p) {
  return p > 1 && n.rows > 1 && n.columns == 1;
}

/// Elements of the largest block when the columns, and when the rows are split over `p` ranks.
constexpr std::int64_t by_columns_elements(FourStepLengths const& n, std::int64_t p) {
  return mul_sat(n.rows, ceil_div(n.columns, p));
}
constexpr std::int64_t by_rows_elements(FourStepLengths const& n, std::int64_t p) {
  return mul_sat(ceil_div(n.rows, p), n.columns);
}

/// The factors of a number, up to 2^16; a factor without such factors counts as a prime.
struct PrimePowers {
  static constexpr int most = 16;
  int size = 0;
  std::int64_t prime[most]{};
  int power[most]{};

  constexpr explicit PrimePowers(std::int64_t n) {
    for (std::int64_t d = 2; d <= 65536 && d * d <= n; d += d == 2 ? 1 : 2) {
      if (n % d != 0) continue;
      prime[size] = d;
      for (; n % d == 0; n /= d) ++power[size];
      ++size;
    }
    if (n > 1) {
      prime[size] = n;
      power[size++] = 1;
    }
  }
};

/// Whether `a` are better lengths than `b`: less work on the busiest rank, then more equal ones.
constexpr bool better_lengths(FourStepLengths const& a, FourStepLengths const& b, std::int64_t p) {
  std::int64_t const work_a = add_sat(by_columns_elements(a, p), by_rows_elements(a, p));
  std::int64_t const work_b = add_sat(by_columns_elements(b, p), by_rows_elements(b, p));
  if (work_a != work_b) return work_a < work_b;
  return a.rows + a.columns < b.rows + b.columns;
}

/// The best factors of `n` for `p` ranks, both greater than 1; (n, 1) if there are none.
constexpr FourStepLengths best_factors(std::int64_t n, std::int64_t p) {
  FourStepLengths best{n, 1};
  PrimePowers const primes(n);
  int power[PrimePowers::most]{};
  for (std::int64_t rows = 1;;) {
    int k = 0;
    for (; k < primes.size; ++k) {
      if (power[k] < primes.power[k]) {
        ++power[k];
        rows *= primes.prime[k];
        break;
      }
      for (; power[k] > 0; --power[k]) rows /= primes.prime[k];
    }
    if (k == primes.size) return best;
    FourStepLengths const next{rows, n / rows};
    if (next.columns > 1 && (best.columns == 1 || better_lengths(next, best, p))) best = next;
  }
}

/// The least p 2^a c of at least `n`, where c is 1, 3, 5, 9 or 15.
constexpr std::int64_t shared_length(std::int64_t n, std::int64_t p) {
  std::int64_t const each = ceil_div(n, p);
  std::int64_t least = 0;
  for (std::int64_t const c : {1, 3, 5, 9, 15}) {
    std::int64_t x = c;
    while (x < each) x *= 2;
    if (least == 0 || x < least) least = x;
  }
  return mul_sat(least, p);
}

/// The lengths of the cyclic convolution that computes a transform of `n` > 1 rows on `p` ranks: at
/// least 2 n - 1 numbers, and all ranks have equal shares of both lengths.
constexpr FourStepLengths convolution_lengths(std::int64_t n, std::int64_t p) {
  std::int64_t const least = 2 * n - 1;
  FourStepLengths best{};
  // with more rows than give `p` columns the convolution would only be longer
  for (std::int64_t rows = p;; rows = shared_length(rows + 1, p)) {
    FourStepLengths const next{rows, shared_length(ceil_div(least, rows), p)};
    std::int64_t const m = mul_sat(next.rows, next.columns);
    std::int64_t const m_best = mul_sat(best.rows, best.columns);
    if (best.rows == 0 || m < m_best ||
        (m == m_best && next.rows + next.columns < best.rows + best.columns))
      best = next;
    if (next.columns == p) return best;
  }
}

/// The lengths for `n` rows on `p` ranks. The factors of n are taken unless Bluestein's algorithm,
/// which holds two blocks of its convolution, needs less memory.
constexpr FourStepLengths four_step_lengths(std::int64_t n, std::int64_t p) {
  if (n <= 1) return {n, 1};
  if (p == 1) return {1, n};
  FourStepLengths const factors = best_factors(n, p);
  if (factors.columns == 1) return factors;
  std::int64_t const convolved = by_rows_elements(convolution_lengths(n, p), p);
  std::int64_t const largest =
      std::max(by_columns_elements(factors, p), by_rows_elements(factors, p));
  return largest <= mul_sat(2, convolved) ? factors : FourStepLengths{n, 1};
}

/// Numbers in the two tables from which the roots of unity of order `n` are multiplied: the first
/// has the powers below `low`, a power of two of about sqrt(n), the second those of its multiples.
struct RootTables {
  int shift = 0;
  std::int64_t low = 0;
  std::int64_t high = 0;

  constexpr explicit RootTables(std::int64_t n) {
    while ((std::int64_t{1} << (2 * shift)) < n) ++shift;
    low = std::int64_t{1} << shift;
    high = ceil_div(n, low);
  }
  constexpr std::int64_t bytes() const { return 16 * (low + high); }
};

}  // namespace shardtype::planning
