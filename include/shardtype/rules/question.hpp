#pragma once
/// The arguments of a rule, as values.

#include <shardtype/core/block.hpp>
#include <shardtype/rules/verdict.hpp>

namespace shardtype::rules {

/// The operands of an operation, the labels it works on (`from`), the dims it creates (`to`), and
/// the extents and sizes that the types give (`dynamic` if they give none).
struct Question {
  Spec const* operands = nullptr;
  int count = 0;
  Spec from{};
  Spec to{};
  Extents extents{};
  Sizes sizes{};
  bool boolean = false;  ///< whether the first operand's elements are bool

  constexpr Spec const& a() const { return operands[0]; }
  /// The label of the first dim that the operation works on.
  constexpr int along() const { return from.dims[0].label; }
  constexpr std::int64_t extent(Spec const& s, int d) const { return extents[s.dims[d].label]; }
  /// Whether the types give the sizes of all these axes.
  constexpr bool sizes_known(AxisList const& axes) const {
    for (int k = 0; k < axes.size; ++k)
      if (sizes[axes[k]] == dynamic) return false;
    return true;
  }
};

}  // namespace shardtype::rules
