#pragma once
/// Plans of operations that compute on the blocks without moving them: one step, and its memory.

#include <cstdint>
#include <string_view>

#include <shardtype/plan/at_run_time.hpp>
#include <shardtype/plan/plan.hpp>
#include <shardtype/plan/work.hpp>

namespace shardtype::planning {

/// The sizes of the values of one call. Each has its own extents: a label may be shorter in the
/// result.
struct CallSizing {
  Sizing common{};  ///< of the labels, as far as operands agree
  Spec const* operands = nullptr;
  int count = 0;
  Spec result{};
  Spec from{};                       ///< the labels that the operation works on
  Spec to{};                         ///< the dims that it creates
  OwnSizing const* given = nullptr;  ///< of each operand
  OwnSizing made{};                  ///< of the result

  /// Elements of the largest block of operand `k`, and of the result.
  constexpr std::int64_t elements(int k) const {
    return largest_elements(operands[k], given[k].extents, common.sizes);
  }
  constexpr std::int64_t result_elements() const {
    return largest_elements(result, made.extents, common.sizes);
  }
  /// Rows of the largest block of operand `k` along dim `d`.
  constexpr std::int64_t rows(int k, int d) const {
    DimSpec const& dim = operands[k].dims[d];
    return largest_block(given[k].extents[dim.label], dim.axes, common.sizes);
  }
  constexpr std::int64_t element_bytes(int k) const { return given[k].element_bytes; }
  /// Layout of the largest block of operand `k`, and of the result.
  constexpr core::Layout layout(int k) const { return packed(operands[k], given[k]); }
  constexpr core::Layout result_layout() const { return packed(result, made); }

 private:
  constexpr core::Layout packed(Spec const& s, OwnSizing const& own) const {
    return packed_layout(s, {own.extents, common.sizes, own.element_bytes});
  }
};

/// The layout of a block of sharding `s`, seen as a block of sharding `result` with the extents of
/// `out`: dims in the order of the result; new dims have stride 0.
constexpr core::Layout rearranged(core::Layout const& block, Spec const& s, core::Layout out,
                                  Spec const& result) {
  for (int d = 0; d < out.rank; ++d) {
    int const from = s.find(result.dims[d].label);
    out.stride[d] = from < 0 ? 0 : block.stride[from];
  }
  return out;
}

/// plan_of_call, evaluated in this unit.
constexpr Plan plan_of_call_here(std::string_view name, CallSizing const& c) {
  Plan p;
  p.name = name;
  p.sizing = c.common;
  p.result = c.result;
  auto const differs = [&](Spec const& s, OwnSizing const& own) {
    if (own.element_bytes != c.common.element_bytes) return true;
    for (int d = 0; d < s.rank; ++d)
      if (own.extents[s.dims[d].label] != c.common.extents[s.dims[d].label]) return true;
    return false;
  };
  for (int k = 0; k < c.count; ++k) {
    if (k == max_plan_operands) {
      for (; k < c.count; ++k) p.more_bytes += c.elements(k) * c.element_bytes(k);
      break;
    }
    p.push_operand(c.operands[k]);
    OwnSizing own = c.given[k];
    own.slot = operand_slot(k);
    if (differs(c.operands[k], own)) p.push_own(own);
  }
  OwnSizing own = c.made;
  own.slot = Slot::result;
  if (differs(c.result, own)) p.push_own(own);
  return p;
}

/// The plan of a call without its steps.
constexpr Plan plan_of_call(std::string_view name, CallSizing const& c) {
  if (!core::compiled_part || __builtin_is_constant_evaluated()) {
    return plan_of_call_here(name, c);
  } else {
    return at_run_time::plan_of_call(name, c);
  }
}

/// Appends the operation's own computation.
constexpr void append_compute(Plan& p, Work const& work) {
  p.push(local_step(Move::compute, Slot::result, p.result, p.result));
  p.local_flops = work.flops;
  p.workspace = work.workspace;
  p.shares = work.shares;
}

}  // namespace shardtype::planning
