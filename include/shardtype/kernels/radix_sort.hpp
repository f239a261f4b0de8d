#pragma once
/// Host: sorts a row, or the positions of its elements, by the bytes of the elements, least
/// significant first (LSD radix sort).

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/core/bfloat16.hpp>
#include <shardtype/kernels/sort_key.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype::kernels::detail {

/// Key and position in one number.
struct PackedItem {
  std::uint64_t bits;
  static PackedItem make(std::uint32_t key, std::int64_t place) {
    return {std::uint64_t{key} << 32 | static_cast<std::uint64_t>(place)};
  }
  std::uint64_t key() const { return bits >> 32; }
  std::int64_t place() const { return static_cast<std::int64_t>(bits & 0xffffffffU); }
  friend bool operator<(PackedItem const& a, PackedItem const& b) { return a.bits < b.bits; }
};
struct WideItem {
  std::uint64_t bits;
  std::int64_t at;
  static WideItem make(std::uint64_t key, std::int64_t place) { return {key, place}; }
  std::uint64_t key() const { return bits; }
  std::int64_t place() const { return at; }
  friend bool operator<(WideItem const& a, WideItem const& b) {
    return a.bits < b.bits || (a.bits == b.bits && a.at < b.at);
  }
};

/// One call sorts one row of `in` [rows, n] to `sorted`, of which the first `keep` are needed;
/// `other` is a buffer of the same size.
template <class Keyed, class T>
struct RadixRows {
  using Item = std::conditional_t<sizeof(SortKey<T>) == 4, PackedItem, WideItem>;
  static constexpr std::size_t bytes = sizeof(SortKey<T>);

  T const* in;
  Keyed* sorted;
  Keyed* other;
  std::int64_t n, keep;
  bool descending;

  void operator()(std::int64_t row) const {
    T const* const x = in + row * n;
    auto* const buffer = reinterpret_cast<Item*>(other + row * n);
    Item* from = buffer;
    // two packed items fit in the place of a pair
    Item* to = bytes == 4 ? buffer + n : reinterpret_cast<Item*>(sorted + row * n);
    if (keep * few <= n) {
      for (std::int64_t k = 0; k < n; ++k)
        from[k] = Item::make(detail::sort_key(x[k], descending), k);
      std::nth_element(from, from + keep, from + n);
      std::sort(from, from + keep);
      return put(x, from, row);
    }
    std::array<std::array<std::int64_t, 256>, bytes> count{};
    for (std::int64_t k = 0; k < n; ++k) {
      Item const item = Item::make(detail::sort_key(x[k], descending), k);
      for (std::size_t b = 0; b < bytes; ++b) ++count[b][digit(item, b)];
      from[k] = item;
    }
    for (std::size_t b = 0; b < bytes; ++b) {
      if (count[b][digit(from[0], b)] == n) continue;  // all have the same byte
      std::int64_t begin = 0;
      for (std::int64_t& c : count[b]) {
        std::int64_t const here = c;
        c = begin;
        begin += here;
      }
      for (std::int64_t k = 0; k < n; ++k) to[count[b][digit(from[k], b)]++] = from[k];
      Item* const exchanged = from;
      from = to;
      to = exchanged;
    }
    put(x, from, row);
  }

 private:
  static constexpr std::int64_t few = 8;  ///< fewer than one of so many are selected, then sorted

  void put(T const* x, Item const* items, std::int64_t row) const {
    for (std::int64_t k = 0; k < keep; ++k) {
      std::int64_t const place = items[k].place();
      sorted[row * n + k] = {x[place], place};
    }
  }
  static std::size_t digit(Item const& item, std::size_t b) { return item.key() >> (8 * b) & 255U; }
};

