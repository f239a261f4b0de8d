#pragma once
/// Host: blocks of short rows, which are read or written many at once: a vector has elements of
/// several rows.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <shardtype/kernels/transpose.hpp>
#include <shardtype/kernels/vector.hpp>
#include <shardtype/kernels/vector_loop.hpp>

namespace shardtype::kernels::detail {

/// The longest row that counts as short.
inline constexpr std::int64_t longest_short_row = 64;

/// The elements of `rows` packed rows of `Length` elements, term by term. `Length`: a constant, for
/// which compilers write loops in vectors, or 0.
template <std::int64_t Length, class T>
SHARDTYPE_VECTOR_LOOP void turn_few(T const* from, std::int64_t length, std::int64_t rows, T* to,
                                    std::int64_t pitch) {
  std::int64_t const n = Length > 0 ? Length : length;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t r = 0; r < rows; ++r) to[i * pitch + r] = from[r * n + i];
}
// nvcc does not pass on packs of the built-in's arguments
#if defined(__AVX__) && !defined(__CUDACC__)
/// A square of whole vectors, of elements of four or eight bytes.
template <class T>
struct VectorSquare {
  using Lane = std::conditional_t<sizeof(T) == 8, double, float>;
  using V = vector_of<Lane>;
  static constexpr int side = vector_lanes<Lane>;

  SHARDTYPE_VECTOR_LOOP static void move(char const* in, std::int64_t in_row, char* out,
                                         std::int64_t out_row) {
    V r[static_cast<std::size_t>(side)];
    V t[static_cast<std::size_t>(side)];
    for (int k = 0; k < side; ++k) std::memcpy(&r[k], in + k * in_row, sizeof(V));
    // rows k and k + side / 2 are interleaved; after as many times as halves, rows are columns
    constexpr auto lanes = std::make_integer_sequence<int, side>{};
    for (int times = 1; times < side; times *= 2) {
      for (int k = 0; k < side / 2; ++k) {
        t[2 * k] = interleaved<0>(r[k], r[k + side / 2], lanes);
        t[2 * k + 1] = interleaved<side / 2>(r[k], r[k + side / 2], lanes);
      }
      for (int k = 0; k < side; ++k) r[k] = t[k];
    }
    for (int k = 0; k < side; ++k) std::memcpy(out + k * out_row, &r[k], sizeof(V));
  }

 private:
  template <int First, int... K>
  static V interleaved(V const& a, V const& b, std::integer_sequence<int, K...>) {
    return __builtin_shufflevector(a, b, (First + K / 2 + (K % 2) * side)...);
  }
};
#endif
/// to[i * to_pitch + r] = from[r * from_pitch + i] for `rows` rows of `length` elements, in
/// squares.
template <class Square, class T>
SHARDTYPE_VECTOR_LOOP void turn_by(T const* from, std::int64_t from_pitch, std::int64_t length,
                                   std::int64_t rows, T* to, std::int64_t to_pitch) {
  constexpr std::int64_t side = Square::side;
  std::int64_t const wide = side == 1 ? 0 : length / side * side;
  std::int64_t const high = side == 1 ? 0 : rows / side * side;
  if constexpr (side > 1) {
    constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
    for (std::int64_t r = 0; r < high; r += side)
      for (std::int64_t i = 0; i < wide; i += side)
        Square::move(reinterpret_cast<char const*>(from + r * from_pitch + i), from_pitch * bytes,
                     reinterpret_cast<char*>(to + i * to_pitch + r), to_pitch * bytes);
  }
  for (std::int64_t i = wide; i < length; ++i)
    for (std::int64_t r = 0; r < high; ++r) to[i * to_pitch + r] = from[r * from_pitch + i];
  for (std::int64_t r = high; r < rows; ++r)
    for (std::int64_t i = 0; i < length; ++i) to[i * to_pitch + r] = from[r * from_pitch + i];
}
template <class T>
void turn_squares(T const* from, std::int64_t from_pitch, std::int64_t length, std::int64_t rows,
                  T* to, std::int64_t to_pitch) {
#if defined(__AVX__) && !defined(__CUDACC__)
  if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {
    if (length >= VectorSquare<T>::side && rows >= VectorSquare<T>::side)
      return detail::turn_by<VectorSquare<T>>(from, from_pitch, length, rows, to, to_pitch);
  }
#endif
  detail::turn_by<TransposeSquare<sizeof(T)>>(from, from_pitch, length, rows, to, to_pitch);
}
/// The elements of `rows` packed rows, term by term: to[i * pitch + r] = from[r * length + i].
template <class T>
void turn_rows(T const* from, std::int64_t length, std::int64_t rows, T* to, std::int64_t pitch) {
  if (length == 2) return detail::turn_few<2>(from, length, rows, to, pitch);
  if (length == 3) return detail::turn_few<3>(from, length, rows, to, pitch);
  if (length < TransposeSquare<sizeof(T)>::side)
    return detail::turn_few<0>(from, length, rows, to, pitch);
  detail::turn_squares(from, length, length, rows, to, pitch);
}

