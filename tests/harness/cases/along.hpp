// Operations along one dim: local ones, and ones that fetch rows of other ranks.
#pragma once

#include <iterator>
#include <set>
#include <source_location>
#include <string_view>

#include "harness/cases/elementwise.hpp"
#include "harness/sample.hpp"

namespace programs::cases {

struct Flip : Case {
  static constexpr std::string_view gradients_of[] = {"Flip"};
  static constexpr bool keeps_distinct = true;
  static constexpr auto asks = &rules::flip;
  static Int element(Cell const& c) { return c.a(c.n() - 1 - c.i()); }
  static auto perform(auto on) { return flip<typename decltype(on)::V>(on.a); }
};
struct Roll : Case {
  static constexpr std::string_view gradients_of[] = {"Roll"};
  static constexpr bool keeps_distinct = true;
  static constexpr auto asks = &rules::roll;
  static Int element(Cell const& c) { return c.a((c.i() + c.n() - 1) % c.n()); }
  static auto perform(auto on) { return roll<typename decltype(on)::V>(on.a, 1); }
};

// Slice, then pad: every row but the first, then a row of zeros.
struct FromSecond : Case {
  static constexpr std::string_view gradients_of[] = {"Slice", "Pad"};
  static constexpr Known known(KnownOperands const& of) { return {of.a.most}; }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return r.shape(Rules::pad, r.shape(rules::resized, rules::accept(r.a), in.from), in.from);
  }
  static Int element(Cell const& c) { return c.a_or_zero(c.i() + 1); }
  static auto perform(auto on) {
    using V = typename decltype(on)::V;
    Int const first = std::min<Int>(1, on.n);
    return pad<V>(slice<V>(on.a, first, on.n), 0, first);
  }
};
// The same with a row of ones.
struct FromSecondAndOne : Case {
  static constexpr Known known(KnownOperands const& of) {
    return {std::max<Int>(1, of.a.most), of.a.divides};
  }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return r.shape(Rules::pad_ones, r.shape(rules::resized, rules::accept(r.a), in.from), in.from);
  }
  static Int element(Cell const& c) { return c.i() + 1 == c.n() ? 1 : c.a(c.i() + 1); }
  static auto perform(auto on) {
    using V = typename decltype(on)::V;
    Int const first = std::min<Int>(1, on.n);
    return pad<V>(slice<V>(on.a, first, on.n), 0, first, typename decltype(on)::Element{1});
  }
};

// Pad with a row between each two and one behind the last, then slice: every other row is zero.
struct SpreadRows : Case {
  static constexpr std::string_view gradients_of[] = {"Pad", "Slice"};
  static constexpr Known known(KnownOperands const& of) { return {of.a.most}; }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return r.shape(rules::resized, r.shape(Rules::pad, rules::accept(r.a), in.from), in.from);
  }
  static Int element(Cell const& c) { return c.i() % 2 == 0 ? c.a(c.i() / 2) : 0; }
  static auto perform(auto on) {
    using V = typename decltype(on)::V;
    return slice<V>(pad<V>(on.a, 0, 1, on.one_between), 0, on.n);
  }
};

struct ResizedTwice : Case {
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return r.shape(rules::resized, r.shape(rules::resized, rules::accept(r.a), in.from), in.from);
  }
};
// Repeat, then slice.
struct TwiceEach : ResizedTwice {
  static constexpr std::string_view gradients_of[] = {"Repeat", "Slice"};
  static Int element(Cell const& c) { return c.a(c.i() / 2); }
  static auto perform(auto on) {
    using V = typename decltype(on)::V;
    return slice<V>(repeat<V>(on.a, 2), 0, on.n);
  }
};
// Tile, then slice.
struct FromMiddle : ResizedTwice {
  static constexpr std::string_view gradients_of[] = {"Tile", "Slice"};
  static Int element(Cell const& c) { return c.a((c.i() + c.n() / 2) % c.n()); }
  static auto perform(auto on) {
    using V = typename decltype(on)::V;
    return slice<V>(tile<V>(on.a, 2), on.n / 2, on.n / 2 + on.n);
  }
};
// Concat of two slices.
struct Halves : Case {
  static constexpr std::string_view gradients_of[] = {"Concat", "Slice"};
  static constexpr Taken takes = two(everything, as_first);
  static constexpr Known known(KnownOperands const& of) { return larger_of(of.a, of.b); }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    if (rules::Verdict const s = r.shape(rules::resized, rules::accept(r.a), in.from); !s) return s;
    Spec const both[] = {r.a, r.b};
    return r.shape(rules::concat, both, 2, in.from);
  }
  static Int element(Cell const& c) {
    Int const first = half(c.n());
    return c.i() < first ? c.a(c.i() + c.n() / 2) : c.b(c.i() - first);
  }
  static auto perform(auto on) {
    using V = typename decltype(on)::V;
    return concat<V>(slice<V>(on.a, on.n / 2, on.n), slice<V>(on.b, 0, on.n / 2));
  }
};

