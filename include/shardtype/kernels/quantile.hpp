#pragma once
/// Quantiles of sorted rows.

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/check/functions.hpp>
#include <shardtype/kernels/launch.hpp>

namespace shardtype::kernels {

/// The elements of a sorted row that a quantile reads, by their number in it.
struct QuantileElements {
  std::int64_t low = 0;   ///< the one before it
  std::int64_t high = 0;  ///< the one behind it
  std::int64_t last = 0;  ///< a NaN if there is any
};

namespace detail {

/// One call computes the quantile of one sorted row.
template <class T>
struct QuantileOfRow {
  T const* sorted;
  T* out;
  std::int64_t n;
  QuantileElements at;
  double weight;  ///< of the element behind it

  KOKKOS_FUNCTION double element(std::int64_t row, std::int64_t k) const {
    return static_cast<double>(static_cast<shardtype::detail::computed_t<T>>(sorted[row * n + k]));
  }
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    double const last = element(row, at.last);
    double const low = element(row, at.low);
    double const high = element(row, at.high);
    double found = low;
    if (last != last) {
      found = last;
    } else if (weight > 0 && low < high) {
      double const gap = high - low;
      if (gap - gap != 0) {
        found = low * (1 - weight) + high * weight;  // of infinite length
      } else {
        // from the nearer one, so that the quantile rises with its weight
        found = weight < 0.5 ? low + gap * weight : high - gap * (1 - weight);
      }
    }
    out[row] = static_cast<T>(static_cast<shardtype::detail::computed_t<T>>(found));
  }
};

}  // namespace detail

/// out[row] = the quantile of each of `rows` sorted rows of `n` elements.
template <class T, class Exec>
void quantiles(Exec const& exec, T const* sorted, std::int64_t rows, std::int64_t n,
               QuantileElements const& at, double weight, T* out) {
  kernels::launch(exec, "shardtype::quantiles", rows,
                  detail::QuantileOfRow<T>{sorted, out, n, at, weight});
}

}  // namespace shardtype::kernels
