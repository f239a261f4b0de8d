#pragma once
/// Named results of lookups and scatters: what their operands are resharded to first, what the ranks
/// then compute each for itself, and, where there are two ways, which moves less.

#include <initializer_list>

#include <shardtype/core/block.hpp>
#include <shardtype/plan/step.hpp>
#include <shardtype/rules/indexing.hpp>
#include <shardtype/rules/reshard.hpp>

namespace shardtype::planning {

/// One way to a named result: the operands resharded, and what they give without communication. That is
/// resharded to the result, or refused.
struct Way {
  Verdict verdict{};
  Spec first{};
  Spec ids{};
  Spec met{};
};

namespace detail {

/// `s` with its dims split further, as `wanted` splits them, over axes along which neither `s` nor
/// `other` differs: slices, free, after which each rank does its own part only.
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

/// The first of the axes of `label` in `wanted` along which both operands are the same on all ranks.
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

/// Named results are for blocks.
constexpr Verdict all_in_blocks(Spec const& a, Spec const& b, Spec const& c) {
  for (Spec const* s : {&a, &b, &c})
    if (Verdict v = rules::all_in_blocks(*s); !v) return v;
  return {};
}

constexpr Way arrive(Way way, Verdict const& local, Spec const& wanted) {
  way.verdict = local ? rules::reshard(local.result, wanted) : local;
  way.met = local.result;
  return way;
}
/// The same where each rank makes its own part of `label` alone.
constexpr Way arrive_on(Way way, Verdict local, Spec const& wanted, int label) {
  if (local) {
    AxisList const own = free_axes(wanted, label, way.first, way.ids);
    local.result.dims[local.result.find(label)].axes = own;
    local.result = rules::split_over(local.result, own);
  }
  return arrive(way, local, wanted);
}

}  // namespace detail

/// `gather<V, Out...>`. Ids that are split over an axis which the table uses are gathered over it.
constexpr Way gather_way(Spec const& table, Spec const& ids, Spec const& wanted, int along,
                         ReduceKind owed) {
  Way way{detail::all_in_blocks(table, ids, wanted), table, ids, {}};
  if (!way.verdict) return way;
  for (int e = 0; e < ids.rank; ++e)
    for (int x = 0; x < max_axes; ++x)
      if (!rules::same_along(table, x)) way.ids.dims[e].axes = way.ids.dims[e].axes.without(x);
  way.ids = detail::sliced_as(way.ids, wanted, table, -1);
  way.first = detail::sliced_as(table, wanted, way.ids, along);
  return detail::arrive(way, rules::gather(way.first, way.ids, along, owed), wanted);
}

/// `one_hot<V, Out...>`: each rank makes its own part.
constexpr Way one_hot_way(Spec const& ids, Spec const& wanted, int along) {
  Way way{detail::all_in_blocks(ids, wanted, {}), {}, detail::sliced_as(ids, wanted, {}, -1), {}};
  if (!way.verdict) return way;
  return detail::arrive_on(way, rules::one_hot(way.ids, along), wanted, along);
}

/// `scatter_add<V, Out...>`, adding what each rank holds and then reducing, or (`gathers`) gathering
/// ids and updates over the axes that would be owed, each rank then adding all that falls into its part
/// of V. Ids that are split unlike the updates are resharded to be split alike.
constexpr Way scatter_way(Spec const& updates, Spec const& ids, Spec const& wanted, int along,
                          bool gathers) {
  Way way{detail::all_in_blocks(updates, ids, wanted), updates, ids, {}};
  if (!way.verdict) return way;
  if (!rules::scatter_add(updates, ids, along))
    for (int e = 0; e < ids.rank; ++e)
      if (int const d = updates.find(ids.dims[e].label); d >= 0) {
        way.ids.dims[e].axes = updates.dims[d].axes;
        way.ids = rules::split_over(way.ids, updates.dims[d].axes);
      }
  for (int e = 0; gathers && e < ids.rank; ++e) {
    int const d = updates.find(ids.dims[e].label);
    if (d < 0) continue;
    AxisList kept;
    AxisList const all = rules::finer(way.ids.dims[e].axes, updates.dims[d].axes);
    for (int k = 0; k < all.size; ++k)
      if (wanted.unreduced.contains(all[k])) kept.push(all[k]);
    way.ids.dims[e].axes = kept;
    way.first.dims[d].axes = kept;
    way.ids = rules::split_over(way.ids, kept);
    way.first = rules::split_over(way.first, kept);
  }
  way.first = detail::sliced_as(way.first, wanted, way.ids, along);
  return detail::arrive_on(way, rules::scatter_add(way.first, way.ids, along), wanted, along);
}

/// Bytes that a rank receives when a tensor is gathered; 0 when it is sliced.
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

/// Whether gathering the operands moves less than reducing the result, at these sizes.
constexpr bool gathering_is_cheaper(Way const& reducing, Way const& gathering, Spec const& updates,
                                    Spec const& ids, Spec const& wanted, Sizing const& z,
                                    std::int64_t id_bytes) {
  Sizing of_ids = z;
  of_ids.element_bytes = id_bytes;
  auto const bytes = [&](Way const& way) {
    std::int64_t const gathered =
        add_sat(gathered_bytes(updates, way.first, z), gathered_bytes(ids, way.ids, of_ids));
    return add_sat(gathered, reduced_bytes(way.met, wanted, z));
  };
  return bytes(gathering) < bytes(reducing);
}

}  // namespace shardtype::planning
