// Operations with gradients that the value programs draw otherwise (operations.hpp), or whose results are no integers.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/cases/along.hpp"
#include "harness/cases/elementwise.hpp"
#include "harness/gradient_case.hpp"

namespace programs::cases {

using rules::ReductionKind;

// Functions of an element.

struct Real : Case {
  static constexpr std::string_view gradients_of[] = {"Map"};
  using Elements = double;
};
struct Tanh : Real {
  using function = functions::Tanh;
  static constexpr bool keeps_distinct = true;
  static constexpr double bound(Instruction const&, double, double) { return 1; }
  static double of(double x, double, double) { return std::tanh(x); }
  static std::pair<double, double> slopes(double x, double) {
    return {1 - std::tanh(x) * std::tanh(x), 0};
  }
  static auto perform(auto on) { return tanh(on.a); }
};
struct Sin : Real {
  using function = functions::Sin;
  static constexpr double bound(Instruction const&, double, double) { return 1; }
  static double of(double x, double, double) { return std::sin(x); }
  static std::pair<double, double> slopes(double x, double) { return {std::cos(x), 0}; }
  static auto perform(auto on) { return sin(on.a); }
};
// a / (2 + b b)
struct Quotient : Real {
  static constexpr Taken takes = two(floats, floats);
  static constexpr unsigned reads = 0;
  static constexpr rules::Verdict below(Spec const& b) {
    return joined(rules::Linearity::none, b, Spec{});
  }
  static constexpr rules::Verdict rule(Rules& r, Instruction&) {
    return joined(rules::Linearity::dividing, rules::accept(r.a), below(r.b));
  }
  static constexpr rules::Verdict pulled(Pull const& p) {
    using enum rules::Linearity;
    rules::Verdict v = joined(dividing, rules::accept(p.ct), below(p.b));
    if (p.k == 1) v = joined(dividing, joined(scaling, v, rules::accept(p.a)), below(p.b));
    return p.summed(v);
  }
  static double of(double x, double y, double) { return x / (2 + y * y); }
  static std::pair<double, double> slopes(double x, double y) {
    double const d = 2 + y * y;
    return {1 / d, -2 * x * y / (d * d)};
  }
  static auto perform(auto on) { return on.a / (2 + square(on.b)); }
};
// where(b > 0, a, 0)
struct Chosen : Real {
  static constexpr Taken takes = two(floats, floats);
  static constexpr unsigned reads = 0;
  static constexpr bool compares = true;
  static constexpr int condition = 1;
  static constexpr rules::Verdict rule(Rules& r, Instruction&) {
    return chosen(joined(rules::Linearity::none, r.b, Spec{}), r.a);
  }
  static constexpr rules::Verdict pulled(Pull const& p) {
    return p.summed(chosen(rules::accept(p.b), p.ct));
  }
  static double of(double x, double y, double) { return y > 0 ? x : 0; }
  static std::pair<double, double> slopes(double, double y) { return {y > 0 ? 1.0 : 0.0, 0}; }
  static auto perform(auto on) { return where(on.b > 0, on.a, op::zero); }
};
// A function with a named result.
template <class C>
struct NamedFunction : C {
  static constexpr unsigned reads = reads_result;
  static constexpr rules::Linearity how = meets<typename C::function, double>;
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    rules::Operands both;
    both.push(r.a);
    both.push(r.b);
    return rules::named_elementwise(both, in.result, how);
  }
  static constexpr rules::Verdict pulled(Pull const& p) {
    Spec const& to = p.in.result;
    rules::Verdict const met = joined(how, p.a, p.b);
    if (!met) {  // reshards are moved back
      if (met.code == rules::Code::P01_no_operand_has_all || !to.unreduced.empty())
        return Rules::no();
      rules::Verdict const v = rules::named_product_cotangent(rules::brought(p.own(), to), to);
      return v ? rules::accept(rules::cotangent(p.own())) : v;
    }
    rules::Verdict const back = rules::accept(rules::cotangent(met.result));
    return p.summed(
        how == rules::Linearity::additive ? back : joined(how, back, rules::accept(p.other())));
  }
  static auto perform(auto on) {
    return map<typename decltype(on)::Out>(typename C::function{}, on.a, on.b);
  }
};

