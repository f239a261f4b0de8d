#pragma once
/// What kernels and plans both name of conditions and determinants.

namespace shardtype::linalg {

/// The most rounds of a solution and one of the adjoint matrix. After them comes one solution more.
inline constexpr int condition_rounds = 5;

}  // namespace shardtype::linalg

namespace shardtype::linalg::detail {

/// The quantity computed from the pivots: their product, the logarithm of its modulus, or its sign.
enum class Product { whole, logarithm, sign };

}  // namespace shardtype::linalg::detail
