#pragma once
/// Keys of random streams, and the counter-based generator behind them (Random123's Philox4x32-10).

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <Kokkos_Core.hpp>
#include <Random123/philox.h>

namespace shardtype {

namespace random {

/// The purpose of a draw. Draws of one key for different purposes are independent.
enum class Purpose : std::uint32_t { value, permutation, split, fold_in };

/// 128 random bits.
struct Bits {
  std::uint64_t a;
  std::uint64_t b;
};

/// The bits of `key` at `counter`: Philox4x32-10 of the counter (64 bits), `attempt` and `purpose`
/// (32 bits each). Another counter, attempt or purpose never gives the same bits, because the
/// cipher is a bijection for each key. Source: Salmon, Moraes, Dror, Shaw, "Parallel random
/// numbers: as easy as 1, 2, 3", SC 2011.
KOKKOS_FORCEINLINE_FUNCTION Bits draw(std::uint64_t key, std::uint64_t counter,
                                      std::uint32_t attempt = 0, Purpose purpose = Purpose::value) {
  using Philox = r123::Philox4x32_R<10>;
  Philox::ctr_type const c = {{static_cast<std::uint32_t>(counter),
                               static_cast<std::uint32_t>(counter >> 32), attempt,
                               static_cast<std::uint32_t>(purpose)}};
  Philox::key_type const k = {
      {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)}};
  Philox::ctr_type const out = Philox{}(c, k);
  return {out.v[0] | std::uint64_t{out.v[1]} << 32, out.v[2] | std::uint64_t{out.v[3]} << 32};
}

}  // namespace random

/// The name of a random stream: `RandomKey{7}`. A value; drawing does not change it, so the same
/// key gives the same numbers again. Further keys are derived by `split` and `fold_in`, as with
/// jax.random.
class RandomKey {
 public:
  explicit constexpr RandomKey(std::uint64_t seed) : bits_(seed) {}

  constexpr std::uint64_t bits() const { return bits_; }

  /// The key of a numbered stream: `key.fold_in(step)`. Different data give different streams.
  RandomKey fold_in(std::uint64_t data) const {
    return RandomKey(random::draw(bits_, data, 0, random::Purpose::fold_in).a);
  }

  /// `auto const [w, b] = key.split<2>()`: keys of streams that are independent of each other, of
  /// this key's own numbers and of those of `fold_in`.
  template <std::size_t N>
  std::array<RandomKey, N> split() const {
    return split_into(std::make_index_sequence<N>{});
  }

  friend constexpr bool operator==(RandomKey, RandomKey) = default;

 private:
  template <std::size_t... K>
  std::array<RandomKey, sizeof...(K)> split_into(std::index_sequence<K...>) const {
    return {RandomKey(random::draw(bits_, K, 0, random::Purpose::split).a)...};
  }

  std::uint64_t bits_;
};

}  // namespace shardtype
