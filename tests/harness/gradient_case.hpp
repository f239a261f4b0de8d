// What a case (case.hpp) is in programs with gradients: its rule, the rule of the cotangents that
// go back, its meaning by the dense reverse mode, and what is drawn for it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/case.hpp"
#include "harness/dense_reverse.hpp"

namespace programs {

/// An elementwise function of two values.
constexpr rules::Verdict joined(rules::Linearity how, Spec const& a, Spec const& b) {
  rules::Operands in;
  in.push(a);
  in.push(b);
  return rules::elementwise(in, how);
}
constexpr rules::Verdict joined(rules::Linearity how, rules::Verdict const& a,
                                rules::Verdict const& b) {
  if (!a) return a;
  return b ? joined(how, a.result, b.result) : b;
}
/// where(truth, a, op::zero)
constexpr rules::Verdict chosen(rules::Verdict const& truth, Spec const& a) {
  if (!truth) return truth;
  rules::Operands of;
  of.push(truth.result);
  of.push(a);
  of.push({}, true);
  return rules::elementwise(of, rules::Linearity::choosing);
}
/// ct times a function of the operand and of the result of a reduction, which each rank knows.
constexpr rules::Verdict reduction_back(Spec const& ct, Spec const& a, Spec const& partial) {
  rules::Verdict const joint = joined(rules::Linearity::none, a, rules::everywhere(partial));
  return joint ? joined(rules::Linearity::scaling, ct, joint.result) : joint;
}

/// A pull: the instruction, the operand `k` whose cotangent is asked for, and the cotangent of the
/// result.
struct Pull {
  Instruction const& in;
  int k;
  Spec const& a;
  Spec const& b;
  Spec ct;

  constexpr Spec const& own() const { return k == 0 ? a : b; }
  constexpr Spec const& other() const { return k == 0 ? b : a; }
  constexpr Pull of(Spec const& result) const { return {in, k, a, b, rules::cotangent(result)}; }
  /// The cotangent of an elementwise function with the labels of `own`.
  constexpr rules::Verdict summed(rules::Verdict const& v) const {
    return v ? rules::reduction(v.result, rules::labels_of(own()), rules::ReductionKind::sum) : v;
  }
};

inline std::vector<int> labels_in(Spec const& s) {
  std::vector<int> out;
  for (int d = 0; d < s.rank; ++d) out.push_back(s.dims[d].label);
  return out;
}
using Row = std::vector<double>;
/// The sum of `term` of the elements.
template <class F>
double total(Row const& x, F term) {
  double s = 0;
  for (double const e : x) s += term(e);
  return s;
}
inline double total(Row const& x) {
  return total(x, [](double e) { return e; });
}

/// The product of the first `end` elements, without element `k`.
inline double product_without(Row const& x, std::size_t end, std::size_t k) {
  double p = 1;
  for (std::size_t m = 0; m < end; ++m) p *= m == k ? 1 : x[m];
  return p;
}

/// An instruction of dense values.
struct Dense {
  dense::Reverse& r;
  Instruction const& in;
  int a;
  int b;
  std::vector<dense::Int> const& ids;  // of a lookup, in the order of the ids' elements

  std::size_t v() const { return static_cast<std::size_t>(in.from); }
  std::vector<int> result() const { return labels_in(in.result); }
  std::vector<int> listed() const { return {in.list.at, in.list.at + in.list.size}; }
  planning::Sizing sizing() const {
    planning::Sizing z;
    for (int l = 0; l < labels; ++l) z.extents.at[l] = r.extent(l);
    return z;
  }
};

/// Which elements an element reads. Of a lookup operand 1 are the ids.
struct ReadElements final : Values {
  Instruction const& in;
  Extents const& extents;
  std::vector<dense::Int> const& ids;
  mutable std::vector<std::pair<int, Extents>> read{};
  std::pair<int, Extents> one{-1, {}};  // is 1, the others are 0

