// Programs drawn from a seed, at compile time or at run time. The rules accept each instruction,
// and the values are so small that every sum and product is exact, also in double.
#pragma once

#include <algorithm>
#include <cstdint>

#include "harness/cases.hpp"

namespace programs {

/// Operations that accept few operands: they are tried more often.
struct SeldomFit {
  Op op[op_count]{};
  int size = 0;
  constexpr SeldomFit() {
    for (int k = 0; k < op_count; ++k)
      for (int again = 0; again < case_of(static_cast<Op>(k)).seldom_fits; ++again)
        op[size++] = static_cast<Op>(k);
  }
};
inline constexpr SeldomFit seldom_fit{};

/// Strict programs, of which the rules accept each instruction with the shardings that are there;
/// or automatic ones, of operations that automatic mode records, accepted as of tensors that no
/// axis splits. Of these every value is used.
enum class DrawnFor : std::int8_t { strict, automatic };

/// How long these are, and how many there are in tests/mpi/random_automatic_*.cpp together.
inline constexpr int automatic_length = 3;
inline constexpr std::uint64_t automatic_programs = 120;

/// Spec `s` on a single rank.
constexpr Spec without_axes(Spec const& s) {
  Spec out;
  for (int d = 0; d < s.rank; ++d) out.add(s.dims[d].label);
  return out;
}

class Drawing {
 public:
  constexpr Drawing(std::uint64_t seed, int length, DrawnFor mode = DrawnFor::strict)
      : draw_(seed), favourite_(favourite(seed, mode)), mode_(mode) {
    rules::Labels all;
    for (int l = 0; l < labels; ++l) all.push(l);
    program.input[0] = drawn_spec(all);
    program.input[1] = draw_.one_in(3) ? drawn_spec(all) : varied(draw_, program.input[0]);
    // starts of windows
    bool number = draw_.one_in(8);
    for (unsigned const elements : taken(favourite_).at) number = number || elements == starts;
    if (number) program.input[1] = random_spec(draw_, {}, draw_.one_in(4));
    for (int k = 0; k < inputs; ++k) draw_element(k, number && k == 1);
    for (int tries = 0; program.size < length && tries < 60 * length; ++tries)
      attempt(mode == DrawnFor::automatic && program.size == 0 && tries < 60);
    if (mode == DrawnFor::automatic && program.size > 0) {
      program.wanted = drawn_result(rules::labels_of(program.code[program.size - 1].result));
      for (int k = 0; k < program.size; ++k) program.shared[k] = draw_.one_in(2);
    }
  }
  Program program{};
  constexpr bool has_favourite() const { return has_favourite_; }

 private:
  static constexpr Op favourite(std::uint64_t seed, DrawnFor mode) {
    auto const at = [](std::uint64_t n) {
      return static_cast<Op>(n % static_cast<std::uint64_t>(op_count));
    };
    while (mode == DrawnFor::automatic && !case_of(at(seed)).recorded) ++seed;
    return at(seed);
  }
  // An element that the favourite operation takes as operand `k`; this one, if it does.
  constexpr Element taken_by_favourite(int k, Element element) const {
    unsigned const all = taken(favourite_).at[k];
    if (k >= taken(favourite_).operands || all > as_first) return element;
    if (all == as_first) return program.input_element[0];
    for (Element const each : {element, Element::integer, Element::floating, Element::boolean})
      if (((all >> static_cast<unsigned>(each)) & 1U) != 0) return each;
    return element;
  }
  constexpr Spec drawn_result(rules::Labels const& of) {
    Spec out = random_spec(draw_, of, false);
    out.reduced = {};
    return out;
  }
  // The draws are separate statements: the order of evaluation of arguments may differ between
  // compile time and run time.
  constexpr Spec drawn_spec(rules::Labels const& all) {
    rules::Labels const some = some_labels(draw_, all);
    bool const unreduced = draw_.one_in(2);
    return random_spec(draw_, some, unreduced);
  }
  constexpr void draw_element(int k, bool integer) {
    int const which = integer ? 0 : k > 0 && draw_.one_in(2) ? 7 : draw_.below(7);
    Element& element = program.input_element[k];
    element = which < 3 ? Element::integer : which < 6 ? Element::floating : Element::boolean;
    if (which == 7) element = program.input_element[0];
    if (mode_ == DrawnFor::automatic) element = taken_by_favourite(k, element);
    Spec& s = program.input[k];
    // only to_partial gives sums of bool
    if (element == Element::boolean && s.kind == core::ReduceKind::sum && !s.unreduced.empty())
      s.kind = core::ReduceKind::max;
    Int const ranks = power(4, s.unreduced.size());
    known_[k].divides = element == Element::floating;
    known_[k].most = element == Element::boolean    ? 1
                     : element == Element::floating ? 4 + 6 * (ranks - 1)
                                                    : 3 * ranks;
  }

