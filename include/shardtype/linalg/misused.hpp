#pragma once
/// Refusals of calls of linalg that none of its functions takes, and of names of others. As in
/// check/misused.hpp, any other function of the name is the better match.

#include <shardtype/check/misused.hpp>
#include <shardtype/linalg/determinant.hpp>
#include <shardtype/linalg/factors.hpp>
#include <shardtype/linalg/orthogonal.hpp>
#include <shardtype/linalg/spectral.hpp>

namespace shardtype::linalg::api {

// Refused, Q12: `solve(a, b)` without rows and columns, `triangular_solve<I, J>(l, b, "upper")`.
#define SHARDTYPE_CALL_OF_LINALG(name) \
  SHARDTYPE_REFUSED_CALLS(name, Q12_no_such_call_of_linalg, checking::Poisoned)
SHARDTYPE_CALL_OF_LINALG(solve)
SHARDTYPE_CALL_OF_LINALG(lu_solve)
SHARDTYPE_CALL_OF_LINALG(cholesky)
SHARDTYPE_CALL_OF_LINALG(cholesky_solve)
SHARDTYPE_CALL_OF_LINALG(triangular_solve)
SHARDTYPE_CALL_OF_LINALG(lstsq)
SHARDTYPE_CALL_OF_LINALG(inv)
SHARDTYPE_CALL_OF_LINALG(det)
SHARDTYPE_CALL_OF_LINALG(pinv)
SHARDTYPE_CALL_OF_LINALG(matrix_rank)
SHARDTYPE_CALL_OF_LINALG(norm)
SHARDTYPE_CALL_OF_LINALG(cond)
SHARDTYPE_CALL_OF_LINALG(rcond)
SHARDTYPE_CALL_OF_LINALG(matrix_power)
SHARDTYPE_CALL_OF_LINALG(eigvalsh)
SHARDTYPE_CALL_OF_LINALG(svdvals)
#undef SHARDTYPE_CALL_OF_LINALG
#define SHARDTYPE_PARTS_OF_LINALG(name, ...) \
  SHARDTYPE_REFUSED_CALLS(name, Q12_no_such_call_of_linalg, __VA_ARGS__)
SHARDTYPE_PARTS_OF_LINALG(qr, QR<checking::Poisoned, checking::Poisoned>)
SHARDTYPE_PARTS_OF_LINALG(svd, Singular<checking::Poisoned, checking::Poisoned, checking::Poisoned>)
SHARDTYPE_PARTS_OF_LINALG(eigh, Eigen<checking::Poisoned, checking::Poisoned>)
SHARDTYPE_PARTS_OF_LINALG(slogdet, SignAndLogdet<checking::Poisoned, checking::Poisoned>)
SHARDTYPE_PARTS_OF_LINALG(
    lu_factor, LU<checking::Poisoned, checking::Poisoned, checking::Poisoned, checking::Poisoned>)
#undef SHARDTYPE_PARTS_OF_LINALG
// Reported where the factors were refused.
template <class... Labels, class B>
constexpr auto lu_solve(
    LU<checking::Poisoned, checking::Poisoned, checking::Poisoned, checking::Poisoned> const&,
    B const&) {
  return checking::Poisoned{};
}

// Refused, Q13: names of numpy.linalg, scipy.linalg and torch.linalg.
#define SHARDTYPE_NAME_IN_LINALG(name) \
  SHARDTYPE_REFUSED_CALLS(name, Q13_another_name_in_linalg, checking::Poisoned)
SHARDTYPE_NAME_IN_LINALG(solve_triangular)
SHARDTYPE_NAME_IN_LINALG(solve_banded)
SHARDTYPE_NAME_IN_LINALG(solveh_banded)
SHARDTYPE_NAME_IN_LINALG(solve_toeplitz)
SHARDTYPE_NAME_IN_LINALG(solve_ex)
SHARDTYPE_NAME_IN_LINALG(tensorsolve)
SHARDTYPE_NAME_IN_LINALG(tensorinv)
SHARDTYPE_NAME_IN_LINALG(inv_ex)
SHARDTYPE_NAME_IN_LINALG(cholesky_ex)
SHARDTYPE_NAME_IN_LINALG(cholesky_inverse)
SHARDTYPE_NAME_IN_LINALG(cho_factor)
SHARDTYPE_NAME_IN_LINALG(cho_solve)
SHARDTYPE_NAME_IN_LINALG(eigvals)
SHARDTYPE_NAME_IN_LINALG(eigh_tridiagonal)
SHARDTYPE_NAME_IN_LINALG(eig_banded)
SHARDTYPE_NAME_IN_LINALG(vector_norm)
SHARDTYPE_NAME_IN_LINALG(matrix_norm)
SHARDTYPE_NAME_IN_LINALG(multi_dot)
SHARDTYPE_NAME_IN_LINALG(matmul)
SHARDTYPE_NAME_IN_LINALG(dot)
SHARDTYPE_NAME_IN_LINALG(vdot)
SHARDTYPE_NAME_IN_LINALG(vecdot)
SHARDTYPE_NAME_IN_LINALG(inner)
SHARDTYPE_NAME_IN_LINALG(outer)
SHARDTYPE_NAME_IN_LINALG(tensordot)
SHARDTYPE_NAME_IN_LINALG(einsum)
SHARDTYPE_NAME_IN_LINALG(cross)
SHARDTYPE_NAME_IN_LINALG(kron)
SHARDTYPE_NAME_IN_LINALG(trace)
SHARDTYPE_NAME_IN_LINALG(diagonal)
SHARDTYPE_NAME_IN_LINALG(transpose)
SHARDTYPE_NAME_IN_LINALG(matrix_transpose)
SHARDTYPE_NAME_IN_LINALG(tril)
SHARDTYPE_NAME_IN_LINALG(triu)
SHARDTYPE_NAME_IN_LINALG(expm)
SHARDTYPE_NAME_IN_LINALG(logm)
SHARDTYPE_NAME_IN_LINALG(sqrtm)
SHARDTYPE_NAME_IN_LINALG(cosm)
SHARDTYPE_NAME_IN_LINALG(sinm)
SHARDTYPE_NAME_IN_LINALG(signm)
SHARDTYPE_NAME_IN_LINALG(fractional_matrix_power)
SHARDTYPE_NAME_IN_LINALG(null_space)
SHARDTYPE_NAME_IN_LINALG(orth)
SHARDTYPE_NAME_IN_LINALG(polar)
SHARDTYPE_NAME_IN_LINALG(hessenberg)
SHARDTYPE_NAME_IN_LINALG(ldl)
SHARDTYPE_NAME_IN_LINALG(lu_unpack)
SHARDTYPE_NAME_IN_LINALG(vander)
SHARDTYPE_NAME_IN_LINALG(block_diag)
SHARDTYPE_NAME_IN_LINALG(toeplitz)
SHARDTYPE_NAME_IN_LINALG(svd_lowrank)
SHARDTYPE_NAME_IN_LINALG(householder_product)
SHARDTYPE_NAME_IN_LINALG(subspace_angles)
SHARDTYPE_NAME_IN_LINALG(pinvh)
SHARDTYPE_REFUSED_CALLS(eig, Q13_another_name_in_linalg,
                        Eigen<checking::Poisoned, checking::Poisoned>)
#undef SHARDTYPE_NAME_IN_LINALG

}  // namespace shardtype::linalg::api
