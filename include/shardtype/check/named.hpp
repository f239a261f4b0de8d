#pragma once
/// Named results of operations that compute on blocks, on types: reshard the operands, compute,
/// reshard the result.

#include <cstdint>
#include <type_traits>
#include <utility>

#include <shardtype/check/operation.hpp>
#include <shardtype/plan/named_plan.hpp>

namespace shardtype {

namespace op {

/// The operation `Op` with a named result: operands are resharded if its rule needs it, then the
/// result is.
///
///     call(op::Named<Smooth<I>, Dim<I, X>, Dim<J>>{{.weight = 0.5}}, where, a)
///
/// Operands are sliced to the result's sharding where that is free; then they are gathered (or
/// reduced) over each mesh axis for which the rule still refuses them. An operation with other
/// needs defines `meet(rules::Question, wanted)`; one whose ranks combine totals before they
/// compute defines their sharding `totals(operand, from)` and size `total_bytes`. Refused: whatever
/// the rule refuses for any sharding, V14 of Locals, N05, R01 to R04 for the result, and N07 an
/// operation that does not compute one block from blocks (`detail::has_named_form`).
template <class Op, class... Out>
struct Named {
  using operation = Named;
  static constexpr std::string_view name = Op::name;
  Op op{};
  /// The operation itself.
  constexpr Op const& strict() const { return op; }
};
/// `Op`, or its named result `Out...` if there is one.
template <class Op, class... Out>
using MaybeNamed = std::conditional_t<sizeof...(Out) == 0, Op, Named<Op, Out...>>;

}  // namespace op

namespace detail {

/// Whether an operation's windows move along dims, and ranks exchange rows of those that are split.
template <class Op>
inline constexpr bool moves_windows = requires { requires Op::moves_windows; };

/// Whether `Op` computes one block from blocks, so that its result can be named by op::Named. Of
/// operations that communicate those with windows can.
template <class Op>
inline constexpr bool has_named_form =
    Ruled<Op> && !HasResults<Op> &&
    (moves_windows<Op> || !requires { requires Op::communicates; }) &&
    !requires { requires !Op::has_named_form; } && !requires(Op const& op) { op.strict(); };

/// The plan for the operands of a named result: by the operation's `meet`, or else by its rule.
template <class Op>
constexpr planning::LocalPlan meet(rules::Question const& q, Spec const& wanted,
                                   [[maybe_unused]] int candidate) {
  if constexpr (requires { Op::meet(q, wanted, candidate); }) {
    return Op::meet(q, wanted, candidate);
  } else if constexpr (requires { Op::meet(q, wanted); }) {
    return Op::meet(q, wanted);
  } else {
    return planning::local_plan(&Op::rule, q, wanted);
  }
}

/// Whether ranks that split the dim an operation works along take the steps of its `steps`: they
/// exchange its rows, or search them together.
template <class Op>
inline constexpr bool runs_steps = moves_windows<Op> || requires { requires Op::exchanges_rows; } ||
                                   requires { requires Op::searches_rows; };

/// Number of candidates for that plan.
template <class Op>
inline constexpr int candidates_of = 1;
template <class Op>
  requires requires { Op::candidates; }
inline constexpr int candidates_of<Op> = Op::candidates;

/// The types of operands and result after the reshards of a named result; `W::value` is its
/// LocalPlan, in the names of scope `S`.
template <class S, class W, class Out>
struct MetTypes {
  template <int K>
  struct Operand {
    static constexpr Spec value = W::value.operands[K];
  };
  struct Result {
    static constexpr Spec value = W::value.result;
  };
  /// S::parsed with the shardings that the operands have after their reshards.
  struct ParsedTypes {
    ParsedType at[S::types]{};
    constexpr ParsedTypes() {
      for (int k = 0; k < S::types; ++k) at[k] = S::parsed[k];
      for (int k = 0; k < W::value.count; ++k) at[k].spec = W::value.operands[k];
    }
  };
  static constexpr ParsedTypes parsed{};
  static constexpr Spec const& made = W::value.result;
  template <int K, class A>
  using operand = tensor_from_spec<S, Operand<K>, element_t<A>, A>;
  using result = tensor_from_spec<S, Result, element_t<Out>, Out>;
};

/// A tensor type with the memory of the result of `Op`.
template <class Op, class A>
struct ResultLike {
  using type = A;
};
template <class Op, class A>
  requires NamesMemory<Op, A>
struct ResultLike<Op, A> {
  using type = typename Op::template like<A>;
};

/// The named result `Out` of `Op` for operands `A, Bs...`: the verdict.
template <class Op, class Out, class A, class... Bs>
struct NamedRule {
  using S = Scope<A, Bs..., typename FromOf<Op>::type, typename ToOf<Op>::type, Out>;
  static constexpr int operands = 1 + static_cast<int>(sizeof...(Bs));
  static constexpr Spec wanted = S::template spec<operands + 2>;

