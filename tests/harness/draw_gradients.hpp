// Programs with gradients, drawn from a seed at compile time: the library's rules accept each
// instruction, and the gradient of each operand whose value depends on an argument that is
// differentiated.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "harness/cases.hpp"
#include "harness/cases/gradients.hpp"

namespace gradient_programs {

using namespace shardtype;
using programs::axes;
using programs::CaseList;
using programs::Draw;
using programs::Element;
using programs::Instruction;
using programs::labels;
using programs::Rules;
using programs::WithGradient;
namespace cases = programs::cases;

namespace detail_of_cases {

template <class... Cs>
constexpr auto with_gradients(CaseList<Cs...>) {
  return std::tuple_cat(std::conditional_t<requires { Cs::gradients_of; },
                                           std::tuple<std::type_identity<Cs>>, std::tuple<>>{}...);
}
template <class Tuple>
struct Table;
template <class... Cs>
struct Table<std::tuple<std::type_identity<Cs>...>> {
  static constexpr int size = sizeof...(Cs);
  static constexpr WithGradient all[] = {WithGradient::of<Cs>()...};
};
using All = decltype(with_gradients(cases::OnlyWithGradients{} + programs::Cases{}));

}  // namespace detail_of_cases

/// All cases with gradients. An operation that changes the extent of a dim is followed by one that
/// undoes it, so that an index has one extent in a program.
inline constexpr auto const& all_cases = detail_of_cases::Table<detail_of_cases::All>::all;
inline constexpr int case_count = detail_of_cases::Table<detail_of_cases::All>::size;
template <int N>
using case_at = typename std::tuple_element_t<std::size_t{N}, detail_of_cases::All>::type;
constexpr WithGradient const& case_of(Instruction const& in) { return all_cases[in.with_gradient]; }
/// The number of the first case with this gradient.
constexpr int number_of(std::string_view object) {
  int n = 0;
  while (all_cases[n].gradients_of[0] != object) ++n;
  return n;
}

/// The library's verdict on an instruction.
constexpr rules::Verdict rule(Instruction in, Spec const& a, Spec const& b) {
  WithGradient const& c = case_of(in);
  Rules of(Element::floating, a, c.looks_up ? in.ids : b, b);
  return c.rule(of, in);
}
constexpr rules::Verdict pulled(Instruction const& in, int k, Spec const& a, Spec const& b) {
  return case_of(in).pulled({in, k, a, b, rules::cotangent(in.result)});
}
/// Whether the cotangent of operand `k` is refused, and with which axis.
constexpr rules::Verdict judged(Instruction const& in, int k, Spec const& a, Spec const& b) {
  if (case_of(in).condition == k) return {};
  Spec const& own = k == 0 ? a : b;
  if (!rules::has_cotangent(in.result) || !rules::has_cotangent(own))
    return rules::refuse(rules::Code::X03_not_differentiable);
  rules::Verdict const got = pulled(in, k, a, b);
  if (!got) return got;
  return rules::finish(got.result, rules::cotangent(own), case_of(in).moves).verdict;
}

inline constexpr int inputs = 3;
inline constexpr int most_instructions = 10;

struct Program {
  Spec input[inputs]{};
  bool active[inputs] = {};  // differentiated; the others are constants
  Instruction code[most_instructions]{};
  int size = 0;
  bool needs_elements[labels] = {};

  constexpr Spec const& spec(int value) const {
    return value < inputs ? input[value] : code[value - inputs].result;
  }
};

class Drawing {
 public:
  /// Two cases, `favourite` and one a quarter of the list away, are tried more often until the
  /// program has them.
  constexpr Drawing(std::uint64_t seed, int length, int favourite)
      : draw_(seed), favourite_(favourite) {
    rules::Labels all;
    for (int l = 0; l < labels; ++l) all.push(l);
    for (int k = 0; k < inputs; ++k) {
      program.input[k] = k == 0 || draw_.one_in(3) ? wanted(programs::some_labels(draw_, all))
                                                   : programs::varied(draw_, program.input[0]);
      program.active[k] = k == 0 || !draw_.one_in(3);
      known_[k] = {program.active[k], false, 1};
    }
    for (int tries = 0; program.size < length && tries < 80 * length; ++tries) attempt(length);
    // the loss depends on an argument
    while (program.size > 0 && !known_[inputs + program.size - 1].active) --program.size;
  }
  Program program{};
  constexpr bool has_favourites() const { return missing() < 0; }

 private:
  struct Known {
    bool active = false;
    bool ties = false;  // elements may be equal
    double most = 1;    // bound of their sizes
  };
  static constexpr double too_large = 1e5;
  // Between both favourites: neighbours are alike and seldom fit into one program. Odd, as the
  // first ones may all be even.
  static constexpr int apart = (case_count / 4) | 1;

