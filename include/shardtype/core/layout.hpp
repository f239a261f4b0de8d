#pragma once
/// Memory layout of a local block.

#include <cstdint>

#include <shardtype/core/saturating.hpp>
#include <shardtype/core/spec.hpp>

namespace shardtype::core {

/// Extents and strides (in elements) of a block of up to `max_dims` dims.
struct Layout {
  int rank = 0;
  std::int64_t extent[max_dims]{};
  std::int64_t stride[max_dims]{};

  constexpr std::int64_t elements() const {
    std::int64_t n = 1;
    for (int d = 0; d < rank; ++d) n = mul_sat(n, extent[d]);
    return n;
  }
  /// Whether the elements are contiguous, last dim fastest.
  constexpr bool contiguous() const {
    std::int64_t expected = 1;
    for (int d = rank - 1; d >= 0; --d) {
      if (extent[d] != 1 && stride[d] != expected) return false;
      expected = mul_sat(expected, extent[d]);
    }
    return true;
  }
  /// The contiguous layout of the same extents, last dim fastest.
  constexpr Layout packed() const {
    Layout out = *this;
    std::int64_t next = 1;
    for (int d = rank - 1; d >= 0; --d) {
      out.stride[d] = next;
      next = mul_sat(next, extent[d]);
    }
    return out;
  }
};

/// Product of the extents of the dims before `d`, and of those after it.
constexpr std::int64_t outer_length(Layout const& l, int d) {
  std::int64_t n = 1;
  for (int k = 0; k < d; ++k) n = mul_sat(n, l.extent[k]);
  return n;
}
constexpr std::int64_t inner_length(Layout const& l, int d) {
  std::int64_t n = 1;
  for (int k = d + 1; k < l.rank; ++k) n = mul_sat(n, l.extent[k]);
  return n;
}

/// A block viewed around one dim: [outer, n, inner].
struct Around {
  std::int64_t outer = 1, n = 0, inner = 1;
  constexpr Around() = default;
  constexpr Around(std::int64_t before, std::int64_t middle, std::int64_t after)
      : outer(before), n(middle), inner(after) {}
  constexpr Around(Layout const& l, int d)
      : outer(outer_length(l, d)), n(l.extent[d]), inner(inner_length(l, d)) {}
  /// Number of elements per index of the dim.
  constexpr std::int64_t row() const { return outer * inner; }
};

/// Number of elements per index of dim `d`.
constexpr std::int64_t cross_section(Layout const& l, int d) {
  return mul_sat(outer_length(l, d), inner_length(l, d));
}
/// Whether the segments along dim `d` are contiguous, and follow each other without gaps.
constexpr bool lies_in_segments(Layout const& l, int d) {
  return outer_length(l, d) == 1 && l.contiguous();
}

/// `l` without dims of extent 1, with neighbouring dims merged where their strides allow it.
constexpr Layout merged(Layout const& l) {
  Layout out;
  for (int d = 0; d < l.rank; ++d) {
    if (l.extent[d] == 1) continue;
    int const last = out.rank - 1;
    if (last >= 0 && out.stride[last] == l.stride[d] * l.extent[d]) {
      out.extent[last] *= l.extent[d];
      out.stride[last] = l.stride[d];
    } else {
      out.extent[out.rank] = l.extent[d];
      out.stride[out.rank++] = l.stride[d];
    }
  }
  if (out.rank == 0) {
    out.rank = 1;
    out.extent[0] = 1;
    out.stride[0] = 1;
  }
  return out;
}

}  // namespace shardtype::core