struct Shift : Case {
  static constexpr std::string_view gradients_of[] = {"Shift"};
  static constexpr bool across = true;
  static constexpr Known known(KnownOperands const& of) { return {of.a.most}; }
  static constexpr auto asks = &rules::shift;
  static Int element(Cell const& c) { return c.a_or_zero(c.i() - 1); }
  static auto perform(auto on) { return shift<typename decltype(on)::V>(on.a, 1); }
};
struct ShiftRound : Shift {
  static constexpr bool keeps_distinct = true;
  static constexpr Known known(KnownOperands const& of) { return of.a; }
  static Int element(Cell const& c) { return c.a((c.i() + c.n() - 1) % c.n()); }
  static auto perform(auto on) { return shift<typename decltype(on)::V>(on.a, 1, op::Edge::wrap); }
};
struct Differences : Shift {
  static constexpr std::string_view gradients_of[] = {"Diff"};
  static constexpr Taken takes = one(numbers);
  static constexpr double bound(Instruction const&, double a, double) { return 2 * a; }
  static constexpr Known known(KnownOperands const& of) { return {times(of.a.most, 2)}; }
  static constexpr auto asks = &op::Diff<samples::I>::rule;
  static Int element(Cell const& c) { return c.a() - c.a_or_zero(c.i() - 1); }
  static auto perform(auto on) { return diff<typename decltype(on)::V>(on.a); }
};
struct DifferencesRound : Differences {
  static Int element(Cell const& c) { return c.a() - c.a((c.i() + 2) % c.n()); }
  static auto perform(auto on) { return diff<typename decltype(on)::V>(on.a, -2, op::Edge::wrap); }
};
// halo_exchange: the row before an even row, the second row after an odd row.
struct HaloRows : Case {
  static constexpr bool across = true;
  static constexpr bool recorded = false;
  static constexpr Known known(KnownOperands const& of) { return {of.a.most}; }
  static constexpr auto asks = &rules::halo;
  static Int element(Cell const& c) { return c.a_or_zero(c.i() % 2 == 0 ? c.i() - 1 : c.i() + 2); }
  static auto perform(auto on) {
    return perform_halo<typename decltype(on)::V>(on.a, op::Edge::fill_zero);
  }
};
struct HaloRound : HaloRows {
  static constexpr Known known(KnownOperands const& of) { return of.a; }
  static Int element(Cell const& c) {
    return c.a((c.i() % 2 == 0 ? c.i() + c.n() - 1 : c.i() + 2) % c.n());
  }
  static auto perform(auto on) {
    return perform_halo<typename decltype(on)::V>(on.a, op::Edge::wrap);
  }
};

// halo_add of halos in which each own row stands in the place of the second row behind it.
struct HaloSums : Case {
  static constexpr Taken takes = one(numbers);
  static constexpr bool across = true;
  static constexpr bool recorded = false;
  static constexpr Known known(KnownOperands const& of) { return {of.a.most}; }
  static constexpr auto asks = &rules::halo_add;
  static Int element(Cell const& c) { return c.a_or_zero(c.i() - 2); }
  static auto perform(auto on) {
    return perform_halo_add<typename decltype(on)::V>(on.a, op::Edge::fill_zero);
  }
};
struct HaloSumsRound : HaloSums {
  static constexpr Known known(KnownOperands const& of) { return of.a; }
  static Int element(Cell const& c) { return c.a((c.i() + 2 * c.n() - 2) % c.n()); }
  static auto perform(auto on) {
    return perform_halo_add<typename decltype(on)::V>(on.a, op::Edge::wrap);
  }
};

