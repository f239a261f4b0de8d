#pragma once
/// The plan of a product with a named result: reshards of the operands to shardings that fit, the
/// local product, and the reshard of its result to the named sharding.
///
/// Operands are not moved unless the strict rule refuses. Then the possible repairs (docs/rules.md)
/// are priced and the cheapest is chosen. An axis that neither operand uses is sliced, for free, to
/// the result's split.

#include <cstdint>
#include <limits>

#include <shardtype/core/list.hpp>
#include <shardtype/plan/reshard_plan.hpp>
#include <shardtype/rules/contraction.hpp>
#include <shardtype/rules/reshard.hpp>

namespace shardtype::planning {

/// Roles of an axis that splits no label in the product.
inline constexpr int idle = -1;
inline constexpr int unreduced_in_a = -2;
inline constexpr int unreduced_in_b = -3;

/// The roles that one axis may take: a label that it splits, or one of the above.
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

/// A label that is summed over, preferably a contracted one; -1 if there is none.
constexpr int summed_label(Spec const& a, Spec const& b, Labels const& out) {
  for (int d = 0; d < a.rank; ++d)
    if (!out.contains(a.dims[d].label) && b.find(a.dims[d].label) >= 0) return a.dims[d].label;
  for (int d = 0; d < a.rank; ++d)
    if (!out.contains(a.dims[d].label)) return a.dims[d].label;
  for (int d = 0; d < b.rank; ++d)
    if (!out.contains(b.dims[d].label)) return b.dims[d].label;
  return -1;
}

/// The label that axis `x` splits in all of the operands and the result that have the label, or -1.
constexpr int stays_on(int x, Spec const& a, Spec const& b, Spec const& wanted) {
  int const l = label_of(a, x) >= 0 ? label_of(a, x) : label_of(b, x);
  if (l < 0) return -1;
  for (Spec const* s : {&a, &b, &wanted})
    if (s->find(l) >= 0 && label_of(*s, x) != l) return -1;
  return l;
}

/// The roles that the plan may give axis `x`.
constexpr Roles roles_of(int x, Spec const& a, Spec const& b, Spec const& wanted,
                         Labels const& out) {
  Roles roles;
  int const la = label_of(a, x);
  int const lb = label_of(b, x);
  bool const ua = a.unreduced.contains(x);
  bool const ub = b.unreduced.contains(x);
  int const want = label_of(wanted, x);
  if (ua || ub) {
    // an operand may stay unreduced if the other is replicated
    if (ua) roles.add(unreduced_in_a);
    if (ub) roles.add(unreduced_in_b);
    if (la >= 0) roles.add(la);
    if (lb >= 0) roles.add(lb);
    return roles;
  }
  if (wanted.unreduced.contains(x)) {
    // unreduced in the result: the axis must split a label that is summed over
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
  if (contracted && la != lb) roles.add(idle);  // gather one operand instead of slicing the other
  return roles;
}

/// The axes with role `label`: first those of `major` in its order, then those of `minor`, then
/// those of `result`, then the rest. A single axis is block-cyclic if it was so in the list it
/// comes from.
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
  if (out.size == 1)
    out.cyclic = major.contains(out[0])   ? major.cyclic
                 : minor.contains(out[0]) ? minor.cyclic
                                          : result.cyclic * (result.contains(out[0]) ? 1 : 0);
  return out;
}

/// `s` resharded so that every axis has its role. Bit l of `swap`: on shared label l the other
/// operand's order comes first.
constexpr Spec with_roles(Spec const& s, Spec const& other, Spec const& wanted, int const* role,
                          std::uint32_t swap, bool is_a) {
  Spec out;
  for (int d = 0; d < s.rank; ++d) {
    int const l = s.dims[d].label;
    AxisList const own = s.dims[d].axes;
    AxisList const theirs = rules::axes_on(other, l);
    bool const shared = other.find(l) >= 0;
    bool const other_first = shared && (((swap >> l) & 1U) != 0) == is_a;
    out.add(l, axes_with_role(role, l, other_first ? theirs : own, other_first ? own : theirs,
                              rules::axes_on(wanted, l)));
  }
  for (int x = 0; x < max_axes; ++x) {
    if (role[x] == (is_a ? unreduced_in_a : unreduced_in_b)) out.unreduced.insert(x);
    if (role[x] == idle && s.reduced.contains(x)) out.reduced.insert(x);
  }
  return out;
}

/// Floating-point operations of the busiest rank for the product of `a` and `b`.
constexpr std::int64_t product_flops(Spec const& a, Spec const& b, Sizing const& z) {
  auto length = [&](Spec const& s, int d) {
    return largest_block(z.extents[s.dims[d].label], s.dims[d].axes, z.sizes);
  };
  double flops = 2;  // computed in double: the product of all extents may exceed 63 bits
  for (int d = 0; d < a.rank; ++d) flops *= static_cast<double>(length(a, d));
  for (int d = 0; d < b.rank; ++d)
    if (a.find(b.dims[d].label) < 0) flops *= static_cast<double>(length(b, d));
  return flops > 4e18 ? std::int64_t{4'000'000'000'000'000'000} : static_cast<std::int64_t>(flops);
}

/// `work`: of a multiply-add, relative to one of float.
constexpr Cost product_cost(Spec const& a, Spec const& b, Sizing const& z, Machine const& m,
                            int work) {
  Cost c;
  c.flops = product_flops(a, b, z);
  c.picoseconds = picoseconds(static_cast<double>(c.flops) * work, m.flops_per_second);
  return c;
}

/// The sizing by which the planner compares costs of the operands and the result of a product.
constexpr Sizing weighed_sizing(Spec const& a, Spec const& b, Spec const& c, Sizing const& z) {
  return weighable(a, z) && weighable(b, z) && weighable(c, z) ? z : with_short_dims(z);
}

/// Appends the local product with result `c`.
constexpr void append_product(Plan& plan, Spec const& c) {
  plan.push(local_step(Move::compute, Slot::result, c, c));
}

/// Restores the actual sizes in a plan that was made for comparable ones; its product is that of
/// `a` and `b`.
constexpr void size_contraction(Plan& plan, Spec const& a, Spec const& b, Sizing const& z) {
  plan.sizing = z;
  plan.local_flops = product_flops(a, b, z);
}

constexpr Plan empty_contraction(Spec const& a, Spec const& b, Spec const& result, Sizing const& z,
                                 ProductElements const& elements) {
  Plan plan;
  plan.of = PlanOf::product;
  plan.sizing = z;
  plan.elements = elements;
  plan.push_operand(a);
  plan.push_operand(b);
  plan.result = result;
  return plan;
}

/// The known bounds or cost of one reshard.
struct Known {
  Spec from{};
  Spec to{};
  Bounds bounds{};
  Cost cost{};
  bool exact = false;
};

/// Results of the searches for one product so far, with which the next evaluation continues.
struct Progress {
  struct Found {
    std::int64_t least = 0;
    Cost cost{};
    bool exact = false;
  };
  static constexpr int capacity = 64;
  int size = 0;
  Found found[capacity]{};
  bool finished = false;
};

/// Costs of reshards. Candidates share many reshards, and each cost is a search, which runs only up
/// to the requested limit.
class KnownCosts {
 public:
  /// Starts searches while fewer than `budget` steps have been visited.
  constexpr KnownCosts(Sizing const& z, Machine const& m, Progress const& before, int budget)
      : z_(z), m_(m), before_(before), budget_(budget) {}

