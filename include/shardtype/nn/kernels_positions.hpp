#pragma once
/// Elements that depend on positions in the global tensor: rotations, causal masks, dropout.

#include <cmath>
#include <cstdint>
#include <limits>

#include <Kokkos_Core.hpp>

#include <shardtype/core/block.hpp>
#include <shardtype/kernels/functions.hpp>
#include <shardtype/kernels/launch_name.hpp>
#include <shardtype/kernels/layout.hpp>
#include <shardtype/kernels/rows.hpp>
#include <shardtype/nn/kernels_norm.hpp>

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
    C* const to = table + s * 2 * half;
    for (std::int64_t k = 0; k < half; ++k) {
      double const angle =
          static_cast<double>(first + rows[s]) *
          shardtype::kernels::math::pow(base, -static_cast<double>(k) / static_cast<double>(half));
      to[k] = static_cast<C>(shardtype::kernels::math::cos(angle));
      to[half + k] = static_cast<C>(shardtype::kernels::math::sin(angle));
    }
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

 private:
  KOKKOS_FUNCTION static void turn(T* to, T const* from, C const* cosines, C const* sines, C sign,
                                   std::int64_t half, std::int64_t stride) {
    for (std::int64_t k = 0; k < half; ++k) {
      C const a = static_cast<C>(from[k * stride]);
      C const b = static_cast<C>(from[(k + half) * stride]);
      C const s = sign * sines[k];
      to[k * stride] = static_cast<T>(a * cosines[k] - b * s);
      to[(k + half) * stride] = static_cast<T>(b * cosines[k] + a * s);
    }
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
};

/// x factor where the generator keeps the element of this number, else 0. A call has a part of a
/// row of the last dim.
template <class T, class Keep>
struct DropoutRows {
  using C = shardtype::detail::computed_t<T>;
  static constexpr std::int64_t tile = 256;
  T* out;
  T const* x;
  shardtype::kernels::Layout block;  ///< with the strides of the global tensor
  core::Rows rows[core::max_dims];
  Keep keep;
  C factor;
  std::int64_t tiles;
  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    int const last = block.rank - 1;
    std::int64_t const length = block.extent[last];
    std::int64_t rest = work / tiles;
    std::int64_t const begin = work % tiles * tile;
    std::int64_t const end = begin + tile < length ? begin + tile : length;
    std::int64_t const from = rest * length;
    std::int64_t at = 0;
    for (int d = last - 1; d >= 0; --d) {
      at += shardtype::kernels::global_index(rows[d], rest % block.extent[d]) * block.stride[d];
      rest /= block.extent[d];
    }
    for (std::int64_t k = begin; k < end; ++k)
      out[from + k] = keep(at + shardtype::kernels::global_index(rows[last], k))
                          ? static_cast<T>(static_cast<C>(x[from + k]) * factor)
                          : T{};
  }
};

}  // namespace shardtype::nn::kernels