/// One call sorts the values of one row of `in` [rows, n] to `sorted`; `other` is a buffer of the
/// same size. Both hold keys of the size of an element until the end. Elements that are equal
/// without being the same (0 and -0, NaNs) are brought back in their order.
template <class T>
struct RadixValues {
  using Key = std::conditional_t<
      sizeof(T) == 1, std::uint8_t,
      std::conditional_t<sizeof(T) == 2, std::uint16_t,
                         std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;
  static constexpr std::size_t bytes = sizeof(T);
  static constexpr Key top = static_cast<Key>(Key{1} << (8 * bytes - 1));
  static constexpr bool floating = std::is_floating_point_v<T> || std::is_same_v<T, bfloat16>;

  T const* in;
  T* sorted;
  T* other;
  std::int64_t n;
  bool descending;

  void operator()(std::int64_t row) const {
    T const* const x = in + row * n;
    T* from = sorted + row * n;
    T* to = other + row * n;
    std::array<std::array<std::uint32_t, 256>, bytes> count{};
    std::int64_t nans = 0;
    bool negative_zero = false;
    for (std::int64_t k = 0; k < n; ++k) {
      Key bits = bits_of(x[k]);
      if constexpr (floating) {
        if (x[k] != x[k]) {
          ++nans;
          continue;
        }
        negative_zero = negative_zero || bits == top;
        bits = bits == top ? Key{0} : bits;
      }
      Key const key = key_of_bits(bits);
      for (std::size_t b = 0; b < bytes; ++b) ++count[b][key >> (8 * b) & 255U];
      write(from, k - nans, key);
    }
    std::int64_t const held = n - nans;
    for (std::size_t b = 0; b < bytes && held > 0; ++b) {
      if (count[b][read(from, 0) >> (8 * b) & 255U] == held) continue;  // all have the same byte
      std::uint32_t begin = 0;
      for (std::uint32_t& c : count[b]) {
        std::uint32_t const here = c;
        c = begin;
        begin += here;
      }
      for (std::int64_t k = 0; k < held; ++k) {
        Key const key = read(from, k);
        write(to, count[b][key >> (8 * b) & 255U]++, key);
      }
      T* const exchanged = from;
      from = to;
      to = exchanged;
    }
    T* const out = sorted + row * n;
    for (std::int64_t k = 0; k < held; ++k) out[k] = value_of(read(from, k));
    if constexpr (floating) {
      if (negative_zero || nans > 0) detail::restore_order(x, n, out);
    }
  }

 private:
  static Key bits_of(T const& x) {
    Key bits;
    std::memcpy(&bits, &x, bytes);
    return bits;
  }
  static void write(T* to, std::int64_t k, Key key) {
    std::memcpy(static_cast<void*>(to + k), &key, bytes);
  }
  static Key read(T const* from, std::int64_t k) {
    Key key;
    std::memcpy(&key, from + k, bytes);
    return key;
  }
  Key key_of_bits(Key bits) const {
    Key const flipped = floating ? ((bits & top) != 0 ? static_cast<Key>(~bits) : bits | top)
                                 : static_cast<Key>(bits ^ (std::is_signed_v<T> ? top : Key{0}));
    return descending ? static_cast<Key>(~flipped) : flipped;
  }
  T value_of(Key key) const {
    Key const flipped = descending ? static_cast<Key>(~key) : key;
    Key const bits = floating ? static_cast<Key>((flipped & top) != 0 ? flipped ^ top : ~flipped)
                              : static_cast<Key>(flipped ^ (std::is_signed_v<T> ? top : Key{0}));
    T out;
    std::memcpy(static_cast<void*>(&out), &bits, bytes);
    return out;
  }
};

/// Whether rows of `n` elements are sorted so: rows that are long enough for the tables of bytes,
/// and as many as threads.
template <class T, class Exec>
bool sorts_by_bytes(std::int64_t rows, std::int64_t n) {
  constexpr std::int64_t least = 256;
  if constexpr (has_sort_key<T>) {
    return n >= least && n <= std::int64_t{0xffffffff} &&
           rows >= runtime::instance<Exec>().concurrency();
  } else {
    return false;
  }
}

}  // namespace shardtype::kernels::detail