  /// Index of this pair; `to` may have its dims in any order.
  constexpr int find(Spec const& from, Spec const& to) {
    for (int k = 0; k < static_cast<int>(known_.size()); ++k)
      if (at(k).to == to && at(k).from == from) return k;
    Known k;
    k.from = from;
    k.to = to;
    k.bounds = bounds(from, in_order_of(to, from), z_, m_);
    if (std::size_t const number = known_.size(); number < static_cast<std::size_t>(before_.size)) {
      k.bounds.least = before_.found[number].least;
      k.cost = before_.found[number].cost;
      k.exact = before_.found[number].exact;
    }
    if (!searchable(from, to)) price_far(k);
    known_.push_back(k);
    return static_cast<int>(known_.size()) - 1;
  }
  constexpr Known& at(int k) { return known_[static_cast<std::size_t>(k)]; }
  /// Whether the reshard takes at most `limit` picoseconds; if so, its cost is exact.
  constexpr bool within(int number, std::int64_t limit) {
    Known& k = at(number);
    if (!k.exact && k.bounds.least <= limit) {
      if (budget_ <= 0) {
        interrupted_ = true;
        return false;
      }
      std::int64_t const most = limit < k.bounds.most ? limit : k.bounds.most;
      Search search(k.from, in_order_of(k.to, k.from), z_, m_);
      Path const path = search.run(most);
      budget_ -= search.visits();
      k.exact = path.size >= 0;
      k.cost = path.cost;
      k.bounds.least = k.exact ? path.cost.picoseconds : most + 1;
    }
    return k.exact && k.cost.picoseconds <= limit;
  }
  /// The cost is exact and also the bound: the parts of such a path have no common bound.
  constexpr void price_far(Known& k) {
    if (!k.exact) {
      FarReshard const far(k.from, in_order_of(k.to, k.from), z_, m_);
      k.cost = far.cost;
      k.exact = true;
      budget_ -= far.visits;
    }
    k.bounds = {k.cost.picoseconds, k.cost.picoseconds};
  }
  /// Whether a search was not run for lack of budget.
  constexpr bool interrupted() const { return interrupted_; }
  constexpr Progress progress() const {
    Progress out;
    out.finished = !interrupted_;
    for (Known const& k : known_)
      if (out.size < Progress::capacity) out.found[out.size++] = {k.bounds.least, k.cost, k.exact};
    return out;
  }

