#pragma once

namespace shardtype::linalg::detail {

/// The quantity computed from the pivots: their product, the logarithm of its modulus, or its sign.
enum class Product { whole, logarithm, sign };

}  // namespace shardtype::linalg::detail