  constexpr Spec wanted(rules::Labels const& of) {
    bool const unreduced = draw_.one_in(3);
    Spec out = programs::random_spec(draw_, of, unreduced);
    out.kind = core::ReduceKind::sum;
    return out;
  }
  constexpr bool has(int number) const {
    for (int k = 0; k < program.size; ++k)
      if (program.code[k].with_gradient == number) return true;
    return false;
  }
  // The favourite that the program lacks, or -1.
  constexpr int missing() const {
    int const second = (favourite_ + apart) % case_count;
    return !has(favourite_) ? favourite_ : !has(second) ? second : -1;
  }
  constexpr int number() const { return inputs + program.size; }

  constexpr void attempt(int length) {
    Instruction in;
    int const missed = missing();
    in.with_gradient = missed >= 0 && draw_.one_in(2) ? missed : draw_.below(case_count);
    int const operands = case_of(in).operands;
    // the newest value is read, so that the loss depends on all
    for (int& v : in.operand) v = draw_.below(number());
    if (program.size > 0) in.operand[draw_.below(operands)] = number() - 1;
    if (operands == 1) in.operand[1] = in.operand[0];
    if (!details(in)) return;
    int const before = program.size;
    if (!cured(in, length)) program.size = before;
  }
  constexpr bool cured(Instruction in, int length) {
    WithGradient const& c = case_of(in);
    // a refused gradient is cured as its message says, by a cast of the operand
    for (int cures = 0; cures < 4; ++cures) {
      Known const a = known_[in.operand[0]];
      Known const b = known_[in.operand[1]];
      // what a choice depends on is its operand, and not its condition
      Known const out{a.active || (b.active && c.condition != 1),
                      a.ties || b.ties || !c.keeps_distinct, c.bound(in, a.most, b.most)};
      if ((c.compares && (a.ties || b.ties)) || out.most > too_large) return false;
      rules::Verdict const v = rule(in, spec(in, 0), spec(in, 1));
      if (!v) return false;
      in.result = v.result;
      if (!in.result.unreduced.empty() && in.result.kind != core::ReduceKind::sum) return false;
      if (in.result.unreduced.empty()) in.result.kind = core::ReduceKind::sum;
      int refused = -1;
      rules::Verdict why;
      for (int k = 0; k < c.operands && refused < 0; ++k)
        if (known_[in.operand[k]].active)
          if (why = judged(in, k, spec(in, 0), spec(in, 1)); !why) refused = k;
      if (refused < 0) {
        push(in, out);
        return true;
      }
      if (why.axis < 0 || why.code == rules::Code::X03_not_differentiable ||
          program.size + 2 > length)
        return false;
      Instruction cast;
      cast.with_gradient = number_of("ToReduced");
      cast.axis = why.axis;
      int const cured = in.operand[refused];
      cast.operand[0] = cast.operand[1] = cured;
      rules::Verdict const reduced = rule(cast, program.spec(cured), program.spec(cured));
      if (!reduced) return false;
      cast.result = reduced.result;
      push(cast, known_[cured]);
      for (int k = 0; k < c.operands; ++k)
        if (in.operand[k] == cured) in.operand[k] = number() - 1;
      if (c.operands == 1) in.operand[1] = in.operand[0];
    }
    return false;
  }
  constexpr Spec const& spec(Instruction const& in, int k) const {
    return program.spec(in.operand[k]);
  }
  constexpr void push(Instruction const& in, Known const& known) {
    WithGradient const& c = case_of(in);
    if (c.needs_elements)
      for (int k = 0; k < in.list.size; ++k) program.needs_elements[in.list.at[k]] = true;
    if (c.looks_up) program.needs_elements[looked_up(in)] = true;
    known_[number()] = known;
    program.code[program.size++] = in;
  }

 public:
  /// The label of the rows that ids name.
  static constexpr int looked_up(Instruction const& in) {
    return (case_of(in).reads & programs::reads_to) != 0 ? in.to : in.from;
  }

 private:
  // Draws what the instruction names; false where nothing fits.
  constexpr bool details(Instruction& in) {
    WithGradient const& c = case_of(in);
    Spec const& a = spec(in, 0);
    if (!c.drawn(draw_, Rules(Element::floating, a, spec(in, 1), a), in)) return false;
    in.result.kind = core::ReduceKind::sum;
    in.fused = c.fuses && draw_.one_in(2);
    if (c.looks_up) {
      if (a.find(in.from) < 0) return false;
      in.ids = c.ids(draw_, a, in);
      in.ids.reduced = {};
    }
    return true;
  }

  Draw draw_;
  int favourite_;
  Known known_[inputs + most_instructions]{};
};

/// The program of this seed: up to ten instructions. The seed selects two cases that it has, where
/// they can be drawn, so each case has its programs.
constexpr Program generate(std::uint64_t seed) {
  auto const favourite = static_cast<int>(2 * seed % static_cast<std::uint64_t>(case_count));
  for (std::uint64_t again = 0;; ++again) {
    Drawing const out(seed + again * 7919, 4 + static_cast<int>((seed / 3) % 7), favourite);
    if (out.program.size > 0 && (out.has_favourites() || again > 60)) return out.program;
  }
}

}  // namespace gradient_programs
