#pragma once
/// Finds steps of a plan whose value an earlier step has already computed.

#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <shardtype/core/list.hpp>
#include <shardtype/plan/program_plan.hpp>

namespace shardtype::execute {

/// Whether two operations of one type have equal run-time arguments. False where their members
/// cannot be compared.
template <class Op>
bool equal_arguments(Op const& a, Op const& b) {
  if constexpr (std::is_empty_v<Op>) {
    return true;
  } else if constexpr (requires {
                         { a == b } -> std::convertible_to<bool>;
                       }) {
    return a == b;
  } else if constexpr (std::is_trivially_copyable_v<Op> &&
                       std::has_unique_object_representations_v<Op>) {
    return std::memcmp(&a, &b, sizeof(Op)) == 0;
  } else {
    return false;
  }
}

/// Steps that have the value of an earlier one, in the same layout: an argument of a function that
/// is read again, the same move of the same value, the same operation with equal run-time arguments
/// on the same values. They are not run, so the earlier value is held until then, but not where
/// this would exceed the plan's peak. The same on all ranks.
class SameValues {
 public:
  /// `same(step, other)`: whether two steps begin with the same argument, or run the same operation
  /// with equal arguments, whatever their inputs.
  template <class Same>
  void find(ProgramPlan const& plan, Same const& same) {
    auto const steps = static_cast<std::size_t>(plan.size);
    shardtype::detail::List<std::int64_t> live_bytes(steps);
    shardtype::detail::List<int> readers(steps);
    std::int64_t* const live = live_bytes.data();
    int* const last_read = readers.data();
    first_.resize(steps);
    plan.for_live_bytes([&](int k, std::int64_t bytes) { live[k] = bytes; });
    for (int k = 0; k < plan.size; ++k)
      for (int m = 0; m < plan.steps.at[k].inputs; ++m) last_read[plan.steps.at[k].input[m]] = k;
    std::int64_t const peak = plan.temporary_bytes();
    for (int k = 0; k < plan.size; ++k) {
      int& mine = first_[static_cast<std::size_t>(k)];
      mine = k;
      for (int j = 0; j < k && mine == k; ++j)
        if (first(j) == j && alike(plan, k, j) &&
            (plan.steps.at[k].kind == ProgramStep::Kind::move || same(k, j)) &&
            hold(plan, j, k, live, last_read, peak))
          mine = j;
    }
  }

  /// The first step with the value of `step`, or `step` itself.
  int first(int step) const { return first_[static_cast<std::size_t>(step)]; }

 private:
  bool alike(ProgramPlan const& plan, int k, int j) const {
    ProgramStep const& x = plan.steps.at[k];
    ProgramStep const& y = plan.steps.at[j];
    if (x.kind != y.kind || x.collective != y.collective || x.inputs != y.inputs ||
        x.from != y.from || x.to != y.to || !(x.axes == y.axes) || x.layout != y.layout)
      return false;
    for (int m = 0; m < x.inputs; ++m)
      if (first(x.input[m]) != first(y.input[m])) return false;
    return true;
  }
  /// Holds the value of step `j` until the last reader of step `k`, if the peak allows it.
  static bool hold(ProgramPlan const& plan, int j, int k, std::int64_t* live, int* last_read,
                   std::int64_t peak) {
    bool const given = plan.steps.at[j].kind == ProgramStep::Kind::given;
    std::int64_t const bytes = given ? 0 : plan.block_bytes(j);
    for (int m = last_read[j] + 1; m < k; ++m)
      if (add_sat(live[m], bytes) > peak) return false;
    for (int m = last_read[j] + 1; m < k; ++m) live[m] = add_sat(live[m], bytes);
    last_read[j] = last_read[k] > last_read[j] ? last_read[k] : last_read[j];
    return true;
  }

  shardtype::detail::List<int> first_;
};

}  // namespace shardtype::execute
