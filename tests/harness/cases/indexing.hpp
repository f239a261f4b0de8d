// Lookups by ids, windows, and what is repeated along a new dim.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <shardtype/plan/indexing_plan.hpp>

#include "harness/cases/along.hpp"

namespace programs::cases {

struct Broadcasted : Case {
  static constexpr std::string_view gradients_of[] = {"Broadcast"};
  static constexpr unsigned reads = reads_from | reads_to | reads_axis;
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return repeated_along(r.a, in, in.from);
  }
  static constexpr rules::Verdict pulled(Pull const& p) {
    return rules::reduction(p.ct, rules::labels_of(p.a), rules::ReductionKind::sum);
  }
  static Int element(Cell const& c) { return c.a(); }
  static auto perform(auto on) {
    using On = decltype(on);
    return broadcast<SplitDim<On, typename On::V>>(on.a, {on.n});
  }
};
// stack, at
struct LastOfTwo : Case {
  static constexpr std::string_view gradients_of[] = {"Stack", "At"};
  static constexpr Taken takes = two(everything, as_first);
  static constexpr unsigned reads = 0;
  static constexpr Known known(KnownOperands const& of) { return larger_of(of.a, of.b); }
  static constexpr rules::Verdict rule(Rules& r, Instruction&) {
    Spec const both[] = {r.a, r.b};
    return r.shape(MiddleRow::row, r.shape(rules::stack, both, 2, -1, labels), labels);
  }
  static Int element(Cell const& c) { return c.b(); }
  static auto perform(auto on) {
    using Q = typename decltype(on)::Q;
    return at<Q>(stack<Q>(on.a, on.b), 1);
  }
};

// Windows of half the rows; they begin where `start` says, moved inside.

inline Int inside(Cell const& c, Int start) { return std::clamp<Int>(start, 0, c.n() / 2); }
// dynamic_slice, pad
struct Window : Case {
  static constexpr std::string_view gradients_of[] = {"DynamicSlice", "Pad"};
  static constexpr Known known(KnownOperands const& of) { return {of.a.most}; }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return r.shape(Rules::pad, r.shape(rules::resized, rules::accept(r.a), in.from), in.from);
  }
  static Int from(Cell const& c, Int start) {
    return c.i() < half(c.n()) ? c.a(inside(c, start) + c.i()) : 0;
  }
  static Int element(Cell const& c) { return from(c, drawn_start(c.in)); }
  static auto perform(auto on) {
    using V = typename decltype(on)::V;
    return pad<V>(dynamic_slice<V>(on.a, drawn_start(on.in), half(on.n)), 0, on.n / 2);
  }
};
// dynamic_update by rows of the second operand
struct Replaced : Case {
  static constexpr std::string_view gradients_of[] = {"DynamicUpdate", "Slice"};
  static constexpr Taken takes = two(everything, as_first);
  static constexpr Known known(KnownOperands const& of) { return larger_of(of.a, of.b); }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    rules::Verdict const part = r.shape(rules::resized, &r.b, 1, in.from);
    return part ? rules::dynamic_update(r.a, part.result, in.from, in.from) : part;
  }
  static Int from(Cell const& c, Int start) {
    Int const row = c.i() - inside(c, start);
    return row >= 0 && row < half(c.n()) ? c.b(row) : c.a();
  }
  static Int element(Cell const& c) { return from(c, drawn_start(c.in)); }
  static auto perform(auto on) {
    using V = typename decltype(on)::V;
    return dynamic_update<V>(on.a, slice<V>(on.b, 0, half(on.n)), drawn_start(on.in));
  }
};
// The same with the start in a tensor, which `item` reads.
constexpr rules::Verdict readable(Spec const& s) {
  if (s.rank > 0) return rules::refuse(rules::Code::A01_item_has_dims);
  return s.unreduced.empty() ? rules::Verdict{} : rules::refuse(rules::Code::A02_still_unreduced);
}
struct WindowAt : Case {
  static constexpr Taken takes = two(everything, starts);
  static constexpr int seldom_fits = 1;
  static constexpr bool recorded = false;
  static constexpr Known known(KnownOperands const& of) { return {of.a.most}; }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    rules::Verdict const v = readable(r.b);
    return v ? Window::rule(r, in) : v;
  }
  static Int element(Cell const& c) { return Window::from(c, c.b()); }
  static auto perform(auto on) {
    using V = typename decltype(on)::V;
    return pad<V>(dynamic_slice<V>(on.a, on.b, half(on.n)), 0, on.n / 2);
  }
};
struct ReplacedAt : Case {
  static constexpr Taken takes = three(everything, as_first, starts);
  static constexpr int seldom_fits = 3;
  static constexpr bool recorded = false;
  static constexpr Known known(KnownOperands const& of) { return larger_of(of.a, of.b); }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    rules::Verdict const v = readable(r.c);
    return v ? Replaced::rule(r, in) : v;
  }
  static Int element(Cell const& c) { return Replaced::from(c, c.c()); }
  static auto perform(auto on) {
    using V = typename decltype(on)::V;
    return dynamic_update<V>(on.a, slice<V>(on.b, 0, half(on.n)), on.c);
  }
};

