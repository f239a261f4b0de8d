#pragma once
/// Random permutations whose elements are computed independently of each other.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <Kokkos_Core.hpp>

#include <shardtype/random/distributions.hpp>

namespace shardtype::random {

/// The numbers of the rounds of a network, by the half that they depend on.
struct DrawnWords {
  std::uint64_t key;

  KOKKOS_FUNCTION std::uint64_t operator()(std::uint64_t half, std::uint32_t round) const {
    return draw(key, half, round, Purpose::permutation).a;
  }
};
/// The same from a table: a half has few values, of which the elements of a block have each many
/// times. The table is the caller's.
struct TabulatedWords {
  static constexpr int most_bits = 13;  // of a half: the table stays in the second cache
  std::uint16_t const* words;
  int bits;

  KOKKOS_FUNCTION std::uint64_t operator()(std::uint64_t half, std::uint32_t round) const {
    return words[(std::uint64_t{round} << bits) + half];
  }
  /// For halves of `bits` bits.
  static std::vector<std::uint16_t> table(DrawnWords const& drawn, int bits, std::uint32_t rounds) {
    std::vector<std::uint16_t> words(std::size_t{rounds} << bits);
    for (std::uint32_t round = 0; round < rounds; ++round)
      for (std::uint64_t half = 0; half < std::uint64_t{1} << bits; ++half)
        words[(std::uint64_t{round} << bits) + half] =
            static_cast<std::uint16_t>(drawn(half, round));
    return words;
  }
};

/// The permutation of 0 .. n-1 by a Feistel network over the next power of two. Each round is a
/// bijection for any round function; a value of at least n passes through the network again until
/// it is below n (less than two passes on average), which keeps the bijection. Rounds are Philox;
/// the halves differ by at most one bit. For n above `least`.
template <class T, class Words = DrawnWords>
struct Feistel {
  static constexpr std::int64_t least = 1024;  // for smaller n, the halves are too short to mix
                                               // well
  static constexpr std::uint32_t rounds = 8;

  Words words;
  std::uint64_t extent;
  int low_bits = 0;
  int high_bits = 0;

  Feistel(std::uint64_t key, std::int64_t n)
    requires std::is_same_v<Words, DrawnWords>
      : words{key}, extent(static_cast<std::uint64_t>(n)) {
    int bits = 2;
    while (bits < 63 && (std::uint64_t{1} << bits) < extent) ++bits;
    low_bits = bits / 2;
    high_bits = bits - low_bits;
  }
  /// The network `drawn` with its numbers from elsewhere.
  Feistel(Feistel<T> const& drawn, Words its_words)
    requires(!std::is_same_v<Words, DrawnWords>)
      : words(its_words),
        extent(drawn.extent),
        low_bits(drawn.low_bits),
        high_bits(drawn.high_bits) {}

  KOKKOS_FUNCTION T operator()(std::int64_t n) const {
    auto x = static_cast<std::uint64_t>(n);
    do x = once(x);
    while (x >= extent);
    return static_cast<T>(x);
  }

  /// Round by round for all elements at once; those that are too large go on alone.
  KOKKOS_FUNCTION void block(int n, T* out, std::int64_t const* at) const
    requires std::is_same_v<Words, DrawnWords>
  {
    std::uint64_t const low_mask = (std::uint64_t{1} << low_bits) - 1;
    std::uint64_t const high_mask = (std::uint64_t{1} << high_bits) - 1;
    std::uint64_t low[numbers_per_block];
    std::uint64_t high[numbers_per_block];
    int which[numbers_per_block];
    for (int k = 0; k < n; ++k) {
      low[k] = static_cast<std::uint64_t>(at[k]) & low_mask;
      high[k] = static_cast<std::uint64_t>(at[k]) >> low_bits;
      which[k] = k;
    }
    while (n > 0) {
      for (std::uint32_t r = 0; r < rounds; r += 2) {
        for (int k = 0; k < n; ++k) low[k] ^= words(high[k], r) & low_mask;
        for (int k = 0; k < n; ++k) high[k] ^= words(low[k], r + 1) & high_mask;
      }
      int left = 0;
      for (int k = 0; k < n; ++k) {
        std::uint64_t const x = high[k] << low_bits | low[k];
        out[which[k]] = static_cast<T>(static_cast<std::int64_t>(x));  // for now, if too large
        low[left] = low[k];
        high[left] = high[k];
        which[left] = which[k];
        left += x >= extent ? 1 : 0;
      }
      n = left;
    }
  }

  KOKKOS_FUNCTION std::uint64_t once(std::uint64_t x) const {
    std::uint64_t const low_mask = (std::uint64_t{1} << low_bits) - 1;
    std::uint64_t const high_mask = (std::uint64_t{1} << high_bits) - 1;
    std::uint64_t low = x & low_mask;
    std::uint64_t high = x >> low_bits;
    for (std::uint32_t r = 0; r < rounds; r += 2) {
      low ^= words(high, r) & low_mask;
      high ^= words(low, r + 1) & high_mask;
    }
    return high << low_bits | low;
  }
};

/// The whole permutation of 0 .. n-1 by exchanges (Fisher and Yates): all n! equally likely. For n
/// up to `Feistel::least`.
inline std::vector<std::int64_t> shuffled(std::uint64_t key, std::int64_t n) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(n));
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = static_cast<std::int64_t>(k);
  for (std::size_t k = out.size(); k > 1; --k) {
    Integers<std::int64_t> const below{key, 0, k, (0 - std::uint64_t{k}) % k};
    auto const other = static_cast<std::size_t>(below(static_cast<std::int64_t>(k)));
    std::int64_t const kept = out[k - 1];
    out[k - 1] = out[other];
    out[other] = kept;
  }
  return out;
}

}  // namespace shardtype::random
