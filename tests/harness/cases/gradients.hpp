// Operations with gradients that the value programs call otherwise, or whose results are no
// integers.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/cases.hpp"

namespace programs::cases {

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
// Reductions whose results are no integers.

struct Mean : Reduction<reductions::Mean> {
  static constexpr std::string_view gradients_of[] = {"Mean"};
  static constexpr bool needs_elements = true;
  static constexpr double bound(Instruction const&, double a, double) { return a; }
  template <class... Over>
  static auto perform_over(auto on) {
    return mean<Over...>(on.a);
  }
  static double of_row(Row const& x) { return total(x) / static_cast<double>(x.size()); }
  static double slope(double, double, Row const& x) { return 1 / static_cast<double>(x.size()); }
};
struct LogSumExp : Reduction<reductions::LogSumExp> {
  static constexpr std::string_view gradients_of[] = {"LogSumExp"};
  static constexpr bool needs_elements = true;
  static constexpr double bound(Instruction const&, double a, double) { return a + 6; }
  template <class... Over>
  static auto perform_over(auto on) {
    return logsumexp<Over...>(on.a);
  }
  static double of_row(Row const& x) {
    return std::log(total(x, [](double e) { return std::exp(e); }));
  }
  static double slope(double e, double y, Row const&) { return std::exp(e - y); }
};
struct Norm : Reduction<reductions::Norm> {
  static constexpr std::string_view gradients_of[] = {"Norm"};
  template <class... Over>
  static auto perform_over(auto on) {
    return norm<Over...>(on.a);
  }
  static double of_row(Row const& x) {
    return std::sqrt(total(x, [](double e) { return e * e; }));
  }
  static double slope(double e, double y, Row const&) { return y == 0 ? 0 : e / y; }
};
struct Var : Reduction<reductions::Variance> {
  static constexpr std::string_view gradients_of[] = {"Var"};
  static constexpr bool needs_elements = true;
  static constexpr double bound(Instruction const&, double a, double) { return a * a * 4; }
  template <class... Over>
  static auto perform_over(auto on) {
    return var<Over...>(on.a);
  }
  static double of_row(Row const& x) {
    auto const n = static_cast<double>(x.size());
    double const m = total(x) / n;
    return total(x, [m](double e) { return (e - m) * (e - m); }) / n;
  }
  static double slope(double e, double, Row const& x) {
    auto const n = static_cast<double>(x.size());
    return 2 * (e - total(x) / n) / n;
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
  static auto perform(auto on) {
    return on.listed([&]<class... Ls>() { return softmax<Ls...>(on.a); });
  }
  static int dense(Dense const& d) {
    return d.r.rows(
        d.a, d.listed(), true,
        [](Row& x) {
          double const s = total(x, [](double e) { return std::exp(e); });
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

using OnlyWithGradients =
    CaseList<Tanh, Sin, Quotient, Chosen, Strict<Mean>, Strict<LogSumExp>, Strict<Norm>,
             Strict<Var>, SoftmaxOver, NamedReduction<Mean>, NamedReduction<LogSumExp>,
             NamedReduction<Norm>, NamedReduction<Var>, AddedAlong>;

}  // namespace programs::cases