// Rows that ids name. Programs with gradients draw the ids, which depend on nothing.

struct ByIds : Case {
  static constexpr Taken takes = two(everything, integers);
  static constexpr Known known(KnownOperands const& of) { return {of.a.most}; }
  static constexpr core::ReduceKind joining(Element element) {
    return element == Element::boolean ? core::ReduceKind::max : core::ReduceKind::sum;
  }
  // Of the rows that other ranks have: zeros, as the result is unreduced.
  static Int element(Cell const& c) {
    Int const id = c.b();
    return id < 0 || id >= c.n() ? 0 : c.own_a(id);
  }
};
// take of ids of other labels
struct LookUp : ByIds {
  static constexpr std::string_view gradients_of[] = {"Take"};
  static constexpr unsigned reads = reads_from | reads_own;
  static constexpr bool apart = true;
  static constexpr rules::Code refused_back = rules::Code::B03_through_cyclic;  // sums by ids
  static constexpr double bound(Instruction const&, double a, double) { return a; }
  static constexpr Spec ids(Draw& draw, Spec const& a, Instruction const&) {
    rules::Labels of;
    for (int l = 0; l < labels; ++l)
      if (a.find(l) < 0 && !draw.one_in(3)) of.push(l);
    return random_spec(draw, of, false);
  }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return rules::take(r.a, r.b, in.from, joining(r.first));
  }
  static constexpr rules::Verdict pulled(Pull const& p) {
    return rules::scatter_add(p.ct, p.in.ids, p.in.from);
  }
  static auto perform(auto on) { return take<typename decltype(on)::V>(on.a, on.b); }
};
struct NamedLookUp : ByIds {
  static constexpr unsigned reads = reads_from | reads_own | reads_result;
  static constexpr bool apart = true;
  static constexpr rules::Labels of_result(Rules const& r, Instruction const& in) {
    return together(without(r.mine, only(in.from)), r.b);
  }
  static constexpr planning::LocalPlan meet(Instruction const& in, Rules const& r,
                                            planning::Sizing const&) {
    return planning::take_plan(r.a, r.b, in.result, in.from, joining(r.first));
  }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return meet(in, r, {}).verdict;
  }
  static auto perform(auto on) {
    return take<typename decltype(on)::V, typename decltype(on)::Out>(on.a, on.b);
  }
};
// take_along, of ids with the dims of the operand
struct LookAlong : ByIds {
  static constexpr std::string_view gradients_of[] = {"TakeAlong"};
  static constexpr int seldom_fits = 1;
  static constexpr double bound(Instruction const&, double a, double) { return a; }
  static constexpr Spec ids(Draw& draw, Spec const& a, Instruction const& in) {
    Spec out = a;
    out.unreduced = out.reduced = {};
    if (draw.one_in(2) && out.dim_of(in.axis) < 0) out.dims[out.find(in.from)].axes.push(in.axis);
    return out;
  }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return rules::take_along(r.a, r.b, in.from, in.from);
  }
  static constexpr rules::Verdict pulled(Pull const& p) {
    return rules::scatter_along(p.ct, p.in.ids, p.in.from, p.in.from);
  }
  static auto perform(auto on) { return take_along<typename decltype(on)::V>(on.a, on.b); }
};

