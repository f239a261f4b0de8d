#pragma once
/// A lower bound on the communication of a product.

#include <algorithm>
#include <cstdint>

#include <shardtype/core/dim.hpp>

namespace shardtype {

namespace detail {

/// The square root and the cube root at compile time: Newton's iteration from above, until the
/// values stop falling.
constexpr double square_root(double x) {
  if (x <= 0) return 0;
  double r = x > 1 ? x : 1;
  for (double next = (r + x / r) / 2; next < r; next = (r + x / r) / 2) r = next;
  return r;
}
constexpr double cube_root(double x) {
  if (x <= 0) return 0;
  double r = x > 1 ? x : 1;
  for (double next = (2 * r + x / (r * r)) / 3; next < r; next = (2 * r + x / (r * r)) / 3)
    r = next;
  return r;
}

}  // namespace detail

}  // namespace shardtype

namespace shardtype::planning {

/// The least number of elements that some rank must receive in a product of an m x k and a k x n
/// matrix on `p` ranks, independent of memory, if each rank begins with 1/p of both and ends with
/// 1/p of the result. Source: Al Daas, Ballard, Grigori, Kumar, Rouse: Tight memory-independent
/// parallel matrix multiplication communication lower bounds (SPAA 2022), theorem 3.
constexpr double product_lower_bound(double m, double n, double k, double p) {
  double s[3] = {m, n, k};
  std::sort(s, s + 3);
  double const most = s[2];
  double const middle = s[1];
  double const least = s[0];
  double words = 0;
  if (p <= most / middle) {
    words = (most * least + most * middle) / p + middle * least;
  } else if (p <= most * middle / (least * least)) {
    words = 2 * detail::square_root(most * middle * least * least / p) + most * middle / p;
  } else {
    double const third = detail::cube_root(most * middle * least / p);
    words = 3 * third * third;
  }
  return std::max(0.0, words - (m * n + m * k + n * k) / p);
}

}  // namespace shardtype::planning

namespace shardtype::api {
constexpr double product_lower_bound(core::Taken<double> m, core::Taken<double> n,
                                     core::Taken<double> k, core::Taken<double> p) {
  return planning::product_lower_bound(m, n, k, p);
}
}  // namespace shardtype::api