// Reductions over the listed labels: `reduced` calls one, `dense` is one of rows.

template <ReductionKind its_kind>
struct Reduction : Case {
  static constexpr ReductionKind kind = its_kind;
  static constexpr unsigned reads = reads_over;
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return rules::reduction(r.a, without(r.mine, in.list), kind);
  }
  static constexpr rules::Verdict back(Pull const& p, Spec const& partial) {
    if (kind == ReductionKind::sum) return rules::spread(p.ct, rules::cotangent(p.a));
    return reduction_back(p.ct, p.a, partial);
  }
  static constexpr rules::Verdict pulled(Pull const& p) { return back(p, p.in.result); }
};
template <class C>
struct Strict : C {
  static auto perform(auto on) {
    return on.listed([&]<class... Ls>() { return C::template reduced<Ls...>(on.a); });
  }
};
template <class C>
struct NamedReduction : C {
  static constexpr unsigned reads = reads_over | reads_result;
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return rules::named_reduction(r.a, in.result, C::kind);
  }
  // From the cotangent of the strict form's result.
  static constexpr rules::Verdict pulled(Pull const& p) {
    rules::Verdict met =
        rules::reduction(p.a, rules::labels_of(p.in.result),
                         C::kind == ReductionKind::max ? ReductionKind::max : ReductionKind::sum);
    if (!met) return met;
    met.result.kind = core::ReduceKind::sum;
    return C::back(p.of(met.result), met.result);
  }
  static auto perform(auto on) { return C::template reduced<typename decltype(on)::Out>(on.a); }
};
struct Sum : Reduction<ReductionKind::sum> {
  static constexpr std::string_view gradients_of[] = {"Sum"};
  static constexpr double bound(Instruction const& in, double a, double) {
    return a * most_terms(in);
  }
  template <class... Over>
  static auto reduced(auto const& a) {
    return sum<Over...>(a);
  }
  static int dense(Dense const& d) {
    return d.r.rows(
        d.a, d.listed(), false, [](Row& x) { x = {total(x)}; },
        [](Row const& x, Row const&, Row const& ct) { return Row(x.size(), ct[0]); });
  }
};
struct Mean : Reduction<ReductionKind::sum> {
  static constexpr std::string_view gradients_of[] = {"Mean"};
  static constexpr bool needs_elements = true;
  template <class... Over>
  static auto reduced(auto const& a) {
    return mean<Over...>(a);
  }
  static int dense(Dense const& d) {
    return d.r.rows(
        d.a, d.listed(), false, [](Row& x) { x = {total(x) / static_cast<double>(x.size())}; },
        [](Row const& x, Row const&, Row const& ct) {
          return Row(x.size(), ct[0] / static_cast<double>(x.size()));
        });
  }
};
// A reduction whose derivatives by its elements are independent: `slope(x, y)` of element x and result y.
template <class C>
int by_slopes(Dense const& d) {
  return d.r.rows(
      d.a, d.listed(), false, [](Row& x) { x = {C::of_row(x)}; },
      [](Row const& x, Row const& y, Row const& ct) {
        Row g;
        for (double const e : x) g.push_back(ct[0] * C::slope(e, y[0], x));
        return g;
      });
}
struct Max : Reduction<ReductionKind::max> {
  static constexpr std::string_view gradients_of[] = {"Max"};
  static constexpr bool needs_elements = true;
  static constexpr bool compares = true;
  template <class... Over>
  static auto reduced(auto const& a) {
    return max<Over...>(a);
  }
  static double of_row(Row const& x) { return *std::max_element(x.begin(), x.end()); }
  static double slope(double e, double y, Row const& x) {
    return e == y ? 1 / static_cast<double>(std::count(x.begin(), x.end(), y)) : 0;
  }
  static int dense(Dense const& d) { return by_slopes<Max>(d); }
};
struct LogSumExp : Reduction<ReductionKind::whole> {
  static constexpr std::string_view gradients_of[] = {"LogSumExp"};
  static constexpr bool needs_elements = true;
  static constexpr double bound(Instruction const&, double a, double) { return a + 6; }
  template <class... Over>
  static auto reduced(auto const& a) {
    return logsumexp<Over...>(a);
  }
  static double of_row(Row const& x) {
    double s = 0;
    for (double const e : x) s += std::exp(e);
    return std::log(s);
  }
  static double slope(double e, double y, Row const&) { return std::exp(e - y); }
  static int dense(Dense const& d) { return by_slopes<LogSumExp>(d); }
};
struct Norm : Reduction<ReductionKind::whole> {
  static constexpr std::string_view gradients_of[] = {"Norm"};
  static constexpr double bound(Instruction const& in, double a, double) {
    return a * most_terms(in);
  }
  template <class... Over>
  static auto reduced(auto const& a) {
    return norm<Over...>(a);
  }
  static double of_row(Row const& x) {
    double s = 0;
    for (double const e : x) s += e * e;
    return std::sqrt(s);
  }
  static double slope(double e, double y, Row const&) { return y == 0 ? 0 : e / y; }
  static int dense(Dense const& d) { return by_slopes<Norm>(d); }
};
struct Norm1 : Reduction<ReductionKind::sum_of_sizes> {
  static constexpr std::string_view gradients_of[] = {"Norm1"};
  static constexpr bool compares = true;
  static constexpr double bound(Instruction const& in, double a, double) {
    return a * most_terms(in);
  }
  template <class... Over>
  static auto reduced(auto const& a) {
    return norm_1<Over...>(a);
  }
  static double of_row(Row const& x) {
    double s = 0;
    for (double const e : x) s += std::abs(e);
    return s;
  }
  static double slope(double e, double, Row const&) { return e > 0 ? 1 : e < 0 ? -1 : 0; }
  static int dense(Dense const& d) { return by_slopes<Norm1>(d); }
};
struct Var : Reduction<ReductionKind::whole> {
  static constexpr std::string_view gradients_of[] = {"Var"};
  static constexpr bool needs_elements = true;
  static constexpr double bound(Instruction const&, double a, double) { return a * a * 4; }
  template <class... Over>
  static auto reduced(auto const& a) {
    return var<Over...>(a);
  }
  static double of_row(Row const& x) {
    auto const n = static_cast<double>(x.size());
    double const m = total(x) / n;
    double s = 0;
    for (double const e : x) s += (e - m) * (e - m);
    return s / n;
  }
  static double slope(double e, double, Row const& x) {
    auto const n = static_cast<double>(x.size());
    return 2 * (e - total(x) / n) / n;
  }
  static int dense(Dense const& d) { return by_slopes<Var>(d); }
};
struct Prod : Reduction<ReductionKind::whole> {
  static constexpr std::string_view gradients_of[] = {"Prod"};
  static constexpr double bound(Instruction const& in, double a, double) {
    double out = 1;
    for (double k = 0; k < most_terms(in) && out <= 1e6; ++k) out *= std::max(a, 1.0);
    return out;
  }
  template <class... Over>
  static auto reduced(auto const& a) {
    return prod<Over...>(a);
  }
  static int dense(Dense const& d) {
    return d.r.rows(
        d.a, d.listed(), false, [](Row& x) { x = {product_without(x, x.size(), x.size())}; },
        [](Row const& x, Row const&, Row const& ct) {
          Row g;
          for (std::size_t k = 0; k < x.size(); ++k)
            g.push_back(ct[0] * product_without(x, x.size(), k));
          return g;
        });
  }
};
struct SoftmaxOver : Case {
  static constexpr std::string_view gradients_of[] = {"Softmax"};
  static constexpr unsigned reads = reads_over;
  static constexpr double bound(Instruction const&, double, double) { return 1; }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return rules::normalization(r.a, without(r.mine, in.list));
  }
  static constexpr rules::Verdict pulled(Pull const& p) {
    return joined(rules::Linearity::scaling, p.ct, p.in.result);
  }
  template <class... Over>
  static auto reduced(auto const& a) {
    return softmax<Over...>(a);
  }
  static int dense(Dense const& d) {
    return d.r.rows(
        d.a, d.listed(), true,
        [](Row& x) {
          double s = 0;
          for (double const e : x) s += std::exp(e);
          for (double& e : x) e = std::exp(e) / s;
        },
        [](Row const&, Row const& y, Row const& ct) {
          double s = 0;
          for (std::size_t k = 0; k < y.size(); ++k) s += ct[k] * y[k];
          Row g;
          for (std::size_t k = 0; k < y.size(); ++k) g.push_back(y[k] * (ct[k] - s));
          return g;
        });
  }
};