 private:
  Sizing const& z_;
  Machine const& m_;
  Progress const& before_;
  int budget_;
  bool interrupted_ = false;
  shardtype::detail::List<Known> known_;
};

/// A candidate for a product: the shardings of the operands and of the result, and the indices of
/// the reshards to and from them.
struct Choice {
  Spec a{};
  Spec b{};
  Spec c{};
  Cost product{};
  int reshard[3]{};
  std::int64_t most = 0;  ///< picoseconds, an upper bound
  bool done = false;
};

/// The chosen candidate for one product, with the times of its reshards; or the progress of the
/// search.
struct Chosen {
  Choice way{};
  std::int64_t time[3]{};
  Progress progress{};
};

/// An operand as the product uses it: on a batch label the shorter axis list is sliced to the
/// longer.
constexpr Spec batch_sliced(Spec s, Spec const& other) {
  for (int d = 0; d < s.rank; ++d) {
    AxisList const theirs = rules::axes_on(other, s.dims[d].label);
    if (theirs.size > s.dims[d].axes.size) s.dims[d].axes = theirs;
    for (int k = 0; k < s.dims[d].axes.size; ++k) s.reduced.erase(s.dims[d].axes[k]);
  }
  return s;
}

/// strict_contraction_plan, evaluated in this unit.
constexpr Plan strict_contraction_plan_here(Spec const& a, Spec const& b, Spec const& c,
                                            Sizing const& z, ProductElements const& elements) {
  Plan plan = empty_contraction(a, b, c, weighed_sizing(a, b, c, z), elements);
  Spec const sliced_a = batch_sliced(a, b);
  Spec const sliced_b = batch_sliced(b, a);
  append_reshard(plan, Slot::a, a, sliced_a);
  append_reshard(plan, Slot::b, b, sliced_b);
  append_product(plan, c);
  size_contraction(plan, sliced_a, sliced_b, z);
  return plan;
}

/// The plan of a strict product that the rule has accepted with result `c`. No communication.
constexpr Plan strict_contraction_plan(Spec const& a, Spec const& b, Spec const& c, Sizing const& z,
                                       ProductElements const& elements = {}) {
  if (!core::compiled_part || __builtin_is_constant_evaluated()) {
    return strict_contraction_plan_here(a, b, c, z, elements);
  } else {
    return at_run_time::strict_contraction_plan(a, b, c, z, elements);
  }
}

/// Finds the cheapest candidate for a product with a named result. `work`: of a multiply-add.
constexpr Chosen choose_way(Spec const& a, Spec const& b, Spec const& wanted, Sizing const& z,
                            Machine const& m, Progress const& before, int work, int budget) {
  Labels const out = labels_of(wanted);
  AxisSet const all{
      static_cast<std::uint8_t>(a.mentioned().bits | b.mentioned().bits | wanted.mentioned().bits)};
  Roles roles[max_axes]{};
  std::int64_t choices = 1;
  bool const many = all.size() > searched_axes;
  for (int x = 0; x < max_axes; ++x) {
    if (many && stays_on(x, a, b, wanted) >= 0) {
      roles[x].add(stays_on(x, a, b, wanted));
    } else if (all.contains(x)) {
      roles[x] = roles_of(x, a, b, wanted, out);
    } else {
      roles[x].add(idle);
    }
    choices *= roles[x].size;
  }
  // labels whose axes could be in a's order or in b's
  int ordered[max_dims]{};
  int orders = 0;
  for (int d = 0; d < a.rank; ++d) {
    int const l = a.dims[d].label;
    AxisList const theirs = rules::axes_on(b, l);
    if (theirs.size > 0 && a.dims[d].axes.size > 0 && !(theirs == a.dims[d].axes))
      ordered[orders++] = l;
  }

  KnownCosts costs(z, m, before, budget);
  shardtype::detail::List<Choice> ways;
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
      Choice way;
      way.a = with_roles(a, b, wanted, role, swap, true);
      way.b = with_roles(b, a, wanted, role, swap, false);
      Verdict const product = rules::contraction(way.a, way.b, out);
      if (!product || !rules::reshard(product.result, wanted)) continue;
      way.c = product.result;
      way.product = product_cost(way.a, way.b, z, m, work);
      way.reshard[0] = costs.find(a, way.a);
      way.reshard[1] = costs.find(b, way.b);
      way.reshard[2] = costs.find(way.c, wanted);
      way.most = way.product.picoseconds;
      for (int number : way.reshard) way.most += costs.at(number).bounds.most;
      ways.push_back(way);
    }
  }
  // Examine promising candidates first, each only while it may still be the best. Of equal costs,
  // the first wins.
  std::size_t best = ways.size();
  Cost best_cost{};
  for (std::size_t round = 0; round < ways.size(); ++round) {
    std::size_t next = ways.size();
    for (std::size_t k = 0; k < ways.size(); ++k)
      if (!ways[k].done && (next == ways.size() || ways[k].most < ways[next].most)) next = k;
    Choice& way = ways[next];
    way.done = true;
    Cost cost = way.product;
    // if times are beyond comparison, compare the bytes of all candidates
    bool const timed = best < ways.size() && best_cost.picoseconds < longest_time;
    std::int64_t limit = (timed ? best_cost.picoseconds : way.most) - cost.picoseconds;
    for (int number : way.reshard) limit -= costs.at(number).bounds.least;
    bool possible = limit >= 0;
    for (int k = 0; k < 3 && possible; ++k) {
      std::int64_t const least = costs.at(way.reshard[k]).bounds.least;
      possible = costs.within(way.reshard[k], limit + least);
      limit -= costs.at(way.reshard[k]).bounds.least - least;
      cost = cost + costs.at(way.reshard[k]).cost;
    }
    if (costs.interrupted()) break;
    if (!possible) continue;
    if (best == ways.size() || cost < best_cost || (cost == best_cost && next < best)) {
      best = next;
      best_cost = cost;
    }
  }
  Chosen chosen;
  chosen.progress = costs.progress();
  if (!chosen.progress.finished) return chosen;
  chosen.way = ways[best];
  for (int k = 0; k < 3; ++k) chosen.time[k] = costs.at(chosen.way.reshard[k]).cost.picoseconds;
  return chosen;
}

