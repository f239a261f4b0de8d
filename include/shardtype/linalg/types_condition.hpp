#pragma once
/// The number of solves in an estimate of a matrix's condition, for its kernel and for its plan.

namespace shardtype::linalg {

/// The most rounds of a solution and one of the adjoint matrix. After them comes one solution more.
inline constexpr int condition_rounds = 5;

}  // namespace shardtype::linalg