// Rows that are added to those of another label; `in.ids` has the sharding of the ids.
struct Added : Case {
  static constexpr Taken takes = two(numbers, integers);
  static constexpr Known known(KnownOperands const& of) {
    return {times(of.a.most, power(most_extent, of.in.ids.rank))};
  }
  // The updates whose id is the row, of those whose ids this rank has.
  static Int element(Cell const& c) {
    Int sum = 0;
    c.over(rules::labels_of(c.in.ids), [&](Cell const& term) {
      if (term.has_a() && term.has_b() && term.b() == c.at[c.in.to]) sum += term.a();
    });
    return sum;
  }
};
struct AddRows : Added {
  static constexpr std::string_view gradients_of[] = {"ScatterAdd"};
  static constexpr unsigned reads = reads_to;
  static constexpr int seldom_fits = 1;
  static constexpr rules::Code refused_back = LookUp::refused_back;
  static constexpr double bound(Instruction const&, double a, double) {
    return a * most_extent * most_extent * most_extent;
  }
  static constexpr Spec ids(Draw& draw, Spec const& a, Instruction const& in) {
    rules::Labels of;
    for (int d = 0; d < a.rank; ++d)
      if (a.dims[d].label == in.from || draw.one_in(3)) of.push(a.dims[d].label);
    return random_spec(draw, of, false);
  }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    in.ids = r.b;
    return rules::scatter_add(r.a, r.b, in.to);
  }
  static constexpr rules::Verdict pulled(Pull const& p) {
    return rules::take(p.ct, p.in.ids, p.in.to, core::ReduceKind::sum);
  }
  static auto perform(auto on) {
    return scatter_add<typename decltype(on)::W>(on.a, on.b, on.rows_of_w);
  }
};
struct NamedAddRows : Added {
  static constexpr unsigned reads = reads_to | reads_result;
  static constexpr int seldom_fits = 2;
  static constexpr rules::Labels of_result(Rules const& r, Instruction const& in) {
    return with(without(r.mine, rules::labels_of(r.b)), in.to);
  }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    in.ids = r.b;
    return planning::scatter_plan(r.a, r.b, in.result, in.to, false).verdict;
  }
  static constexpr planning::LocalPlan meet(Instruction const& in, Rules const& r,
                                            planning::Sizing const& z) {
    auto const way = planning::scatter_plan(r.a, r.b, in.result, in.to, false);
    auto const gathering = planning::scatter_plan(r.a, r.b, in.result, in.to, true);
    return gathering.verdict && planning::gathering_is_cheaper(way, gathering, r.a, r.b, in.result,
                                                               z, sizeof(Int))
               ? gathering
               : way;
  }
  static auto perform(auto on) {
    return scatter_add<typename decltype(on)::W, typename decltype(on)::Out>(on.a, on.b,
                                                                             on.rows_of_w);
  }
};
// The largest update of each row and the least one, and 0, where every rank has all of them:
// pending maxima are of another kind than what programs add up.
struct ExtremesOfRows : Added {
  static constexpr unsigned reads = reads_to;
  static constexpr int seldom_fits = 1;
  static constexpr bool compares = true;
  static constexpr Known known(KnownOperands const& of) { return {times(of.a.most, 2)}; }
  static constexpr Spec ids(Draw& draw, Spec const& a, Instruction const& in) {
    return AddRows::ids(draw, a, in);
  }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    in.ids = r.b;
    if (!r.a.unreduced.empty() || !r.a.reduced.empty()) return Rules::no();
    rules::Verdict const v = rules::scatter_add(r.a, r.b, in.to, core::ReduceKind::max);
    return v && !v.result.unreduced.empty() ? Rules::no() : v;
  }
  static Int element(Cell const& c) {
    Int most = 0;
    Int least = 0;
    c.over(rules::labels_of(c.in.ids), [&](Cell const& term) {
      if (term.b() != c.at[c.in.to]) return;
      most = std::max(most, term.a());
      least = std::min(least, term.a());
    });
    return most + least;
  }
  static auto perform(auto on) {
    using W = typename decltype(on)::W;
    return made(max(scatter_max<W>(on.a, on.b, on.rows_of_w), 0) +
                min(scatter_min<W>(on.a, on.b, on.rows_of_w), 0));
  }
};

