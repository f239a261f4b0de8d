// What the library's rules say of an instruction whose operands have these shardings.
#pragma once

#include <shardtype/plan/indexing_plan.hpp>
#include <shardtype/rules/transfer.hpp>

#include "harness/programs.hpp"
#include "harness/random_spec.hpp"

namespace programs {

class Asking {
 public:
  constexpr Asking(Draw& draw, Element first, Spec const& a, Spec const& b, Spec const& c)
      : draw_(draw), first_(first), a_(a), b_(b), c_(c), mine_(rules::labels_of(a)) {}

  /// The rule's answer; the details of the instruction are drawn.
  constexpr rules::Verdict ask(Instruction& in) {
    in.axis = draw_.below(axes);
    in.from = draw_.below(labels);
    in.to = draw_.below(labels);
    if (is_elementwise(in.op)) return elementwise(in);
    if (is_named_elementwise(in.op)) return named_elementwise(in);
    if (is_reduction(in.op) || is_named_reduction(in.op)) return reduction(in);
    if (is_product(in.op)) return product(in);
    if (in.op >= Op::to_partial) return change(in);
    if (in.op >= Op::look_up) return indexing(in);
    return along(in);
  }

 private:
  static constexpr rules::Verdict no() { return refuse(rules::Code::T09_not_a_tensor); }

  constexpr rules::Verdict elementwise(Instruction const& in) {
    rules::Linearity const how = linearity(in.op, first_);
    rules::Operands all;
    all.push(a_);
    switch (in.op) {
      case Op::scaled:
      case Op::plus_one:
        all.push({});
        break;
      case Op::choose: {
        rules::Operands condition = all;
        condition.push({});
        rules::Verdict const v = rules::elementwise(condition, linearity(Op::positive, first_));
        if (!v) return v;
        all.at[0] = v.result;
        all.push(b_);
        all.push(c_);
        break;
      }
      case Op::selected:
        all.push(b_);
        all.push({}, true);
        break;
      default:
        if (taken(in.op).operands > 1) all.push(b_);
    }
    return rules::elementwise(all, how);
  }
  constexpr rules::Verdict named_elementwise(Instruction const& in) {
    rules::Operands all;
    all.push(a_);
    all.push(b_);
    rules::Labels out = together(a_, b_);
    if (taken(in.op).operands > 2) {
      all.push(c_);
      for (int d = 0; d < c_.rank; ++d)
        if (!out.contains(c_.dims[d].label)) out.push(c_.dims[d].label);
    }
    return rules::named_elementwise(all, wanted(out), linearity(in.op, first_));
  }
  constexpr rules::Verdict reduction(Instruction& in) {
    rules::Labels const kept = some_labels(draw_, mine_);
    in.list = without(mine_, kept);
    if (in.list.size == 0) return no();
    return is_reduction(in.op) ? rules::reduction(a_, kept, reduction_kind(in.op))
                               : rules::named_reduction(a_, wanted(kept), reduction_kind(in.op));
  }
  constexpr rules::Verdict product(Instruction& in) {
    if (in.op == Op::matrix_product || in.op == Op::named_matrix_product) {
      if (rules::Verdict const v = rules::matmul_labels(a_, b_, in.list); !v) return v;
      if (in.op == Op::matrix_product) return rules::contraction(a_, b_, in.list);
      return rules::named_contraction(a_, b_, wanted(in.list), false);
    }
    in.list = some_labels(draw_, together(a_, b_));
    if (in.list.size == 0) return no();
    if (in.op == Op::contract) return rules::contraction(a_, b_, in.list);
    return rules::named_contraction(a_, b_, wanted(in.list), true);
  }

