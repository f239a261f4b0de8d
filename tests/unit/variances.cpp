// Variances of numbers whose squares overflow, of infinities and NaN: as NumPy.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <shardtype/kernels/moments.hpp>
#include <shardtype/kernels/reduce.hpp>

#include "harness/catch.hpp"

using namespace shardtype::kernels;
using Host = Kokkos::DefaultHostExecutionSpace;

namespace {

template <bool Root>
double variance(std::vector<double> const& x, std::size_t split) {
  using R = VarianceReducer<double, Root>;
  auto total = R::widen(R::nothing());
  auto other = R::widen(R::nothing());
  auto const n = static_cast<std::int64_t>(x.size());
  auto const first = static_cast<std::int64_t>(split);
  R::deposit(total, x.data(), first, 1);
  R::deposit(other, x.data() + first, n - first, 1);
  R::join(total, other);
  return R::finish(total);
}

}  // namespace

TEST_CASE("variances of large numbers are infinite, not NaN") {
  double const inf = std::numeric_limits<double>::infinity();
  std::vector<double> large(700);
  for (std::size_t k = 0; k < large.size(); ++k) large[k] = k < 200 ? 1e300 : -1e300;
  std::vector<double> const few = {1e300, 1e300, -1e300, -1e300, -1e300, -1e300, -1e300};
  for (std::size_t const split : {0U, 1U, 3U, 7U}) {
    CAPTURE(split);
    CHECK(variance<false>(few, split) == inf);
    CHECK(variance<true>(few, split) == inf);
    CHECK(variance<false>(large, 90 * split) == inf);
    CHECK(std::isnan(variance<false>({1, inf, 2, 3, 4, 5, 6}, split)));
    CHECK(std::isnan(variance<false>({1, NAN, 2, 3, 4, 5, 6}, split)));
  }
}
