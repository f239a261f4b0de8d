// Cases of the random programs: each operation is a struct with its rule, its meaning and its call,
// in a list of a file in cases/. `Case` has the defaults of the members; `CaseOf` derives others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <shardtype/plan/named_plan.hpp>

#include "harness/programs.hpp"
#include "harness/random_spec.hpp"

namespace programs {

// Bounds of a value that hold for all extents.
struct Known {
  Int most = 0;          // bound of the size of each element, and of the sum of the summands of an
                         // element
  bool divides = false;  // the elements are 1, 2, 4 or -1, -2, -4; not for a pending sum
};
// The bounds of the operands of an instruction.
struct KnownOperands {
  Instruction const& in;
  Known a, b, c;
};

inline constexpr Int too_large = Int{1} << 44;

constexpr Int times(Int a, Int b) {
  return a != 0 && b > too_large / a ? too_large : std::min(too_large, a * b);
}
constexpr Int power(Int a, Int n) {
  Int out = 1;
  for (Int k = 0; k < n && out < too_large; ++k) out = times(out, a);
  return out;
}

/// The largest number of elements that a reduction over the listed labels joins, and their number.
constexpr Int most_elements(Instruction const& in) { return power(most_extent, in.list.size); }
inline Int elements(Instruction const& in, planning::Sizing const& z) {
  Int n = 1;
  for (int k = 0; k < in.list.size; ++k) n *= z.extents[in.list.at[k]];
  return n;
}

// The input of a rule: the shardings of the operands.
class Rules {
 public:
  constexpr Rules(Element its_first, Spec const& its_a, Spec const& its_b, Spec const& its_c)
      : first(its_first), a(its_a), b(its_b), c(its_c), mine(rules::labels_of(its_a)) {}

  Element first;  // of the first operand
  Spec a, b, c;
  rules::Labels mine;  // of the first operand

  static constexpr rules::Verdict no() { return rules::refuse(rules::Code::T09_not_a_tensor); }

  // Applies a rule of one label to the result of another rule. `new_label` is a further label of
  // the operand or the result.
  template <class Rule>
  static constexpr rules::Verdict shape(Rule rule, rules::Verdict const& before, int label,
                                        int new_label = -1) {
    return before ? shape(rule, &before.result, 1, label, new_label) : before;
  }
  template <class Rule>
  static constexpr rules::Verdict shape(Rule rule, Spec const* operands, int count, int label,
                                        int new_label = -1) {
    rules::Question q = question(operands, count);
    if (label >= 0) q.from.add(label);
    if (new_label >= 0) q.to.add(new_label);
    return rule(q);
  }
  // Rules with more parameters than a question.
  static constexpr rules::Verdict pad(rules::Question const& q) { return rules::pad(q, true); }
  static constexpr rules::Verdict pad_ones(rules::Question const& q) {
    return rules::pad(q, false);
  }
  static constexpr rules::Verdict expand(rules::Question const& q) {
    return rules::broadcast(q, true);
  }
  static constexpr rules::Question question(Spec const* operands, int count) {
    rules::Question q;
    q.operands = operands;
    q.count = count;
    for (int l = 0; l < labels + 2; ++l) q.extents.at[l] = dynamic;
    for (int x = 0; x < axes; ++x) q.sizes.at[x] = dynamic;
    return q;
  }
  // The first `n` operands of an elementwise function, with so many constants.
  constexpr rules::Operands operands(int n, int constants = 0) const {
    rules::Operands all;
    all.push(a);
    if (n > 1) all.push(b);
    if (n > 2) all.push(c);
    for (int k = 0; k < constants; ++k) all.push({});
    return all;
  }
};

// An element of a result, and the operand elements that it depends on. The values come from whole
// tensors, or from the local block of a simulated rank.
struct Values {
  virtual Int of(int operand, Extents const& at) const = 0;
  // Whether this rank has it.
  virtual bool has(int /*operand*/, Extents const& /*at*/) const { return true; }

 protected:
  ~Values() = default;
};
struct Cell {
  Instruction const& in;
  planning::Sizing const& z;
  Values const& values;
  Extents at;

  // The index of the element along the dim of the operation, and the extent of that dim.
  Int i() const { return at[in.from]; }
  Int n() const { return z.extents[in.from]; }
  // Elements of the operands, at the same indices or in row `row` of that dim.
  Int a() const { return values.of(0, at); }
  Int b() const { return values.of(1, at); }
  Int c() const { return values.of(2, at); }
  Int a(Int row) const { return values.of(0, in_row(row)); }
  Int b(Int row) const { return values.of(1, in_row(row)); }
  bool has_a() const { return values.has(0, at); }
  bool has_b() const { return values.has(1, at); }
  Int own_a(Int row) const {
    Extents const there = in_row(row);
    return values.has(0, there) ? values.of(0, there) : 0;
  }
  // Calls `use` for the cells at all indices of these labels; the last label varies fastest.
  template <class Use>
  void over(rules::Labels const& those, Use use) const {
    Int n = 1;
    for (int k = 0; k < those.size; ++k) n *= z.extents[those.at[k]];
    Cell there = *this;
    for (Int number = 0; number < n; ++number) {
      Int rest = number;
      for (int k = those.size; k-- > 0; rest /= z.extents[those.at[k]])
        there.at.at[those.at[k]] = rest % z.extents[those.at[k]];
      use(there);
    }
  }
  Int a_or_zero(Int row) const { return row < 0 || row >= n() ? 0 : a(row); }

