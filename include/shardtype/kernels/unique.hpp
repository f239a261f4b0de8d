#pragma once
/// Host: the different elements of sorted ones.

#include <cstdint>

#include <shardtype/kernels/sort_key.hpp>

namespace shardtype::kernels {

/// Whether neighbours in the order are the same element: 0 and -0 are, and all NaNs.
template <class T>
bool same_elements(T const& x, T const& y) {
  return detail::sort_key(x, false) == detail::sort_key(y, false);
}

/// Number of elements from element `k` on that are the same, of `n` sorted ones.
template <class T>
std::int64_t run_length(T const* sorted, std::int64_t n, std::int64_t k) {
  std::int64_t end = k + 1;
  while (end < n && kernels::same_elements(sorted[k], sorted[end])) ++end;
  return end - k;
}

/// Number of different elements of `n` sorted ones.
template <class T>
std::int64_t count_unique(T const* sorted, std::int64_t n) {
  std::int64_t count = n > 0 ? 1 : 0;
  for (std::int64_t k = 1; k < n; ++k)
    count += kernels::same_elements(sorted[k - 1], sorted[k]) ? 0 : 1;
  return count;
}

/// Writes the first `most` different elements of `n` sorted ones, of equal ones the first, and how
/// often each is there.
template <class T>
void take_unique(T const* sorted, std::int64_t n, std::int64_t most, T* values,
                 std::int64_t* counts) {
  std::int64_t taken = 0;
  for (std::int64_t k = 0; k < n && taken < most; ++taken) {
    values[taken] = sorted[k];
    counts[taken] = kernels::run_length(sorted, n, k);
    k += counts[taken];
  }
}

}  // namespace shardtype::kernels
