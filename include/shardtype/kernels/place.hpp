#pragma once
/// A packed block into its place in a larger one.

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/layout.hpp>

namespace shardtype::kernels {

namespace detail {
template <class T>
struct Place {
  T const* src;
  T* dst;
  Layout to;  ///< extents of the source, strides in the destination; the last dim apart
  std::int64_t length, stride;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    T const* const in = src + row * length;
    T* out = dst;
    for (int d = to.rank - 1; d >= 0; --d) {
      out += row % to.extent[d] * to.stride[d];
      row /= to.extent[d];
    }
    for (std::int64_t k = 0; k < length; ++k) out[k * stride] = in[k];
  }
};
}  // namespace detail

/// The elements of `src`, packed, go to `dst`, where they lie as `layout` says. Runs on `exec`.
template <class T, class Exec>
void place(Exec const& exec, T const* src, T* dst, Layout const& layout) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  std::int64_t const n = layout.elements();
  if (n == 0) return;
  Layout to = merged(layout);
  int const last = --to.rank;
  Kokkos::parallel_for("shardtype::place", Policy(exec, 0, n / to.extent[last]),
                       detail::Place<T>{src, dst, to, to.extent[last], to.stride[last]});
}

}  // namespace shardtype::kernels
