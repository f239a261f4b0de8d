#pragma once
/// Host: sorts the keys of several rows at once by a sorting network. A vector has one key of each
/// row, so that a comparison of the network is a least and a largest of two vectors.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include <shardtype/kernels/short_rows.hpp>
#include <shardtype/kernels/sort_key.hpp>
#include <shardtype/kernels/vector.hpp>
#include <shardtype/kernels/vector_loop.hpp>

namespace shardtype::kernels::detail {

/// Two keys, of which the lesser is put first.
struct Comparison {
  int first, second;
};
/// Calls `use(i, j)` for each comparison of Batcher's odd-even merge sort of `n` keys, a power of
/// two.
template <class Use>
constexpr void merge_sort_network(int n, Use const& use) {
  for (int sorted = 1; sorted < n; sorted *= 2)
    for (int apart = sorted; apart > 0; apart /= 2)
      for (int begin = apart % sorted; begin + apart < n; begin += 2 * apart)
        for (int i = begin; i < begin + apart && i + apart < n; ++i)
          if (i / (2 * sorted) == (i + apart) / (2 * sorted)) use(i, i + apart);
}
/// The same for merging `n` keys that rise to the largest and fall from there, or the reverse.
template <class Use>
constexpr void bitonic_merge_network(int n, Use const& use) {
  for (int apart = n / 2; apart > 0; apart /= 2)
    for (int i = 0; i < n; ++i)
      if ((i & apart) == 0) use(i, i + apart);
}
template <int N, bool Merges>
inline constexpr auto comparisons_of = [] {
  constexpr auto each = [](auto const& with_pair) {
    if constexpr (Merges) {
      detail::bitonic_merge_network(N, with_pair);
    } else {
      detail::merge_sort_network(N, with_pair);
    }
  };
  constexpr std::size_t count = [&] {
    std::size_t n = 0;
    each([&](int, int) { ++n; });
    return n;
  }();
  std::array<Comparison, count> out{};
  std::size_t k = 0;
  each([&](int i, int j) { out[k++] = {i, j}; });
  return out;
}();

/// Sorts `rows` packed rows of at most `longest` keys, which are signed integers.
template <class Key>
class SortNetwork {
 public:
  static constexpr int rows = vector_lanes<Key>;
  static constexpr std::int64_t longest = 1024;
  static constexpr std::int64_t spare = spare_lanes<Key>;
  static constexpr std::int64_t most_keys = longest * rows + spare;  ///< with the spare ones

  SHARDTYPE_VECTOR_LOOP static void sort(Key* keys, std::int64_t n) {
    alignas(64) V x[static_cast<std::size_t>(longest)];
    auto* const turned = reinterpret_cast<Key*>(static_cast<V*>(x));
    detail::turn_lanes(static_cast<Key const*>(keys), n, turned);
    // the largest keys stay behind the others
    for (std::int64_t i = n; i < whole(n); ++i) x[i] = V{} + std::numeric_limits<Key>::max();
    sort_columns(x, n);
    detail::turn_lanes_back(static_cast<Key const*>(turned), n, keys);
  }

 private:
  using V = vector_of<Key>;
  /// Vectors that fit into registers.
  static constexpr std::int64_t block = sizeof(V) == 64 ? 16 : 8;

