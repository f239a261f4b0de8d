#pragma once
/// Host: running values of short rows, of several rows at once.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <shardtype/kernels/short_rows.hpp>
#include <shardtype/kernels/vector.hpp>
#include <shardtype/kernels/vector_scan.hpp>

namespace shardtype::kernels::detail {

/// One call scans as many neighbouring rows as a vector has lanes. `Columns` scans the whole groups
/// of vectors of a row alone; the elements that are left, which wait for each other, are scanned in
/// lanes. The order is that of `Columns`: a row has the same bits alone and among others.
template <class Columns, class T, class R>
struct ScanShort {
  using Part = typename R::Part;
  static constexpr bool has = computes_in_vectors && has_vectors<Part>;
  static constexpr std::int64_t lanes = vector_lanes<Part>;

  Columns scan;
  std::int64_t outer;

  /// Whether the rows of a block are scanned so: some rows, short enough that threads find work.
  static constexpr bool takes(std::int64_t outer, std::int64_t middle) {
    return outer >= 4 && middle <= 512 && middle % Columns::group != 0;
  }
  std::int64_t calls() const { return (outer + lanes - 1) / lanes; }

  void operator()(std::int64_t work) const {
    std::int64_t const n = scan.middle;
    std::int64_t const left = n % Columns::group;
    std::int64_t const whole = n - left;
    std::int64_t const rows = std::min(lanes, outer - work * lanes);
    T const* const in = scan.src + work * lanes * n;
    T* const out = scan.dst + work * lanes * n;
    alignas(64) Part sum[static_cast<std::size_t>(lanes)];
    for (std::int64_t r = 0; r < lanes; ++r)
      sum[r] = scan.start == nullptr || r >= rows
                   ? R::nothing()
                   : R::load(static_cast<typename R::Element>(scan.start[work * lanes + r]));
    if (!scan.reverse && !scan.excludes()) {
      if (n == 2) return few<2>(in, out, rows, sum);
      if (n == 3) return few<3>(in, out, rows, sum);
      if (n == 4) return few<4>(in, out, rows, sum);
    }
    if (whole > 0) {
      std::int64_t const begin = scan.reverse ? left : 0;
      for (std::int64_t r = 0; r < rows; ++r)
        sum[r] = scan.column(in + r * n + begin, out + r * n + begin, whole, sum[r]);
    }
    alignas(64) Part some[static_cast<std::size_t>(lanes * Columns::group + spare_lanes<Part>)];
    alignas(64) Part turned[static_cast<std::size_t>(lanes * Columns::group)];
    // what is left of a row is what is scanned last
    T const* const from = in + (scan.reverse ? 0 : whole);
    T* const to = out + (scan.reverse ? 0 : whole);
    each_of(rows, left, n, [&](std::int64_t k, std::int64_t at) {
      some[k] = R::load(static_cast<typename R::Element>(from[at]));
    });
    std::fill(some + rows * left, some + lanes * left + spare_lanes<Part>, Part{});
    detail::turn_lanes(static_cast<Part const*>(some), left, static_cast<Part*>(turned));
    if (scan.reverse) {
      run(turned, left - 1, -1, left, sum);
    } else {
      run(turned, 0, 1, left, sum);
    }
    detail::turn_lanes_back(static_cast<Part const*>(turned), left, static_cast<Part*>(some));
    each_of(rows, left, n,
            [&](std::int64_t k, std::int64_t at) { to[at] = static_cast<T>(some[k]); });
  }

 private:
  /// Rows of so few elements are scanned one by one sooner than they are turned.
  template <int N>
  static void few(T const* in, T* out, std::int64_t rows, Part const* sum) {
    for (std::int64_t r = 0; r < rows; ++r, in += N, out += N) {
      Part value = sum[r];
      Part all[static_cast<std::size_t>(N)];
      for (int k = 0; k < N; ++k) {
        R::join(value, R::load(static_cast<typename R::Element>(in[k])));
        all[k] = value;
      }
      for (int k = 0; k < N; ++k) out[k] = static_cast<T>(all[k]);
    }
  }
  /// Calls `use(k, at)` for the k-th of `length` elements of each row; `at` is where it is.
  template <class Use>
  static void each_of(std::int64_t rows, std::int64_t length, std::int64_t n, Use const& use) {
    if (length == n) {
      for (std::int64_t k = 0; k < rows * n; ++k) use(k, k);
    } else {
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t k = 0; k < length; ++k) use(r * length + k, r * n + k);
    }
  }
  /// Scans `n` vectors from the one at `k`.
  void run(Part* turned, std::int64_t k, std::int64_t step, std::int64_t n, Part const* sum) const {
    using V = vector_of<Part, has>;
    V value;
    std::memcpy(&value, sum, sizeof value);
    bool const exclusive = scan.excludes();
    for (std::int64_t i = 0; i < n; ++i, k += step) {
      V x;
      std::memcpy(&x, turned + k * lanes, sizeof x);
      V const before = value;
      detail::join_lanes<R>(value, x);
      std::memcpy(turned + k * lanes, exclusive ? &before : &value, sizeof x);
    }
  }
};

}  // namespace shardtype::kernels::detail