 private:
  Extents in_row(Int row) const {
    Extents out = at;
    out.at[in.from] = row;
    return out;
  }
};

// What an instruction names besides its operands, as a set.
inline constexpr unsigned reads_from = 1;
inline constexpr unsigned reads_to = 2;
inline constexpr unsigned reads_axis = 4;
inline constexpr unsigned reads_over = 8;     // the list of reduced labels
inline constexpr unsigned reads_kept = 16;    // the list of the result's labels
inline constexpr unsigned reads_order = 32;   // the list of labels in a new order
inline constexpr unsigned reads_result = 64;  // the sharding of the result
inline constexpr unsigned reads_own = 128;    // the label is one of the first operand

// The members of a case, and their defaults:
//   rule(Rules&, Instruction&)  the verdict of the library's rule; or `asks`, a rule of one
//                               label or of one axis
//   element(Cell)               an element of the result, by definition; of a pending sum what this
//                               rank's elements give
//   finished(in, z, element)    the last step, when nothing is pending
//   of_result(Rules, in)        the labels of a named result, unless all or the listed ones
//   meet(in, Rules, z)          for a named result: the operands after their reshards, and the
//                               local result
//   plan(a, b, to, z)           of a product: the steps around it
//   perform(On)                 the operation on real tensors (real_operations.hpp)
// An elementwise function has `function` (the library's tag) and `of(a, b, c)` instead of rule and
// element.
// Programs with gradients draw the cases that name in `gradients_of` the registered operations
// whose gradients they test; gradient_case.hpp has their further members.
struct Case {
  static constexpr Taken takes{};
  // Whether an element depends on rows of other ranks along its dim.
  static constexpr bool across = false;
  // Whether an element may be one of any rank.
  static constexpr bool anywhere = false;
  // How much more often it is tried, because few operands are legal.
  static constexpr int seldom_fits = 0;
  // Whether the first two operands must not share a label; whether the second divides.
  static constexpr bool apart = false;
  static constexpr bool divides = false;
  // Whether automatic mode records it; registry.py has the reasons of those that it does not.
  static constexpr bool recorded = true;
  // For elementwise functions: the number of constant arguments, and the element type that the rule
  // gets.
  static constexpr int constants = 0;
  using Elements = Int;
  // The element type of the result, and its bounds.
  static constexpr Element gives(Element first, Element) { return first; }
  static constexpr Known known(KnownOperands const& of) { return of.a; }
  // Whether this rank has a nonzero part of an unreduced result; the other ranks have zeros.
  static bool has_part(Instruction const&, Spec const& /*a*/, planning::Sizing const&,
                       Coords const&) {
    return true;
  }
  static Int finished(Instruction const&, planning::Sizing const&, Int x) { return x; }

  // What an instruction names (nothing if it is a function of elements).
  static constexpr unsigned reads = reads_from;
  // Whether the result has no value, or no gradient, for an extent of 0.
  static constexpr bool needs_elements = false;
  // Whether it is a change of sharding, whose pull may communicate.
  static constexpr bool moves = false;

  // In programs with gradients: whether it tells equal elements apart from nearly equal ones;
  // whether different elements stay different.
  static constexpr bool compares = false;
  static constexpr bool keeps_distinct = false;
  // The operand of which it reads truths alone, which have no gradient.
  static constexpr int condition = -1;
  // A code with which the pull is refused although the operation is legal.
  static constexpr rules::Code refused_back = rules::Code::X03_not_differentiable;
};

// How what an instruction names is drawn.
struct Naming {
  unsigned reads;
  bool moves;
  rules::Labels (*of_result)(Rules const&, Instruction const&);

