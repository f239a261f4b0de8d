#pragma once
/// Sums of a few long parts, element by element.

#include <algorithm>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/launch.hpp>
#include <shardtype/runtime/copy_bytes.hpp>

namespace shardtype::kernels {

namespace detail {

/// One piece of one run, which stays in cache while the parts are added; on a device one element.
template <class T, std::int64_t Piece>
struct SumParts {
  T const* parts;
  std::int64_t apart, count;
  std::int64_t run, run_stride, pieces;
  T* out;

  static constexpr std::int64_t piece = Piece;

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    std::int64_t const row = work / pieces;
    std::int64_t const begin = work % pieces * piece;
    std::int64_t const end = begin + piece < run ? begin + piece : run;
    T const* const from = parts + row * run_stride;
    T* const to = out + row * run;
    T const* const second = count > 1 ? from + apart : nullptr;
    if (second == nullptr)
      for (std::int64_t k = begin; k < end; ++k) to[k] = from[k];
    else
      for (std::int64_t k = begin; k < end; ++k) to[k] = from[k] + second[k];
    for (std::int64_t g = 2; g < count; ++g) {
      T const* const next = from + g * apart;
      for (std::int64_t k = begin; k < end; ++k) to[k] += next[k];
    }
  }
};

}  // namespace detail

/// out[r * run + k] = the sum over g of parts[g * apart + r * run_stride + k], for `rows` runs of
/// `run` elements and `count` parts, in the order of g. `out` may be the first part. Runs on
/// `exec`.
template <class T, class Exec>
void sum_parts(Exec const& exec, T const* parts, std::int64_t apart, std::int64_t count,
               std::int64_t rows, std::int64_t run, std::int64_t run_stride, T* out) {
  if (rows * run == 0) return;
  using Sum = detail::SumParts<T, runtime::host_reads<Exec> ? 2048 : 1>;
  std::int64_t const pieces = (run + Sum::piece - 1) / Sum::piece;
  kernels::launch(exec, "sum_parts", rows * pieces,
                  Sum{parts, apart, count, run, run_stride, pieces, out});
}

}  // namespace shardtype::kernels