// The result of `join` over the first `end` rows.
template <class Join>
Int running(Cell const& c, Int end, Int none, Join join) {
  Int value = none;
  for (Int row = 0; row < end; ++row) value = row == 0 ? c.a(row) : join(value, c.a(row));
  return value;
}
inline Int product_of(Int a, Int b) { return a * b; }
inline Int larger(Int a, Int b) { return std::max(a, b); }
inline Int smaller(Int a, Int b) { return std::min(a, b); }

// The running result of the reduction `how`.
template <rules::ReductionKind how>
struct Running : Case {
  static constexpr bool across = true;
  static constexpr rules::Verdict asks(rules::Question const& q) { return rules::running(q, how); }
};
template <bool exclusive, bool reverse>
struct RunningSum : Running<rules::ReductionKind::sum> {
  static constexpr std::string_view gradients_of[] = {"CumSum"};
  static constexpr double bound(Instruction const&, double a, double) { return a * most_extent; }
  static constexpr Taken takes = one(numbers);
  static constexpr Known known(KnownOperands const& of) { return {times(of.a.most, most_extent)}; }
  static Int element(Cell const& c) {
    Int const end = reverse ? c.n() : c.i() + (exclusive ? 0 : 1);
    Int sum = 0;
    for (Int row = reverse ? c.i() + (exclusive ? 1 : 0) : 0; row < end; ++row) sum += c.a(row);
    return sum;
  }
  static auto perform(auto on) {
    return cumsum<typename decltype(on)::V>(on.a, exclusive ? on.exclusive : on.inclusive,
                                            reverse ? on.reverse : on.forward);
  }
};
struct RunningProduct : Running<rules::ReductionKind::whole> {
  static constexpr std::string_view gradients_of[] = {"CumProd"};
  static constexpr double bound(Instruction const&, double a, double) {
    double const m = std::max(a, 1.0);
    return m * m * m * m * m;
  }
  static constexpr rules::Verdict pulled(Pull const& p) {
    return joined(rules::Linearity::scaling, p.ct, p.a);
  }
  static int dense(Dense const& d) {
    return d.r.rows(
        d.a, {d.in.from}, true,
        [](Row& x) {
          for (std::size_t k = 1; k < x.size(); ++k) x[k] *= x[k - 1];
        },
        [](Row const& x, Row const&, Row const& ct) {
          Row g(x.size(), 0.0);
          for (std::size_t end = 0; end < x.size(); ++end)
            for (std::size_t k = 0; k <= end; ++k) g[k] += ct[end] * product_without(x, end + 1, k);
          return g;
        });
  }
  static constexpr Taken takes = one(numbers);
  static constexpr int seldom_fits = 1;
  static constexpr Known known(KnownOperands const& of) { return {power(of.a.most, most_extent)}; }
  static Int element(Cell const& c) { return running(c, c.i() + 1, 1, product_of); }
  static auto perform(auto on) { return cumprod<typename decltype(on)::V>(on.a); }
};
struct RunningMax : Running<rules::ReductionKind::max> {
  static Int element(Cell const& c) { return running(c, c.i() + 1, 0, larger); }
  static auto perform(auto on) { return cummax<typename decltype(on)::V>(on.a); }
};
struct RunningMin : Running<rules::ReductionKind::min> {
  static Int element(Cell const& c) { return running(c, c.i() + 1, 0, smaller); }
  static auto perform(auto on) { return cummin<typename decltype(on)::V>(on.a); }
};
// The elements on one side of a diagonal of two dims.
template <bool upper>
struct Triangle : Case {
  static constexpr std::string_view gradients_of[] = {upper ? "Triu" : "Tril"};
  static constexpr unsigned reads = reads_from | reads_to;
  static constexpr Known known(KnownOperands const& of) { return {of.a.most}; }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    if (in.from == in.to) return Rules::no();
    rules::Question q = Rules::question(&r.a, 1);
    q.from.add(in.from);
    q.from.add(in.to);
    return rules::masked(q);
  }
  static Int element(Cell const& c) {
    Int const apart = c.at[c.in.to] - c.i();
    return (upper ? apart >= 1 : apart <= 1) ? c.a() : 0;
  }
  static auto perform(auto on) {
    using V = typename decltype(on)::V;
    using W = typename decltype(on)::W;
    if constexpr (upper) {
      return triu<V, W>(on.a, 1);
    } else {
      return tril<V, W>(on.a, 1);
    }
  }
};

