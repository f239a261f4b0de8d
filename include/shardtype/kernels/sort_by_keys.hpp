#pragma once
/// Device: stable sorting of rows by a library that sorts unsigned keys, alone or with a value
/// beside each (kernels/cub_sort.hpp). Keys that are equal where elements are not, of 0 and -0 and
/// of NaNs, are sorted with their elements beside them.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/fill.hpp>
#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/sort.hpp>
#include <shardtype/kernels/sort_key.hpp>
#include <shardtype/runtime/copy_bytes.hpp>
#include <shardtype/runtime/instance.hpp>
#include <shardtype/runtime/pool.hpp>

namespace shardtype::kernels {

namespace detail {

/// Two buffers between which a sort moves its elements; before and after it they are in `from`.
template <class T>
struct SortBuffers {
  T* from;
  T* other;
};

/// Elements whose keys take no more memory than themselves.
template <class T>
inline constexpr bool has_device_key =
    has_sort_key<T> && (sizeof(T) >= 4 || std::is_same_v<T, bfloat16>);
/// sort_key in the size of the element.
template <class T>
using DeviceKey = std::conditional_t<sizeof(T) == 2, std::uint16_t, SortKey<T>>;
/// The bits of a SortKey behind a DeviceKey: all of them ones or zeros.
template <class T>
inline constexpr int bits_behind = sizeof(T) == 2 ? 16 : 0;

/// One call makes the key of one element, and notes if the element is not that of its key.
template <class T>
struct KeysOfElements {
  T const* in;
  DeviceKey<T>* keys;
  std::int32_t* lost;
  bool descending;

  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    SortKey<T> const key = detail::sort_key(in[k], descending);
    keys[k] = static_cast<DeviceKey<T>>(key >> bits_behind<T>);
    if (detail::lost_bits(in[k], key, descending) != 0) *lost = 1;
  }
};
/// One call makes the element of one key.
template <class T>
struct ElementsOfKeys {
  DeviceKey<T> const* keys;
  T* out;  ///< may be the memory of `keys`
  bool descending;

  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    SortKey<T> const key = static_cast<SortKey<T>>(keys[k]) << bits_behind<T>;
    out[k] = detail::element_of_key<T>(key, descending);
  }
};
/// One call makes the key of one element, and copies the element.
template <class T>
struct KeysBesideElements {
  T const* in;
  DeviceKey<T>* keys;
  T* elements;
  bool descending;

  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    keys[k] = static_cast<DeviceKey<T>>(detail::sort_key(in[k], descending) >> bits_behind<T>);
    elements[k] = in[k];
  }
};
/// One call copies one element.
template <class T>
struct CopyElement {
  T const* from;
  T* to;
  KOKKOS_FUNCTION void operator()(std::int64_t k) const { to[k] = from[k]; }
};
/// One call makes the key of one element, with its position in its row of `n`.
template <class T>
struct KeysBesidePlaces {
  T const* in;
  DeviceKey<T>* keys;
  std::uint32_t* places;
  std::int64_t n;
  bool descending;

  template <class Number>
  KOKKOS_FUNCTION void operator()(Number work) const {
    keys[work] =
        static_cast<DeviceKey<T>>(detail::sort_key(in[work], descending) >> bits_behind<T>);
    places[work] = static_cast<std::uint32_t>(work % static_cast<Number>(n));
  }
};
/// One call writes one of the first `keep` elements of a row, with its position.
template <class T>
struct PlacedElements {
  T const* in;
  std::uint32_t const* places;
  Keyed<T>* out;
  std::int64_t n, keep;

  template <class Number>
  KOKKOS_FUNCTION void operator()(Number work) const {
    auto const each = static_cast<Number>(keep);
    std::int64_t const row = std::int64_t{work / each} * n;
    std::int64_t const at = row + work % each;
    out[at] = {in[row + places[at]], places[at]};
  }
};

