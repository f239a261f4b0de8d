#pragma once
/// Elements that depend on positions in the global tensor: rotations, causal masks, dropout.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <Kokkos_Core.hpp>

#include <shardtype/core/block.hpp>
#include <shardtype/kernels/functions.hpp>
#include <shardtype/kernels/generate.hpp>
#include <shardtype/kernels/layout.hpp>
#include <shardtype/kernels/rows.hpp>
#include <shardtype/nn/kernels_norm.hpp>
#include <shardtype/runtime/copy_bytes.hpp>

namespace shardtype::nn::kernels {

/// Which position along another dim a row of RowShape has.
struct RowPosition {
  std::int64_t stride, extent, begin;
  KOKKOS_FUNCTION std::int64_t operator()(std::int64_t offset) const {
    return begin + offset / stride % extent;
  }
};

/// Cosines, then sines, of the angles of each position `first` + rows[s]: position base^(-k /
/// half).
template <class C>
struct RotaryAngles {
  C* table;
  core::Rows rows;
  std::int64_t first, half;
  double base;
  KOKKOS_FUNCTION void operator()(std::int64_t s) const {
    for (std::int64_t k = 0; k < half; ++k) element(s, k);
  }
  KOKKOS_FUNCTION void element(std::int64_t s, std::int64_t k) const {
    C* const to = table + s * 2 * half;
    double const angle =
        static_cast<double>(first + rows[s]) *
        shardtype::kernels::math::pow(base, -static_cast<double>(k) / static_cast<double>(half));
    to[k] = static_cast<C>(shardtype::kernels::math::cos(angle));
    to[half + k] = static_cast<C>(shardtype::kernels::math::sin(angle));
  }
};
/// Feature k and feature k + half, turned by the angle of their position; `back`: turned back.
template <class T>
struct RotaryRows {
  using C = shardtype::detail::computed_t<T>;
  RowShape shape;
  RowPosition position;  ///< in the block
  T* out;
  T const* x;
  C const* table;
  bool back;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    std::int64_t const at = shape.begin(row);
    std::int64_t const half = shape.length / 2;
    C const* const cosines = table + position(at) * 2 * half;
    C const* const sines = cosines + half;
    C const sign = back ? C(-1) : C(1);
    if (shape.inner == 1) {
      turn(out + at, x + at, cosines, sines, sign, half, 1);
    } else {
      turn(out + at, x + at, cosines, sines, sign, half, shape.inner);
    }
  }

  /// Device: one pair of features.
  KOKKOS_FUNCTION void element(std::int64_t row, std::int64_t k) const {
    std::int64_t const at = shape.begin(row), half = shape.length / 2;
    C const* const cosines = table + position(at) * 2 * half;
    turn_pair(out + at, x + at, cosines, cosines + half, back ? C(-1) : C(1), half, shape.inner, k);
  }

 private:
  KOKKOS_FUNCTION static void turn(T* to, T const* from, C const* cosines, C const* sines, C sign,
                                   std::int64_t half, std::int64_t stride) {
    for (std::int64_t k = 0; k < half; ++k)
      turn_pair(to, from, cosines, sines, sign, half, stride, k);
  }
  KOKKOS_FUNCTION static void turn_pair(T* to, T const* from, C const* cosines, C const* sines,
                                        C sign, std::int64_t half, std::int64_t stride,
                                        std::int64_t k) {
    C const a = static_cast<C>(from[k * stride]);
    C const b = static_cast<C>(from[(k + half) * stride]);
    C const s = sign * sines[k];
    to[k * stride] = static_cast<T>(a * cosines[k] - b * s);
    to[(k + half) * stride] = static_cast<T>(b * cosines[k] + a * s);
  }
};

/// Rows along the keys: -inf behind the last key that the row's query sees.
template <class T>
struct CausalRows {
  RowShape shape;
  RowPosition query;
  T* out;
  T const* x;
  std::int64_t first_key, first;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    std::int64_t const at = shape.begin(row);
    std::int64_t const last = first + query(at) - first_key;
    for (std::int64_t k = 0; k < shape.length; ++k)
      out[at + k * shape.inner] =
          k <= last ? x[at + k * shape.inner] : -std::numeric_limits<T>::infinity();
  }
  RowShape elements(std::int64_t) const { return shape; }
  /// Device: one element.
  KOKKOS_FUNCTION void element(std::int64_t row, std::int64_t k) const {
    std::int64_t const from = shape.begin(row), at = from + k * shape.inner;
    out[at] = k <= first + query(from) - first_key ? x[at] : -std::numeric_limits<T>::infinity();
  }
};

/// x factor where the generator keeps the element of this number, else 0. A call has a part of a
/// row, on a device one element.
template <class Exec, class T, class Keep>
struct DropoutRows {
  using C = shardtype::detail::computed_t<T>;
  static constexpr int tile =
      runtime::host_reads<Exec> ? shardtype::kernels::generated_together : 1;
  T* out;
  T const* x;
  shardtype::kernels::Layout outer;   ///< the block without the rows' dim, with global strides
  core::Rows rows[core::max_dims]{};  ///< of the block's dims; used unless `even`
  Keep keep;
  C factor;
  std::int64_t length, stride, tiles, first = 0;
  bool even = true;  ///< rows of numbers at one distance, the first one from `first`

  DropoutRows(T* to, T const* from, shardtype::kernels::Layout const& block, core::Rows const* held,
              Keep const& k, double f)
      : out(to), x(from), outer(block), keep(k), factor(static_cast<C>(f)) {
    for (int d = 0; d < block.rank; ++d) {
      rows[d] = held[d];
      first += held[d].begin * block.stride[d];
      even = even && held[d].stride == 0;
    }
    if (even) outer = shardtype::kernels::merged(block);
    length = outer.extent[--outer.rank];
    stride = outer.stride[outer.rank];
    tiles = (length + tile - 1) / tile;
  }
  std::int64_t calls(std::int64_t elements) const { return elements / length * tiles; }

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    std::int64_t const row = work / tiles;
    std::int64_t const begin = work % tiles * tile;
    auto const count = static_cast<int>(begin + tile < length ? tile : length - begin);
    std::int64_t const at = row * length + begin;
    if (even) {
      drop(at, count,
           shardtype::kernels::detail::EvenPositions{
               first + shardtype::kernels::offset_of(outer, row) + begin * stride, stride});
    } else {
      core::Rows const& last = rows[outer.rank];
      std::int64_t const from = shardtype::kernels::global_offset(outer, outer.rank, rows, row);
      drop(at, count, [&](std::int64_t k) {
        return from + shardtype::kernels::global_index(last, begin + k) * stride;
      });
    }
  }

 private:
  template <class Position>
  KOKKOS_FUNCTION void drop(std::int64_t at, int count, Position const& position) const {
    bool kept[static_cast<std::size_t>(tile)];
    shardtype::kernels::detail::generate_run<tile>(kept, keep, 0, count, position);
    C const by = factor;
    T* const to = out + at;
    T const* const from = x + at;
    if (count == tile) {  // known to compilers
      for (int k = 0; k < tile; ++k) to[k] = one(kept[k], from[k], by);
    } else {
      for (int k = 0; k < count; ++k) to[k] = one(kept[k], from[k], by);
    }
  }
  KOKKOS_FUNCTION static T one(bool kept, T const& value, C by) {
    return static_cast<T>(
        shardtype::kernels::detail::chosen(kept, static_cast<C>(value) * by, C(0)));
  }
};

}  // namespace shardtype::nn::kernels
