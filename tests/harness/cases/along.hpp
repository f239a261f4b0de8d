// Operations along one dim: local ones, and ones that fetch rows of other ranks.
#pragma once

#include <source_location>

#include "harness/case.hpp"
#include "harness/cases/elementwise.hpp"
#include "harness/sample.hpp"

namespace programs::cases {

struct Flip : Case {
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return r.shape(rules::flip, rules::accept(r.a), in.from);
  }
  static std::int64_t element(Cell const& c) { return c.a(c.n() - 1 - c.i()); }
  template <class On>
  static auto perform(On const& on) {
    using V = typename On::V;
    return flip<V>(on.a);
  }
};
struct Roll : Case {
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return r.shape(rules::roll, rules::accept(r.a), in.from);
  }
  static std::int64_t element(Cell const& c) { return c.a((c.i() + c.n() - 1) % c.n()); }
  template <class On>
  static auto perform(On const& on) {
    using V = typename On::V;
    return roll<V>(on.a, 1);
  }
};

// Slice, then pad: every row but the first, then a row of zeros.
struct FromSecond : Case {
  static constexpr Known known(KnownOperands const& of) { return {of.a.most}; }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return r.shape(Rules::pad, r.shape(rules::resized, rules::accept(r.a), in.from), in.from);
  }
  static std::int64_t element(Cell const& c) { return c.a_or_zero(c.i() + 1); }
  template <class On>
  static auto perform(On const& on) {
    using V = typename On::V;
    std::int64_t const first = std::min<std::int64_t>(1, on.n);
    return pad<V>(slice<V>(on.a, first, on.n), 0, first);
  }
};
// The same with a row of ones.
struct FromSecondAndOne : Case {
  static constexpr Known known(KnownOperands const& of) {
    return {std::max<std::int64_t>(1, of.a.most), of.a.divides};
  }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return r.shape(Rules::pad_ones, r.shape(rules::resized, rules::accept(r.a), in.from), in.from);
  }
  static std::int64_t element(Cell const& c) { return c.i() + 1 == c.n() ? 1 : c.a(c.i() + 1); }
  template <class On>
  static auto perform(On const& on) {
    using V = typename On::V;
    std::int64_t const first = std::min<std::int64_t>(1, on.n);
    return pad<V>(slice<V>(on.a, first, on.n), 0, first, typename On::Element{1});
  }
};

// Pad with a row between each two and one behind the last, then slice: every other row is zero.
struct SpreadRows : Case {
  static constexpr Known known(KnownOperands const& of) { return {of.a.most}; }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return r.shape(rules::resized, r.shape(Rules::pad, rules::accept(r.a), in.from), in.from);
  }
  static std::int64_t element(Cell const& c) { return c.i() % 2 == 0 ? c.a(c.i() / 2) : 0; }
  template <class On>
  static auto perform(On const& on) {
    using V = typename On::V;
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
  static std::int64_t element(Cell const& c) { return c.a(c.i() / 2); }
  template <class On>
  static auto perform(On const& on) {
    using V = typename On::V;
    return slice<V>(repeat<V>(on.a, 2), 0, on.n);
  }
};
// Tile, then slice.
struct FromMiddle : ResizedTwice {
  static std::int64_t element(Cell const& c) { return c.a((c.i() + c.n() / 2) % c.n()); }
  template <class On>
  static auto perform(On const& on) {
    using V = typename On::V;
    return slice<V>(tile<V>(on.a, 2), on.n / 2, on.n / 2 + on.n);
  }
};
// Concat of two slices.
struct Halves : Case {
  static constexpr Taken takes = two(everything, as_first);
  static constexpr Known known(KnownOperands const& of) { return larger_of(of.a, of.b); }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    if (rules::Verdict const s = r.shape(rules::resized, rules::accept(r.a), in.from); !s) return s;
    Spec const both[] = {r.a, r.b};
    return r.shape(rules::concat, both, 2, in.from);
  }
  static std::int64_t element(Cell const& c) {
    std::int64_t const first = half(c.n());
    return c.i() < first ? c.a(c.i() + c.n() / 2) : c.b(c.i() - first);
  }
  template <class On>
  static auto perform(On const& on) {
    using V = typename On::V;
    return concat<V>(slice<V>(on.a, on.n / 2, on.n), slice<V>(on.b, 0, on.n / 2));
  }
};