// A new dim along which the operand is repeated, split over an axis by some instructions.
constexpr bool splits(Instruction const& in) { return in.to == 0; }
template <class On, class V>
using SplitDim = std::conditional_t<splits(On::in), Dim<V, typename On::Axis>, Dim<V>>;
constexpr rules::Verdict repeated_along(Spec const& a, Instruction const& in, int label) {
  rules::Question q = Rules::question(&a, 1);
  q.to.add(label);
  if (splits(in)) q.to.dims[0].axes.push(in.axis);
  return rules::broadcast(q, false);
}

// The diagonal of a matrix that has zeros elsewhere: the operand again. Where the new dim is split,
// the rows are repeated, and each rank has those of its own columns.
struct OnDiagonal : Case {
  static constexpr std::string_view gradients_of[] = {"Diagonal", "Diag"};
  static constexpr unsigned reads = reads_from | reads_to | reads_axis;
  static constexpr Known known(KnownOperands const& of) { return {of.a.most}; }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    rules::Verdict const v = repeated_along(r.a, in, labels);
    if (!v) return v;
    rules::Question q = Rules::question(&v.result, 1);
    q.from.add(in.from);
    q.from.add(labels);
    q.boolean = r.first == Element::boolean;
    return op::Diagonal<samples::I, samples::J>::rule(q);
  }
  static constexpr rules::Verdict pulled(Pull const& p) {
    return rules::reduction(rules::cotangent(repeated_along(p.a, p.in, labels).result),
                            rules::labels_of(p.a), rules::ReductionKind::sum);
  }
  static Int element(Cell const& c) { return c.a(); }
  static bool has_part(Instruction const& in, Spec const&, planning::Sizing const&,
                       Coords const& me) {
    return !splits(in) || me[in.axis] == 0;
  }
  static auto perform(auto on) {
    using On = decltype(on);
    using V = typename On::V;
    using Q = typename On::Q;
    if constexpr (splits(On::in)) {
      using Column = SplitDim<On, Q>;
      return diagonal<V, Q>(triu<V, Q>(tril<V, Q>(broadcast<Column>(on.a, {on.n}))));
    } else {
      return diagonal<V, Q>(diag<V, Q>(on.a));
    }
  }
};

// n^2 times the variance of n integers: n times the sum of squares minus the square of the sum.
struct Variance : Case {
  static constexpr Taken takes = one(floats);
  static constexpr Known known(KnownOperands const& of) {
    return {times(times(of.a.most, of.a.most), most_extent * most_extent)};
  }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    if (r.a.find(in.from) < 0) return Rules::no();
    return rules::reduction(r.a, without(r.mine, only(in.from)), rules::ReductionKind::whole);
  }
  static Int element(Cell const& c) {
    Int sum = 0;
    Int squares = 0;
    for (Int k = 0; k < c.n(); ++k) sum += c.a(k), squares += c.a(k) * c.a(k);
    return c.n() * squares - sum * sum;
  }
  static auto perform(auto on) {
    using V = typename decltype(on)::V;
    auto const twice = min(var<V>(on.a), square(stddev<V>(on.a)));
    auto const n = static_cast<double>(on.n);
    return made(round(where(isnan(twice), 0.0, twice) * (n * n)));
  }
};

