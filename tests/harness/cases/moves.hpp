// Changes of sharding. Programs run some of the collectives in their two parts.
#pragma once

#include <string_view>

#include "harness/gradient_case.hpp"

namespace programs::cases {

struct Move : Case {
  static constexpr unsigned reads = reads_axis;
  static constexpr bool moves = true;
  static constexpr bool keeps_distinct = true;
  static constexpr bool recorded = false;
  static Int element(Cell const& c) { return c.a(); }
};
struct ToPartial : Move {
  static constexpr std::string_view gradients_of[] = {"ToPartial"};
  static constexpr rules::Verdict asks(Spec const& a, int axis) {
    return rules::to_partial(a, axis);
  }
  // The blocks of a split dim, or a whole value on the first rank.
  static Int element(Cell const& c) { return c.has_a() ? c.a() : 0; }
  static bool has_part(Instruction const& in, Spec const& a, planning::Sizing const&,
                       Coords const& me) {
    return a.dim_of(in.axis) >= 0 || me[in.axis] == 0;
  }
  static auto perform(auto on) { return to_partial<typename decltype(on)::Axis>(on.a); }
};
// To another mesh, of the same ranks.
struct Moved : Move {
  static constexpr unsigned reads = reads_result;
  static constexpr bool anywhere = true;
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return rules::transfer(r.a, in.result);
  }
  static auto perform(auto on) { return transfer<typename decltype(on)::Out>(on.a, on.mesh); }
};

// What a reshard does.
struct Resharding : Move {
  static constexpr planning::LocalPlan meet(Instruction const& in, Rules const&,
                                            planning::Sizing const&) {
    return {{}, 1, {in.result}, in.result};
  }
};
struct ToReduced : Resharding {
  static constexpr std::string_view gradients_of[] = {"ToReduced"};
  static constexpr rules::Verdict asks(Spec const& a, int axis) { return rules::reduced(a, axis); }
  static auto perform(auto on) { return reduced<typename decltype(on)::Axis>(on.a); }
};
// The value as a parameter is used: whole and reduced along an axis.
struct UsedAs : Resharding {
  static constexpr std::string_view gradients_of[] = {"UsedAs"};
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    core::AxisSet over;
    over.insert(in.axis);
    return rules::used_as(r.a, over);
  }
  static auto perform(auto on) { return used_as<Reduced<typename decltype(on)::Axis>>(on.a); }
};
struct Reshard : Resharding {
  static constexpr std::string_view gradients_of[] = {"Reshard"};
  static constexpr unsigned reads = reads_result;
  static constexpr bool recorded = true;
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return rules::reshard(r.a, in.result);
  }
  static auto perform(auto on) { return reshard<typename decltype(on)::Out>(on.a); }
};
struct AllGather : Resharding {
  static constexpr std::string_view gradients_of[] = {"AllGather"};
  static constexpr rules::Verdict asks(Spec const& a, int axis) {
    return rules::all_gather(a, axis);
  }
  static auto perform(auto on) {
    using On = typename decltype(on)::Axis;
    if constexpr (decltype(on)::in_two)
      return start(op::AllGather<On>{}, on.a).wait();
    else
      return all_gather<On>(on.a);
  }
};
struct AllReduce : Resharding {
  static constexpr std::string_view gradients_of[] = {"AllReduce"};
  static constexpr rules::Verdict asks(Spec const& a, int axis) {
    return rules::all_reduce(a, axis);
  }
  static auto perform(auto on) {
    using On = typename decltype(on)::Axis;
    if constexpr (decltype(on)::in_two)
      return start(op::AllReduce<On>{}, on.a).wait();
    else
      return all_reduce<On>(on.a);
  }
};
struct ReduceScatter : Resharding {
  static constexpr std::string_view gradients_of[] = {"ReduceScatter"};
  static constexpr unsigned reads = reads_axis | reads_from;
  static constexpr int seldom_fits = 1;
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return rules::reduce_scatter(r.a, in.axis, in.from);
  }
  static auto perform(auto on) {
    using On = typename decltype(on)::Axis;
    using V = typename decltype(on)::V;
    if constexpr (decltype(on)::in_two)
      return start(op::ReduceScatter<On, V>{}, on.a).wait();
    else
      return reduce_scatter<On, V>(on.a);
  }
};
struct AllToAll : Resharding {
  static constexpr std::string_view gradients_of[] = {"AllToAll"};
  static constexpr unsigned reads = reads_axis | reads_from | reads_to;
  static constexpr int seldom_fits = 1;
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return in.from == in.to ? Rules::no() : rules::all_to_all(r.a, in.axis, in.from, in.to);
  }
  static auto perform(auto on) {
    using On = typename decltype(on)::Axis;
    using V = typename decltype(on)::V;
    using W = typename decltype(on)::W;
    if constexpr (decltype(on)::in_two)
      return start(op::AllToAll<On, V, W>{}, on.a).wait();
    else
      return all_to_all<On, V, W>(on.a);
  }
};

using Moves = CaseList<ToPartial, Moved, ToReduced, UsedAs, Reshard, AllGather, AllReduce,
                       ReduceScatter, AllToAll>;

}  // namespace programs::cases