struct Shift : Case {
  static constexpr bool across = true;
  static constexpr Known known(KnownOperands const& of) { return {of.a.most}; }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return r.shape(rules::shift, rules::accept(r.a), in.from);
  }
  static std::int64_t element(Cell const& c) { return c.a_or_zero(c.i() - 1); }
  template <class On>
  static auto perform(On const& on) {
    using V = typename On::V;
    return shift<V>(on.a, 1);
  }
};
struct ShiftRound : Shift {
  static constexpr Known known(KnownOperands const& of) { return of.a; }
  static std::int64_t element(Cell const& c) { return c.a((c.i() + c.n() - 1) % c.n()); }
  template <class On>
  static auto perform(On const& on) {
    using V = typename On::V;
    return shift<V>(on.a, 1, op::Edge::wrap);
  }
};
// halo_exchange: the row before an even row, the second row after an odd row.
struct HaloRows : Case {
  static constexpr bool across = true;
  static constexpr bool recorded = false;
  static constexpr Known known(KnownOperands const& of) { return {of.a.most}; }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return r.shape(rules::halo, rules::accept(r.a), in.from);
  }
  static std::int64_t element(Cell const& c) {
    return c.a_or_zero(c.i() % 2 == 0 ? c.i() - 1 : c.i() + 2);
  }
  template <class On>
  static auto perform(On const& on) {
    return perform_halo<typename On::V>(on.a, op::Edge::fill_zero);
  }
};
struct HaloRound : HaloRows {
  static constexpr Known known(KnownOperands const& of) { return of.a; }
  static std::int64_t element(Cell const& c) {
    return c.a((c.i() % 2 == 0 ? c.i() + c.n() - 1 : c.i() + 2) % c.n());
  }
  template <class On>
  static auto perform(On const& on) {
    return perform_halo<typename On::V>(on.a, op::Edge::wrap);
  }
};

// halo_add of halos in which each own row stands in the place of the second row behind it.
struct HaloSums : Case {
  static constexpr Taken takes = one(numbers);
  static constexpr bool across = true;
  static constexpr bool recorded = false;
  static constexpr Known known(KnownOperands const& of) { return {of.a.most}; }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return r.shape(rules::halo_add, rules::accept(r.a), in.from);
  }
  static std::int64_t element(Cell const& c) { return c.a_or_zero(c.i() - 2); }
  template <class On>
  static auto perform(On const& on) {
    return perform_halo_add<typename On::V>(on.a, op::Edge::fill_zero);
  }
};
struct HaloSumsRound : HaloSums {
  static constexpr Known known(KnownOperands const& of) { return of.a; }
  static std::int64_t element(Cell const& c) { return c.a((c.i() + 2 * c.n() - 2) % c.n()); }
  template <class On>
  static auto perform(On const& on) {
    return perform_halo_add<typename On::V>(on.a, op::Edge::wrap);
  }
};

// The result of `join` over the first `end` rows.
template <class Join>
std::int64_t running(Cell const& c, std::int64_t end, std::int64_t none, Join join) {
  std::int64_t value = none;
  for (std::int64_t row = 0; row < end; ++row) value = row == 0 ? c.a(row) : join(value, c.a(row));
  return value;
}
inline std::int64_t sum_of(std::int64_t a, std::int64_t b) { return a + b; }
inline std::int64_t product_of(std::int64_t a, std::int64_t b) { return a * b; }
inline std::int64_t larger(std::int64_t a, std::int64_t b) { return std::max(a, b); }
inline std::int64_t smaller(std::int64_t a, std::int64_t b) { return std::min(a, b); }

