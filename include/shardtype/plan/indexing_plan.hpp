#pragma once
/// Named results of lookups and scatters: the shardings of their operands and, if there are two
/// candidates, the choice of the one that moves less.

#include <initializer_list>

#include <shardtype/core/block.hpp>
#include <shardtype/plan/named_plan.hpp>
#include <shardtype/rules/indexing.hpp>
#include <shardtype/rules/reshard.hpp>

namespace shardtype::planning {

/// `s` with its dims split further, like `wanted`, over axes along which both `s` and `other` are
/// replicated: free slices, after which each rank computes only its own part.
constexpr Spec sliced_as(Spec s, Spec const& wanted, Spec const& other, int except) {
  for (int d = 0; d < s.rank; ++d) {
    int const w = s.dims[d].label == except ? -1 : wanted.find(s.dims[d].label);
    if (w < 0) continue;
    AxisList const& axes = wanted.dims[w].axes;
    if (!axes.starts_with(s.dims[d].axes)) continue;
    for (int k = s.dims[d].axes.size; k < axes.size; ++k) {
      if (!rules::same_along(s, axes[k]) || !rules::same_along(other, axes[k])) break;
      s.dims[d].axes.push(axes[k]);
      s.reduced.erase(axes[k]);
    }
  }
  return s;
}

/// The leading axes of `label` in `wanted` along which both operands are replicated.
constexpr AxisList free_axes(Spec const& wanted, int label, Spec const& a, Spec const& b) {
  int const w = wanted.find(label);
  AxisList out;
  for (int k = 0; w >= 0 && k < wanted.dims[w].axes.size; ++k) {
    int const x = wanted.dims[w].axes[k];
    if (!rules::same_along(a, x) || !rules::same_along(b, x)) break;
    out.push(x);
  }
  return out;
}

/// Named results need nested blocks.
constexpr Verdict all_in_blocks(Spec const& a, Spec const& b, Spec const& c) {
  for (Spec const* s : {&a, &b, &c})
    if (Verdict v = rules::all_in_blocks(*s); !v) return v;
  return {};
}

/// `arrive` where each rank computes only its own part of `label`, along its free axes.
constexpr LocalPlan arrive_on(LocalPlan plan, Verdict local, Spec const& wanted, int label) {
  if (local) {
    AxisList const own = free_axes(wanted, label, plan.operands[0], plan.operands[plan.count - 1]);
    local.result.dims[local.result.find(label)].axes = own;
    local.result = rules::split_over(local.result, own);
  }
  return arrive(plan, local, wanted);
}

/// A plan that does not move its operands.
constexpr LocalPlan as_given(Verdict const& verdict, Spec const& a, Spec const& b) {
  return {verdict, 2, {a, b}, {}};
}

/// `take<V, Out...>`. Ids that are split over an axis of the table are gathered over it.
constexpr LocalPlan take_plan(Spec const& table, Spec const& ids, Spec const& wanted, int along,
                              ReduceKind joining) {
  LocalPlan plan = as_given(all_in_blocks(table, ids, wanted), table, ids);
  if (!plan.verdict) return plan;
  for (int e = 0; e < ids.rank; ++e)
    for (int x = 0; x < max_axes; ++x)
      if (!rules::same_along(table, x))
        plan.operands[1].dims[e].axes = plan.operands[1].dims[e].axes.without(x);
  plan.operands[1] = sliced_as(plan.operands[1], wanted, table, -1);
  plan.operands[0] = sliced_as(table, wanted, plan.operands[1], along);
  return arrive(plan, rules::take(plan.operands[0], plan.operands[1], along, joining), wanted);
}

/// `slice<I, K, Out...>`. The dim is made whole, and what the result does not split otherwise gets
/// the axes that split it where the result wants that; or (`adds`) each rank slices its block into
/// zeros, which are added up: where I is split into blocks, and nothing else than such sums is
/// unreduced.
constexpr LocalPlan slice_plan(rules::Question q, Spec const& wanted, ReduceKind joining,
                               bool adds) {
  LocalPlan plan;
  plan.count = 1;
  int const d = q.from.rank == 1 ? q.a().find(q.along()) : -1;
  AxisList const axes = d < 0 ? AxisList{} : q.a().dims[d].axes;
  // the dim itself is not split as a result of the same name would be
  auto const along_others = [&](Spec const& s, AxisList const& along) {
    Spec out = sliced_as(s, wanted);
    if (d >= 0) out.dims[d].axes = along;
    return out;
  };
  plan.operands[0] = along_others(q.a(), axes);
  Spec whole = plan.operands[0];
  if (d >= 0) whole.dims[d].axes = {};
  whole = along_others(whole, {});
  bool const same_kind = whole.unreduced.empty() || whole.kind == joining;
  if (!adds || axes.size == 0 || axes.cyclic != 0 || !same_kind) {
    plan.operands[0] = whole;
    q.operands = plan.operands;
    return arrive(plan, rules::resized(q), wanted);
  }
  whole = plan.operands[0];
  whole.dims[d].axes = {};
  q.operands = &whole;
  Verdict v = rules::resized(q);
  if (v) {
    for (int k = 0; k < axes.size; ++k) v.result.unreduced.insert(axes[k]);
    v.result.kind = joining;
  }
  return arrive(plan, v, wanted);
}

/// `one_hot<V, Out...>`: each rank computes its own part.
constexpr LocalPlan one_hot_plan(Spec const& ids, Spec const& wanted, int along) {
  LocalPlan plan{all_in_blocks(ids, wanted, {}), 1, {sliced_as(ids, wanted, {}, -1)}, {}};
  if (!plan.verdict) return plan;
  return arrive_on(plan, rules::one_hot(plan.operands[0], along), wanted, along);
}

/// `bincount<V, Out...>` and `histogram<V, Out...>`: each rank counts the elements that it has, of
/// the bins that it keeps, and the counts are reduced.
constexpr LocalPlan count_plan(Spec const& a, Verdict const& strict, Spec const& wanted,
                               int along) {
  LocalPlan const plan{all_in_blocks(wanted, {}, {}), 1, {a}, {}};
  if (!plan.verdict) return plan;
  return arrive_on(plan, strict, wanted, along);
}

/// `scatter_add<V, Out...>`: each rank adds its own updates and the sums are reduced, or
/// (`gathers`) ids and updates are gathered over the axes that would be unreduced, and each rank
/// adds those that fall into its part of V. Ids whose splits differ from the updates' are resharded
/// to match. Maxima and minima (`joining`) alike.
constexpr LocalPlan scatter_plan(Spec const& updates, Spec const& ids, Spec const& wanted,
                                 int along, bool gathers, ReduceKind joining = ReduceKind::sum) {
  LocalPlan plan = as_given(all_in_blocks(updates, ids, wanted), updates, ids);
  if (!plan.verdict) return plan;
  if (!rules::scatter_add(updates, ids, along, joining))
    for (int e = 0; e < ids.rank; ++e)
      if (int const d = updates.find(ids.dims[e].label); d >= 0) {
        plan.operands[1].dims[e].axes = updates.dims[d].axes;
        plan.operands[1] = rules::split_over(plan.operands[1], updates.dims[d].axes);
      }
  for (int e = 0; gathers && e < ids.rank; ++e) {
    int const d = updates.find(ids.dims[e].label);
    if (d < 0) continue;
    AxisList kept;
    AxisList const all = rules::finer(plan.operands[1].dims[e].axes, updates.dims[d].axes);
    for (int k = 0; k < all.size; ++k)
      if (wanted.unreduced.contains(all[k])) kept.push(all[k]);
    plan.operands[1].dims[e].axes = kept;
    plan.operands[0].dims[d].axes = kept;
    plan.operands[1] = rules::split_over(plan.operands[1], kept);
    plan.operands[0] = rules::split_over(plan.operands[0], kept);
  }
  plan.operands[0] = sliced_as(plan.operands[0], wanted, plan.operands[1], along);
  return arrive_on(plan, rules::scatter_add(plan.operands[0], plan.operands[1], along, joining),
                   wanted, along);
}

/// Bytes that a rank receives if the tensor is gathered; 0 if it is sliced.
constexpr std::int64_t gathered_bytes(Spec const& from, Spec const& to, Sizing const& z) {
  std::int64_t const more =
      largest_elements(to, z.extents, z.sizes) - largest_elements(from, z.extents, z.sizes);
  return more > 0 ? mul_sat(more, z.element_bytes) : 0;
}

/// Bytes that a rank sends when `from` is reduced to `to`.
constexpr std::int64_t reduced_bytes(Spec const& from, Spec const& to, Sizing const& z) {
  std::int64_t ranks = 1;
  std::int64_t times = 1;
  for (int x = 0; x < max_axes; ++x) {
    if (!from.unreduced.contains(x) || to.unreduced.contains(x)) continue;
    ranks *= z.sizes[x];
    if (to.dim_of(x) < 0) times = 2;  // an all_reduce
  }
  std::int64_t const n = mul_sat(largest_elements(from, z.extents, z.sizes), z.element_bytes);
  return times * (n / ranks) * (ranks - 1);
}

/// Whether gathering the operands moves fewer bytes than reducing the result, at these sizes.
constexpr bool gathering_is_cheaper(LocalPlan const& reducing, LocalPlan const& gathering,
                                    Spec const& updates, Spec const& ids, Spec const& wanted,
                                    Sizing const& z, std::int64_t id_bytes) {
  Sizing of_ids = z;
  of_ids.element_bytes = id_bytes;
  auto const bytes = [&](LocalPlan const& plan) {
    std::int64_t const gathered = add_sat(gathered_bytes(updates, plan.operands[0], z),
                                          gathered_bytes(ids, plan.operands[1], of_ids));
    return add_sat(gathered, reduced_bytes(plan.result, wanted, z));
  };
  return bytes(gathering) < bytes(reducing);
}

}  // namespace shardtype::planning