// Over a split dim the result is unreduced.
struct NonZeros : Case {
  static constexpr bool across = true;
  static constexpr Element gives(Element, Element) { return Element::integer; }
  static constexpr Known known(KnownOperands const&) { return {most_extent}; }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    if (r.a.find(in.from) < 0) return Rules::no();
    return rules::reduction(r.a, without(r.mine, only(in.from)), reductions::NonZeros::kind);
  }
  static Int element(Cell const& c) {
    Int count = 0;
    for (Int k = 0; k < c.n(); ++k) count += c.a(k) != 0 ? 1 : 0;
    return count;
  }
  static bool has_part(Instruction const& in, Spec const&, planning::Sizing const&,
                       Coords const& me) {
    bool first = true;
    for (int x = 0; x < axes; ++x)
      first = first && (!in.result.unreduced.contains(x) || me[x] == 0);
    return first;
  }
  static auto perform(auto on) { return count_nonzero<typename decltype(on)::V>(on.a); }
};

// The number of elements that equal the best one, in their places.
struct Counted : Case {
  static constexpr Taken takes = one(floats);
  static constexpr Known known(KnownOperands const&) { return {most_extent}; }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    if (r.a.find(in.from) < 0) return Rules::no();
    return rules::normalization(r.a, without(r.mine, only(in.from)));
  }
};
template <bool most>
struct Ties : Counted {
  static Int element(Cell const& c) {
    Int equal = 0;
    for (Int k = 0; k < c.n(); ++k) {
      if (most ? c.a(k) > c.a() : c.a(k) < c.a()) return 0;
      equal += c.a(k) == c.a() ? 1 : 0;
    }
    return equal;
  }
  static auto perform(auto on) {
    using V = typename decltype(on)::V;
    if constexpr (most) {
      auto const best = counted_max<V>(on.a);
      return made(where(on.a == best.values, best.counts, 0.0));
    } else {
      auto const best = counted_min<V>(on.a);
      return made(where(on.a == best.values, best.counts, 0.0));
    }
  }
};
// The product of the elements that are not zero, and the number of the others, in each place.
struct ProductAndZeros : Counted {
  static constexpr int seldom_fits = 1;
  static constexpr Known known(KnownOperands const& of) {
    return {times(2, power(std::max<Int>(2, of.a.most), most_extent))};
  }
  static Int element(Cell const& c) {
    Int out = 1;
    for (Int k = 0; k < c.n(); ++k) out *= c.a(k) == 0 ? 1 : c.a(k);
    for (Int k = 0; k < c.n(); ++k) out += c.a(k) == 0 ? 1 : 0;
    return out;
  }
  static auto perform(auto on) {
    using V = typename decltype(on)::V;
    auto const both = counted_prod<V>(on.a);
    return made(on.a * 0.0 + (both.values + both.counts));
  }
};

// Softmax of logarithms of integers, multiplied by their sum: the integers again.
struct Softmax : Case {
  static constexpr Taken takes = one(floats);
  static constexpr Known known(KnownOperands const& of) {
    return {of.a.most > (Int{1} << 32) ? too_large : of.a.most + 1};
  }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    if (r.a.find(in.from) < 0) return Rules::no();
    return rules::normalization(r.a, without(r.mine, only(in.from)));
  }
  static Int element(Cell const& c) { return (c.a() < 0 ? -c.a() : c.a()) + 1; }
  static auto perform(auto on) {
    using V = typename decltype(on)::V;
    auto const numbers = made(abs(on.a) + 1);
    auto const logs = made(log(numbers));
    return made(round(min(softmax<V>(logs), exp(log_softmax<V>(logs))) * sum<V>(numbers)));
  }
};

// The middle row in the place of each; of no rows, the zeros that stand behind them.
struct MiddleRow : Case {
  static constexpr rules::Verdict row(rules::Question const& q) {
    return rules::take(q.a(), {}, q.along(), rules::ReduceKind::sum);
  }
  static constexpr rules::Verdict repeated(rules::Question const& q) {
    return rules::broadcast(q, false);
  }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    rules::Verdict const longer = r.shape(rules::resized, rules::accept(r.a), in.from);
    return r.shape(&repeated, r.shape(&row, longer, in.from), -1, in.from);
  }
  static Int element(Cell const& c) { return c.a(c.n() / 2); }
  static auto perform(auto on) {
    using V = typename decltype(on)::V;
    return broadcast<V>(at<V>(pad<V>(on.a, 0, 1), on.n / 2), {on.n});
  }
};