// The running result of the reduction `how`.
template <rules::ReductionKind how>
struct Running : Case {
  static constexpr bool across = true;
  static constexpr rules::Verdict asked(rules::Question const& q) { return rules::running(q, how); }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return r.shape(asked, rules::accept(r.a), in.from);
  }
};
struct RunningSum : Running<rules::ReductionKind::sum> {
  static constexpr Taken takes = one(numbers);
  static constexpr Known known(KnownOperands const& of) { return {times(of.a.most, most_extent)}; }
  static std::int64_t element(Cell const& c) { return running(c, c.i() + 1, 0, sum_of); }
  template <class On>
  static auto perform(On const& on) {
    using V = typename On::V;
    return cumsum<V>(on.a);
  }
};
struct RunningProduct : Running<rules::ReductionKind::whole> {
  static constexpr Taken takes = one(numbers);
  static constexpr bool seldom_fits = true;
  static constexpr Known known(KnownOperands const& of) { return {power(of.a.most, most_extent)}; }
  static std::int64_t element(Cell const& c) { return running(c, c.i() + 1, 1, product_of); }
  template <class On>
  static auto perform(On const& on) {
    using V = typename On::V;
    return cumprod<V>(on.a);
  }
};
struct RunningMax : Running<rules::ReductionKind::max> {
  static std::int64_t element(Cell const& c) { return running(c, c.i() + 1, 0, larger); }
  template <class On>
  static auto perform(On const& on) {
    using V = typename On::V;
    return cummax<V>(on.a);
  }
};
struct RunningMin : Running<rules::ReductionKind::min> {
  static std::int64_t element(Cell const& c) { return running(c, c.i() + 1, 0, smaller); }
  template <class On>
  static auto perform(On const& on) {
    using V = typename On::V;
    return cummin<V>(on.a);
  }
};
// An exclusive running sum.
struct SumBefore : RunningSum {
  static std::int64_t element(Cell const& c) { return running(c, c.i(), 0, sum_of); }
  template <class On>
  static auto perform(On const& on) {
    using V = typename On::V;
    return cumsum<V>(on.a, on.exclusive);
  }
};

// A running sum from the last row on.
struct SumBehind : RunningSum {
  static std::int64_t element(Cell const& c) {
    std::int64_t sum = 0;
    for (std::int64_t row = c.n() - 1; row >= c.i(); --row) sum += c.a(row);
    return sum;
  }
  template <class On>
  static auto perform(On const& on) {
    using V = typename On::V;
    return cumsum<V>(on.a, on.inclusive, on.reverse);
  }
};

// Updates of the rows that ids name, along a dim that is not split (else the result is unreduced).
struct ScatterAlong : Case {
  static constexpr Taken takes = two(numbers, integers);
  static constexpr bool seldom_fits = true;
  static constexpr Known known(KnownOperands const& of) { return {times(of.a.most, most_extent)}; }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    int const d = r.a.find(in.from);
    if (d >= 0 && r.a.dims[d].axes.size > 0) return Rules::no();
    return rules::scatter_along(r.a, r.b, in.from, in.from);
  }
  static std::int64_t element(Cell const& c) {
    std::int64_t sum = 0;
    for (std::int64_t row = 0; row < c.n(); ++row)
      if (c.b(row) == c.i()) sum += c.a(row);
    return sum;
  }
  template <class On>
  static auto perform(On const& on) {
    using V = typename On::V;
    return scatter_along<V>(on.a, on.b, on.n);
  }
};

// The value as a parameter is used: whole and reduced along an axis.
struct UsedAs : Case {
  static constexpr bool recorded = false;
  static constexpr planning::LocalPlan meet(Instruction const& in, Spec const&, Spec const&) {
    return {rules::accept(in.result), 1, {in.result}, in.result};
  }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    core::AxisSet over;
    over.insert(in.axis);
    rules::Verdict const v = rules::used_as(r.a, over);
    in.result = v.result;
    return v;
  }
  static std::int64_t element(Cell const& c) { return c.a(); }
  template <class On>
  static auto perform(On const& on) {
    return used_as<Reduced<typename On::Axis>>(on.a);
  }
};

// The elements on one side of a diagonal of two dims.
template <bool upper>
struct Triangle : Case {
  static constexpr Known known(KnownOperands const& of) { return {of.a.most}; }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    if (in.from == in.to) return Rules::no();
    rules::Question q = Rules::question(&r.a, 1);
    q.from.add(in.from);
    q.from.add(in.to);
    return rules::masked(q);
  }
  static std::int64_t element(Cell const& c) {
    std::int64_t const apart = c.at[c.in.to] - c.i();
    return (upper ? apart >= 1 : apart <= 1) ? c.a() : 0;
  }
};
struct LowerTriangle : Triangle<false> {
  template <class On>
  static auto perform(On const& on) {
    using V = typename On::V;
    using W = typename On::W;
    return tril<V, W>(on.a, 1);
  }
};
struct UpperTriangle : Triangle<true> {
  template <class On>
  static auto perform(On const& on) {
    using V = typename On::V;
    using W = typename On::W;
    return triu<V, W>(on.a, 1);
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
    rules::Labels kept;
    for (int d = 0; d < r.a.rank; ++d)
      if (r.a.dims[d].label != in.from) kept.push(r.a.dims[d].label);
    return rules::reduction(r.a, kept, rules::ReductionKind::whole);
  }
  static std::int64_t element(Cell const& c) {
    std::int64_t sum = 0;
    std::int64_t squares = 0;
    for (std::int64_t k = 0; k < c.n(); ++k) sum += c.a(k), squares += c.a(k) * c.a(k);
    return c.n() * squares - sum * sum;
  }
  template <class On>
  static auto perform(On const& on) {
    using V = typename On::V;
    auto const twice = min(var<V>(on.a), square(stddev<V>(on.a)));
    auto const n = static_cast<double>(on.n);
    return made(round(where(isnan(twice), 0.0, twice) * (n * n)));
  }
};

