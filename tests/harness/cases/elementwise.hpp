// Elementwise functions.
#pragma once

#include <string_view>
#include <utility>

#include "harness/gradient_case.hpp"

namespace programs::cases {

// A function of elements, by the library's tag.
template <class F, Taken its_operands>
struct Function : Case {
  static constexpr Taken takes = its_operands;
  using function = F;
};
// With a gradient, of which it has the slopes.
template <class F, Taken its_operands>
struct Smooth : Function<F, its_operands> {
  static constexpr std::string_view gradients_of[] = {"Map"};
};

struct Negate : Smooth<functions::Negate, one(numbers)> {
  static constexpr bool keeps_distinct = true;
  static auto of(auto a, auto, auto) { return -a; }
  static std::pair<double, double> slopes(double, double) { return {-1, 0}; }
  static auto perform(auto on) { return made(-on.a); }
};
struct Absolute : Smooth<functions::Absolute, one(numbers)> {
  static constexpr bool compares = true;
  static auto of(auto a, auto, auto) { return a < 0 ? -a : a; }
  static std::pair<double, double> slopes(double x, double) {
    return {x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0, 0};
  }
  static auto perform(auto on) { return made(abs(on.a)); }
};
// A user-defined function.
struct OwnFunction : Function<TwiceAndOne, one(numbers)> {
  static constexpr Known known(KnownOperands const& of) { return {times(of.a.most, 2) + 1}; }
  static Int of(Int a, Int, Int) { return 2 * a + 1; }
  static auto perform(auto on) { return made(map(TwiceAndOne{}, on.a)); }
};
struct Scaled : Smooth<functions::Multiply, one(numbers)> {
  static constexpr bool keeps_distinct = true;
  static constexpr double bound(Instruction const&, double a, double) { return 3 * a; }
  static constexpr int constants = 1;
  static constexpr Known known(KnownOperands const& of) { return {times(of.a.most, 3)}; }
  static auto of(auto a, auto, auto) { return -3 * a; }
  static std::pair<double, double> slopes(double, double) { return {-3, 0}; }
  static auto perform(auto on) { return made(on.a * -3); }
};
struct PlusOne : Function<functions::Add, one(numbers)> {
  static constexpr int constants = 1;
  static constexpr Known known(KnownOperands const& of) { return {of.a.most + 1}; }
  static Int of(Int a, Int, Int) { return a + 1; }
  static auto perform(auto on) { return made(on.a + 1); }
};
struct Add : Smooth<functions::Add, two(numbers, as_first)> {
  static constexpr Known known(KnownOperands const& of) { return {of.a.most + of.b.most}; }
  static auto of(auto a, auto b, auto) { return a + b; }
  static std::pair<double, double> slopes(double, double) { return {1, 1}; }
  static auto perform(auto on) { return made(on.a + on.b); }
};
struct Subtract : Smooth<functions::Subtract, two(numbers, as_first)> {
  static constexpr Known known(KnownOperands const& of) { return {of.a.most + of.b.most}; }
  static auto of(auto a, auto b, auto) { return a - b; }
  static std::pair<double, double> slopes(double, double) { return {1, -1}; }
  static auto perform(auto on) { return made(on.a - on.b); }
};
struct Multiply : Smooth<functions::Multiply, two(numbers, as_first)> {
  static constexpr double bound(Instruction const&, double a, double b) { return a * b; }
  static constexpr Known known(KnownOperands const& of) { return {times(of.a.most, of.b.most)}; }
  static auto of(auto a, auto b, auto) { return a * b; }
  static std::pair<double, double> slopes(double x, double y) { return {y, x}; }
  static auto perform(auto on) { return made(on.a * on.b); }
};
// 4 x / y, where y is a power of two; y is zero only where the rule accepted an unreduced operand.
struct Divide : Function<functions::Divide, two(floats, floats)> {
  static constexpr bool divides = true;
  using Elements = double;
  static constexpr Known known(KnownOperands const& of) { return {times(of.a.most, 4)}; }
  static Int of(Int a, Int b, Int) { return b == 0 ? 1000000 : 4 * a / b; }
  static auto perform(auto on) { return made(4 * on.a / on.b); }
};
struct WholeDivide : Function<functions::Divide, two(integers, integers)> {
  static constexpr Known known(KnownOperands const& of) { return {of.a.most}; }
  static Int of(Int a, Int b, Int) { return b == 0 ? 0 : a / b; }
  static auto perform(auto on) { return made(on.a / on.b); }
};
struct FloorDivide : Function<functions::FloorDivide, two(integers, integers)> {
  static constexpr Known known(KnownOperands const& of) { return {of.a.most}; }
  static Int of(Int a, Int b, Int) {
    return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
  }
  static auto perform(auto on) { return made(floor_divide(on.a, on.b)); }
};
struct Relu : Function<functions::Relu, one(numbers)> {
  static constexpr Known known(KnownOperands const& of) { return {of.a.most}; }
  static Int of(Int a, Int, Int) { return std::max<Int>(a, 0); }
  static auto perform(auto on) { return made(relu(on.a)); }
};
struct Clipped : Function<functions::Clip, two(numbers, as_first)> {
  static constexpr int constants = 1;
  static constexpr Known known(KnownOperands const& of) {
    return {std::max(of.a.most, of.b.most) + 2};
  }
  static Int of(Int a, Int b, Int) { return std::min(std::max<Int>(a, -2), b); }
  static auto perform(auto on) { return made(clip(on.a, -2, on.b)); }
};
struct Remainder : Function<functions::Remainder, two(integers, integers)> {
  static constexpr Known known(KnownOperands const& of) { return {of.b.most}; }
  static Int of(Int a, Int b, Int) {
    Int const r = b == 0 ? 0 : a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
  }
  static auto perform(auto on) { return made(on.a % on.b); }
};

constexpr Known larger_of(Known const& a, Known const& b) {
  return {std::max(a.most, b.most), a.divides && b.divides};
}
struct Largest : Smooth<functions::Maximum, two(numbers, as_first)> {
  static constexpr bool compares = true;
  static constexpr Known known(KnownOperands const& of) { return larger_of(of.a, of.b); }
  static auto of(auto a, auto b, auto) { return std::max(a, b); }
  static std::pair<double, double> slopes(double x, double y) {
    double const first = x > y ? 1 : x < y ? 0 : 0.5;
    return {first, 1 - first};
  }
  static constexpr rules::Verdict pulled(Pull const& p) {
    return p.summed(chosen(joined(rules::Linearity::none, p.a, p.b), p.ct));
  }
  static auto perform(auto on) { return made(max(on.a, on.b)); }
};
struct Smallest : Function<functions::Minimum, two(numbers, as_first)> {
  static constexpr Known known(KnownOperands const& of) { return larger_of(of.a, of.b); }
  static Int of(Int a, Int b, Int) { return std::min(a, b); }
  static auto perform(auto on) { return made(min(on.a, on.b)); }
};
// logaddexp of logarithms of integers: its exponential, rounded, is the sum of the integers.
struct LogAddExp : Function<functions::LogAddExp, two(floats, floats)> {
  using Elements = double;
  static constexpr Known known(KnownOperands const& of) {
    Int const most = std::max(of.a.most, of.b.most);
    return {most > (Int{1} << 32) ? too_large : 2 * most + 2};
  }
  static Int of(Int a, Int b, Int) { return (a < 0 ? -a : a) + (b < 0 ? -b : b) + 2; }
  static auto perform(auto on) {
    return made(round(exp(logaddexp(log(abs(on.a) + 1), log(abs(on.b) + 1)))));
  }
};
struct Positive : Function<functions::Greater, one(numbers)> {
  static constexpr Element gives(Element, Element) { return Element::boolean; }
  static constexpr Known known(KnownOperands const&) { return {1}; }
  static Int of(Int a, Int, Int) { return a > 0 ? 1 : 0; }
  static auto perform(auto on) { return made(on.a > 0); }
};
struct Equal : Function<functions::Equal, two(everything, as_first)> {
  static constexpr Element gives(Element, Element) { return Element::boolean; }
  static constexpr Known known(KnownOperands const&) { return {1}; }
  static Int of(Int a, Int b, Int) { return a == b ? 1 : 0; }
  static auto perform(auto on) { return made(on.a == on.b); }
};
struct Both : Function<functions::And, two(booleans, booleans)> {
  using Elements = bool;
  static Int of(Int a, Int b, Int) { return a != 0 && b != 0 ? 1 : 0; }
  static auto perform(auto on) { return made(on.a && on.b); }
};
struct Inverted : Function<functions::Not, one(booleans)> {
  using Elements = bool;
  static Int of(Int a, Int, Int) { return a != 0 ? 0 : 1; }
  static auto perform(auto on) { return made(!on.a); }
};

template <class To>
constexpr rules::Linearity of_cast(Element from) {
  return from == Element::integer    ? meets<functions::Cast<To>, Int>
         : from == Element::floating ? meets<functions::Cast<To>, double>
                                     : meets<functions::Cast<To>, bool>;
}
struct ToFloating : Case {
  static constexpr rules::Linearity linearity(Element first) { return of_cast<double>(first); }
  static constexpr Element gives(Element, Element) { return Element::floating; }
  static constexpr Known known(KnownOperands const& of) { return {of.a.most}; }
  static Int of(Int a, Int, Int) { return a; }
  static auto perform(auto on) { return made(cast<double>(on.a)); }
};
struct ToInteger : Case {
  static constexpr rules::Linearity linearity(Element first) { return of_cast<Int>(first); }
  static constexpr Element gives(Element, Element) { return Element::integer; }
  static constexpr Known known(KnownOperands const& of) { return {of.a.most}; }
  static Int of(Int a, Int, Int) { return a; }
  static auto perform(auto on) { return made(cast<Int>(on.a)); }
};

// where(p, y, z)
struct ByTruth : Function<functions::Where, three(booleans, everything, as_second)> {
  static constexpr Element gives(Element, Element second) { return second; }
  static constexpr Known known(KnownOperands const& of) { return larger_of(of.b, of.c); }
  static Int of(Int a, Int b, Int c) { return a != 0 ? b : c; }
};
// where(x > 0, y, z)
struct Choose : ByTruth {
  static constexpr Taken takes = three(numbers, everything, as_second);
  static constexpr rules::Verdict rule(Rules& r, Instruction&) {
    rules::Operands condition;
    condition.push(r.a);
    condition.push({});
    rules::Verdict const v = rules::elementwise(condition, meets<functions::Greater>);
    if (!v) return v;
    rules::Operands all = r.operands(3);
    all.at[0] = v.result;
    return rules::elementwise(all, meets<function>);
  }
  static Int of(Int a, Int b, Int c) { return a > 0 ? b : c; }
  static auto perform(auto on) { return made(where(on.a > 0, on.b, on.c)); }
};
// where(p, y, op::zero)
struct Selected : Function<functions::Where, two(booleans, numbers)> {
  static constexpr int seldom_fits = 1;
  static constexpr Element gives(Element, Element second) { return second; }
  static constexpr Known known(KnownOperands const& of) { return {of.b.most}; }
  static constexpr rules::Verdict rule(Rules& r, Instruction&) {
    rules::Operands all = r.operands(2);
    all.push({}, true);
    return rules::elementwise(all, meets<function>);
  }
  static Int of(Int a, Int b, Int) { return a != 0 ? b : 0; }
  static auto perform(auto on) { return made(where(on.a, on.b, op::zero)); }
};

// A function with a named result.
template <class C>
struct NamedFunction : C {
  static constexpr unsigned reads = reads_result;
  static constexpr rules::Linearity how = meets<typename C::function, typename C::Elements>;
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return rules::named_elementwise(r.operands(C::takes.operands), in.result, how);
  }
  static constexpr planning::LocalPlan meet(Instruction const& in, Rules const& r,
                                            planning::Sizing const&) {
    rules::Operands const given = r.operands(C::takes.operands);
    rules::Operands met;
    planning::LocalPlan out;
    for (; out.count < C::takes.operands; ++out.count) {
      Spec const there = rules::elementwise_operand(given, out.count, in.result, how);
      met.push(there);
      out.operands[out.count] = there;
    }
    return planning::arrive(out, rules::elementwise(met, rules::labels_of(in.result), how),
                            in.result);
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
    using Out = typename decltype(on)::Out;
    if constexpr (C::takes.operands == 3) {
      return map<Out>(typename C::function{}, on.a, on.b, on.c);
    } else {
      return map<Out>(typename C::function{}, on.a, on.b);
    }
  }
};
// Of 4 x, which no pending maximum allows.
struct NamedDivide : NamedFunction<Divide> {
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    rules::Verdict const scaled = rules::elementwise(r.operands(1, 1), meets<functions::Multiply>);
    return scaled ? NamedFunction::rule(r, in) : scaled;
  }
  static auto perform(auto on) {
    return map<typename decltype(on)::Out>(functions::Divide{}, 4 * on.a, on.b);
  }
};

using Elementwise =
    CaseList<Negate, Absolute, OwnFunction, Scaled, PlusOne, Add, Subtract, Multiply, Divide,
             WholeDivide, FloorDivide, Remainder, Relu, Clipped, Largest, Smallest, LogAddExp,
             Positive, Equal, Both, Inverted, ToFloating, ToInteger, Choose, Selected,
             NamedFunction<Add>, NamedFunction<Multiply>, NamedDivide, NamedFunction<ByTruth>>;

}  // namespace programs::cases
