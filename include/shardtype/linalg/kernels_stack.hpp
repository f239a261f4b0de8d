#pragma once
/// Stacks of matrices in a block, and their copies to and from the column-major matrices on which
/// LAPACK works.

#include <algorithm>
#include <cstdint>

#include <shardtype/kernels/layout.hpp>

namespace shardtype::linalg::kernels {

using shardtype::kernels::Layout;
using shardtype::kernels::merged;

/// The place of element `t` of a layout, counted with the last dim fastest.
constexpr std::int64_t offset(Layout const& l, std::int64_t t) {
  if (l.rank == 1) return t * l.stride[0];
  std::int64_t at = 0;
  for (int d = l.rank - 1; d >= 0; --d) {
    at += t % l.extent[d] * l.stride[d];
    t /= l.extent[d];
  }
  return at;
}

/// Matrices in a block: element (i, j) of matrix t is data[offset(batch, t) + i row_stride +
/// offset(cols, j)]. Several dims may be the columns, as right-hand sides are, or none.
template <class T>
struct Stack {
  T* data = nullptr;
  Layout batch{};  ///< of the matrices; merged
  std::int64_t count = 1;
  std::int64_t rows = 0;
  std::int64_t row_stride = 0;
  Layout cols{};           ///< merged
  std::int64_t width = 1;  ///< number of columns

  constexpr T* member(std::int64_t t) const { return data + offset(batch, t); }
  constexpr bool plain_columns() const { return cols.rank == 1; }
};

/// Copies matrix t to the column-major matrix `to` with leading dimension `ld`.
template <class T, class U>
void pack(Stack<T> const& s, std::int64_t t, U* to, std::int64_t ld) {
  T* const from = s.member(t);
  if (!s.plain_columns() || s.row_stride == 1) {
    for (std::int64_t j = 0; j < s.width; ++j) {
      T* const column = from + kernels::offset(s.cols, j);
      for (std::int64_t i = 0; i < s.rows; ++i) to[i + j * ld] = column[i * s.row_stride];
    }
    return;
  }
  // by tiles, because the rows are the fast direction of one and the slow one of the other
  constexpr std::int64_t tile = 16;
  std::int64_t const step = s.cols.stride[0];
  for (std::int64_t j0 = 0; j0 < s.width; j0 += tile)
    for (std::int64_t i0 = 0; i0 < s.rows; i0 += tile)
      for (std::int64_t i = i0; i < std::min(i0 + tile, s.rows); ++i)
        for (std::int64_t j = j0; j < std::min(j0 + tile, s.width); ++j)
          to[i + j * ld] = from[i * s.row_stride + j * step];
}
/// Copies the column-major matrix `from` to matrix t.
template <class T>
void unpack(T const* from, std::int64_t ld, Stack<T> const& s, std::int64_t t) {
  T* const to = s.member(t);
  constexpr std::int64_t tile = 16;
  for (std::int64_t j0 = 0; j0 < s.width; j0 += tile)
    for (std::int64_t i0 = 0; i0 < s.rows; i0 += tile)
      for (std::int64_t j = j0; j < std::min(j0 + tile, s.width); ++j) {
        T* const column = to + kernels::offset(s.cols, j);
        for (std::int64_t i = i0; i < std::min(i0 + tile, s.rows); ++i)
          column[i * s.row_stride] = from[i + j * ld];
      }
}
/// Writes `value` to all elements of matrix t.
template <class T>
void fill(Stack<T> const& s, std::int64_t t, T value) {
  T* const to = s.member(t);
  for (std::int64_t j = 0; j < s.width; ++j)
    for (std::int64_t i = 0; i < s.rows; ++i)
      to[kernels::offset(s.cols, j) + i * s.row_stride] = value;
}

}  // namespace shardtype::linalg::kernels
