#pragma once
/// Unsigned numbers whose order is that of elements.

#include <bit>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/core/bfloat16.hpp>

namespace shardtype::kernels::detail {

/// An unsigned number of an element's size, at least four bytes, whose order is that of the
/// elements: 0 and -0 are equal, a NaN is last in both orders.
template <class T>
using SortKey = std::conditional_t<sizeof(T) <= 4, std::uint32_t, std::uint64_t>;
template <class T>
KOKKOS_FUNCTION SortKey<T> sort_key(T const& x, bool descending) {
  using Key = SortKey<T>;
  constexpr Key top = Key{1} << (8 * sizeof(Key) - 1);
  if constexpr (std::is_same_v<T, bfloat16>) {
    return sort_key(static_cast<float>(x), descending);
  } else if constexpr (std::is_floating_point_v<T>) {
    if (x != x) return ~Key{0};
    Key const bits = x == T(0) ? Key{0} : std::bit_cast<Key>(x);
    Key const negative = Key{0} - (bits >> (8 * sizeof(Key) - 1));  // all bits, or none
    Key const key = bits ^ (negative | top);
    return descending ? ~key : key;
  } else {
    Key const key = static_cast<Key>(x) ^ (std::is_signed_v<T> ? top : Key{0});
    return descending ? ~key : key;
  }
}
template <class T>
inline constexpr bool has_sort_key =
    (std::is_arithmetic_v<T> && sizeof(T) <= 8) || std::is_same_v<T, bfloat16>;

/// The element with a key; of 0 and -0 it is 0, of NaNs one of them.
template <class T>
KOKKOS_FUNCTION T element_of_key(SortKey<T> key, bool descending) {
  using Key = SortKey<T>;
  constexpr Key top = Key{1} << (8 * sizeof(Key) - 1);
  if constexpr (std::is_same_v<T, bfloat16>) {
    auto const bits = std::bit_cast<Key>(detail::element_of_key<float>(key, descending));
    return bfloat16::from_bits(static_cast<std::uint16_t>(bits >> 16));
  } else {
    Key const rising = descending ? ~key : key;
    if constexpr (std::is_floating_point_v<T>) {
      Key const negative = (rising >> (8 * sizeof(Key) - 1)) - 1;  // all bits, or none
      return std::bit_cast<T>(rising ^ (negative | top));
    } else {
      return static_cast<T>(rising ^ (std::is_signed_v<T> ? top : Key{0}));
    }
  }
}
/// The bits in which `x` differs from the element with its key.
template <class T>
KOKKOS_FUNCTION SortKey<T> lost_bits(T const& x, SortKey<T> key, bool descending) {
  T const element = detail::element_of_key<T>(key, descending);
  if constexpr (std::is_same_v<T, bfloat16>) {
    return static_cast<SortKey<T>>(x.bits() ^ element.bits());
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::bit_cast<SortKey<T>>(x) ^ std::bit_cast<SortKey<T>>(element);
  } else {
    return 0;
  }
}
/// Host: brings elements of the sorted row `out` that are equal without being the same (0 and -0,
/// NaNs) back in the order that they have in the row `x`.
template <class T>
void restore_order(T const* x, std::int64_t n, T* out) {
  std::int64_t nans = 0;
  for (std::int64_t k = 0; k < n; ++k) nans += x[k] != x[k] ? 1 : 0;
  std::int64_t zero = 0;
  while (zero < n - nans && !(out[zero] == T(0))) ++zero;
  std::int64_t nan = n - nans;
  for (std::int64_t k = 0; k < n; ++k) {
    if (x[k] == T(0)) out[zero++] = x[k];
    if (x[k] != x[k]) out[nan++] = x[k];
  }
}

}  // namespace shardtype::kernels::detail