  template <class C>
  static constexpr Naming of() {
    constexpr bool is_function = requires { typename C::function; };
    return {is_function && C::reads == reads_from ? 0 : C::reads, C::moves, &result_of<C>};
  }
  // False where nothing fits.
  constexpr bool drawn(Draw& draw, Rules const& r, Instruction& in) const {
    in.axis = draw.below(axes);
    in.from = draw.below(labels);
    in.to = draw.below(labels);
    in.list = {};
    if (has(reads_own)) {
      if (r.mine.size == 0) return false;
      in.from = r.mine.at[draw.below(r.mine.size)];
    }
    if (has(reads_over)) in.list = without(r.mine, some_labels(draw, r.mine));
    if (has(reads_kept)) in.list = some_labels(draw, together(r.mine, r.b));
    if (has(reads_order) && r.a.rank > 1) {
      int const begin = 1 + draw.below(r.a.rank - 1);
      for (int d = 0; d < r.a.rank; ++d) in.list.push(r.a.dims[(begin + d) % r.a.rank].label);
    }
    if (has(reads_over | reads_kept | reads_order) && in.list.size == 0) return false;
    if (!has(reads_result)) return true;
    bool const unreduced = draw.one_in(moves ? 2 : 3);
    in.result = random_spec(draw, of_result(r, in), unreduced);
    if (moves) in.result.kind = r.a.kind;
    if (moves && draw.one_in(2))
      in.result.unreduced.bits =
          static_cast<std::uint8_t>(in.result.unreduced.bits & r.a.unreduced.bits);
    return true;
  }

 private:
  constexpr bool has(unsigned what) const { return (reads & what) != 0; }
  template <class C>
  static constexpr rules::Labels result_of(Rules const& r, Instruction const& in) {
    if constexpr (requires { C::of_result(r, in); }) return C::of_result(r, in);
    if ((C::reads & reads_kept) != 0) return in.list;
    rules::Labels out = without(r.mine, in.list);
    if (C::takes.operands > 1) out = together(out, r.b);
    return C::takes.operands > 2 ? together(out, r.c) : out;
  }
};

// The members of a case as values.
struct CaseOf : Naming {
  Taken takes;
  bool across, anywhere, recorded, apart, divides, needs_elements, is_function;
  int seldom_fits;
  Element (*gives)(Element, Element);
  Known (*known)(KnownOperands const&);
  rules::Verdict (*rule)(Rules&, Instruction&);
  planning::LocalPlan (*meet)(Instruction const&, Rules const&, planning::Sizing const&);
  Plan (*plan)(Spec const& a, Spec const& b, Spec const& to, planning::Sizing const&);
  Int (*element)(Cell const&);
  bool (*has_part)(Instruction const&, Spec const&, planning::Sizing const&, Coords const&);
  Int (*finished)(Instruction const&, planning::Sizing const&, Int);

  template <class C>
  static constexpr CaseOf of() {
    constexpr bool is_function = requires { typename C::function; };
    static_assert(!C::across || !C::anywhere);
    static_assert((C::reads & reads_result) == 0 || C::anywhere || requires { &C::meet; } ||
                      requires { &C::plan; },
                  "a named result needs a plan");
    CaseOf out{Naming::of<C>(), C::takes,     C::across,         C::anywhere, C::recorded,
               C::apart,        C::divides,   C::needs_elements, is_function, C::seldom_fits,
               &C::gives,       &C::known,    &rule_of<C>,       nullptr,     nullptr,
               nullptr,         &C::has_part, &C::finished};
    if constexpr (requires { &C::element; }) {
      out.element = &C::element;
    } else {
      out.element = &of_elements<C>;
    }
    if constexpr (requires { &C::meet; }) out.meet = &C::meet;
    if constexpr (requires { &C::plan; }) out.plan = &C::plan;
    return out;
  }

  template <class C>
  static constexpr rules::Verdict rule_of(Rules& r, Instruction& in) {
    if constexpr (requires { C::rule(r, in); }) {
      return C::rule(r, in);
    } else if constexpr (requires { C::asks(rules::Question{}); }) {
      return r.shape(C::asks, rules::accept(r.a), in.from);
    } else if constexpr (requires { C::asks(r.a, in.axis); }) {
      return C::asks(r.a, in.axis);
    } else {
      return rules::elementwise(r.operands(C::takes.operands, C::constants),
                                linearity_of<C>(r.first));
    }
  }

 private:
  template <class C>
  static constexpr rules::Linearity linearity_of([[maybe_unused]] Element first) {
    if constexpr (requires { C::linearity(first); }) {
      return C::linearity(first);
    } else {
      return meets<typename C::function, typename C::Elements>;
    }
  }
  template <class C>
  static Int of_elements(Cell const& c) {
    return C::of(c.a(), C::takes.operands > 1 ? c.b() : 0, C::takes.operands > 2 ? c.c() : 0);
  }
};

// The concatenation of several lists of cases.
template <class... Cs>
struct CaseList {};
template <class... Cs, class... More>
CaseList<Cs..., More...> operator+(CaseList<Cs...>, CaseList<More...>);

// What an elementwise expression gives: a tensor; or an expression of automatic mode, or of
// gradients, as it is.
template <class E>
auto made(E const& e) {
  if constexpr (core::is_lazy<E> || core::is_active<E>) {
    return e;
  } else {
    return e.tensor();
  }
}

constexpr Taken one(unsigned a) { return {1, {a, 0, 0}}; }
constexpr Taken two(unsigned a, unsigned b) { return {2, {a, b, 0}}; }
constexpr Taken three(unsigned a, unsigned b, unsigned c) { return {3, {a, b, c}}; }

}  // namespace programs