  static constexpr planning::LocalPlan decide(int candidate) {
    if constexpr (!has_named_form<Op>) {
      return {refuse(Code::N07_no_named_form), 0, {}, {}};
    } else {
      return decide_form(candidate);
    }
  }
  static constexpr planning::LocalPlan decide_form(int candidate) {
    using planning::LocalPlan;
    if (rules::any_of_manual_mode(S::parsed, operands))
      return {refuse(Code::V14_named_result), 0, {}, {}};
    if (Verdict v = rules::lawful(S::names, S::parsed, operands + 3, moves_windows<Op>); !v)
      return {v, 0, {}, {}};
    if (operands > planning::max_local_operands) return {refuse(Code::T07_too_many), 0, {}, {}};
    if (Code const c = detail::refused_elements<Op, A, Bs...>(); c != Code::ok)
      return {refuse(c), 0, {}, {}};
    if (!std::is_same_v<element_t<Out>, typename ElementOfResult<Op, A, Bs...>::type> ||
        !same_memory<Out, typename ResultLike<Op, A>::type>)
      return {refuse(Code::N05_element_type), 0, {}, {}};
    Spec given[1 + sizeof...(Bs)];
    for (int k = 0; k < operands; ++k) given[k] = S::parsed[k].spec;
    return detail::meet<Op>(
        {given, operands, S::template spec<operands>, S::template spec<operands + 1>,
         S::names.extents(), S::names.sizes(), std::is_same_v<element_t<A>, bool>},
        wanted, candidate);
  }
  template <int Candidate>
  struct Way {
    static constexpr planning::LocalPlan value = decide(Candidate);
  };
  static constexpr Verdict verdict = Way<0>::value.verdict;
};

template <class Rule, class Op, class Out, class A, class... Bs>
struct NamedForm : Rule {
  using S = typename Rule::S;
  using result = Out;
  static constexpr bool communicates = true;
  static constexpr int candidates = candidates_of<Op>;
  template <int Candidate>
  using met = MetTypes<S, typename Rule::template Way<Candidate>, Out>;
  static constexpr std::int64_t element_bytes[2 + sizeof...(Bs)] = {
      static_cast<std::int64_t>(sizeof(element_t<A>)),
      static_cast<std::int64_t>(sizeof(element_t<Bs>))...,
      static_cast<std::int64_t>(sizeof(element_t<Out>))};

