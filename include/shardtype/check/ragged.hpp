#pragma once
/// An exchange of uneven pieces, on types.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <shardtype/check/operation.hpp>
#include <shardtype/plan/block_plan.hpp>

namespace shardtype {

namespace op {
template <class... Xs>
struct RaggedAllToAll;
}  // namespace op

namespace detail {

/// The types of operand and output of a ragged exchange: equal except for the extent of the first
/// dim, and varying.
template <class A, class B, class... Xs>
struct Ragged {
  using S = Scope<A, B, Mentions<Reduced<Xs...>>>;
  static constexpr int operands = 2;
  static constexpr bool communicates = true;
  static constexpr AxisList axes() {
    AxisList out;
    (out.push(S::names.find_axis(identity<Xs>)), ...);
    return out;
  }
  static constexpr Verdict decide() {
    if (!is_local<A> || !is_local<B>) return refuse(Code::V01_mixed);
    if (Verdict v = rules::lawful(S::names, S::parsed, 2); !v) return v;
    if (S::parsed[2].malformed == Malformed::not_an_axis || sizeof...(Xs) == 0)
      return refuse(Code::T05_not_an_axis);
    if (!same_element<A, B>) return refuse(Code::C10_element_types_differ);
    Spec const a = S::template spec<0>;
    Spec const b = S::template spec<1>;
    bool same = a.rank == b.rank && a.rank > 0;
    for (int d = 0; same && d < a.rank; ++d) same = a.dims[d] == b.dims[d];
    if (!same) return refuse(Code::D12_dims_differ);
    Verdict v = accept(b);
    for (int k = 0; k < axes().size; ++k) {
      int const x = axes()[k];
      if (a.state(x) != AxisState::varying) {
        v = rules::move(a, Movement::permute, x, AxisState::varying);
        return v;
      }
      if (b.unreduced.contains(x)) return refuse(Code::V06_unreduced, -1, -1, x);
      v.result.varying.insert(x);
      v.result.reduced.erase(x);
    }
    return rules::in_manual_mode(v, S::parsed, 2);
  }
  static constexpr Verdict verdict = decide();
};

template <class Rule, class Op, class A, class B>
struct RaggedResult : Rule {
  using result = accepted_t<Rule, element_t<A>, B>;

  /// The extents of the output. Error E24: another dim than the first differs.
  static constexpr void set_extents(Op const&, Sizes const&, std::int64_t const* const* given,
                                    std::int64_t* out) {
    for (int d = 0; d < Rule::verdict.result.rank; ++d) {
      if (d > 0 && given[0][d] != given[1][d])
        ResultExtents::fail(
            "operand and output of ragged_all_to_all differ in a dim that is not the first", "E24");
      out[d] = given[1][d];
    }
  }
  /// The plan: two numbers for each rank, then the rows, at most the whole operand. Independent of
  /// `op`, because each rank has rows of its own.
  static constexpr Plan plan_call(Op const& op, Sizes const& sizes,
                                  std::int64_t const* const* given) {
    std::int64_t made[max_dims]{};
    set_extents(op, sizes, given, made);
    std::int64_t const bytes = static_cast<std::int64_t>(sizeof(element_t<A>));
    std::int64_t const each[] = {bytes, bytes, bytes};
    CallValues<2> const values(Rule::S::names, Rule::S::parsed, Rule::verdict.result, sizes, given,
                               made, each);
    Plan p = planning::plan_of_call(Op::name, values.call);
    AxisList const over = Rule::axes();
    std::int64_t const numbers = 2 * static_cast<std::int64_t>(sizeof(std::int64_t));
    p.push_own({operand_slot(2), {}, numbers * (sizes.product(over) - 1)});
    p.push(planning::chosen_rows_step({}, over, operand_slot(2)));
    p.push(planning::chosen_rows_step(values.operands[0], over, Slot::a));
    planning::append_compute(p, {});
    return p;
  }
  static constexpr int open_count(Op const&, Collective kind) {
    return kind == Collective::all_to_all ? 2 : 0;
  }
};

}  // namespace detail

}  // namespace shardtype

namespace shardtype::checking {

template <class... Xs, class A, class B>
  requires(is_tensor<A> && is_tensor<B>)
struct Resolve<op::RaggedAllToAll<Xs...>, A, B>
    : detail::resolved_t<detail::RaggedResult, detail::Ragged<A, B, Xs...>,
                         op::RaggedAllToAll<Xs...>, A, B> {};

}  // namespace shardtype::checking
