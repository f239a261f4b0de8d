#pragma once
/// The operations of linalg/ that users call. The others are called by functions and by backward passes.

#include <shardtype/check/registered.hpp>

namespace shardtype::op {

// clang-format off
/// The operations of linalg/, sorted by name.
inline constexpr Registered linalg_operations[] = {
    {"Cholesky", "cholesky"},
    {"LuSolve", "lu_solve"},
    {"Solve", "solve"},
    {"TriangularSolve", "triangular_solve"},
};
// clang-format on

}  // namespace shardtype::op