  /// Computes the result's extents from the operands', by labels. Errors: the operation's own
  /// errors.
  static constexpr void set_extents(Op const& op, Sizes const& sizes,
                                    std::int64_t const* const* given, std::int64_t* out) {
    ResultExtents const c{
        S::names, S::parsed, Rule::operands, Rule::template Way<0>::value.result, sizes,
        given,    out};
    c.carry();
    if constexpr (requires { op.extents(c); }) op.extents(c);
  }
  /// The sharding of the result before its reshard.
  static constexpr auto const& made = Rule::template Way<0>::value.result;
  /// The candidate that moves fewer bytes at these sizes.
  static constexpr int candidate([[maybe_unused]] Sizing const& z) {
    if constexpr (candidates > 1) {
      if (!Rule::template Way<1>::value.verdict) return 0;
      return Op::second_is_cheaper(Rule::template Way<0>::value, Rule::template Way<1>::value,
                                   S::parsed[0].spec, S::parsed[1].spec, Rule::wanted, z,
                                   element_bytes)
                 ? 1
                 : 0;
    } else {
      return 0;
    }
  }
  /// The candidate of a given plan, which may have been made for other sizes (choose_plan).
  static constexpr int candidate([[maybe_unused]] Plan const& plan) {
    if constexpr (candidates > 1) {
      return makes(plan, Rule::template Way<0>::value) ? 0 : 1;
    } else {
      return 0;
    }
  }
  static constexpr Plan make_plan(Sizing const& z, Machine const& m = {}) {
    Spec given[1 + sizeof...(Bs)];
    for (int k = 0; k < Rule::operands; ++k) given[k] = S::parsed[k].spec;
    planning::LocalPlan const* local = &Rule::template Way<0>::value;
    if constexpr (candidates > 1)
      if (candidate(z) == 1) local = &Rule::template Way<1>::value;
    planning::NamedCall call{Op::name, given, local, Rule::wanted, z, element_bytes};
    call.from = S::template spec<Rule::operands>;
    call.to = S::template spec<Rule::operands + 1>;
    if constexpr (requires { Op::sent_bytes(0); }) {
      call.totals = Op::totals(local->operands[0], call.from);
      call.total_bytes = Op::sent_bytes(element_bytes[0]);
    }
    if constexpr (runs_steps<Op>) call.steps = &append_steps;
    return planning::named_plan(call, m, false,
                                [](planning::CallSizing const& c) { return work_of_met(c); });
  }

 private:
  /// The dim that an operation works along which runs steps.
  static constexpr int along(planning::CallSizing const& c) {
    return c.operands[0].find(c.from.dims[0].label);
  }
  static constexpr void append_steps(Plan& p, planning::CallSizing const& c) {
    Op{}.steps(p, c, along(c));
  }
  static constexpr planning::Work work_of_met(planning::CallSizing const& c) {
    if constexpr (runs_steps<Op> && !moves_windows<Op>) {
      return Op::work(c, along(c));
    } else {
      return detail::work_of<Op>(c);
    }
  }
  /// Whether a plan has the operands and the result of the candidate `way`.
  static constexpr bool makes(Plan const& plan, planning::LocalPlan const& way) {
    Spec at[Rule::operands];
    for (int k = 0; k < Rule::operands; ++k) at[k] = S::parsed[k].spec;
    for (Step const& s : plan) {
      if (s.move == Move::compute) return s.after == way.result && equal(at, way);
      for (int k = 0; k < Rule::operands; ++k)
        if (s.slot == operand_slot(k)) at[k] = s.after;
    }
    return false;
  }
  static constexpr bool equal(Spec const* at, planning::LocalPlan const& way) {
    for (int k = 0; k < Rule::operands; ++k)
      if (!(at[k] == way.operands[k])) return false;
    return true;
  }
};

/// The result of `Op` of type `Out`.
template <class Op, class Out, class A, class... Bs>
using named_form = resolved_t<NamedForm, NamedRule<Op, Out, A, Bs...>, Op, Out, A, Bs...>;

}  // namespace detail

}  // namespace shardtype

namespace shardtype::checking {

template <class Op, class... Out, class A, class... Bs>
  requires(is_tensor<A> && (is_tensor<Bs> && ...))
struct Resolve<op::Named<Op, Out...>, A, Bs...>
    : detail::named_form<
          Op,
          detail::named_as_t<typename detail::FirstElement<
                                 typename detail::ElementOfResult<Op, A, Bs...>::type>::type,
                             typename detail::ResultLike<Op, A>::type, Out...>,
          A, Bs...> {};

}  // namespace shardtype::checking
