#pragma once

#include <cstdint>
#include <type_traits>

/// Local computations on the blocks that one rank holds.
namespace shardtype::kernels {

/// A matrix in memory that is owned elsewhere, or a batch of matrices at equal distances. Element
/// (i, j) of member t is data[t * batch_stride + i * row_stride + j * col_stride]; strides count
/// elements. Strides of A and B may be anything, 0 and negative included; the elements of a result
/// must be distinct.
template <class T>
struct Matrix {
  T* data = nullptr;              ///< Element (0, 0) of member 0.
  std::int64_t rows = 0;          ///< Number of rows.
  std::int64_t cols = 0;          ///< Number of columns.
  std::int64_t row_stride = 0;    ///< Distance from one row to the next.
  std::int64_t col_stride = 0;    ///< Distance from one column to the next.
  std::int64_t batch_stride = 0;  ///< Distance from one member of the batch to the next.

  /// The same elements with rows and columns swapped; moves no data.
  constexpr Matrix transposed() const {
    return {data, cols, rows, col_stride, row_stride, batch_stride};
  }

  /// Member t of the batch, as a batch of one.
  constexpr Matrix member(std::int64_t t) const {
    return {data + t * batch_stride, rows, cols, row_stride, col_stride, 0};
  }

  /// The part of `count_rows` x `count_cols` elements that begins at (row, col).
  constexpr Matrix block(std::int64_t row, std::int64_t col, std::int64_t count_rows,
                         std::int64_t count_cols) const {
    return {data + row * row_stride + col * col_stride,
            count_rows,
            count_cols,
            row_stride,
            col_stride,
            batch_stride};
  }

  /// The same matrix, read only.
  template <class U>
    requires(std::is_same_v<U, T const> && !std::is_const_v<T>)
  constexpr operator Matrix<U>() const {
    return {data, rows, cols, row_stride, col_stride, batch_stride};
  }
};

}  // namespace shardtype::kernels