/// A square of as many elements, of four or eight bytes, as a vector has lanes.
template <class T>
struct LaneSquare {
#if defined(__AVX__) && !defined(__CUDACC__)
  using Square = VectorSquare<T>;
#else
  using Square = TransposeSquare<sizeof(T)>;
#endif
  static constexpr int side = vector_lanes<T>;

  /// Rows of `to` are written in their order.
  SHARDTYPE_VECTOR_LOOP static void move(T const* from, std::int64_t from_pitch, T* to,
                                         std::int64_t to_pitch) {
    if constexpr (Square::side == side) {
      constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
      Square::move(reinterpret_cast<char const*>(from), from_pitch * bytes,
                   reinterpret_cast<char*>(to), to_pitch * bytes);
    } else {
      for (int r = 0; r < side; ++r)
        for (int i = 0; i < side; ++i) to[r * to_pitch + i] = from[i * from_pitch + r];
    }
  }
};
/// Elements behind the buffers of `turn_lanes` and `turn_lanes_back`, which move whole squares.
template <class T>
inline constexpr std::int64_t spare_lanes = LaneSquare<T>::side;
/// The elements of as many packed rows of `length` elements as a vector has lanes, term by term:
/// vector i has element i of each row.
template <class T>
SHARDTYPE_VECTOR_LOOP void turn_lanes(T const* from, std::int64_t length, T* to) {
  constexpr std::int64_t side = LaneSquare<T>::side;
  for (std::int64_t i = 0; i < length; i += side)
    LaneSquare<T>::move(from + i, length, to + i * side, side);
}
/// The reverse.
template <class T>
SHARDTYPE_VECTOR_LOOP void turn_lanes_back(T const* from, std::int64_t length, T* to) {
  constexpr std::int64_t side = LaneSquare<T>::side;
  // what a square writes behind its rows is written again by the next row or the square before
  for (std::int64_t i = (length - 1) / side * side; i >= 0; i -= side)
    LaneSquare<T>::move(from + i * side, side, to + i, length);
}

/// Bytes behind a buffer that `repeat_each` and `pack_rows` may write, for they store whole
/// vectors: what is too much is overwritten by the next row.
inline constexpr std::size_t spare_bytes = 64;

/// Writes each of `n` elements `Length` times: a constant, for which compilers write vectors.
template <std::int64_t Length, class T, class U>
SHARDTYPE_VECTOR_LOOP void repeat_few(T const* from, std::int64_t n, U* to) {
  for (std::int64_t r = 0; r < n; ++r)
    for (std::int64_t i = 0; i < Length; ++i) to[r * Length + i] = static_cast<U>(from[r]);
}
/// Writes the element of each of `rows` rows, `stride` apart, `length` times.
template <class T, class U>
SHARDTYPE_VECTOR_LOOP void repeat_each(T const* from, std::int64_t stride, std::int64_t length,
                                       std::int64_t rows, U* to) {
  if (stride == 1 && length == 2) return detail::repeat_few<2>(from, rows, to);
  if (stride == 1 && length == 3) return detail::repeat_few<3>(from, rows, to);
  if (stride == 1 && length == 4) return detail::repeat_few<4>(from, rows, to);
  constexpr auto lanes = static_cast<std::int64_t>(spare_bytes / sizeof(U));
  U many[static_cast<std::size_t>(lanes)];
  for (std::int64_t r = 0; r < rows; ++r, to += length) {
    for (U& one : many) one = static_cast<U>(from[r * stride]);
    for (std::int64_t i = 0; i < length; i += lanes)
      std::memcpy(static_cast<void*>(to + i), many, sizeof many);
  }
}
/// Packs `rows` rows of `length` elements; `row` and `step` are the strides of rows and elements.
template <class T>
SHARDTYPE_VECTOR_LOOP void pack_rows(T const* from, std::int64_t row, std::int64_t step,
                                     std::int64_t length, std::int64_t rows, T* to) {
  if (step == 0) return detail::repeat_each(from, row, length, rows, to);
  for (std::int64_t r = 0; r < rows; ++r, from += row, to += length) {
    if (step == 1) {
      std::copy_n(from, length, to);
    } else {
      for (std::int64_t i = 0; i < length; ++i) to[i] = from[i * step];
    }
  }
}

}  // namespace shardtype::kernels::detail