// The same value in every element. Of an unreduced result the first rank has the value.
struct AllThree : Case {
  static constexpr Known known(KnownOperands const&) { return {3}; }
  static constexpr Taken takes = one(numbers);
  static constexpr rules::Verdict rule(Rules& r, Instruction&) {
    return r.a.unreduced.empty() ? rules::accept(r.a) : Rules::no();
  }
  static Int element(Cell const&) { return 3; }
  static auto perform(auto on) { return full_like(on.a, 3); }
};

// sort, or top_k of half the rows, padded with zeros: the rows in order, equal ones in their order.
template <bool top>
struct InOrder : Case {
  static constexpr bool compares = true;
  static constexpr rules::Verdict asked(rules::Question const& q) { return rules::sorted(q, top); }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    rules::Verdict const v = r.shape(asked, &r.a, 1, in.from);
    return top ? r.shape(Rules::pad, v, in.from) : v;
  }
  // The row that has exactly i before it; -1 behind the last.
  static Int place(Cell const& c) {
    for (Int k = 0; k < c.n() && (!top || c.i() < half(c.n())); ++k) {
      Int before = 0;
      for (Int m = 0; m < c.n(); ++m)
        before += (top ? c.a(m) > c.a(k) : c.a(m) < c.a(k)) || (c.a(m) == c.a(k) && m < k) ? 1 : 0;
      if (before == c.i()) return k;
    }
    return -1;
  }
  static Int element(Cell const& c) {
    Int const k = place(c);
    return k < 0 ? 0 : c.a(k);
  }
  // The places of the elements of the result.
  static std::vector<std::size_t> order(Row const& x) {
    std::vector<std::pair<double, std::size_t>> all;
    for (std::size_t k = 0; k < x.size(); ++k) all.emplace_back(x[k], k);
    std::sort(all.begin(), all.end());
    if (top) std::reverse(all.begin(), all.end());
    if (top) all.resize(x.size() - x.size() / 2);
    std::vector<std::size_t> out;
    for (auto const& each : all) out.push_back(each.second);
    return out;
  }
  static int dense(Dense const& d) {
    return d.r.rows(
        d.a, {d.in.from}, true,
        [](Row& x) {
          Row sorted;
          for (std::size_t const k : order(x)) sorted.push_back(x[k]);
          sorted.resize(x.size());
          x = sorted;
        },
        [](Row const& x, Row const&, Row const& ct) {
          Row g(x.size());
          std::size_t at = 0;
          for (std::size_t const k : order(x)) g[k] = ct[at++];
          return g;
        });
  }
};
// The numbers of the rows.
template <bool top>
struct PlacesInOrder : InOrder<top> {
  static constexpr Element gives(Element, Element) { return Element::integer; }
  static constexpr Known known(KnownOperands const&) { return {most_extent}; }
  static Int element(Cell const& c) { return std::max<Int>(0, InOrder<top>::place(c)); }
};
struct Sorted : InOrder<false> {
  static constexpr std::string_view gradients_of[] = {"Sort"};
  static constexpr bool keeps_distinct = true;
  static auto perform(auto on) { return sort<typename decltype(on)::V>(on.a); }
};
struct SortedPlaces : PlacesInOrder<false> {
  static auto perform(auto on) { return argsort<typename decltype(on)::V>(on.a); }
};
struct Top : InOrder<true> {
  static constexpr std::string_view gradients_of[] = {"TopK", "Pad"};
  static constexpr Known known(KnownOperands const& of) { return {of.a.most}; }
  static auto perform(auto on) {
    using V = typename decltype(on)::V;
    return pad<V>(top_k<V>(on.a, half(on.n)).values, 0, on.n / 2);
  }
};
struct TopPlaces : PlacesInOrder<true> {
  static auto perform(auto on) {
    using V = typename decltype(on)::V;
    return pad<V>(top_k<V>(on.a, half(on.n)).places, 0, on.n / 2);
  }
};
// The different elements in order, the first ones of as many as there are rows. Of a tensor of one
// dim.
struct UniqueElements : Case {
  static constexpr bool compares = true;
  static constexpr int seldom_fits = 3;
  static constexpr Known known(KnownOperands const& of) { return {of.a.most}; }
  static constexpr rules::Verdict asked(rules::Question const& q) {
    return rules::unique_of_whole(q).one();
  }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return r.shape(asked, &r.a, 1, in.from);
  }
  static Int element(Cell const& c) {
    std::set<Int> all;
    for (Int row = 0; row < c.n(); ++row) all.insert(c.a(row));
    return c.i() < static_cast<Int>(all.size()) ? *std::next(all.begin(), c.i()) : 0;
  }
  static auto perform(auto on) { return unique<typename decltype(on)::V>(on.a, on.n, 0).values; }
};
// Twice the middle element, or the sum of the two middle ones.
struct Middle : Case {
  static constexpr Taken takes = one(floats);
  static constexpr bool compares = true;
  static constexpr bool needs_elements = true;
  static constexpr int seldom_fits = 1;
  static constexpr Known known(KnownOperands const& of) { return {times(of.a.most, 2)}; }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    in.list = only(in.from);
    return r.shape(&rules::quantile_of_whole, &r.a, 1, in.from);
  }
  static Int element(Cell const& c) {
    std::vector<Int> all;
    for (Int row = 0; row < c.n(); ++row) all.push_back(c.a(row));
    std::sort(all.begin(), all.end());
    return all.empty() ? 0 : all[(all.size() - 1) / 2] + all[all.size() / 2];
  }
  static auto perform(auto on) { return made(quantile<typename decltype(on)::V>(on.a, 0.5) * 2.0); }
};

