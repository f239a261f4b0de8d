#pragma once
/// Copies matrices with another element type.

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/matrix.hpp>
#include <shardtype/runtime/copy_bytes.hpp>

namespace shardtype::kernels {

namespace detail {

/// One call copies one row of one member of the batch.
template <class From, class To>
struct ConvertRow {
  Matrix<From const> from;
  Matrix<To> to;

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    std::int64_t const t = work / from.rows;
    std::int64_t const i = work % from.rows;
    From const* const in = from.data + t * from.batch_stride + i * from.row_stride;
    To* const out = to.data + t * to.batch_stride + i * to.row_stride;
    if (from.col_stride == 1 && to.col_stride == 1) {
      for (std::int64_t j = 0; j < from.cols; ++j) out[j] = static_cast<To>(in[j]);
    } else {
      for (std::int64_t j = 0; j < from.cols; ++j)
        out[j * to.col_stride] = static_cast<To>(in[j * from.col_stride]);
    }
  }
};

/// Device: one call copies one element.
template <class From, class To>
struct ConvertElement {
  Matrix<From const> from;
  Matrix<To> to;

  template <class Number>
  KOKKOS_FUNCTION void operator()(Number work) const {
    auto const cols = static_cast<Number>(from.cols), rows = static_cast<Number>(from.rows);
    std::int64_t const j = work % cols;
    std::int64_t const i = work / cols % rows;
    std::int64_t const t = work / cols / rows;
    to.data[t * to.batch_stride + i * to.row_stride + j * to.col_stride] = static_cast<To>(
        from.data[t * from.batch_stride + i * from.row_stride + j * from.col_stride]);
  }
};

}  // namespace detail

/// A matrix of the same size with contiguous elements at `data`: columns if those of `x` are
/// contiguous, else rows.
template <class To, class T>
Matrix<To> packed_like(Matrix<T> const& x, To* data) {
  bool const columns = x.row_stride == 1 && x.col_stride != 1;
  return {data, x.rows, x.cols, columns ? 1 : x.cols, columns ? x.rows : 1, x.rows * x.cols};
}

/// to = from, for each member of the batch, converted. Runs on `exec`.
template <class From, class To, class Exec>
void convert(Exec const& exec, std::int64_t batch, Matrix<From const> const& from,
             Matrix<To> const& to) {
  if (batch * from.rows * from.cols == 0) return;
  bool const turned = from.row_stride == 1;
  Matrix<From const> const in = turned ? from.transposed() : from;
  Matrix<To> const out = turned ? to.transposed() : to;
  if constexpr (runtime::host_reads<Exec>) {
    kernels::launch(exec, "shardtype::convert", batch * in.rows,
                    detail::ConvertRow<From, To>{in, out});
  } else {
    kernels::launch(exec, "shardtype::convert", batch * in.rows * in.cols,
                    detail::ConvertElement<From, To>{in, out});
  }
}

}  // namespace shardtype::kernels
