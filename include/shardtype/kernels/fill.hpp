#pragma once
/// Fills a block with one value.

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/launch.hpp>

namespace shardtype::kernels {

namespace detail {
template <class T>
struct Fill {
  T* data;
  T value;
  KOKKOS_FUNCTION void operator()(std::int64_t k) const { data[k] = value; }
};
}  // namespace detail

/// data[0 .. n) = value.
template <class T, class Exec>
void fill(Exec const& exec, T* data, std::int64_t n, T value) {
  kernels::launch(exec, "shardtype::fill", n, detail::Fill<T>{data, value});
}

}  // namespace shardtype::kernels