/// Elements alone, from `in` to `result`.
template <class T, class Sorter, class Exec>
void sort_elements(Exec const& exec, Pool& pool, Sorter const& sorter, SortPlan const& plan,
                   T const* in, T* result, T* other, bool descending) {
  using Space = typename Exec::memory_space;
  using Key = DeviceKey<T>;
  std::int64_t const all = plan.rows * plan.n;
  Buffer const flag = pool.template take<Space>(sizeof(std::int32_t), Pool::Use::workspace);
  auto* const lost = static_cast<std::int32_t*>(flag.data());
  kernels::fill(exec, lost, 1, std::int32_t{0});
  SortBuffers<Key> keys{reinterpret_cast<Key*>(result), reinterpret_cast<Key*>(other)};
  kernels::launch(exec, "shardtype::sort_keys", all,
                  KeysOfElements<T>{in, keys.from, lost, descending});
  std::int32_t any = 0;
  if constexpr (!std::is_integral_v<T>) {
    runtime::fence(exec);
    runtime::copy_bytes<Kokkos::HostSpace, Space>(&any, lost, sizeof any);
  }
  if (any == 0) {
    sorter.sort(plan.rows, plan.n, keys);
    kernels::launch(exec, "shardtype::sorted_elements", all,
                    ElementsOfKeys<T>{keys.from, result, descending});
    runtime::fence(exec);
    return;
  }
  auto const bytes = static_cast<std::size_t>(all) * sizeof(Key);
  Buffer const of_keys = pool.template take<Space>(bytes, Pool::Use::workspace);
  Buffer const of_others = pool.template take<Space>(bytes, Pool::Use::workspace);
  keys = {static_cast<Key*>(of_keys.data()), static_cast<Key*>(of_others.data())};
  SortBuffers<T> elements{result, other};
  kernels::launch(exec, "shardtype::sort_keys", all,
                  KeysBesideElements<T>{in, keys.from, elements.from, descending});
  sorter.sort(plan.rows, plan.n, keys, elements);
  if (elements.from != result)
    kernels::launch(exec, "shardtype::sorted_elements", all, CopyElement<T>{elements.from, result});
  runtime::fence(exec);
}

/// Elements with their positions. `other` has the positions and the keys of a half of the passes,
/// `result` the keys of the other half until it gets the elements.
template <class T, class Sorter, class Exec>
void sort_places(Exec const& exec, Sorter const& sorter, SortPlan const& plan, T const* in,
                 Keyed<T>* result, Keyed<T>* other, bool descending) {
  using Key = DeviceKey<T>;
  static_assert(sizeof(Keyed<T>) >= sizeof(Key) + 2 * sizeof(std::uint32_t));
  std::int64_t const all = plan.rows * plan.n;
  SortBuffers<Key> keys{reinterpret_cast<Key*>(other), reinterpret_cast<Key*>(result)};
  auto* const behind = reinterpret_cast<std::uint32_t*>(
      reinterpret_cast<char*>(other) + all * static_cast<std::int64_t>(sizeof(std::uint64_t)));
  SortBuffers<std::uint32_t> places{behind, behind + all};
  kernels::launch(exec, "shardtype::sort_keys", all,
                  KeysBesidePlaces<T>{in, keys.from, places.from, plan.n, descending});
  sorter.sort(plan.rows, plan.n, keys, places);
  kernels::launch(exec, "shardtype::sorted_elements", plan.rows * plan.keep,
                  PlacedElements<T>{in, places.from, result, plan.n, plan.keep});
  runtime::fence(exec);
}

}  // namespace detail

/// Whether rows are sorted by keys: all of their elements, of which a row has fewer than 2^31.
template <class T>
bool sorts_by_keys(SortPlan const& plan) {
  return detail::has_device_key<T> && plan.has_second() && !plan.selects &&
         detail::fits_32(plan.n) && plan.rows > 0 && plan.keep > 0;
}

/// As sort_rows, by `sorter`, where sorts_by_keys. Counts in `run_time.workspace` what the sorter
/// needs, and, of floating-point numbers with NaN or -0 among them, two keys per element.
template <class Item, class T, class Sorter, class Exec>
void sort_rows_by_keys(Exec const& exec, Pool& pool, Sorter const& sorter, SortPlan const& plan,
                       T const* in, Item* a, Item* b, bool descending) {
  Item* const result = plan.ends_in_first() ? a : b;
  Item* const other = plan.ends_in_first() ? b : a;
  if constexpr (std::is_same_v<Item, T>) {
    detail::sort_elements(exec, pool, sorter, plan, in, result, other, descending);
  } else {
    detail::sort_places(exec, sorter, plan, in, result, other, descending);
  }
}

}  // namespace shardtype::kernels
