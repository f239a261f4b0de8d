#pragma once
/// The condition of least squares on the extents of a matrix.

#include <cstdint>
#include <string>

#include <shardtype/check/operation.hpp>

namespace shardtype::detail {

/// Error E41 where a matrix has more columns than rows.
constexpr void check_tall(ResultExtents const& c) {
  int const rows = c.a().find(c.from().dims[0].label), cols = c.a().find(c.from().dims[1].label);
  if (c.given[0][rows] >= 0 && c.given[0][rows] < c.given[0][cols])
    ResultExtents::fail(
        "index " + c.name(rows) + " has extent " + std::to_string(c.given[0][rows]) + " and " +
        c.name(cols) + " " + std::to_string(c.given[0][cols]) +
        "; lstsq takes at least as many rows as columns, or, of stacks, with .rcond, any matrix");
}

}  // namespace shardtype::detail