  ReadElements(Instruction const& its, Extents const& n, std::vector<dense::Int> const& its_ids)
      : in(its), extents(n), ids(its_ids) {}
  Int of(int operand, Extents const& at) const override {
    if (operand == 1 && !ids.empty()) {
      Int place = 0;
      for (int const l : labels_in(in.ids)) place = place * extents[l] + at[l];
      return ids[static_cast<std::size_t>(place)];
    }
    std::pair const element{operand, at};
    if (std::find(read.begin(), read.end(), element) == read.end()) read.push_back(element);
    return element == one ? 1 : 0;
  }
};

/// The further members of a case, as values:
///   pulled(Pull)       the pull's result before it becomes the operand's cotangent: the verdict of
///                      the transposed operation. By default the same elements elsewhere; of a
///                      function, its slope times ct
///   slopes(x, y)       the derivatives of an elementwise function, whose `of` is a template
///   of_row(x)          the result of a reduction of a row, whose derivative by element e is
///                      slope(e, of_row(x), x)
///   dense(Dense)       else its dense meaning; by default `element`, which is linear
///   bound(in, a, b)    a bound of the result's elements
///   ids(draw, a, in)   of a lookup, whose second operand are ids that depend on nothing: their
///                      sharding
struct WithGradient : Naming {
  int operands;
  bool looks_up, fuses, needs_elements, compares, keeps_distinct;
  int condition;
  rules::Code refused_back;
  std::span<std::string_view const> gradients_of;
  rules::Verdict (*rule)(Rules&, Instruction&);
  rules::Verdict (*pulled)(Pull const&);
  int (*dense)(Dense const&);
  double (*bound)(Instruction const&, double, double);
  Spec (*ids)(Draw&, Spec const&, Instruction const&);

  template <class C>
  static constexpr WithGradient of() {
    static_assert(std::size(C::gradients_of) > 0);
    constexpr bool is_lookup = requires { &C::ids; };
    static_assert(!is_lookup || C::takes.operands == 2);
    constexpr bool has_slopes = requires { &C::slopes; };
    WithGradient out{Naming::of<C>(),
                     is_lookup ? 1 : C::takes.operands,
                     is_lookup,
                     has_slopes && (C::reads & reads_result) == 0,
                     C::needs_elements,
                     C::compares,
                     C::keeps_distinct,
                     C::condition,
                     C::refused_back,
                     C::gradients_of,
                     &CaseOf::rule_of<C>,
                     &pulled_by<C>,
                     &dense_by<C>,
                     &bound_by<C>,
                     nullptr};
    if constexpr (is_lookup) out.ids = &C::ids;
    return out;
  }

 private:
  template <class C>
  static constexpr rules::Verdict pulled_by(Pull const& p) {
    using enum rules::Linearity;
    if constexpr (requires { C::pulled(p); }) {
      return C::pulled(p);
    } else if constexpr (requires { typename C::function; }) {
      constexpr rules::Linearity how = meets<typename C::function, double>;
      if constexpr (C::takes.operands == 1) {
        return how == linear || how == scaling ? rules::accept(p.ct) : joined(scaling, p.ct, p.a);
      } else {
        static_assert(how == additive || how == scaling);
        return p.summed(how == additive ? rules::accept(p.ct) : joined(scaling, p.ct, p.other()));
      }
    } else {
      return rules::accept(p.ct);
    }
  }
  template <class C>
  static int dense_by(Dense const& d) {
    if constexpr (requires { C::dense(d); }) {
      return C::dense(d);
    } else if constexpr (requires { &C::of_row; }) {
      return d.r.rows(
          d.a, d.listed(), false, [](Row& x) { x = {C::of_row(x)}; },
          [](Row const& x, Row const& y, Row const& ct) {
            Row g;
            for (double const e : x) g.push_back(ct[0] * C::slope(e, y[0], x));
            return g;
          });
    } else if constexpr (requires { &C::slopes; }) {
      return d.r.map(
          d.result(), d.a, d.b, [](double x, double y) { return C::of(x, y, 0.0); }, &C::slopes);
    } else {
      auto const from = [in = d.in, z = d.sizing(), a = d.a, b = d.b, ids = d.ids](
                            dense::At const& at, auto const& add) {
        ReadElements elements(in, z.extents, ids);
        Cell cell{in, z, elements, {}};
        for (int l = 0; l < labels; ++l) cell.at.at[l] = at[static_cast<std::size_t>(l)];
        C::element(cell);
        for (auto const& element : std::vector(elements.read)) {
          elements.one = element;
          dense::At source = at;
          for (int l = 0; l < labels; ++l) source[static_cast<std::size_t>(l)] = element.second[l];
          add(element.first == 0 ? a : b, source, static_cast<double>(C::element(cell)));
        }
      };
      return d.r.linear(d.result(), from);
    }
  }
  template <class C>
  static constexpr double bound_by(Instruction const& in, double a, double b) {
    if constexpr (requires { C::bound(in, a, b); }) {
      return C::bound(in, a, b);
    } else {
      return C::takes.operands > 1 ? a + b : a;
    }
  }
};

}  // namespace programs
