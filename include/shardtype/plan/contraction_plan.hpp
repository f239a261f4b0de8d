#pragma once
/// The plan of a product: how the operands are brought to shardings that fit, the local product,
/// and how its result reaches the sharding that was named.
///
/// Operands stay put except where the strict rule refuses; there the few repairs of docs/rules.md
/// are priced and the cheapest is taken. An axis that neither operand uses is sliced, for free, onto
/// what the result wants.

#include <shardtype/plan/reshard_plan.hpp>
#include <shardtype/rules/contraction.hpp>
#include <shardtype/rules/reshard.hpp>

namespace shardtype::planning {

namespace detail {

/// What one axis does in the product, when it splits no label.
inline constexpr int idle = -1;
inline constexpr int owed_by_a = -2;
inline constexpr int owed_by_b = -3;

/// The roles one axis may take: a label it splits, or one of the above.
struct Roles {
  int size = 0;
  int at[4]{};
  constexpr void add(int role) {
    for (int k = 0; k < size; ++k)
      if (at[k] == role) return;
    at[size++] = role;
  }
};

constexpr int label_of(Spec const& s, int axis) {
  int const d = s.dim_of(axis);
  return d < 0 ? -1 : s.dims[d].label;
}

/// A label that is summed over, contracted before all; -1 if there is none.
constexpr int summed_label(Spec const& a, Spec const& b, Labels const& out) {
  for (int d = 0; d < a.rank; ++d)
    if (!out.contains(a.dims[d].label) && b.find(a.dims[d].label) >= 0) return a.dims[d].label;
  for (int d = 0; d < a.rank; ++d)
    if (!out.contains(a.dims[d].label)) return a.dims[d].label;
  for (int d = 0; d < b.rank; ++d)
    if (!out.contains(b.dims[d].label)) return b.dims[d].label;
  return -1;
}

/// The roles the plan may give axis `x`.
constexpr Roles roles_of(int x, Spec const& a, Spec const& b, Spec const& wanted,
                         Labels const& out) {
  Roles roles;
  int const la = label_of(a, x);
  int const lb = label_of(b, x);
  bool const ua = a.unreduced.contains(x);
  bool const ub = b.unreduced.contains(x);
  int const want = label_of(wanted, x);
  if (ua || ub) {
    // one operand may keep what it owes if the other is the same on all ranks
    if (ua) roles.add(owed_by_a);
    if (ub) roles.add(owed_by_b);
    if (la >= 0) roles.add(la);
    if (lb >= 0) roles.add(lb);
    return roles;
  }
  if (wanted.unreduced.contains(x)) {
    // owed in the result: the axis must split something that is summed over
    if (la >= 0 && !out.contains(la)) roles.add(la);
    if (lb >= 0 && !out.contains(lb)) roles.add(lb);
    if (roles.size == 0) roles.add(summed_label(a, b, out));
    return roles;
  }
  if (la < 0 && lb < 0) {
    if (want >= 0) roles.add(want);
    roles.add(idle);
    return roles;
  }
  if (la >= 0 && lb >= 0 && la != lb) {
    if (want == la || want == lb) {
      roles.add(want);
      return roles;
    }
    roles.add(la);
    roles.add(lb);
    return roles;
  }
  int const l = la >= 0 ? la : lb;
  roles.add(l);
  bool const contracted = role_of(l, a, b, out) == LabelRole::contracted;
  if (contracted && la != lb) roles.add(idle);  // gather the one side instead of slicing the other
  return roles;
}

/// The axes that take role `label`: first those of `major` in its order, then those of `minor`, then
/// the result's, then the rest.
constexpr AxisList axes_with_role(int const* role, int label, AxisList const& major,
                                  AxisList const& minor, AxisList const& result) {
  AxisList out;
  auto take = [&](int x) {
    if (role[x] == label && !out.contains(x)) out.push(x);
  };
  for (int k = 0; k < major.size; ++k) take(major[k]);
  for (int k = 0; k < minor.size; ++k) take(minor[k]);
  for (int k = 0; k < result.size; ++k) take(result[k]);
  for (int x = 0; x < max_axes; ++x) take(x);
  return out;
}

/// `s` resharded so that every axis takes its role. `swap` has bit l set where the other operand's
/// order comes first on shared label l.
constexpr Spec with_roles(Spec const& s, Spec const& other, Spec const& wanted, int const* role,
                          std::uint32_t swap, bool is_a) {
  Spec out;
  for (int d = 0; d < s.rank; ++d) {
    int const l = s.dims[d].label;
    AxisList const own = s.dims[d].axes;
    AxisList const theirs = rules::detail::axes_on(other, l);
    bool const shared = other.find(l) >= 0;
    bool const other_first = shared && (((swap >> l) & 1U) != 0) == is_a;
    out.add(l, axes_with_role(role, l, other_first ? theirs : own, other_first ? own : theirs,
                              rules::detail::axes_on(wanted, l)));
  }
  for (int x = 0; x < max_axes; ++x) {
    if (role[x] == (is_a ? owed_by_a : owed_by_b)) out.unreduced.insert(x);
    if (role[x] == idle && s.reduced.contains(x)) out.reduced.insert(x);
  }
  return out;
}

/// Floating-point operations of the busiest rank for the product of `a` and `b`.
constexpr std::int64_t product_flops(Spec const& a, Spec const& b, Sizing const& z) {
  auto length = [&](Spec const& s, int d) {
    return largest_block(z.extents[s.dims[d].label], s.dims[d].axes, z.sizes);
  };
  double flops = 2;  // in floating point: the product of all extents may exceed 63 bits
  for (int d = 0; d < a.rank; ++d) flops *= static_cast<double>(length(a, d));
  for (int d = 0; d < b.rank; ++d)
    if (a.find(b.dims[d].label) < 0) flops *= static_cast<double>(length(b, d));
  return flops > 4e18 ? std::int64_t{4'000'000'000'000'000'000} : static_cast<std::int64_t>(flops);
}

constexpr Cost product_cost(Spec const& a, Spec const& b, Sizing const& z, Machine const& m) {
  Cost c;
  c.flops = product_flops(a, b, z);
  c.picoseconds = picoseconds(static_cast<double>(c.flops), m.flops_per_second);
  return c;
}

/// Appends the local product of `a` and `b`, which fit.
constexpr void append_product(Plan& plan, Spec const& a, Spec const& b, Spec const& c) {
  Step s;
  s.action = Action::contract;
  s.slot = Slot::result;
  s.before = c;
  s.after = c;
  plan.push(s);
  plan.local_flops = product_flops(a, b, plan.sizing);
}

constexpr Plan empty_contraction(Spec const& a, Spec const& b, Spec const& result,
                                 Sizing const& z) {
  Plan plan;
  plan.sizing = z;
  plan.operands[0] = a;
  plan.operands[1] = b;
  plan.operand_count = 2;
  plan.result = result;
  return plan;
}

/// Costs of bringing one operand to a sharding: choices share many, and each is a search.
class KnownCosts {
 public:
  template <class Search>
  constexpr Cost get(Spec const& to, Search search) {
    for (int k = 0; k < size_; ++k)
      if (to_[k] == to) return cost_[k];
    Cost const cost = search();
    if (size_ < capacity) {
      to_[size_] = to;
      cost_[size_++] = cost;
    }
    return cost;
  }