// Updates of the rows that ids name, along a dim that is not split (else the result is unreduced).
struct ScatterAlong : Case {
  static constexpr Taken takes = two(numbers, integers);
  static constexpr int seldom_fits = 4;
  static constexpr Known known(KnownOperands const& of) { return {times(of.a.most, most_extent)}; }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    int const d = r.a.find(in.from);
    if (d >= 0 && r.a.dims[d].axes.size > 0) return Rules::no();
    return rules::scatter_along(r.a, r.b, in.from, in.from);
  }
  static Int element(Cell const& c) {
    Int sum = 0;
    for (Int row = 0; row < c.n(); ++row)
      if (c.b(row) == c.i()) sum += c.a(row);
    return sum;
  }
  static auto perform(auto on) { return scatter_along<typename decltype(on)::V>(on.a, on.b, on.n); }
};

struct OneHot : Case {
  static constexpr Taken takes = one(integers);
  static constexpr int seldom_fits = 1;
  static constexpr Known known(KnownOperands const&) { return {1}; }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return rules::one_hot(r.a, in.from);
  }
  static Int element(Cell const& c) { return c.a() == c.i() ? 1 : 0; }
  static auto perform(auto on) { return one_hot<typename decltype(on)::V, Int>(on.a, on.n); }
};
struct NamedOneHot : OneHot {
  static constexpr unsigned reads = reads_from | reads_result;
  static constexpr rules::Labels of_result(Rules const& r, Instruction const& in) {
    return with(r.mine, in.from);
  }
  static constexpr planning::LocalPlan meet(Instruction const& in, Rules const& r,
                                            planning::Sizing const&) {
    return planning::one_hot_plan(r.a, in.result, in.from);
  }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return meet(in, r, {}).verdict;
  }
  static auto perform(auto on) {
    return one_hot<typename decltype(on)::V, typename decltype(on)::Out>(on.a, on.n);
  }
};

// Elements counted by their values, which are the bins: integers as ids, others in bins around
// integers.
struct InBins : Case {
  static constexpr Taken takes = one(numbers);
  static constexpr unsigned reads = reads_to;
  static constexpr bool compares = true;
  static constexpr Known known(KnownOperands const&) { return {power(most_extent, labels)}; }
  static constexpr Element gives(Element, Element) { return Element::integer; }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    in.ids = r.a;
    return r.a.unreduced.empty() ? rules::counted(r.a, in.to) : Rules::no();
  }
  // Of the elements that this rank has.
  static Int element(Cell const& c) {
    Int n = 0;
    c.over(rules::labels_of(c.in.ids), [&](Cell const& each) {
      if (each.has_a() && each.a() == c.at[c.in.to]) ++n;
    });
    return n;
  }
  static auto perform(auto on) {
    using W = typename decltype(on)::W;
    if constexpr (std::is_integral_v<typename decltype(on)::Element>) {
      return bincount<W>(on.a, on.rows_of_w);
    } else {
      return histogram<W>(on.a, on.rows_of_w, -0.5, static_cast<double>(on.rows_of_w) - 0.5);
    }
  }
};
// Rows in a table of one dim, which is sorted first.
struct RowsInTable : Case {
  static constexpr Taken takes = two(numbers, as_first);
  static constexpr unsigned reads = reads_from | reads_own;
  static constexpr bool apart = true;
  static constexpr bool compares = true;
  static constexpr int seldom_fits = 5;
  static constexpr Known known(KnownOperands const&) { return {most_extent}; }
  static constexpr Element gives(Element, Element) { return Element::integer; }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    rules::Verdict const table = r.shape(&rules::sorted_in_place, &r.a, 1, in.from);
    return table ? rules::searchsorted(table.result, r.b, in.from) : table;
  }
  static Int element(Cell const& c) {
    Int n = 0;
    for (Int row = 0; row < c.n(); ++row) n += c.a(row) < c.b() ? 1 : 0;
    return n;
  }
  static auto perform(auto on) {
    using V = typename decltype(on)::V;
    return searchsorted<V>(sort<V>(on.a), on.b);
  }
};

using Indexing = CaseList<Broadcasted, LastOfTwo, Window, Replaced, WindowAt, ReplacedAt, LookUp,
                          NamedLookUp, LookAlong, AddRows, NamedAddRows, ExtremesOfRows,
                          ScatterAlong, OneHot, NamedOneHot, InBins, RowsInTable>;

}  // namespace programs::cases
