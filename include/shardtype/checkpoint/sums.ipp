#pragma once
/// Definitions of sums.hpp.

#include <algorithm>
#include <cstring>

#include <shardtype/checkpoint/sums.hpp>

namespace shardtype::checkpoint::detail {

SHARDTYPE_INLINE std::int64_t BlockOfArray::elements() const {
  std::int64_t n = 1;
  for (std::int64_t const c : count) n *= c;
  return n;
}
SHARDTYPE_INLINE std::int64_t BlockOfArray::array_elements() const {
  std::int64_t n = 1;
  for (std::int64_t const s : shape) n *= s;
  return n;
}

/// A bijection of the bits of one word, different for each position. Source: A. Appleby,
/// MurmurHash3, fmix64.
inline std::uint64_t hash_at(std::uint64_t position, std::uint64_t bits) {
  std::uint64_t x = bits ^ (position + 1) * 0x9E3779B97F4A7C15U;
  x = (x ^ x >> 33) * 0xFF51AFD7ED558CCDU;
  x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53U;
  return x ^ x >> 33;
}

template <class Word>
void add_words(BlockOfArray const& b, std::int64_t words, std::byte const* data,
               std::uint64_t* sums) {
  std::int64_t const per_chunk = chunk_bytes / static_cast<std::int64_t>(sizeof(Word));
  detail::for_each_run(b, [&](std::int64_t at, std::int64_t from, std::int64_t n) {
    std::int64_t position = at * words, end = (at + n) * words;
    std::byte const* in = data + static_cast<std::size_t>(from * words) * sizeof(Word);
    while (position < end) {
      std::int64_t const chunk = position / per_chunk;
      std::int64_t const stop = std::min(end, (chunk + 1) * per_chunk);
      std::uint64_t sum = 0;
      for (; position < stop; ++position, in += sizeof(Word)) {
        Word word = 0;
        std::memcpy(&word, in, sizeof word);
        sum += detail::hash_at(static_cast<std::uint64_t>(position), word);
      }
      sums[chunk] += sum;
    }
  });
}

SHARDTYPE_INLINE void add_sums(BlockOfArray const& b, std::byte const* data, std::uint64_t* sums) {
  switch (b.element_bytes) {
    case 1:
      return add_words<std::uint8_t>(b, 1, data, sums);
    case 2:
      return add_words<std::uint16_t>(b, 1, data, sums);
    case 4:
      return add_words<std::uint32_t>(b, 1, data, sums);
    default:
      return add_words<std::uint64_t>(b, b.element_bytes / 8, data, sums);
  }
}

/// In halves, whose sums fit the numbers that ranks add.
SHARDTYPE_INLINE void add_up(runtime::Comm& comm, std::vector<std::vector<std::uint64_t>>& sums) {
  std::vector<std::int64_t> halves;
  for (auto const& of_tensor : sums)
    for (std::uint64_t const s : of_tensor) {
      halves.push_back(static_cast<std::int64_t>(s & 0xFFFFFFFFU));
      halves.push_back(static_cast<std::int64_t>(s >> 32));
    }
  comm.all_reduce(halves.data(), halves.data(), static_cast<std::int64_t>(halves.size()),
                  ReduceKind::sum);
  std::size_t k = 0;
  for (auto& of_tensor : sums)
    for (std::uint64_t& s : of_tensor) {
      s = static_cast<std::uint64_t>(halves[k]) + (static_cast<std::uint64_t>(halves[k + 1]) << 32);
      k += 2;
    }
}

}  // namespace shardtype::checkpoint::detail