  static constexpr std::int64_t whole(std::int64_t n) {
    return n <= block ? static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n)))
                      : (n + block - 1) / block * block;
  }
  SHARDTYPE_VECTOR_LOOP static void sort_columns(V* x, std::int64_t n) {
    if (n <= 2) {
      if (n == 2) compare(x[0], x[1]);
    } else if (n <= 4) {
      in_registers<4, false>(x);
    } else if (n <= 8) {
      in_registers<8, false>(x);
    } else {
      for (std::int64_t i = 0; i < n; i += block) in_registers<block, false>(x + i);
      for (std::int64_t width = block; width < n; width *= 2)
        for (std::int64_t i = 0; i + width < n; i += 2 * width)
          merge(x + i, width, std::min(2 * width, whole(n) - i));
    }
  }
  /// Merges the first `width` vectors, a power of two, and those behind them.
  SHARDTYPE_VECTOR_LOOP static void merge(V* x, std::int64_t width, std::int64_t n) {
    // those behind them from the last on, so that what is left are bitonic sequences
    for (std::int64_t i = 0; width + i < n; ++i) compare(x[width - 1 - i], x[width + i]);
    for (std::int64_t apart = width / 2; apart >= block; apart /= 2)
      for (std::int64_t i = 0; i + apart < n; i += 2 * apart)
        for (std::int64_t k = i; k < i + apart && k + apart < n; ++k) compare(x[k], x[k + apart]);
    for (std::int64_t i = 0; i < n; i += block) in_registers<block, true>(x + i);
  }
  static void compare(V& a, V& b) {
    V const lesser = b < a ? b : a;
    b = b < a ? a : b;
    a = lesser;
  }
  template <std::int64_t N, bool Merges>
  SHARDTYPE_VECTOR_LOOP static void in_registers(V* x) {
    constexpr auto count = comparisons_of<static_cast<int>(N), Merges>.size();
    in_order<N, Merges>(x, std::make_index_sequence<count>{});
  }
  template <std::int64_t N, bool Merges, std::size_t... K>
  SHARDTYPE_VECTOR_LOOP static void in_order(V* x, std::index_sequence<K...>) {
    constexpr auto const& all = comparisons_of<static_cast<int>(N), Merges>;
    V r[static_cast<std::size_t>(N)];
    std::memcpy(r, x, sizeof r);
    (compare(r[all[K].first], r[all[K].second]), ...);
    std::memcpy(x, r, sizeof r);
  }
};

/// One call sorts neighbouring rows of `in` [count, n] to `sorted`: elements, or elements with
/// their positions, of which the first `keep` of each row are needed.
template <class Item, class T>
struct NetworkRows {
  static constexpr bool has_places = !std::is_same_v<Item, T>;
  /// Signed, which processors compare in vectors; with positions key and position in one number.
  using Key = std::conditional_t<has_places || sizeof(SortKey<T>) == 8, std::int64_t, std::int32_t>;
  using Network = SortNetwork<Key>;

  T const* in;
  Item* sorted;
  std::int64_t count, n, keep;
  bool descending;

  /// Whether rows of `n` elements are sorted so.
  static constexpr bool takes(std::int64_t n) {
    return computes_in_vectors && has_sort_key<T> && (!has_places || sizeof(SortKey<T>) == 4) &&
           n <= Network::longest;
  }
  std::int64_t calls() const { return (count + Network::rows - 1) / Network::rows; }

  SHARDTYPE_VECTOR_LOOP void operator()(std::int64_t work) const {
    std::int64_t const first = work * Network::rows;
    std::int64_t const rows = std::min<std::int64_t>(Network::rows, count - first);
    T const* const x = in + first * n;
    Item* const out = sorted + first * n;
    alignas(64) Key keys[static_cast<std::size_t>(Network::most_keys)];
    if constexpr (has_places) {
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t k = 0; k < n; ++k)
          keys[r * n + k] = static_cast<Key>(
              (Unsigned{key_of(x[r * n + k])} << 32 | static_cast<Unsigned>(k)) ^ top);
      sort(keys, rows);
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t k = 0; k < keep; ++k) {
          std::int64_t const place = keys[r * n + k] & 0xffffffff;
          out[r * n + k] = {x[r * n + place], place};
        }
    } else {
      SortKey<T> lost = 0;
      for (std::int64_t k = 0; k < rows * n; ++k) {
        auto const key = key_of(x[k]);
        lost |= detail::lost_bits(x[k], key, descending);
        keys[k] = static_cast<Key>(key ^ top);
      }
      sort(keys, rows);
      for (std::int64_t k = 0; k < rows * n; ++k)
        out[k] = detail::element_of_key<T>(static_cast<Unsigned>(keys[k]) ^ top, descending);
      if (lost != 0)
        for (std::int64_t r = 0; r < rows; ++r) detail::restore_order(x + r * n, n, out + r * n);
    }
  }

 private:
  using Unsigned = std::make_unsigned_t<Key>;
  static constexpr Unsigned top = Unsigned{1} << (8 * sizeof(Key) - 1);

  SortKey<T> key_of(T const& x) const { return detail::sort_key(x, descending); }
  /// Keys of rows that are not there are sorted, too.
  void sort(Key* keys, std::int64_t rows) const {
    std::fill(keys + rows * n, keys + Network::rows * n + Network::spare, Key{0});
    Network::sort(keys, n);
  }
};

}  // namespace shardtype::kernels::detail