// Products

struct Product : Case {
  static constexpr std::string_view gradients_of[] = {"Einsum"};
  static constexpr Taken takes = two(floats, floats);
  static constexpr unsigned reads = reads_kept;
  static constexpr double bound(Instruction const&, double a, double b) {
    return a * b * most_extent * most_extent;
  }
  static constexpr rules::Verdict pulled(Pull const& p) {
    return rules::product_cotangent(p.ct, p.other(), p.own());
  }
  static int dense(Dense const& d) { return d.r.product(d.a, d.b, d.result()); }
};
struct Contract : Product {
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return rules::contraction(r.a, r.b, in.list);
  }
  static auto perform(auto on) {
    return on.listed([&]<class... Ls>() { return einsum<Ls...>(on.a, on.b); });
  }
};
struct MatrixProduct : Product {
  static constexpr std::string_view gradients_of[] = {"Matmul"};
  static constexpr unsigned reads = 0;
  static constexpr rules::Verdict rule(Rules& r, Instruction&) {
    rules::Labels out;
    if (rules::Verdict const v = rules::matmul_labels(r.a, r.b, out); !v) return v;
    return rules::contraction(r.a, r.b, out);
  }
  static auto perform(auto on) { return matmul(on.a, on.b); }
};
struct NamedContract : Product {
  static constexpr unsigned reads = reads_kept | reads_result;
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return rules::named_contraction(r.a, r.b, in.result, true);
  }
  static constexpr rules::Verdict pulled(Pull const& p) {
    Spec const& own = p.own();
    rules::Verdict const met = rules::contraction(p.a, p.b, rules::labels_of(p.in.result));
    if (met) return Product::pulled(p.of(met.result));
    rules::Verdict const v = rules::named_product_cotangent(own, p.other(), p.in.result);
    if (!v) return v;
    Spec const to = rules::named_product_to(own, p.ct, p.other());
    rules::Verdict const product = rules::named_contraction(p.ct, p.other(), to, true);
    if (!product || to.rank >= own.rank) return product;
    return rules::spread(rules::in_any(rules::cotangent(own), p.ct, p.other()),
                         rules::cotangent(own));
  }
  static auto perform(auto on) { return einsum<typename decltype(on)::Out>(on.a, on.b); }
};