// The number of elements that equal the largest, in their places.
struct Ties : Case {
  static constexpr Taken takes = one(floats);
  static constexpr bool recorded = false;
  static constexpr Known known(KnownOperands const&) { return {most_extent}; }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    if (r.a.find(in.from) < 0) return Rules::no();
    rules::Labels kept;
    for (int d = 0; d < r.a.rank; ++d)
      if (r.a.dims[d].label != in.from) kept.push(r.a.dims[d].label);
    return rules::normalization(r.a, kept);
  }
  template <class Better>
  static std::int64_t count(Cell const& c, Better better) {
    std::int64_t equal = 0;
    for (std::int64_t k = 0; k < c.n(); ++k) {
      if (better(c.a(k), c.a())) return 0;
      equal += c.a(k) == c.a() ? 1 : 0;
    }
    return equal;
  }
  static std::int64_t element(Cell const& c) {
    return count(c, [](std::int64_t a, std::int64_t b) { return a > b; });
  }
  template <class On>
  static auto perform(On const& on) {
    using V = typename On::V;
    auto const most = counted_max<V>(on.a);
    return made(where(on.a == most.values, most.counts, 0.0));
  }
};
struct TiesOfLeast : Ties {
  static std::int64_t element(Cell const& c) {
    return count(c, [](std::int64_t a, std::int64_t b) { return a < b; });
  }
  template <class On>
  static auto perform(On const& on) {
    using V = typename On::V;
    auto const least = counted_min<V>(on.a);
    return made(where(on.a == least.values, least.counts, 0.0));
  }
};
// The product of the elements that are not zero, and the number of the others, in each place.
struct ProductAndZeros : Ties {
  static constexpr bool seldom_fits = true;
  static constexpr Known known(KnownOperands const& of) {
    return {times(2, power(std::max<std::int64_t>(2, of.a.most), most_extent))};
  }
  static std::int64_t element(Cell const& c) {
    std::int64_t out = 1;
    for (std::int64_t k = 0; k < c.n(); ++k) out *= c.a(k) == 0 ? 1 : c.a(k);
    for (std::int64_t k = 0; k < c.n(); ++k) out += c.a(k) == 0 ? 1 : 0;
    return out;
  }
  template <class On>
  static auto perform(On const& on) {
    using V = typename On::V;
    auto const both = counted_prod<V>(on.a);
    return made(on.a * 0.0 + (both.values + both.counts));
  }
};

// Softmax of logarithms of integers, multiplied by their sum: the integers again.
struct Softmax : Case {
  static constexpr Taken takes = one(floats);
  static constexpr Known known(KnownOperands const& of) {
    return {of.a.most > (std::int64_t{1} << 32) ? too_large : of.a.most + 1};
  }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    if (r.a.find(in.from) < 0) return Rules::no();
    rules::Labels kept;
    for (int d = 0; d < r.a.rank; ++d)
      if (r.a.dims[d].label != in.from) kept.push(r.a.dims[d].label);
    return rules::normalization(r.a, kept);
  }
  static std::int64_t element(Cell const& c) { return (c.a() < 0 ? -c.a() : c.a()) + 1; }
  template <class On>
  static auto perform(On const& on) {
    using V = typename On::V;
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
  static std::int64_t element(Cell const& c) { return c.a(c.n() / 2); }
  template <class On>
  static auto perform(On const& on) {
    using V = typename On::V;
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
  static std::int64_t element(Cell const&) { return 3; }
  template <class On>
  static auto perform(On const& on) {
    return full_like(on.a, 3);
  }
};

// A sort along a split dim, which gathers the rows first, by op::Named.
struct NamedSort : Case {
  static constexpr planning::LocalPlan meet(Instruction const& in, Spec const& a, Spec const&) {
    rules::Question q = Rules::question(&a, 1);
    q.from.add(in.from);
    return planning::local_plan(&sorted, q, in.result);
  }
  static constexpr rules::Verdict sorted(rules::Question const& q) {
    return rules::sorted(q, false);
  }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    in.result = r.wanted(r.mine);
    return meet(in, r.a, r.b).verdict;
  }
  // The element with exactly i predecessors in the sorted order; equal elements keep their order.
  static std::int64_t element(Cell const& c) {
    for (std::int64_t k = 0; k < c.n(); ++k) {
      std::int64_t before = 0;
      for (std::int64_t m = 0; m < c.n(); ++m)
        before += c.a(m) < c.a(k) || (c.a(m) == c.a(k) && m < k) ? 1 : 0;
      if (before == c.i()) return c.a(k);
    }
    return 0;
  }
  template <class On>
  static auto perform(On const& on) {
    using V = typename On::V;
    return call(op::Named<op::Sort<V>, typename On::Out>{}, std::source_location::current(), on.a);
  }
};