  constexpr void attempt(bool only_favourite) {
    Instruction in;
    in.op = only_favourite || (!has_favourite_ && draw_.one_in(2)) ? favourite_
            : draw_.one_in(4) ? seldom_fit.op[draw_.below(seldom_fit.size)]
                              : static_cast<Op>(draw_.below(op_count));
    CaseOf const& its = case_of(in.op);
    if (mode_ == DrawnFor::automatic && !its.recorded) return;
    if (!choose_operands(in)) return;
    Known const& x = known_[in.operand[0]];
    in.most = x.most;
    in.element = its.gives(program.element(in.operand[0]), program.element(in.operand[1]));
    Rules r(program.element(in.operand[0]), spec(in, 0), spec(in, 1), spec(in, 2));
    if (!its.drawn(draw_, r, in)) return;
    rules::Verdict const v = its.rule(r, in);
    if (!v || !is_recorded(in, v.result)) return;
    Known const known = its.known({in, x, known_[in.operand[1]], known_[in.operand[2]]});
    if (known.most >= too_large) return;
    in.result = v.result;
    if (in.result.unreduced.empty()) in.result.kind = core::ReduceKind::sum;
    if (its.needs_elements)
      for (int k = 0; k < in.list.size; ++k) program.needs_elements[in.list.at[k]] = true;
    known_[inputs + program.size] = known;
    program.code[program.size++] = in;
    has_favourite_ = has_favourite_ || in.op == favourite_;
  }

  // A function with a named result is recorded if an operand has all of its labels.
  constexpr bool is_recorded(Instruction const& in, Spec const& result) const {
    bool out = mode_ == DrawnFor::strict || !case_of(in.op).is_function;
    for (int k = 0; k < taken(in.op).operands; ++k) out = out || spec(in, k).rank == result.rank;
    return out;
  }

  // Prefers the newest value; draws again until the operation accepts the operands, which usually
  // differ.
  constexpr bool choose_operands(Instruction& in) {
    int const values = inputs + program.size;
    for (int again = 0; again < 30; ++again) {
      for (int& v : in.operand) v = draw_.one_in(2) ? values - 1 : draw_.below(values);
      if (fit(in) && follows(in) && (again >= 20 || differ(in) || draw_.one_in(6))) return true;
    }
    return false;
  }
  static constexpr bool differ(Instruction const& in) {
    int const n = taken(in.op).operands;
    return (n < 2 || in.operand[0] != in.operand[1]) && (n < 3 || in.operand[1] != in.operand[2]);
  }
  // Of automatic mode: whether it takes the newest value.
  constexpr bool follows(Instruction const& in) const {
    if (mode_ == DrawnFor::strict || program.size == 0) return true;
    for (int k = 0; k < taken(in.op).operands; ++k)
      if (in.operand[k] == inputs + program.size - 1) return true;
    return false;
  }
  constexpr bool fit(Instruction const& in) const {
    Taken const t = taken(in.op);
    for (int k = 0; k < t.operands; ++k) {
      int const v = in.operand[k];
      auto const mine = static_cast<unsigned>(program.element(v));
      unsigned const all = t.at[k];
      if (all == as_first || all == as_second) {
        if (program.element(v) != program.element(in.operand[all - as_first])) return false;
      } else if (all == starts) {
        if (program.element(v) != Element::integer || program.spec(v).rank > 0) return false;
      } else if (((all >> mine) & 1U) == 0) {
        return false;
      }
    }
    // two drawn values are seldom a table and ids without a shared index
    if (case_of(in.op).apart) {
      rules::Labels const ids = rules::labels_of(spec(in, 1));
      return spec(in, 0).rank > 0 && without(ids, rules::labels_of(spec(in, 0))).size == ids.size;
    }
    return !case_of(in.op).divides || known_[in.operand[1]].divides;
  }
  constexpr Spec spec(Instruction const& in, int k) const {
    Spec const& s = program.spec(in.operand[k]);
    return mode_ == DrawnFor::strict ? s : without_axes(s);
  }

  Draw draw_;
  // The operation that this program tries more often until it has one; the seed selects it, so each
  // operation has its programs.
  Op favourite_;
  bool has_favourite_ = false;
  DrawnFor mode_;
  Known known_[inputs + most_instructions]{};
};

// The program of this seed: `length` instructions that the rules accept, each on existing values.
constexpr Program generate(std::uint64_t seed, int length, DrawnFor mode = DrawnFor::strict) {
  Drawing out(seed, length, mode);
  // each operation has its programs
  for (int again = 0; again < 20 && !out.has_favourite(); ++again) {
    seed += static_cast<std::uint64_t>(1000 * op_count);
    out = Drawing(seed, length, mode);
  }
  return out.program;
}

inline planning::Sizing random_extents(Draw& draw, Program const& p) {
  planning::Sizing z;
  z.element_bytes = sizeof(Int);
  z.extents = drawn_extents(draw, p.needs_elements);
  return z;
}

}  // namespace programs
