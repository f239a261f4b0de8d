#pragma once
/// Blocks as the rows of a Fourier transform.

#include <cstdint>

#include <shardtype/kernels/layout.hpp>
#include <shardtype/rules/contraction.hpp>

namespace shardtype::kernels {

/// The dims of a block that are transformed, as positions; a real transform halves the last one.
struct FourierDims : rules::Labels {
  constexpr int last() const { return at[size - 1]; }
};

/// Calls `row(offset, other offset)` for each row along dim `d` of two blocks, which differ at most
/// in strides and in the extent of that dim.
template <class Row>
void for_fourier_rows(Layout const& from, Layout const& to, int d, Row row) {
  std::int64_t at[core::max_dims]{};
  std::int64_t in = 0;
  std::int64_t out = 0;
  while (true) {
    row(in, out);
    int k = from.rank - 1;
    for (; k >= 0; --k) {
      if (k == d) continue;
      in += from.stride[k];
      out += to.stride[k];
      if (++at[k] < from.extent[k]) break;
      in -= from.stride[k] * from.extent[k];
      out -= to.stride[k] * from.extent[k];
      at[k] = 0;
    }
    if (k < 0) return;
  }
}

}  // namespace shardtype::kernels