using Along = CaseList<Flip, Roll, FromSecond, FromSecondAndOne, SpreadRows, TwiceEach, FromMiddle,
                       Halves, Shift, ShiftRound, HaloRows, HaloRound, HaloSums, HaloSumsRound,
                       RunningSum, RunningProduct, RunningMax, RunningMin, SumBefore, SumBehind,
                       ScatterAlong, UsedAs, Ties, TiesOfLeast, ProductAndZeros, LowerTriangle,
                       UpperTriangle, Variance, Softmax, MiddleRow, AllThree, NamedSort>;

}  // namespace programs::cases

namespace samples {

template <>
inline constexpr auto sample<"At"> = on<A>(op::At<I>{3});
template <>
inline constexpr auto sample<"Concat"> = on<A, A>(op::Concat<J, M>{});
template <>
inline constexpr auto sample<"CumMax"> = on<A>(op::CumMax<I>{});
template <>
inline constexpr auto sample<"CumMin"> = on<A>(op::CumMin<I>{});
template <>
inline constexpr auto sample<"CumProd"> = on<A>(op::CumProd<I>{});
template <>
inline constexpr auto sample<"CumSum"> = on<A>(op::CumSum<I>{});
template <>
inline constexpr auto sample<"Flip"> = on<A>(op::Flip<J>{});
template <>
inline constexpr auto sample<"FullLike"> = on<A>(op::FullLike<int>{1});
template <>
inline constexpr auto sample<"HaloExchange"> = on<A>(op::HaloExchange<I>{1, 2});
template <>
inline constexpr auto sample<"Named"> = on<A>(op::Named<op::Sort<I>, Dim<I, Y>, Dim<J>>{});
template <>
inline constexpr auto sample<"Pad"> = on<A>(op::Pad<J, K>{1, 3});
template <>
inline constexpr auto sample<"PadValue"> = on<A>(op::PadValue<double, J, K>{1, 3, 0.5});
template <>
inline constexpr auto sample<"Repeat"> = on<A>(op::Repeat<J, M>{2});
template <>
inline constexpr auto sample<"Roll"> = on<A>(op::Roll<J>{3});
template <>
inline constexpr auto sample<"ScatterAlong"> = on<A, Along>(op::ScatterAlong<V, J>{});
template <>
inline constexpr auto sample<"Shift"> = on<A>(op::Shift<I>{3});
template <>
inline constexpr auto sample<"Slice"> = on<A>(op::Slice<J, P>{2, 4});
template <>
inline constexpr auto sample<"LogSoftmax"> = on<A>(op::LogSoftmax<J>{});
template <>
inline constexpr auto sample<"Softmax"> = on<A>(op::Softmax<J>{});
template <>
inline constexpr auto sample<"StdDev"> = on<A>(op::StdDev<J>{});
template <>
inline constexpr auto sample<"Tile"> = on<A>(op::Tile<J, M>{2});

template <>
inline constexpr auto sample<"Tril"> = on<A>(op::Tril<I, J>{1});
template <>
inline constexpr auto sample<"Triu"> = on<A>(op::Triu<I, J>{1});
template <>
inline constexpr auto sample<"UsedAs"> = on<A>(op::UsedAs<Reduced<X>>{});
template <>
inline constexpr auto sample<"Var"> = on<A>(op::Var<J>{{1}});

}  // namespace samples
