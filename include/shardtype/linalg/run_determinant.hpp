#pragma once
/// Runs determinants of one matrix over many ranks, by its LU factors.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <shardtype/linalg/kernels_own.hpp>
#include <shardtype/linalg/run_cyclic_call.hpp>
#include <shardtype/linalg/types_determinant.hpp>

namespace shardtype::execute {

/// (real + i imaginary) 2^scale; of logarithms the sum is in `scale`.
struct DiagonalProduct {
  double real = 1, imaginary = 0, scale = 0;

  void multiply(double x, double y) {
    double const re = real * x - imaginary * y;
    imaginary = imaginary * x + real * y;
    real = re;
    double const size = std::max(std::abs(real), std::abs(imaginary));
    if (size == 0 || !std::isfinite(size) || (size > 0x1p-200 && size < 0x1p200)) return;
    int const by = std::ilogb(size);
    real = std::ldexp(real, -by), imaginary = std::ldexp(imaginary, -by);
    scale += by;
  }
  template <class T>
  T value() const {
    int const by = static_cast<int>(std::clamp(scale, -1e6, 1e6));
    double const re = std::ldexp(real, by);
    if constexpr (linalg::kernels::is_complex<T>) {
      using R = linalg::kernels::real_t<T>;
      return T(static_cast<R>(re), static_cast<R>(std::ldexp(imaginary, by)));
    } else {
      return static_cast<T>(re);
    }
  }
  template <class T>
  static double imaginary_of(T const& x) {
    if constexpr (linalg::kernels::is_complex<T>) {
      return static_cast<double>(x.imag());
    } else {
      return 0;
    }
  }
};

/// The determinant, its sign or its logarithm, by a `Call` of one matrix.
template <template <class, class> class Call, class Op, linalg::detail::Product what>
struct LuProduct : Called<Call, Op> {
  template <class C, class Out, class A, class P>
  static void fill(Op const&, C const& run, Out& out, A const& a, P const& pivots) {
    using T = typename A::element;
    using linalg::detail::Product;
    namespace lk = linalg::kernels;
    auto const* const row_of = static_cast<std::int32_t const*>(pivots.buffer().data());
    DiagonalProduct mine;
    run.for_diagonal(a, [&](std::int64_t i, T const& d) {
      auto const size = static_cast<double>(lk::modulus(d));
      if constexpr (what == Product::logarithm) {
        mine.scale += std::log(size);
      } else {
        T const f = what == Product::sign && d != T(0) ? T(d / lk::modulus(d)) : d;
        mine.multiply(static_cast<double>(lk::real_part(f)), DiagonalProduct::imaginary_of(f));
        if (row_of[i] != i) mine.multiply(-1, 0);
      }
    });
    // Each rank's in a place of its own, so that all multiply the same numbers in the same order.
    Comm& comm = run.everyone();
    auto const ranks = static_cast<std::size_t>(comm.size());
    std::vector<double> given(3 * ranks), all(3 * ranks);
    auto const me = static_cast<std::size_t>(comm.rank());
    given[3 * me] = mine.real, given[3 * me + 1] = mine.imaginary, given[3 * me + 2] = mine.scale;
    comm.template all_reduce<double>(given.data(), all.data(), static_cast<std::int64_t>(3 * ranks),
                                     ReduceKind::sum);
    DiagonalProduct product;
    for (std::size_t k = 0; k < ranks; ++k) {
      product.scale += all[3 * k + 2];
      product.multiply(all[3 * k], all[3 * k + 1]);
    }
    using Result = typename Out::element;
    auto& result = *static_cast<Result*>(out.buffer().data());
    if constexpr (what == Product::logarithm) {
      result = static_cast<Result>(product.scale);
    } else {
      result = product.template value<Result>();
    }
  }
};

}  // namespace shardtype::execute
