#pragma once
/// The inverse of kernels/copy.hpp: copies a packed box into a part of a block.

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/device_copy.hpp>
#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/layout.hpp>
#include <shardtype/kernels/row_moves.hpp>
#include <shardtype/runtime/copy_bytes.hpp>

namespace shardtype::kernels {

namespace detail {

/// Copies rows of `length` elements; `to` describes their destinations.
template <class T>
struct RowUnpack {
  T const* src;
  T* dst;
  Layout to;  // merged, without the last dim
  std::int64_t length;
  std::int64_t stride;  // of the last dim

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    T* const out = dst + offset_of(to, row);
    T const* const in = src + row * length;
    for (std::int64_t k = 0; k < length; ++k) out[k * stride] = in[k];
  }
};

}  // namespace detail

/// Copies the packed elements of `src`, last dim fastest, to the elements that `layout` describes
/// at `dst`. Runs on `exec`; no communication.
template <class T, class Exec>
void copy_unpacked(Exec const& exec, T const* src, Layout const& layout, T* dst) {
  std::int64_t const n = layout.elements();
  if (n == 0) return;
  Layout rows = merged(layout);
  int const last = --rows.rank;
  if constexpr (runtime::host_reads<Exec>) {
    std::int64_t const length = rows.extent[last];
    if (rows.stride[last] == 1) {
      auto const move = detail::RowMove::of(src, detail::row_layout(n / length, length), dst, rows,
                                            length, sizeof(T), false);
      kernels::launch(exec, "shardtype::unpack_rows", move.calls(), move);
      return;
    }
  } else {
    detail::copy_elements<true>(exec, "shardtype::unpack_rows", src, merged(layout), dst);
    return;
  }
  kernels::launch(exec, "shardtype::unpack_rows", n / rows.extent[last],
                  detail::RowUnpack<T>{src, dst, rows, rows.extent[last], rows.stride[last]});
}

}  // namespace shardtype::kernels