/// A part of the work of `contraction_plan` that is small enough for one evaluation by a compiler
/// with default limits. Continues from `before` and returns its own progress.
constexpr Progress contraction_progress(Spec const& a, Spec const& b, Spec const& wanted,
                                        Sizing const& z, Progress const& before = {},
                                        ProductElements const& elements = {}) {
  Sizing const weighed = weighed_sizing(a, b, wanted, z);
  return choose_way(a, b, wanted, weighed, {}, before, elements.work, 1200).progress;
}

/// contraction_plan, evaluated in this unit.
constexpr Plan contraction_plan_here(Spec const& a, Spec const& b, Spec const& wanted,
                                     Sizing const& z, Machine const& m, Progress const& before,
                                     ProductElements const& elements) {
  Sizing const weighed = weighed_sizing(a, b, wanted, z);
  Chosen const chosen =
      choose_way(a, b, wanted, weighed, m, before, elements.work, std::numeric_limits<int>::max());
  Choice const& way = chosen.way;
  Plan plan = empty_contraction(a, b, wanted, weighed, elements);
  append_reshard(plan, Slot::a, a, way.a, m, chosen.time[0]);
  append_reshard(plan, Slot::b, b, way.b, m, chosen.time[1]);
  append_product(plan, way.c);
  append_reshard(plan, Slot::result, way.c, wanted, m, chosen.time[2]);
  size_contraction(plan, way.a, way.b, z);
  return plan;
}

/// The plan of a product with the named result `wanted`, which `rules::named_contraction` has
/// accepted. `before`: costs on this machine that are already known.
constexpr Plan contraction_plan(Spec const& a, Spec const& b, Spec const& wanted, Sizing const& z,
                                Machine const& m = {}, Progress const& before = {},
                                ProductElements const& elements = {}) {
  if (!core::compiled_part || __builtin_is_constant_evaluated()) {
    return contraction_plan_here(a, b, wanted, z, m, before, elements);
  } else {
    return at_run_time::contraction_plan(a, b, wanted, z, m, before, elements);
  }
}

}  // namespace shardtype::planning
