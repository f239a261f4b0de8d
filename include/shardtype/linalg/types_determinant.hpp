#pragma once

namespace shardtype::linalg::detail {

/// What is computed of the pivots' product.
enum class Product { whole, logarithm, sign };

}  // namespace shardtype::linalg::detail