 private:
  static constexpr int capacity = 16;
  int size_ = 0;
  Spec to_[capacity]{};
  Cost cost_[capacity]{};
};

/// The operand as the product uses it: on a batch label the shorter list is sliced to the longer.
constexpr Spec batch_sliced(Spec s, Spec const& other) {
  for (int d = 0; d < s.rank; ++d) {
    AxisList const theirs = rules::detail::axes_on(other, s.dims[d].label);
    if (theirs.size > s.dims[d].axes.size) s.dims[d].axes = theirs;
    for (int k = 0; k < s.dims[d].axes.size; ++k) s.reduced.erase(s.dims[d].axes[k]);
  }
  return s;
}

}  // namespace detail

/// The plan of a strict product, which the rule has accepted with result `c`: no communication.
constexpr Plan strict_contraction_plan(Spec const& a, Spec const& b, Spec const& c,
                                       Sizing const& z) {
  Plan plan = detail::empty_contraction(a, b, c, z);
  Spec const sliced_a = detail::batch_sliced(a, b);
  Spec const sliced_b = detail::batch_sliced(b, a);
  append_reshard(plan, Slot::a, a, sliced_a);
  append_reshard(plan, Slot::b, b, sliced_b);
  detail::append_product(plan, sliced_a, sliced_b, c);
  return plan;
}

/// The plan of a product whose result is named: `wanted` has passed `rules::named_contraction`.
constexpr Plan contraction_plan(Spec const& a, Spec const& b, Spec const& wanted, Sizing const& z,
                                Machine const& m = {}) {
  using detail::Roles;
  Labels const out = labels_of(wanted);
  AxisSet const all{
      static_cast<std::uint8_t>(a.mentioned().bits | b.mentioned().bits | wanted.mentioned().bits)};
  Roles roles[max_axes]{};
  std::int64_t choices = 1;
  for (int x = 0; x < max_axes; ++x) {
    if (all.contains(x)) {
      roles[x] = detail::roles_of(x, a, b, wanted, out);
    } else {
      roles[x].add(detail::idle);
    }
    choices *= roles[x].size;
  }
  // labels whose axes could stand in a's order or in b's
  int ordered[max_dims]{};
  int orders = 0;
  for (int d = 0; d < a.rank; ++d) {
    int const l = a.dims[d].label;
    AxisList const theirs = rules::detail::axes_on(b, l);
    if (theirs.size > 0 && a.dims[d].axes.size > 0 && !(theirs == a.dims[d].axes))
      ordered[orders++] = l;
  }

  detail::KnownCosts costs_a;
  detail::KnownCosts costs_b;
  auto reshard_cost = [&](Spec const& from, Spec const& to) {
    return shortest_path(from, in_order_of(to, from), z, m).cost;
  };
  bool found = false;
  Cost best{};
  Spec best_a{};
  Spec best_b{};
  Spec best_c{};
  for (std::int64_t choice = 0; choice < choices; ++choice) {
    int role[max_axes]{};
    std::int64_t rest = choice;
    for (int x = 0; x < max_axes; ++x) {
      role[x] = roles[x].at[rest % roles[x].size];
      rest /= roles[x].size;
    }
    for (unsigned order = 0; order < (1U << orders); ++order) {
      std::uint32_t swap = 0;
      for (int k = 0; k < orders; ++k)
        if (((order >> k) & 1U) != 0) swap |= 1U << ordered[k];
      Spec const use_a = detail::with_roles(a, b, wanted, role, swap, true);
      Spec const use_b = detail::with_roles(b, a, wanted, role, swap, false);
      Verdict const product = rules::contraction(use_a, use_b, out);
      if (!product || !rules::reshard(product.result, wanted)) continue;
      Cost cost = detail::product_cost(use_a, use_b, z, m);
      if (found && !(cost < best)) continue;
      cost = cost + costs_a.get(use_a, [&] { return reshard_cost(a, use_a); });
      if (found && !(cost < best)) continue;
      cost = cost + costs_b.get(use_b, [&] { return reshard_cost(b, use_b); });
      if (found && !(cost < best)) continue;
      cost = cost + reshard_cost(product.result, wanted);
      if (found && !(cost < best)) continue;
      found = true;
      best = cost;
      best_a = use_a;
      best_b = use_b;
      best_c = product.result;
    }
  }
  Plan plan = detail::empty_contraction(a, b, wanted, z);
  append_reshard(plan, Slot::a, a, best_a, m);
  append_reshard(plan, Slot::b, b, best_b, m);
  detail::append_product(plan, best_a, best_b, best_c);
  append_reshard(plan, Slot::result, best_c, wanted, m);
  return plan;
}

}  // namespace shardtype::planning
