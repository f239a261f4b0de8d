#pragma once
/// ScaLAPACK's description of a matrix, for calls of its functions on a tensor's own memory.
/// Nothing of ScaLAPACK is called here.

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <string>

#include <shardtype/check/operation.hpp>
#include <shardtype/rules/along.hpp>
#include <shardtype/tensor/tensor.hpp>

namespace shardtype {

namespace rules {

/// A matrix whose blocks lie in memory as ScaLAPACK's: `a[J, I]`, rows I the last dim, each dim
/// whole or block-cyclic; `from` has the labels I and J.
constexpr Verdict scalapack_matrix(Spec const& a, Spec const& from) {
  if (Verdict const v = has_all(a, from); !v) return v;
  int const rows = from.dims[0].label;
  int const columns = from.dims[1].label;
  bool lies = a.rank == 2 && a.dims[1].label == rows && !a.local && a.unreduced.empty();
  for (int d = 0; d < a.rank; ++d)
    lies = lies && (a.dims[d].axes.size == 0 || a.dims[d].axes.cyclic != 0);
  return lies ? accept(a) : refuse(Code::Q08_not_scalapack, rows, columns);
}

}  // namespace rules

namespace linalg::detail {

/// Blocks of dims that no axis splits, where the other dim has none either.
inline constexpr int scalapack_block = 64;

}  // namespace linalg::detail

namespace linalg::api {

/// The array descriptor (DESC_) of a matrix with rows I and columns J for ScaLAPACK and PBLAS,
/// whose first argument is then the block, `a.mutable_local().data()`: `a[J, I]`, `a[J@Y%n, I]`,
/// `a[J, I@X%m]` or `a[J@Y%n, I@X%m]` -> {1, context, M, N, MB, NB, 0, 0, LLD}. The rows are the
/// last dim, so a block is column-major. The user's process grid `context` has the ranks with
/// coordinate p along X and q along Y at (p, q); without an axis it has one row, or column, of
/// processes. It is -1 on ranks that are not in the grid. A dim that no axis splits has the other's
/// block size, or 64: many functions want MB = NB. A mesh axis that splits neither dim has copies
/// of the matrix, each with a grid of its own. Communicates nothing.
///
/// Refused: D01; Q08 another order of the dims, more dims, nested blocks, unreduced sums. Error
/// E41: an extent over 2^31 - 1.
///
///     auto const desc = linalg::scalapack_descriptor<I, J>(a, context);  // f64[J@Y%64, I@X%64]
///     pdgetrf_(&n, &n, a.mutable_local().data(), &one, &one, desc.data(), pivots, &info);
template <class I, class J, class A>
std::array<int, 9> scalapack_descriptor(core::Argument<A> const& a, int context) {
  using S = core::Scope<A, shardtype::detail::Bare<I, J>>;
  constexpr Spec const& spec = S::parsed[0].spec;
  constexpr rules::Verdict v = rules::scalapack_matrix(spec, S::parsed[1].spec);
  std::array<int, 9> out{};
  if constexpr (!v) {
    checking::refused<v.code, false, A, I, J>{};
  } else {
    auto const& extents = a.self().extents();
    for (std::int64_t const n : extents)
      if (n > INT_MAX)
        throw Error("E41",
                    "ScaLAPACK counts with 32 bits; the matrix has extent " + std::to_string(n),
                    FailedOn::every_rank);
    int const rows = spec.dims[1].axes.cyclic;
    int const columns = spec.dims[0].axes.cyclic;
    int const whole = std::max({rows, columns, 0});
    int const other = whole == 0 ? detail::scalapack_block : whole;
    auto const lines = static_cast<int>(a.self().local_extents()[1]);
    out = {1,
           context,
           static_cast<int>(extents[1]),
           static_cast<int>(extents[0]),
           rows == 0 ? other : rows,
           columns == 0 ? other : columns,
           0,
           0,
           std::max(1, lines)};
  }
  return out;
}

}  // namespace linalg::api

}  // namespace shardtype