  // A rule of one label on what another gave; `new_label` is in its way, or comes of it.
  template <class Rule>
  static constexpr rules::Verdict shape(Rule rule, rules::Verdict const& before, int label,
                                        int new_label = -1) {
    return before ? shape(rule, &before.result, 1, label, new_label) : before;
  }
  template <class Rule>
  static constexpr rules::Verdict shape(Rule rule, Spec const* operands, int count, int label,
                                        int new_label = -1) {
    rules::Question q = question(operands, count);
    if (label >= 0) q.from.add(label);
    if (new_label >= 0) q.to.add(new_label);
    return rule(q);
  }
  // Rules that ask for more than a question.
  static constexpr rules::Verdict pad(rules::Question const& q) { return rules::pad(q, true); }
  static constexpr rules::Verdict pad_ones(rules::Question const& q) {
    return rules::pad(q, false);
  }
  static constexpr rules::Verdict expand(rules::Question const& q) {
    return rules::broadcast(q, true);
  }
  template <core::ReduceKind kind>
  static constexpr rules::Verdict running(rules::Question const& q) {
    return rules::running(q, kind);
  }
  static constexpr rules::Question question(Spec const* operands, int count) {
    rules::Question q;
    q.operands = operands;
    q.count = count;
    for (int l = 0; l < labels + 2; ++l) q.extents.at[l] = dynamic;
    for (int x = 0; x < axes; ++x) q.sizes.at[x] = dynamic;
    return q;
  }
  constexpr rules::Verdict along(Instruction& in) {
    rules::Verdict const given = rules::accept(a_);
    Spec const both[] = {a_, b_};
    int const v = in.from;
    switch (in.op) {
      case Op::transpose: {
        Spec to;
        int const first = draw_.below(a_.rank + 1);
        for (int d = 0; d < a_.rank; ++d) to.add(a_.dims[(first + d) % a_.rank].label);
        if (a_.rank < 2) return no();
        in.list = rules::labels_of(to);
        return rules::transpose(a_, to);
      }
      case Op::flip:
        return shape(rules::flip, given, v);
      case Op::roll:
        return shape(rules::roll, given, v);
      case Op::from_second:
        return shape(pad, shape(rules::resized, given, v), v);
      case Op::from_second_and_one:
        return shape(pad_ones, shape(rules::resized, given, v), v);
      case Op::twice_each:
        return shape(rules::resized, shape(rules::resized, given, v), v);
      case Op::from_middle:
        return shape(rules::resized, shape(rules::resized, given, v), v);
      case Op::halves:
        if (rules::Verdict const s = shape(rules::resized, given, v); !s) return s;
        return shape(rules::concat, both, 2, v);
      case Op::last_of_two: {
        rules::Verdict const stacked = shape(rules::stack, both, 2, -1, labels);
        return shape(rules::squeeze, shape(rules::resized, stacked, labels), labels);
      }
      case Op::renamed: {
        rules::Verdict const other = shape(rules::relabel, given, v, labels);
        rules::Verdict const again = shape(rules::relabel, other, labels, v);
        return shape(rules::squeeze, shape(expand, again, -1, labels + 1), labels + 1);
      }
      case Op::reshaped: {
        rules::Question q = question(&a_, 1);
        q.from.add(v);
        q.to.add(labels);
        q.to.add(labels + 1);
        rules::Verdict const two = rules::split(q, true);
        if (!two) return two;
        rules::Question back = question(&two.result, 1);
        back.from = q.to;
        back.to = q.from;
        return rules::merge(back);
      }
      case Op::broadcast: {
        rules::Question q = question(&a_, 1);
        q.to.add(v);
        if (in.to == 0) q.to.dims[0].axes.push(in.axis);
        return rules::broadcast(q, false);
      }
      case Op::shift:
      case Op::shift_round:
        return shape(rules::shift, given, v);
      case Op::halo:
      case Op::halo_round:
        return shape(rules::halo, given, v);
      case Op::running_sum:
      case Op::sum_before:
        return shape(running<core::ReduceKind::sum>, given, v);
      case Op::running_max:
        return shape(running<core::ReduceKind::max>, given, v);
      case Op::running_min:
        return shape(running<core::ReduceKind::min>, given, v);
      case Op::sorted:
      case Op::sorted_places:
      case Op::top_values:
      case Op::top_places: {
        rules::Question q = question(&a_, 1);
        q.from.add(v);
        bool const top = in.op == Op::top_values || in.op == Op::top_places;
        rules::Verdict const s = rules::sorted(q, top);
        return top ? shape(pad, s, v) : s;
      }
      default:
        return no();
    }
  }
  constexpr rules::Verdict indexing(Instruction& in) {
    rules::Verdict const given = rules::accept(a_);
    if ((in.op == Op::look_up || in.op == Op::named_look_up) && mine_.size > 0)
      in.from = mine_.at[draw_.below(mine_.size)];
    int const v = in.from;
    rules::Labels one;
    one.push(v);
    core::ReduceKind const joining =
        first_ == Element::boolean ? core::ReduceKind::max : core::ReduceKind::sum;
    switch (in.op) {
      case Op::look_up:
        return rules::take(a_, b_, v, joining);
      case Op::named_look_up: {
        rules::Labels out = without(mine_, one);
        for (int e = 0; e < b_.rank; ++e)
          if (!out.contains(b_.dims[e].label)) out.push(b_.dims[e].label);
        return planning::take_plan(a_, b_, wanted(out), v, joining).verdict;
      }
      case Op::add_rows:
        return rules::scatter_add(a_, b_, v);
      case Op::named_add_rows: {
        rules::Labels out = without(mine_, rules::labels_of(b_));
        if (!out.contains(v)) out.push(v);
        return planning::scatter_plan(a_, b_, wanted(out), v, false).verdict;
      }
      case Op::one_hot:
        return rules::one_hot(a_, v);
      case Op::named_one_hot: {
        rules::Labels out = mine_;
        if (!out.contains(v)) out.push(v);
        return planning::one_hot_plan(a_, wanted(out), v).verdict;
      }
      case Op::take_along:
        return rules::take_along(a_, b_, v, v);
      case Op::window:
        return shape(pad, shape(rules::resized, given, v), v);
      case Op::window_at:
        if (rules::Verdict const s = start(b_); !s) return s;
        return shape(pad, shape(rules::resized, given, v), v);
      case Op::replaced_at:
        if (rules::Verdict const s = start(c_); !s) return s;
        [[fallthrough]];
      case Op::replaced: {
        rules::Verdict const part = shape(rules::resized, rules::accept(b_), v);
        return part ? rules::dynamic_update(a_, part.result, v, v) : part;
      }
      default:
        return no();
    }
  }
  // Where a window starts is read by `item`.
  static constexpr rules::Verdict start(Spec const& s) {
    if (s.rank > 0) return refuse(rules::Code::A01_item_has_dims);
    return s.unreduced.empty() ? rules::Verdict{} : refuse(rules::Code::A02_still_unreduced);
  }
  constexpr rules::Verdict change(Instruction const& in) {
    switch (in.op) {
      case Op::to_partial:
        return rules::to_partial(a_, in.axis);
      case Op::reduced:
        return rules::reduced(a_, in.axis);
      case Op::reshard: {
        Spec to = random_spec(draw_, mine_, draw_.one_in(2));
        to.kind = a_.kind;
        if (draw_.one_in(2))
          to.unreduced.bits = static_cast<std::uint8_t>(to.unreduced.bits & a_.unreduced.bits);
        return rules::reshard(a_, to);
      }
      case Op::all_gather:
        return rules::all_gather(a_, in.axis);
      case Op::all_reduce:
        return rules::all_reduce(a_, in.axis);
      case Op::reduce_scatter:
        return rules::reduce_scatter(a_, in.axis, in.from);
      case Op::all_to_all:
        return in.from == in.to ? no() : rules::all_to_all(a_, in.axis, in.from, in.to);
      case Op::moved:
        return rules::transfer(a_, random_spec(draw_, mine_, draw_.one_in(4)));
      default:
        return no();
    }
  }

  constexpr Spec wanted(rules::Labels const& of) { return random_spec(draw_, of, draw_.one_in(3)); }

  Draw& draw_;
  Element first_;
  Spec a_, b_, c_;
  rules::Labels mine_;
};

}  // namespace programs
