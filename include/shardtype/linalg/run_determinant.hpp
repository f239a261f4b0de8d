#pragma once
/// Runs determinants of one matrix over many ranks, by its LU factors.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <shardtype/linalg/kernels_determinant.hpp>
#include <shardtype/linalg/run_cyclic_call.hpp>
#include <shardtype/linalg/types_determinant.hpp>

namespace shardtype::execute {

/// The determinant, its sign or its logarithm, by a `Call` of one matrix.
template <template <class, class> class Call, class Op, linalg::detail::Product what>
struct LuProduct : Called<Call, Op> {
  template <class C, class Out, class A, class P>
  static void fill(Op const&, C const& run, Out& out, A const& a, P const& pivots) {
    using T = typename A::element;
    using linalg::detail::Product;
    namespace lk = linalg::kernels;
    auto const* const row_of = static_cast<std::int32_t const*>(pivots.buffer().data());
    // of logarithms the sum is in the exponent
    lk::ScaledNumber mine;
    if (shardtype::detail::is_singular(row_of, run.blocks().n)) {
      mine.real = 0;
    } else {
      run.for_diagonal(a, [&](std::int64_t i, T const& d) {
        if constexpr (what == Product::logarithm) {
          mine.exponent += lk::log_modulus(d);
        } else {
          mine.multiply(what == Product::sign ? lk::direction(d) : d);
          if (row_of[i] != i) mine.multiply(-1, 0);
        }
      });
    }
    // Each rank's in a place of its own, so that all multiply the same numbers in the same order.
    Comm& comm = run.everyone();
    auto const ranks = static_cast<std::size_t>(comm.size());
    std::vector<double> given(3 * ranks), all(3 * ranks);
    auto const me = static_cast<std::size_t>(comm.rank());
    given[3 * me] = mine.real, given[3 * me + 1] = mine.imaginary,
              given[3 * me + 2] = mine.exponent;
    comm.template all_reduce<double>(given.data(), all.data(), static_cast<std::int64_t>(3 * ranks),
                                     ReduceKind::sum);
    lk::ScaledNumber product;
    for (std::size_t k = 0; k < ranks; ++k)
      product.multiply(lk::ScaledNumber{all[3 * k], all[3 * k + 1], all[3 * k + 2]});
    using Result = typename Out::element;
    auto& result = *static_cast<Result*>(out.buffer().data());
    if constexpr (what == Product::logarithm) {
      result = product.zero() ? -std::numeric_limits<Result>::infinity()
                              : static_cast<Result>(product.exponent);
    } else {
      result = product.template value<Result>();
    }
  }
};

}  // namespace shardtype::execute
