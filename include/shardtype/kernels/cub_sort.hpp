#pragma once
/// Sorting by CUB, which comes with CUDA.

#include <shardtype/kernels/sort.hpp>

#ifdef SHARDTYPE_HAVE_CUB

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>
#include <iterator>
#include <stdexcept>
#include <string>

#include <shardtype/kernels/sort_by_keys.hpp>

namespace shardtype::kernels {

namespace detail {

inline void check_cub(cudaError_t status) {
  if (status != cudaSuccess)
    throw std::runtime_error(std::string("shardtype: a sort by CUB failed: ") +
                             cudaGetErrorString(status));
}

/// The begins of rows, as an iterator.
struct RowBegins {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = std::int64_t;
  using difference_type = std::int64_t;
  using pointer = std::int64_t const*;
  using reference = std::int64_t;

  std::int64_t n, row = 0;

  KOKKOS_FUNCTION std::int64_t operator*() const { return row * n; }
  KOKKOS_FUNCTION std::int64_t operator[](std::int64_t k) const { return (row + k) * n; }
  KOKKOS_FUNCTION RowBegins operator+(std::int64_t k) const { return {n, row + k}; }
  KOKKOS_FUNCTION RowBegins& operator+=(std::int64_t k) {
    row += k;
    return *this;
  }
  KOKKOS_FUNCTION RowBegins& operator++() { return *this += 1; }
  KOKKOS_FUNCTION std::int64_t operator-(RowBegins const& b) const { return row - b.row; }
  KOKKOS_FUNCTION bool operator==(RowBegins const& b) const { return row == b.row; }
  KOKKOS_FUNCTION bool operator!=(RowBegins const& b) const { return row != b.row; }
};

}  // namespace detail

/// Sorts rows of unsigned keys, stably. Long rows are sorted one after another, others together.
template <class Exec>
class CubSorter {
 public:
  CubSorter(Exec const& exec, Pool& pool) : exec_(exec), pool_(pool) {}

  template <class Key>
  void sort(std::int64_t rows, std::int64_t n, detail::SortBuffers<Key>& keys) const {
    detail::SortBuffers<cub::NullType> none{nullptr, nullptr};
    sort(rows, n, keys, none);
  }
  /// With a value beside each key.
  template <class Key, class Value>
  void sort(std::int64_t rows, std::int64_t n, detail::SortBuffers<Key>& keys,
            detail::SortBuffers<Value>& values) const {
    constexpr std::int64_t alone = std::int64_t{1} << 17;  // keeps the device busy
    constexpr std::int64_t most = 0x7fffffff;              // elements of a call
    std::int64_t const together = n >= alone ? 1 : std::min(rows, most / n);
    bool swapped = false;
    for (std::int64_t row = 0; row < rows; row += together) {
      Rows const of{std::min(together, rows - row), n, row * n};
      bool const in_other = sort_rows(of, keys, values);
      if (row == 0) swapped = in_other;
      if (in_other == swapped) continue;  // else where the first rows are not
      move(of, in_other ? keys.other : keys.from, in_other ? keys.from : keys.other);
      move(of, in_other ? values.other : values.from, in_other ? values.from : values.other);
    }
    if (!swapped) return;
    std::swap(keys.from, keys.other);
    std::swap(values.from, values.other);
  }

 private:
  /// Some rows of `n`, from element `first` on.
  struct Rows {
    std::int64_t rows, n, first;
  };
  /// Sorts some rows; whether they are in the other buffers then.
  template <class Key, class Value>
  bool sort_rows(Rows const& of, detail::SortBuffers<Key> const& keys,
                 detail::SortBuffers<Value> const& values) const {
    constexpr bool pairs = !std::is_same_v<Value, cub::NullType>;
    cub::DoubleBuffer<Key> k(keys.from + of.first, keys.other + of.first);
    cub::DoubleBuffer<Value> v;
    if constexpr (pairs) v = {values.from + of.first, values.other + of.first};
    cudaStream_t const stream = exec_.cuda_stream();
    auto const n = static_cast<std::uint32_t>(of.n);
    detail::RowBegins const begin{of.n};
    constexpr int bits = 8 * static_cast<int>(sizeof(Key));
    auto const call = [&](void* memory, std::size_t& bytes) {
      if (of.rows == 1) {
        if constexpr (pairs) {
          return cub::DeviceRadixSort::SortPairs(memory, bytes, k, v, n, 0, bits, stream);
        } else {
          return cub::DeviceRadixSort::SortKeys(memory, bytes, k, n, 0, bits, stream);
        }
      }
      std::int64_t const all = of.rows * of.n;
      if constexpr (pairs) {
        return cub::DeviceSegmentedSort::StableSortPairs(memory, bytes, k, v, all, of.rows, begin,
                                                         begin + 1, stream);
      } else {
        return cub::DeviceSegmentedSort::StableSortKeys(memory, bytes, k, all, of.rows, begin,
                                                        begin + 1, stream);
      }
    };
    std::size_t bytes = 0;
    detail::check_cub(call(nullptr, bytes));
    using Space = typename Exec::memory_space;
    Buffer const memory =
        pool_.template take<Space>(std::max<std::size_t>(bytes, 1), Pool::Use::workspace);
    detail::check_cub(call(memory.data(), bytes));
    return k.selector == 1;
  }
  template <class T>
  void move(Rows const& of, T const* from, T* to) const {
    if constexpr (!std::is_same_v<T, cub::NullType>)
      detail::check_cub(cudaMemcpyAsync(to + of.first, from + of.first,
                                        static_cast<std::size_t>(of.rows * of.n) * sizeof(T),
                                        cudaMemcpyDeviceToDevice, exec_.cuda_stream()));
  }

  Exec exec_;
  Pool& pool_;
};

template <class Item, class T, class Exec>
bool sort_rows_by_cub(Exec const& exec, Pool& pool, SortPlan const& plan, T const* in, Item* a,
                      Item* b, bool descending) {
  if constexpr (detail::has_device_key<T>) {
    if (!kernels::sorts_by_keys<T>(plan)) return false;
    kernels::sort_rows_by_keys(exec, pool, CubSorter<Exec>(exec, pool), plan, in, a, b, descending);
    return true;
  } else {
    return false;
  }
}

}  // namespace shardtype::kernels

#endif
