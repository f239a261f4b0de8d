// Reductions over the listed labels. A struct has the terms and how two of them are joined;
// `Strict` and `NamedReduction` make cases of it, for a result of the operation's own sharding and
// for a named one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>

#include "harness/gradient_case.hpp"

namespace programs::cases {

using rules::ReductionKind;

// The members of a reduction, and their defaults, those of a sum:
//   load(Cell)              the term of an element
//   join(a, b), nothing     of two terms, and of none
//   finished(in, z, x)      the last step, which is not linear
//   perform_over<Over>(on)  the call; `Over` are labels or the named result
template <class Tag>
struct Reduction : Case {
  static constexpr ReductionKind kind = Tag::kind;
  static constexpr unsigned reads = reads_over;
  // Whether the ranks of a named result combine all terms at once.
  static constexpr bool at_once = false;
  static constexpr Int nothing = 0;
  static Int load(Cell const& c) { return c.a(); }
  static Int join(Int a, Int b) { return a + b; }
  template <class C>
  static Int reduced(Cell const& c) {
    std::optional<Int> out;
    c.over(c.in.list, [&](Cell const& term) {
      if (term.has_a()) out = out ? C::join(*out, C::load(term)) : C::load(term);
    });
    return out.value_or(C::nothing);
  }
  static constexpr Known known(KnownOperands const& of) {
    return {times(of.a.most, most_elements(of.in))};
  }
  static constexpr double bound(Instruction const& in, double a, double) {
    return a * static_cast<double>(most_elements(in));
  }
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
  static Int element(Cell const& c) { return C::template reduced<C>(c); }
  static auto perform(auto on) {
    return on.listed([&]<class... Ls>() { return C::template perform_over<Ls...>(on); });
  }
};
template <class C>
struct NamedReduction : C {
  static constexpr unsigned reads = reads_over | reads_result;
  static constexpr bool across = C::at_once;
  static Int element(Cell const& c) { return C::template reduced<C>(c); }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return rules::named_reduction(r.a, in.result, C::kind);
  }
  static constexpr planning::LocalPlan meet(Instruction const& in, Rules const& r,
                                            planning::Sizing const&) {
    // reductions without an unreduced kind carry their partial results as sums
    rules::Verdict met =
        rules::reduction(r.a, without(r.mine, in.list),
                         C::kind == ReductionKind::whole ? ReductionKind::sum : C::kind);
    if (C::at_once) met.result.unreduced = {};
    return {{}, 1, {r.a}, met.result};
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
  static auto perform(auto on) { return C::template perform_over<typename decltype(on)::Out>(on); }
};

struct Sum : Reduction<reductions::Sum> {
  static constexpr std::string_view gradients_of[] = {"Sum"};
  static constexpr Element gives(Element first, Element) {
    return first == Element::boolean ? Element::integer : first;
  }
  template <class... Over>
  static auto perform_over(auto on) {
    return sum<Over...>(on.a);
  }
  static double of_row(Row const& x) { return total(x); }
  static double slope(double, double, Row const&) { return 1; }
};
struct Max : Reduction<reductions::Maximum> {
  static constexpr std::string_view gradients_of[] = {"Max"};
  static constexpr bool needs_elements = true;
  static constexpr bool compares = true;
  static constexpr Known known(KnownOperands const& of) { return of.a; }
  static constexpr double bound(Instruction const&, double a, double) { return a; }
  static Int join(Int a, Int b) { return std::max(a, b); }
  static constexpr Int nothing = std::numeric_limits<Int>::min();
  template <class... Over>
  static auto perform_over(auto on) {
    return max<Over...>(on.a);
  }
  static double of_row(Row const& x) { return *std::max_element(x.begin(), x.end()); }
  static double slope(double e, double y, Row const& x) {
    return e == y ? 1 / static_cast<double>(std::count(x.begin(), x.end(), y)) : 0;
  }
};
struct Min : Reduction<reductions::Minimum> {
  static constexpr bool needs_elements = true;
  static constexpr Known known(KnownOperands const& of) { return of.a; }
  static Int join(Int a, Int b) { return std::min(a, b); }
  static constexpr Int nothing = std::numeric_limits<Int>::max();
  template <class... Over>
  static auto perform_over(auto on) {
    return min<Over...>(on.a);
  }
};
struct Any : Reduction<reductions::Any> {
  static constexpr Taken takes = one(booleans);
  static constexpr Known known(KnownOperands const&) { return {1}; }
  static Int join(Int a, Int b) { return std::max(a, b); }
  template <class... Over>
  static auto perform_over(auto on) {
    return any<Over...>(on.a);
  }
};
struct All : Reduction<reductions::All> {
  static constexpr Taken takes = one(booleans);
  static constexpr int seldom_fits = 1;
  static constexpr Known known(KnownOperands const&) { return {1}; }
  static Int join(Int a, Int b) { return std::min(a, b); }
  static constexpr Int nothing = 1;
  template <class... Over>
  static auto perform_over(auto on) {
    return all<Over...>(on.a);
  }
};
// Of n x, where n is the number of elements.
struct MeanOfMultiples : Reduction<reductions::Mean> {
  static constexpr Taken takes = one(floats);
  static constexpr bool needs_elements = true;
  static constexpr Known known(KnownOperands const& of) {
    Int const out = times(of.a.most, most_elements(of.in));
    return {times(out, most_elements(of.in)) < too_large ? out : too_large};
  }
  static Int load(Cell const& c) { return c.a() * elements(c.in, c.z); }
  static Int finished(Instruction const& in, planning::Sizing const& z, Int x) {
    return x / elements(in, z);
  }
  template <class... Over>
  static auto perform_over(auto on) {
    return mean<Over...>(on.a * static_cast<double>(elements(on.in, on.z)));
  }
};
struct Norm1 : Reduction<reductions::Norm1> {
  static constexpr std::string_view gradients_of[] = {"Norm1"};
  static constexpr Taken takes = one(floats);
  static constexpr int seldom_fits = 1;
  static constexpr bool compares = true;
  static Int load(Cell const& c) { return std::abs(c.a()); }
  template <class... Over>
  static auto perform_over(auto on) {
    return norm_1<Over...>(on.a);
  }
  static double of_row(Row const& x) {
    return total(x, [](double e) { return std::abs(e); });
  }
  static double slope(double e, double, Row const&) { return e > 0 ? 1 : e < 0 ? -1 : 0; }
};
struct NormInf : Reduction<reductions::NormInf> {
  static constexpr Taken takes = one(floats);
  static constexpr Known known(KnownOperands const& of) { return {of.a.most}; }
  static Int load(Cell const& c) { return std::abs(c.a()); }
  static Int join(Int a, Int b) { return std::max(a, b); }
  template <class... Over>
  static auto perform_over(auto on) {
    return norm_inf<Over...>(on.a);
  }
};
struct Prod : Reduction<reductions::Product> {
  static constexpr std::string_view gradients_of[] = {"Prod"};
  static constexpr Taken takes = one(numbers);
  static constexpr int seldom_fits = 1;
  static constexpr bool at_once = true;
  static constexpr Known known(KnownOperands const& of) {
    return {power(std::max<Int>(1, of.a.most), most_elements(of.in))};
  }
  static Int join(Int a, Int b) { return a * b; }
  static constexpr Int nothing = 1;
  static constexpr double bound(Instruction const& in, double a, double) {
    double out = 1;
    for (Int k = 0; k < most_elements(in) && out <= 1e6; ++k) out *= std::max(a, 1.0);
    return out;
  }
  template <class... Over>
  static auto perform_over(auto on) {
    return prod<Over...>(on.a);
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
// The place of the first of the best elements; -1 of none.
template <bool most>
struct PlaceOf
    : Reduction<std::conditional_t<most, reductions::PlaceOfMaximum, reductions::PlaceOfMinimum>> {
  static constexpr bool at_once = true;
  static constexpr Element gives(Element, Element) { return Element::integer; }
  static constexpr Known known(KnownOperands const& of) { return {most_elements(of.in)}; }
  template <class C>
  static Int reduced(Cell const& c) {
    Int place = -1;
    Int best = 0;
    Int here = 0;
    c.over(c.in.list, [&](Cell const& term) {
      Int const x = term.a();
      if (place < 0 || (most ? x > best : x < best)) {
        best = x;
        place = here;
      }
      ++here;
    });
    return place;
  }
  template <class... Over>
  static auto perform_over(auto on) {
    if constexpr (most) {
      return argmax<Over...>(on.a);
    } else {
      return argmin<Over...>(on.a);
    }
  }
};
// The root of a sum, rounded down.
template <class Tag>
struct RoundedRoot : Reduction<Tag> {
  static constexpr Taken takes = one(floats);
  static constexpr int seldom_fits = 1;
  static constexpr Known of_sum(Int sum) { return {times(sum, sum) < too_large ? sum : too_large}; }
  static constexpr Known known(KnownOperands const& of) {
    return of_sum(times(of.a.most, most_elements(of.in)));
  }
  static Int load(Cell const& c) { return c.a() * c.a(); }
  static Int finished(Instruction const&, planning::Sizing const&, Int n) {
    auto r = static_cast<Int>(std::sqrt(static_cast<double>(n)));
    while (r * r > n) --r;
    while ((r + 1) * (r + 1) <= n) ++r;
    return r;
  }
};
struct RoundedNorm : RoundedRoot<reductions::Norm> {
  template <class... Over>
  static auto perform_over(auto on) {
    return made(floor(norm<Over...>(on.a)));
  }
};
struct ReproducibleNorm : RoundedRoot<reductions::ReproducibleNorm> {
  template <class... Over>
  static auto perform_over(auto on) {
    return made(floor(norm<Over...>(on.a, on.reproducible)));
  }
};
// Of powers of two, whose exponents are shifted so that the least element gives 1.
struct LogOfPowers : RoundedRoot<reductions::LogSumExp> {
  static constexpr Int most_exponent = 10;
  static constexpr Known known(KnownOperands const& of) {
    return of.a.most > most_exponent ? Known{too_large}
                                     : of_sum(times(power(2, of.a.most), most_elements(of.in)));
  }
  static Int load(Cell const& c) { return Int{1} << std::clamp<Int>(c.a() + c.in.most, 0, 40); }
  template <class... Over>
  static auto perform_over(auto on) {
    double const moved = std::exp2(static_cast<double>(on.in.most));
    return made(floor(sqrt(round(exp(logsumexp<Over...>(on.a * std::log(2.0))) * moved))));
  }
};
struct ReproducibleSum : Reduction<reductions::ReproducibleSum> {
  static constexpr Taken takes = one(floats);
  static constexpr int seldom_fits = 1;
  template <class... Over>
  static auto perform_over(auto on) {
    return sum<Over...>(on.a, on.reproducible);
  }
};

template <template <class> class Form>
using AllReductions =
    CaseList<Form<Sum>, Form<Max>, Form<Min>, Form<Any>, Form<All>, Form<MeanOfMultiples>,
             Form<Norm1>, Form<NormInf>, Form<Prod>, Form<PlaceOf<true>>, Form<PlaceOf<false>>,
             Form<RoundedNorm>, Form<LogOfPowers>, Form<ReproducibleSum>, Form<ReproducibleNorm>>;
using Reductions = decltype(AllReductions<Strict>{} + AllReductions<NamedReduction>{});

}  // namespace programs::cases
