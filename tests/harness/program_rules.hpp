// The verdicts of the library's rules on an instruction whose operands have these shardings.
#pragma once

#include <shardtype/plan/indexing_plan.hpp>
#include <shardtype/rules/transfer.hpp>

#include "harness/cases.hpp"

namespace programs {

class Asking : private Rules {
 public:
  using Rules::Rules;

  /// The rule's verdict; draws the details of the instruction.
  constexpr rules::Verdict ask(Instruction& in) {
    in.axis = draw.below(axes);
    in.from = draw.below(labels);
    in.to = draw.below(labels);
    if (is_case(in.op)) return case_of(in.op).rule(*this, in);
    if (is_named_elementwise(in.op)) return named_elementwise(in);
    if (is_reduction(in.op) || is_named_reduction(in.op)) return reduction(in);
    if (is_product(in.op)) return product(in);
    if (in.op >= Op::to_partial) return change(in);
    if (in.op >= Op::look_up) return indexing(in);
    return along(in);
  }

 private:
  constexpr rules::Verdict named_elementwise(Instruction const& in) {
    if (in.op == Op::named_divide) {  // the operand is 4 x, which no pending maximum allows
      rules::Operands scaled;
      scaled.push(a);
      scaled.push({});
      if (rules::Verdict const v = rules::elementwise(scaled, meets<functions::Multiply>); !v)
        return v;
    }
    rules::Operands all;
    all.push(a);
    all.push(b);
    rules::Labels out = together(a, b);
    if (taken(in.op).operands > 2) {
      all.push(c);
      for (int d = 0; d < c.rank; ++d)
        if (!out.contains(c.dims[d].label)) out.push(c.dims[d].label);
    }
    return rules::named_elementwise(all, wanted(out), linearity(in.op, first));
  }
  constexpr rules::Verdict reduction(Instruction& in) {
    rules::Labels const kept = some_labels(draw, mine);
    in.list = without(mine, kept);
    if (in.list.size == 0) return no();
    return is_reduction(in.op) ? rules::reduction(a, kept, reduction_kind(in.op))
                               : rules::named_reduction(a, wanted(kept), reduction_kind(in.op));
  }
  constexpr rules::Verdict product(Instruction& in) {
    if (in.op == Op::matrix_product || in.op == Op::named_matrix_product) {
      if (rules::Verdict const v = rules::matmul_labels(a, b, in.list); !v) return v;
      if (in.op == Op::matrix_product) return rules::contraction(a, b, in.list);
      return rules::named_contraction(a, b, wanted(in.list), false);
    }
    in.list = some_labels(draw, together(a, b));
    if (in.list.size == 0) return no();
    if (in.op == Op::contract) return rules::contraction(a, b, in.list);
    return rules::named_contraction(a, b, wanted(in.list), true);
  }

  constexpr rules::Verdict along(Instruction& in) {
    Spec const both[] = {a, b};
    int const v = in.from;
    switch (in.op) {
      case Op::last_of_two: {
        rules::Verdict const stacked = shape(rules::stack, both, 2, -1, labels);
        return shape(rules::squeeze, shape(rules::resized, stacked, labels), labels);
      }
      case Op::broadcast: {
        rules::Question q = question(&a, 1);
        q.to.add(v);
        if (in.to == 0) q.to.dims[0].axes.push(in.axis);
        return rules::broadcast(q, false);
      }
      default:
        return no();
    }
  }
  constexpr rules::Verdict indexing(Instruction& in) {
    rules::Verdict const given = rules::accept(a);
    if ((in.op == Op::look_up || in.op == Op::named_look_up) && mine.size > 0)
      in.from = mine.at[draw.below(mine.size)];
    int const v = in.from;
    rules::Labels one;
    one.push(v);
    core::ReduceKind const joining =
        first == Element::boolean ? core::ReduceKind::max : core::ReduceKind::sum;
    switch (in.op) {
      case Op::look_up:
        return rules::take(a, b, v, joining);
      case Op::named_look_up: {
        rules::Labels out = without(mine, one);
        for (int e = 0; e < b.rank; ++e)
          if (!out.contains(b.dims[e].label)) out.push(b.dims[e].label);
        return planning::take_plan(a, b, wanted(out), v, joining).verdict;
      }
      case Op::add_rows:
        return rules::scatter_add(a, b, v);
      case Op::named_add_rows: {
        rules::Labels out = without(mine, rules::labels_of(b));
        if (!out.contains(v)) out.push(v);
        return planning::scatter_plan(a, b, wanted(out), v, false).verdict;
      }
      case Op::one_hot:
        return rules::one_hot(a, v);
      case Op::named_one_hot: {
        rules::Labels out = mine;
        if (!out.contains(v)) out.push(v);
        return planning::one_hot_plan(a, wanted(out), v).verdict;
      }
      case Op::take_along:
        return rules::take_along(a, b, v, v);
      case Op::window:
        return shape(pad, shape(rules::resized, given, v), v);
      case Op::window_at:
        if (rules::Verdict const s = start(b); !s) return s;
        return shape(pad, shape(rules::resized, given, v), v);
      case Op::replaced_at:
        if (rules::Verdict const s = start(c); !s) return s;
        [[fallthrough]];
      case Op::replaced: {
        rules::Verdict const part = shape(rules::resized, rules::accept(b), v);
        return part ? rules::dynamic_update(a, part.result, v, v) : part;
      }
      default:
        return no();
    }
  }
  // `item` reads the start of a window.
  static constexpr rules::Verdict start(Spec const& s) {
    if (s.rank > 0) return refuse(rules::Code::A01_item_has_dims);
    return s.unreduced.empty() ? rules::Verdict{} : refuse(rules::Code::A02_still_unreduced);
  }
  constexpr rules::Verdict change(Instruction const& in) {
    switch (in.op) {
      case Op::to_partial:
        return rules::to_partial(a, in.axis);
      case Op::reduced:
        return rules::reduced(a, in.axis);
      case Op::reshard: {
        Spec to = random_spec(draw, mine, draw.one_in(2));
        to.kind = a.kind;
        if (draw.one_in(2))
          to.unreduced.bits = static_cast<std::uint8_t>(to.unreduced.bits & a.unreduced.bits);
        return rules::reshard(a, to);
      }
      case Op::all_gather:
        return rules::all_gather(a, in.axis);
      case Op::all_reduce:
        return rules::all_reduce(a, in.axis);
      case Op::reduce_scatter:
        return rules::reduce_scatter(a, in.axis, in.from);
      case Op::all_to_all:
        return in.from == in.to ? no() : rules::all_to_all(a, in.axis, in.from, in.to);
      case Op::moved:
        return rules::transfer(a, random_spec(draw, mine, draw.one_in(4)));
      default:
        return no();
    }
  }
};

}  // namespace programs