// Dims

struct Broadcasted : Case {
  static constexpr std::string_view gradients_of[] = {"Broadcast"};
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return r.shape(MiddleRow::repeated, &r.a, 1, -1, in.from);
  }
  static constexpr rules::Verdict pulled(Pull const& p) {
    return rules::reduction(p.ct, rules::labels_of(p.a), ReductionKind::sum);
  }
  static auto perform(auto on) { return broadcast<typename decltype(on)::V>(on.a, {on.n}); }
};
// stack, at
struct LastOfTwo : Case {
  static constexpr std::string_view gradients_of[] = {"Stack", "At"};
  static constexpr Taken takes = two(everything, as_first);
  static constexpr unsigned reads = 0;
  static constexpr rules::Verdict rule(Rules& r, Instruction&) {
    Spec const both[] = {r.a, r.b};
    rules::Verdict v = r.shape(rules::stack, both, 2, -1, labels);
    if (!v) return v;
    v = rules::accept(r.a);
    v.result.reduced.bits = static_cast<std::uint8_t>(r.a.reduced.bits | r.b.reduced.bits);
    return v;
  }
  static std::int64_t element(Cell const& c) { return c.b(); }
  static auto perform(auto on) {
    using Q = typename decltype(on)::Q;
    return at<Q>(stack<Q>(on.a, on.b), 1);
  }
};

