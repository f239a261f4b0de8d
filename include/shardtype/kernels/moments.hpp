#pragma once
/// Reducers of variances.

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/reducers.hpp>

namespace shardtype::kernels {

/// The number of elements, a number near their mean, and the sums of the distances from it and of
/// their squares. The first sum corrects the number to the mean; the mean itself would not be
/// accurate enough if it is large compared to the distances.
template <class Real, class Mean>
struct Moments {
  Real count;
  Mean near;
  Mean distances;
  Real squares;
};

/// The sum of squared distances from the mean; its square root if `Root`. Elements are processed
/// block by block: first a block's mean, then the distances from it, so that a large mean costs no
/// accuracy. Blocks are joined as in Chan, Golub and LeVeque, "Algorithms for computing the sample
/// variance" (1983), with the sum of distances that corrects their two-pass algorithm. Computed in
/// double for float.
template <class T, bool Root>
struct VarianceReducer {
  using Element = T;
  using Result = shardtype::detail::real_of<T>;
  using Real = wide_t<Result>;
  using Mean = wide_t<T>;
  using Total = Moments<Real, Mean>;
  using Part = Total;

  KOKKOS_FUNCTION static Part nothing() { return {Real(0), Mean(0), Mean(0), Real(0)}; }
  KOKKOS_FUNCTION static Total widen(Part const& a) { return a; }
  KOKKOS_FUNCTION static Real squared(Mean const& x) { return product(x, x); }
  KOKKOS_FUNCTION static void join(Total& a, Total const& b) {
    if (b.count == Real(0)) return;
    if (a.count == Real(0)) {
      a = b;
      return;
    }
    Real const count = a.count + b.count;
    Mean const near = a.near + (b.near - a.near) * (b.count / count);
    Total from = b;
    move(a, near);
    move(from, near);
    a = {count, near, a.distances + from.distances, a.squares + from.squares};
  }
  KOKKOS_FUNCTION static void deposit(Total& total, T const* x, std::int64_t n,
                                      std::int64_t stride) {
    constexpr std::int64_t most = 2048;  // stays in cache for the second pass
    for (std::int64_t from = 0; from < n; from += most)
      join(total, block(x + from * stride, n - from < most ? n - from : most, stride));
  }
  KOKKOS_FUNCTION static Result finish(Total const& a) {
    if (a.count == Real(0)) return Result(0);
    Real const sum = a.squares - squared(a.distances) / a.count;
    Real const none_below = sum < Real(0) ? Real(0) : sum;  // keeps NaN
    return static_cast<Result>(Root ? math::sqrt(none_below) : none_below);
  }

 private:
  /// Changes the number from which distances are measured.
  KOKKOS_FUNCTION static void move(Total& a, Mean const& to) {
    Mean const by = a.near - to;
    a.squares += Real(2) * product(by, a.distances) + a.count * squared(by);
    a.distances = a.distances + by * a.count;
    a.near = to;
  }
  /// The real part of a times the conjugate of b.
  KOKKOS_FUNCTION static Real product(Mean const& a, Mean const& b) {
    if constexpr (shardtype::detail::is_complex<T>) {
      return a.real() * b.real() + a.imag() * b.imag();
    } else {
      return a * b;
    }
  }
  KOKKOS_FUNCTION static Total block(T const* x, std::int64_t n, std::int64_t stride) {
    constexpr int lanes = 8;
    Mean sums[lanes];
    for (int l = 0; l < lanes; ++l) sums[l] = Mean(0);
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes)
      for (int l = 0; l < lanes; ++l)
        sums[l] = sums[l] + detail::converted<Mean>(x[(i + l) * stride]);
    for (; i < n; ++i) sums[0] = sums[0] + detail::converted<Mean>(x[i * stride]);
    for (int l = 1; l < lanes; ++l) sums[0] = sums[0] + sums[l];
    Mean const mean = sums[0] / static_cast<Real>(n);
    Mean distances[lanes];
    Real squares[lanes] = {};
    for (int l = 0; l < lanes; ++l) distances[l] = Mean(0);
    auto const take = [&](int l, T const& element) {
      Mean const distance = detail::converted<Mean>(element) - mean;
      distances[l] = distances[l] + distance;
      squares[l] += squared(distance);
    };
    for (i = 0; i + lanes <= n; i += lanes)
      for (int l = 0; l < lanes; ++l) take(l, x[(i + l) * stride]);
    for (; i < n; ++i) take(0, x[i * stride]);
    for (int l = 1; l < lanes; ++l) {
      distances[0] = distances[0] + distances[l];
      squares[0] += squares[l];
    }
    return {static_cast<Real>(n), mean, distances[0], squares[0]};
  }
};

}  // namespace shardtype::kernels