// Dims

struct Transposed : Case {
  static constexpr std::string_view gradients_of[] = {"Transpose"};
  static constexpr unsigned reads = reads_order;
  static constexpr bool keeps_distinct = true;
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    if (r.a.rank < 2) return Rules::no();
    Spec to;
    for (int k = 0; k < in.list.size; ++k) to.add(in.list.at[k]);
    return rules::transpose(r.a, to);
  }
  static Int element(Cell const& c) { return c.a(); }
  static auto perform(auto on) {
    return on.listed([&]<class... Ls>() { return transpose<Ls...>(on.a); });
  }
};
// relabel twice, expand, squeeze, and a copy
struct Renamed : Case {
  static constexpr std::string_view gradients_of[] = {"Relabel", "Expand", "Squeeze", "ToMemory"};
  static constexpr bool keeps_distinct = true;
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    rules::Verdict const other = r.shape(rules::relabel, rules::accept(r.a), in.from, labels);
    rules::Verdict const again = r.shape(rules::relabel, other, labels, in.from);
    return r.shape(rules::squeeze, r.shape(Rules::expand, again, -1, labels + 1), labels + 1);
  }
  static Int element(Cell const& c) { return c.a(); }
  static auto perform(auto on) {
    using V = typename decltype(on)::V;
    using Q = typename decltype(on)::Q;
    using R = typename decltype(on)::R;
    return to_memory<>(squeeze<R>(expand<R>(relabel<Q, V>(relabel<V, Q>(on.a)))));
  }
};
// split_dim, merge_dims
struct Reshaped : Case {
  static constexpr std::string_view gradients_of[] = {"SplitDim", "MergeDims"};
  static constexpr bool keeps_distinct = true;
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    rules::Question q = Rules::question(&r.a, 1);
    q.from.add(in.from);
    q.to.add(labels);
    q.to.add(labels + 1);
    rules::Verdict const parts = rules::split(q, true);
    if (!parts) return parts;
    rules::Question back = Rules::question(&parts.result, 1);
    back.from = q.to;
    back.to = q.from;
    return rules::merge(back);
  }
  static Int element(Cell const& c) { return c.a(); }
  static auto perform(auto on) {
    using V = typename decltype(on)::V;
    using Q = typename decltype(on)::Q;
    using R = typename decltype(on)::R;
    return merge_dims<Q, R, V>(split_dim<V, Q, R>(on.a, {on.n, 1}));
  }
};
// A sort along a dim that may be split, by op::Named.
struct NamedSort : Case {
  static constexpr bool across = true;
  static constexpr unsigned reads = reads_from | reads_result;
  static constexpr planning::LocalPlan meet(Instruction const& in, Rules const& r,
                                            planning::Sizing const&) {
    rules::Question q = Rules::question(&r.a, 1);
    q.from.add(in.from);
    return planning::sort_plan(q, in.result);
  }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return meet(in, r, {}).verdict;
  }
  static Int element(Cell const& c) { return InOrder<false>::element(c); }
  static auto perform(auto on) {
    using V = typename decltype(on)::V;
    return call(op::Named<op::Sort<V>, typename decltype(on)::Out>{},
                std::source_location::current(), on.a);
  }
};

