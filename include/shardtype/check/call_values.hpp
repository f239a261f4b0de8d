#pragma once
/// The values of one call of an operation, and its work on them.

#include <cstddef>
#include <cstdint>

#include <shardtype/core/bridge.hpp>
#include <shardtype/plan/local_plan.hpp>

namespace shardtype::detail {

/// Extents of the operands and of the result of one call, with their names in its plan.
template <std::size_t Count>
struct CallValues {
  static constexpr int count = static_cast<int>(Count);
  Spec operands[Count];
  OwnSizing given[Count];
  planning::CallSizing call;

  /// `extents`: of each operand's dims; `made`: of the result's.
  constexpr CallValues(Names const& names, ParsedType const* types, Spec const& result,
                       Sizes const& sizes, std::int64_t const* const* extents,
                       std::int64_t const* made, std::int64_t const* element_bytes) {
    call.common = {names.extents(), sizes, element_bytes[0]};
    for (int k = 0; k <= count; ++k) {
      Spec const& s = k < count ? types[k].spec : result;
      std::int64_t const* const of = k < count ? extents[k] : made;
      OwnSizing& own = k < count ? given[k] : call.made;
      own.extents = call.common.extents;
      own.element_bytes = element_bytes[k];
      for (int d = 0; d < s.rank; ++d) {
        own.extents.at[s.dims[d].label] = of[d];
        if (std::int64_t& n = call.common.extents.at[s.dims[d].label]; n == dynamic) n = of[d];
      }
      if (k < count) operands[k] = s;
    }
    call.operands = operands;
    call.count = count;
    call.given = given;
    call.result = result;
  }
};

/// The work of `op` besides reading and writing; dim `along` is that of the first label it works
/// on.
template <class Op>
constexpr planning::Work work_of([[maybe_unused]] Op const& op,
                                 [[maybe_unused]] planning::CallSizing const& c,
                                 [[maybe_unused]] int along) {
  if constexpr (requires { op.work(c, along); }) {
    return op.work(c, along);
  } else if constexpr (requires { op.work(c); }) {
    return op.work(c);
  } else if constexpr (requires { requires Op::shares_memory; }) {
    return {0, 0, true};
  } else {
    return {};
  }
}
/// The same for every call of `Op`, if the work does not depend on run-time arguments.
template <class Op>
constexpr planning::Work work_of([[maybe_unused]] planning::CallSizing const& c) {
  if constexpr (requires { Op::work(c); }) {
    return Op::work(c);
  } else if constexpr (requires { requires Op::shares_memory; }) {
    return {0, 0, true};
  } else {
    return {};
  }
}

}  // namespace shardtype::detail
