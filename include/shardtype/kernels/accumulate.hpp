#pragma once
/// Sums and differences of blocks.

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/launch.hpp>

namespace shardtype::kernels {

namespace detail {
template <class T, bool subtracts>
struct CombineBlocks {
  T* out;
  T const* a;
  T const* b;
  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    out[k] = static_cast<T>(subtracts ? a[k] - b[k] : a[k] + b[k]);
  }
};
}  // namespace detail

/// out[k] = a[k] + b[k] for k in 0 .. n. `out` may be `a` or `b`.
template <class T, class Exec>
void add_blocks(Exec const& exec, T* out, T const* a, T const* b, std::int64_t n) {
  kernels::launch(exec, "shardtype::add_blocks", n, detail::CombineBlocks<T, false>{out, a, b});
}

/// out[k] = a[k] - b[k] for k in 0 .. n. `out` may be `a` or `b`.
template <class T, class Exec>
void subtract_blocks(Exec const& exec, T* out, T const* a, T const* b, std::int64_t n) {
  kernels::launch(exec, "shardtype::subtract_blocks", n, detail::CombineBlocks<T, true>{out, a, b});
}

}  // namespace shardtype::kernels