// Along a dim

inline std::int64_t start_of(Cell const& c) {
  return std::clamp<std::int64_t>(drawn_start(c.in), 0, c.n() / 2);
}
// dynamic_slice of half the rows, pad
struct Window : Case {
  static constexpr std::string_view gradients_of[] = {"DynamicSlice", "Pad"};
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return r.shape(rules::resized, rules::accept(r.a), in.from);
  }
  static std::int64_t element(Cell const& c) {
    return c.i() < half(c.n()) ? c.a(start_of(c) + c.i()) : 0;
  }
  static auto perform(auto on) {
    using V = typename decltype(on)::V;
    return pad<V>(dynamic_slice<V>(on.a, drawn_start(on.in), half(on.n)), 0, on.n / 2);
  }
};
// dynamic_update by rows of the second operand
struct Replaced : Case {
  static constexpr std::string_view gradients_of[] = {"DynamicUpdate", "Slice"};
  static constexpr Taken takes = two(everything, as_first);
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    rules::Verdict const part = r.shape(rules::resized, &r.b, 1, in.from);
    return part ? rules::dynamic_update(r.a, part.result, in.from, in.from) : part;
  }
  static std::int64_t element(Cell const& c) {
    std::int64_t const row = c.i() - start_of(c);
    return row >= 0 && row < half(c.n()) ? c.b(row) : c.a();
  }
  static auto perform(auto on) {
    using V = typename decltype(on)::V;
    return dynamic_update<V>(on.a, slice<V>(on.b, 0, half(on.n)), drawn_start(on.in));
  }
};
// Lookups of ids that depend on nothing

// take of ids of another label
struct LookUp : Case {
  static constexpr std::string_view gradients_of[] = {"Take"};
  static constexpr Taken takes = two(everything, integers);
  static constexpr rules::Code refused_back = rules::Code::B03_through_cyclic;  // sums by ids
  static constexpr double bound(Instruction const&, double a, double) { return a; }
  static constexpr Spec ids(Draw& draw, Spec const& a, Instruction const&) {
    rules::Labels of;
    for (int l = 0; l < labels; ++l)
      if (a.find(l) < 0 && !draw.one_in(3)) of.push(l);
    return random_spec(draw, of, false);
  }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return rules::take(r.a, r.b, in.from, core::ReduceKind::sum);
  }
  static constexpr rules::Verdict pulled(Pull const& p) {
    return rules::scatter_add(p.ct, p.in.ids, p.in.from);
  }
  static std::int64_t element(Cell const& c) { return c.a(c.b()); }
  static auto perform(auto on) { return take<typename decltype(on)::V>(on.a, on.b); }
};
// scatter_add to another label
struct AddRows : LookUp {
  static constexpr std::string_view gradients_of[] = {"ScatterAdd"};
  static constexpr unsigned reads = reads_to;
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
    return rules::scatter_add(r.a, r.b, in.to);
  }
  static constexpr rules::Verdict pulled(Pull const& p) {
    return rules::take(p.ct, p.in.ids, p.in.to, core::ReduceKind::sum);
  }
  // The updates whose id is the row.
  static std::int64_t element(Cell c) {
    std::int64_t const row = c.at[c.in.to];
    std::int64_t sum = 0;
    dense::At n{};
    dense::At from{};
    for (int l = 0; l < labels; ++l) {
      n[static_cast<std::size_t>(l)] = c.z.extents[l];
      from[static_cast<std::size_t>(l)] = c.at[l];
    }
    dense::each(labels_in(c.in.ids), n, from, [&](dense::At const& at) {
      for (int l = 0; l < labels; ++l) c.at.at[l] = at[static_cast<std::size_t>(l)];
      if (c.b() == row) sum += c.a();
    });
    return sum;
  }
  static auto perform(auto on) {
    return scatter_add<typename decltype(on)::W>(on.a, on.b, on.rows_of_w);
  }
};
// take_along, of ids with the dims of the operand
struct LookAlong : LookUp {
  static constexpr std::string_view gradients_of[] = {"TakeAlong"};
  static constexpr rules::Code refused_back = Case::refused_back;
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
struct AddedAlong : ScatterAlong {
  static constexpr std::string_view gradients_of[] = {"ScatterAlong"};
  static constexpr double bound(Instruction const&, double a, double) { return a * most_extent; }
  static constexpr Spec ids(Draw&, Spec const& a, Instruction const&) {
    Spec out = a;
    out.unreduced = out.reduced = {};
    return out;
  }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return rules::scatter_along(r.a, r.b, in.from, in.from);
  }
  static constexpr rules::Verdict pulled(Pull const& p) {
    return rules::take_along(p.ct, p.in.ids, p.in.from, p.in.from);
  }
};

