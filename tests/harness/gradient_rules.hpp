// The library's rules on the operations of random programs with gradients, and on the cotangents that go back.
#pragma once

#include <cstdint>

#include <shardtype/rules/transfer.hpp>
#include <shardtype/types.hpp>

#include "harness/gradient_operations.hpp"

namespace gradient_programs {

using rules::Linearity;
using rules::Verdict;

constexpr Verdict no() { return refuse(rules::Code::T09_not_a_tensor); }
/// An elementwise function of these values.
constexpr Verdict function(Linearity how, Spec const& a, Spec const& b) {
  rules::Operands in;
  in.push(a);
  in.push(b);
  return rules::elementwise(in, how);
}
constexpr Verdict function(Linearity how, Verdict const& a, Verdict const& b) {
  if (!a) return a;
  return b ? function(how, a.result, b.result) : b;
}
/// A rule of labels `from` and `to` of the operands `a` and `b`.
template <class Rule>
constexpr Verdict along(Rule rule, Spec const& a, int from, int to = -1) {
  rules::Question q;
  q.operands = &a;
  q.count = 1;
  for (int l = 0; l < labels + 2; ++l) q.extents.at[l] = dynamic;
  for (int x = 0; x < axes; ++x) q.sizes.at[x] = dynamic;
  if (from >= 0) q.from.add(from);
  if (to >= 0) q.to.add(to);
  return rule(q);
}
template <class Rule>
constexpr Verdict of_both(Rule rule, Spec const& a, Spec const& b, int from, int to) {
  Spec const both[] = {a, b};
  rules::Question q;
  q.operands = both;
  q.count = 2;
  for (int l = 0; l < labels + 2; ++l) q.extents.at[l] = dynamic;
  for (int x = 0; x < axes; ++x) q.sizes.at[x] = dynamic;
  if (from >= 0) q.from.add(from);
  if (to >= 0) q.to.add(to);
  return rule(q);
}

/// The rule's verdict on an instruction.
constexpr Verdict rule(Instruction const& in, Spec const& a, Spec const& b) {
  using enum Op;
  auto const sorted_values = [](rules::Question const& q) { return rules::sorted(q, false); };
  auto const born = [](rules::Question const& q) { return rules::broadcast(q, false); };
  auto const sums = [](rules::Question const& q) { return rules::running(q, ReductionKind::sum); };
  Spec const none;
  if (is_reduction(in.op)) {
    Labels const kept = programs::without(rules::labels_of(a), in.list);
    if (in.op == softmax) return rules::normalization(a, kept);
    return rules::reduction(a, kept, kind_of(in.op));
  }
  if (is_named_reduction(in.op)) return rules::named_reduction(a, in.result, kind_of(in.op));
  switch (in.op) {
    case Op::tanh:
    case Op::sin:
    case absolute:
      return function(Linearity::none, a, none);
    case half:
      return function(Linearity::scaling, a, none);
    case negate: {
      rules::Operands one;
      one.push(a);
      return rules::elementwise(one, Linearity::linear);
    }
    case add:
    case subtract:
      return function(Linearity::additive, a, b);
    case multiply:
      return function(Linearity::scaling, a, b);
    case quotient:
      return function(Linearity::dividing, rules::accept(a), function(Linearity::none, b, none));
    case larger:
      return function(Linearity::none, a, b);
    case chosen: {
      rules::Operands of;
      Verdict const p = function(Linearity::none, b, none);
      if (!p) return p;
      of.push(p.result);
      of.push(a);
      of.push(none, true);
      return rules::elementwise(of, Linearity::choosing);
    }
    case named_add:
    case named_multiply: {
      rules::Operands both;
      both.push(a);
      both.push(b);
      return rules::named_elementwise(
          both, in.result, in.op == named_add ? Linearity::additive : Linearity::scaling);
    }
    case contract:
      return rules::contraction(a, b, in.list);
    case matrix_product: {
      Labels out;
      if (Verdict const v = rules::matmul_labels(a, b, out); !v) return v;
      return rules::contraction(a, b, out);
    }
    case named_contract:
      return rules::named_contraction(a, b, in.result, true);
    case transpose: {
      Spec to;
      for (int k = 0; k < in.list.size; ++k) to.add(in.list.at[k]);
      return rules::transpose(a, to);
    }
    case renamed: {
      Verdict const v = along(rules::relabel, a, in.from, labels);
      return v ? along(rules::relabel, v.result, labels, in.from) : v;
    }
    case broadcast:
      return along(born, a, -1, in.from);
    case last_of_two: {
      Verdict const v = of_both(rules::stack, a, b, -1, labels);
      return v ? rules::accept(a.reduced == b.reduced ? a : [&] {
        Spec out = a;
        out.reduced.bits = static_cast<std::uint8_t>(a.reduced.bits | b.reduced.bits);
        return out;
      }())
               : v;
    }
    case roll:
      return along(rules::roll, a, in.from);
    case flip:
      return along(rules::flip, a, in.from);
    case window:
    case dynamic:
    case Op::spread:
    case repeated:
    case tiled:
      return along(rules::resized, a, in.from);
    case replaced: {
      Verdict const part = along(rules::resized, b, in.from);
      return part ? rules::dynamic_update(a, part.result, in.from, in.from) : part;
    }
    case halves: {
      if (Verdict const v = along(rules::resized, a, in.from); !v) return v;
      return of_both(rules::concat, a, b, in.from, -1);
    }
    case Op::sorted:
      return along(sorted_values, a, in.from);
    case Op::shift:
    case wrapped:
      return along(rules::shift, a, in.from);
    case running_sum:
    case running_sum_back:
      return along(sums, a, in.from);
    case running_product: {
      auto const products = [](rules::Question const& q) {
        return rules::running(q, ReductionKind::whole);
      };
      return along(products, a, in.from);
    }
    case top: {
      auto const largest = [](rules::Question const& q) { return rules::sorted(q, true); };
      return along(largest, a, in.from);
    }
    case triangle: {
      auto const masked = [&](rules::Question q) {
        q.from.add(in.to);
        return rules::masked(q);
      };
      return in.from == in.to ? no() : along(masked, a, in.from);
    }
    case reshaped: {
      auto const parts = [&](rules::Question q) {
        q.to.add(labels + 1);
        Verdict const two = rules::split(q, true);
        if (!two) return two;
        rules::Question back = q;
        back.operands = &two.result;
        back.from = q.to;
        back.to = q.from;
        return rules::merge(back);
      };
      return along(parts, a, in.from, labels);
    }
    case look_up:
      return rules::take(a, in.ids, in.from, core::ReduceKind::sum);
    case add_rows:
      return rules::scatter_add(a, in.ids, in.to);
    case look_along:
      return rules::take_along(a, in.ids, in.from, in.from);
    case added_along:
      return rules::scatter_along(a, in.ids, in.from, in.from);
    case to_partial:
      return rules::to_partial(a, in.axis);
    case Op::reduced:
      return rules::reduced(a, in.axis);
    case Op::used_as: {
      core::AxisSet over;
      over.insert(in.axis);
      return rules::used_as(a, over);
    }
    case Op::reshard: {
      Verdict const v = rules::reshard(a, in.result);
      return v;
    }
    case all_gather:
      return rules::all_gather(a, in.axis);
    case all_reduce:
      return rules::all_reduce(a, in.axis);
    case reduce_scatter:
      return rules::reduce_scatter(a, in.axis, in.from);
    case all_to_all:
      return in.from == in.to ? no() : rules::all_to_all(a, in.axis, in.from, in.to);
    default:
      return no();
  }
}

/// The cotangent of an elementwise function with the labels of `own`.
constexpr Verdict summed_to(Verdict const& v, Spec const& own) {
  return v ? rules::reduction(v.result, rules::labels_of(own), ReductionKind::sum) : v;
}
/// ct times a function of the operand and of the result of a reduction, which each rank knows.
constexpr Verdict reduction_back(Spec const& ct, Spec const& a, Spec const& partial) {
  Verdict const joint = function(Linearity::none, a, rules::everywhere(partial));
  return joint ? function(Linearity::scaling, ct, joint.result) : joint;
}

/// What a pull gives before it becomes the operand's cotangent: the verdict of the transposed operation on operand
/// `k`, and whether it may communicate. A named form is pulled from the cotangent of its strict form's result.
struct Pulled {
  Verdict got;
  bool communicates = false;
};
constexpr Pulled pulled(Instruction const& in, int k, Spec const& a, Spec const& b) {
  using enum Op;
  Spec const& own = k == 0 ? a : b;
  Spec const& other = k == 0 ? b : a;
  Spec ct = rules::cotangent(in.result);
  Spec const none;
  if (is_move(in.op)) return {rules::accept(ct), true};
  if (is_reduction(in.op) || is_named_reduction(in.op)) {
    Spec partial = in.result;
    if (is_named_reduction(in.op)) {
      ReductionKind const how = kind_of(in.op);
      Verdict const met =
          rules::reduction(a, rules::labels_of(in.result),
                           how == ReductionKind::max ? ReductionKind::max : ReductionKind::sum);
      if (!met) return {met};
      partial = met.result;
      partial.kind = core::ReduceKind::sum;
      ct = rules::cotangent(partial);
    }
    if (in.op == softmax) return {function(Linearity::scaling, ct, in.result)};
    if (kind_of(in.op) == ReductionKind::sum) return {rules::spread(ct, rules::cotangent(a))};
    return {reduction_back(ct, a, partial)};
  }
  switch (in.op) {
    case Op::tanh:
    case Op::sin:
    case absolute:
      return {function(Linearity::scaling, ct, a)};
    case half:
    case negate:
      return {rules::accept(ct)};
    case add:
    case subtract:
      return {summed_to(rules::accept(ct), own)};
    case multiply:
      return {summed_to(function(Linearity::scaling, ct, other), own)};
    case quotient: {
      Verdict const below = function(Linearity::none, b, none);
      Verdict v = function(Linearity::dividing, rules::accept(ct), below);
      if (k == 1)
        v = function(Linearity::dividing, function(Linearity::scaling, v, rules::accept(a)), below);
      return {summed_to(v, own)};
    }
    case larger: {
      Verdict const p = function(Linearity::none, a, b);
      if (!p) return {p};
      rules::Operands of;
      of.push(p.result);
      of.push(ct);
      of.push(none, true);
      return {summed_to(rules::elementwise(of, Linearity::choosing), own)};
    }
    case chosen: {
      rules::Operands of;
      of.push(b);
      of.push(ct);
      of.push(none, true);
      return {summed_to(rules::elementwise(of, Linearity::choosing), own)};
    }
    case named_add:
    case named_multiply: {
      Linearity const how = in.op == named_add ? Linearity::additive : Linearity::scaling;
      Verdict const met = function(how, a, b);
      bool const covered = met.code != rules::Code::P01_no_operand_has_all;
      if (!met && !(covered && in.result.unreduced.empty())) return {no()};
      if (!met) {  // reshards are moved back
        Verdict const v = rules::named_product_cotangent(rules::brought(own, in.result), in.result);
        return {v ? rules::accept(rules::cotangent(own)) : v};
      }
      Verdict const back = rules::accept(rules::cotangent(met.result));
      return {
          summed_to(in.op == named_add ? back : function(how, back, rules::accept(other)), own)};
    }
    case contract:
    case matrix_product:
      return {rules::product_cotangent(ct, other, own)};
    case named_contract: {
      Verdict const met = rules::contraction(a, b, rules::labels_of(in.result));
      if (met) return {rules::product_cotangent(rules::cotangent(met.result), other, own)};
      Verdict const v = rules::named_product_cotangent(own, other, in.result);
      if (!v) return {v};
      Spec const to = rules::named_product_to(own, ct, other);
      Verdict const made = rules::named_contraction(ct, other, to, true);
      return {made && to.rank < own.rank
                  ? rules::spread(rules::in_any(rules::cotangent(own), ct, other),
                                  rules::cotangent(own))
                  : made};
    }
    case running_product:
      return {function(Linearity::scaling, ct, a)};
    case transpose:
    case renamed:
      return {rules::accept(ct)};
    case broadcast:
      return {rules::reduction(ct, rules::labels_of(a), ReductionKind::sum)};
    case Op::look_up:
      return {rules::scatter_add(ct, in.ids, in.from)};
    case add_rows:
      return {rules::take(ct, in.ids, in.to, core::ReduceKind::sum)};
    case look_along:
      return {rules::scatter_along(ct, in.ids, in.from, in.from)};
    case added_along:
      return {rules::take_along(ct, in.ids, in.from, in.from)};
    default:
      return {rules::accept(ct)};  // the same rows elsewhere
  }
}

/// Whether the result depends on operand `k` by truths alone, which have no gradient.
constexpr bool is_truth(Op op, int k) { return op == Op::chosen && k == 1; }

/// Whether the cotangent of operand `k` is refused, and with which axis.
constexpr Verdict judged(Instruction const& in, int k, Spec const& a, Spec const& b) {
  if (is_truth(in.op, k)) return {};
  Spec const& own = k == 0 ? a : b;
  if (!rules::has_cotangent(in.result) || !rules::has_cotangent(own))
    return refuse(rules::Code::X03_not_differentiable);
  Pulled const p = pulled(in, k, a, b);
  if (!p.got) return p.got;
  return rules::settle(p.got.result, rules::cotangent(own), p.communicates).verdict;
}

}  // namespace gradient_programs