using Along =
    CaseList<Flip, Roll, FromSecond, FromSecondAndOne, SpreadRows, TwiceEach, FromMiddle, Halves,
             Shift, ShiftRound, Differences, DifferencesRound, HaloRows, HaloRound, HaloSums,
             HaloSumsRound, RunningSum<false, false>, RunningSum<true, false>,
             RunningSum<false, true>, RunningSum<true, true>, RunningProduct, RunningMax,
             RunningMin, Ties<true>, Ties<false>, ProductAndZeros, Triangle<false>, Triangle<true>,
             OnDiagonal, NonZeros, Variance, Softmax, MiddleRow, AllThree, NamedSort, Transposed,
             Renamed, Reshaped, Sorted, SortedPlaces, Top, TopPlaces, UniqueElements, Middle>;

}  // namespace programs::cases

namespace samples {

inline constexpr std::tuple along_samples{
    on<"At", "at", A>(op::At<I>{3}),
    on<"Concat", "concat", A, A>(op::Concat<J, M>{}),
    on<"CountNonzero", "count_nonzero", A>(op::CountNonzero<J>{}),
    on<"CumMax", "cummax", A>(op::CumMax<I>{}),
    on<"CumMin", "cummin", A>(op::CumMin<I>{}),
    on<"CumProd", "cumprod", A>(op::CumProd<I>{}),
    on<"CumSum", "cumsum", A>(op::CumSum<I>{}),
    on<"Diag", "diag", A>(op::Diag<J, L>{}),
    on<"Diagonal", "diagonal", A>(op::Diagonal<J, I>{}),
    on<"Diff", "diff", A>(op::Diff<I>{}),
    on<"Flip", "flip", A>(op::Flip<J>{}),
    on<"FullLike", "full_like", A>(op::FullLike<int>{1}),
    on<"HaloExchange", "halo_exchange", A>(op::HaloExchange<I>{1, 2}),
    on<"Named", "call(op::Named)", A>(op::Named<op::Sort<I>, Dim<I, Y>, Dim<J>>{}),
    on<"Pad", "pad", A>(op::Pad<J, K>{1, 3}),
    on<"PadValue", "pad", A>(op::PadValue<double, J, K>{1, 3, 0.5}),
    on<"Repeat", "repeat", A>(op::Repeat<J, M>{2}),
    on<"Roll", "roll", A>(op::Roll<J>{3}),
    on<"ScatterAlong", "scatter_along", A, Along>(op::ScatterAlong<V, J>{}),
    on<"Shift", "shift", A>(op::Shift<I>{3}),
    on<"Slice", "slice", A>(op::Slice<J, P>{2, 4}),
    on<"LogSoftmax", "log_softmax", A>(op::LogSoftmax<J>{}),
    on<"Softmax", "softmax", A>(op::Softmax<J>{}),
    on<"StdDev", "stddev", A>(op::StdDev<J>{}),
    on<"Tile", "tile", A>(op::Tile<J, M>{2}),
    on<"Tril", "tril", A>(op::Tril<I, J>{1}),
    on<"Triu", "triu", A>(op::Triu<I, J>{1}),
    on<"UsedAs", "used_as", A>(op::UsedAs<Reduced<X>>{}),
    on<"Var", "var", A>(op::Var<J>{{1}})};

}  // namespace samples