// Changes of sharding

struct Move : Case {
  static constexpr unsigned reads = reads_axis;
  static constexpr bool keeps_distinct = true;
  static constexpr bool moves = true;
};
struct ToPartial : Move {
  static constexpr std::string_view gradients_of[] = {"ToPartial"};
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return rules::to_partial(r.a, in.axis);
  }
  static auto perform(auto on) { return to_partial<typename decltype(on)::Axis>(on.a); }
};
struct ToReduced : Move {
  static constexpr std::string_view gradients_of[] = {"ToReduced"};
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return rules::reduced(r.a, in.axis);
  }
  static auto perform(auto on) { return reduced<typename decltype(on)::Axis>(on.a); }
};
struct Resharding : Move {
  static constexpr std::string_view gradients_of[] = {"Reshard"};
  static constexpr unsigned reads = reads_result;
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return rules::reshard(r.a, in.result);
  }
  static auto perform(auto on) { return reshard<typename decltype(on)::Out>(on.a); }
};
struct AllGather : Move {
  static constexpr std::string_view gradients_of[] = {"AllGather"};
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return rules::all_gather(r.a, in.axis);
  }
  static auto perform(auto on) { return all_gather<typename decltype(on)::Axis>(on.a); }
};
struct AllReduce : Move {
  static constexpr std::string_view gradients_of[] = {"AllReduce"};
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return rules::all_reduce(r.a, in.axis);
  }
  static auto perform(auto on) { return all_reduce<typename decltype(on)::Axis>(on.a); }
};
struct ReduceScatter : Move {
  static constexpr std::string_view gradients_of[] = {"ReduceScatter"};
  static constexpr unsigned reads = reads_axis | reads_from;
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return rules::reduce_scatter(r.a, in.axis, in.from);
  }
  static auto perform(auto on) {
    return reduce_scatter<typename decltype(on)::Axis, typename decltype(on)::V>(on.a);
  }
};
struct AllToAll : Move {
  static constexpr std::string_view gradients_of[] = {"AllToAll"};
  static constexpr unsigned reads = reads_axis | reads_from | reads_to;
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return in.from == in.to ? Rules::no() : rules::all_to_all(r.a, in.axis, in.from, in.to);
  }
  static auto perform(auto on) {
    return all_to_all<typename decltype(on)::Axis, typename decltype(on)::V,
                      typename decltype(on)::W>(on.a);
  }
};

using OnlyWithGradients =
    CaseList<Tanh, Sin, Quotient, Chosen, NamedFunction<Add>, NamedFunction<Multiply>, Strict<Sum>,
             Strict<Mean>, Strict<Max>, Strict<LogSumExp>, Strict<Norm>, Strict<Norm1>, Strict<Var>,
             Strict<Prod>, Strict<SoftmaxOver>, NamedReduction<Sum>, NamedReduction<Mean>,
             NamedReduction<Max>, NamedReduction<LogSumExp>, NamedReduction<Norm>,
             NamedReduction<Var>, NamedReduction<Prod>, Contract, MatrixProduct, NamedContract,
             Broadcasted, LastOfTwo, Window, Replaced, LookUp, AddRows, LookAlong, AddedAlong,
             ToPartial, ToReduced, Resharding, AllGather, AllReduce, ReduceScatter, AllToAll>;

}  // namespace programs::cases
