#pragma once
/// Columns that depend on each other, of which least squares say so.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include <shardtype/linalg/run_blocks.hpp>

namespace shardtype::linalg::detail {

/// Whether column j of a triangle with n columns, whose elements are `element(i)`, depends on those
/// before it, as far as can be told: what is left of it is roundings. Not where a number is NaN or
/// infinite.
template <class Element>
bool depends(std::int64_t n, std::int64_t j, Element element) {
  using R = kernels::real_t<std::remove_cvref_t<decltype(element(j))>>;
  R most(0);
  for (std::int64_t i = 0; i <= j; ++i) most = std::max(most, kernels::size_of(element(i)));
  R const bound = R(10) * std::numeric_limits<R>::epsilon() * static_cast<R>(n);
  return std::isfinite(most) && kernels::size_of(element(j)) <= bound * most;
}
template <class I, class J, class A>
std::string column_label() {
  using S = Scope<A, shardtype::detail::Bare<I, J>>;
  return std::string(S::names.label_name[S::template spec<1>.dims[1].label]);
}
/// Error E83, of column j. `matrix`: which one of a stack, or "".
[[noreturn]] inline void refuse_dependent(std::string const& label, std::int64_t j,
                                          std::string const& matrix, FailedOn where) {
  throw Error(
      "E83",
      "column " + std::to_string(j) + " of " + label + matrix +
          " is zero or depends on those before it, so lstsq has no unique solution; leave it out, "
          "or take the solution of least norm, of stacks of matrices: "
          "lstsq<I, J>(a, b, {.rcond = 1e-10})",
      where);
}

}  // namespace shardtype::linalg::detail
