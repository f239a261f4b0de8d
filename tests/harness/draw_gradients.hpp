// Programs with gradients, drawn from a seed at compile time: the library's rules accept each instruction, and the
// gradient of each operand whose value depends on an argument that is differentiated.
#pragma once

#include <algorithm>
#include <cstdint>

#include "harness/gradient_rules.hpp"
#include "harness/random_spec.hpp"

namespace gradient_programs {

using programs::Draw;

inline constexpr int inputs = 3;
inline constexpr int most_instructions = 10;
inline constexpr int most_extent = 5;

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
  /// `favourite` is tried more often until the program has it.
  constexpr Drawing(std::uint64_t seed, int length, Op favourite)
      : draw_(seed), favourite_(favourite) {
    Labels all;
    for (int l = 0; l < labels; ++l) all.push(l);
    for (int k = 0; k < inputs; ++k) {
      program.input[k] =
          k == 0 || draw_.one_in(3) ? drawn_input(all) : programs::varied(draw_, program.input[0]);
      program.input[k].kind = core::ReduceKind::sum;
      program.active[k] = k == 0 || !draw_.one_in(3);
      known_[k] = {program.active[k], false, 1};
    }
    for (int tries = 0; program.size < length && tries < 80 * length; ++tries) attempt(length);
    // the loss depends on an argument
    while (program.size > 0 && !known_[inputs + program.size - 1].active) --program.size;
  }
  Program program{};
  constexpr bool has_favourite() const {
    for (int k = 0; k < program.size; ++k)
      if (program.code[k].op == favourite_) return true;
    return false;
  }

 private:
  struct Known {
    bool active = false;
    bool ties = false;  // elements may be equal
    double most = 1;    // bound of their sizes
  };
  static constexpr double too_large = 1e5;

  constexpr Spec drawn_input(Labels const& all) {
    Labels const some = programs::some_labels(draw_, all);
    bool const unreduced = draw_.one_in(3);
    return programs::random_spec(draw_, some, unreduced);
  }
  constexpr Spec wanted(Labels const& of) {
    bool const unreduced = draw_.one_in(3);
    Spec out = programs::random_spec(draw_, of, unreduced);
    out.kind = core::ReduceKind::sum;
    return out;
  }
  constexpr int number() const { return inputs + program.size; }

  constexpr void attempt(int length) {
    Instruction in;
    bool const had = has_favourite();
    in.op = !had && draw_.one_in(2) ? favourite_ : static_cast<Op>(draw_.below(op_count));
    // the newest value is read, so that the loss depends on all
    for (int& v : in.operand) v = draw_.below(number());
    if (program.size > 0) in.operand[draw_.below(operands(in.op))] = number() - 1;
    if (operands(in.op) == 1) in.operand[1] = in.operand[0];
    if (!details(in)) return;
    int const before = program.size;
    if (!cured(in, length)) program.size = before;
  }
  constexpr bool cured(Instruction in, int length) {
    // a refused gradient is cured as its message says, by a cast of the operand
    for (int cures = 0; cures < 4; ++cures) {
      Known const a = known_[in.operand[0]];
      Known const b = known_[in.operand[1]];
      // what a choice depends on is its operand, and not its condition
      Known out{a.active || (b.active && in.op != Op::chosen), a.ties || b.ties || repeats(in.op),
                bound(in, a.most, b.most)};
      if (in.op >= Op::to_partial) out.ties = a.ties;
      if ((compares(in.op) && (a.ties || b.ties)) || out.most > too_large) return false;
      Verdict const v = rule(in, spec(in, 0), spec(in, 1));
      if (!v) return false;
      in.result = v.result;
      if (!in.result.unreduced.empty() && in.result.kind != core::ReduceKind::sum) return false;
      if (in.result.unreduced.empty()) in.result.kind = core::ReduceKind::sum;
      int refused = -1;
      Verdict why;
      for (int k = 0; k < operands(in.op) && refused < 0; ++k)
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
      cast.op = Op::reduced;
      cast.axis = why.axis;
      int const cured = in.operand[refused];
      cast.operand[0] = cast.operand[1] = cured;
      Verdict const c = rule(cast, program.spec(cured), program.spec(cured));
      if (!c) return false;
      cast.result = c.result;
      push(cast, known_[cured]);
      for (int k = 0; k < operands(in.op); ++k)
        if (in.operand[k] == cured) in.operand[k] = number() - 1;
      if (operands(in.op) == 1) in.operand[1] = in.operand[0];
    }
    return false;
  }
  constexpr Spec const& spec(Instruction const& in, int k) const {
    return program.spec(in.operand[k]);
  }
  constexpr void push(Instruction const& in, Known const& known) {
    if (needs_elements(in.op))
      for (int k = 0; k < in.list.size; ++k) program.needs_elements[in.list.at[k]] = true;
    if (is_lookup(in.op)) program.needs_elements[in.op == Op::add_rows ? in.to : in.from] = true;
    known_[number()] = known;
    program.code[program.size++] = in;
  }

  // Draws what the instruction names; false where nothing fits.
  constexpr bool details(Instruction& in) {
    Spec const& a = spec(in, 0);
    Spec const& b = spec(in, 1);
    Labels const mine = rules::labels_of(a);
    in.axis = draw_.below(axes);
    in.from = draw_.below(labels);
    in.to = draw_.below(labels);
    in.fused = in.op <= Op::chosen && draw_.one_in(2);
    if (in.op == Op::named_add || in.op == Op::named_multiply)
      in.result = wanted(programs::together(a, b));
    if (is_reduction(in.op) || is_named_reduction(in.op)) {
      Labels const kept = programs::some_labels(draw_, mine);
      in.list = programs::without(mine, kept);
      if (is_named_reduction(in.op)) in.result = wanted(kept);
      return in.list.size > 0;
    }
    if (in.op == Op::contract || in.op == Op::named_contract) {
      in.list = programs::some_labels(draw_, programs::together(a, b));
      if (in.op == Op::named_contract) in.result = wanted(in.list);
      return in.list.size > 0;
    }
    if (in.op == Op::transpose) {
      if (a.rank < 2) return false;
      int const begin = 1 + draw_.below(a.rank - 1);
      for (int d = 0; d < a.rank; ++d) in.list.push(a.dims[(begin + d) % a.rank].label);
      return true;
    }
    if (in.op == Op::reshard) {
      in.result = wanted(mine);
      in.result.unreduced.bits =
          static_cast<std::uint8_t>(in.result.unreduced.bits & a.unreduced.bits);
      return true;
    }
    if (!is_lookup(in.op)) return true;
    if (a.find(in.from) < 0) return false;
    Labels of;
    if (in.op == Op::look_up) {
      for (int l = 0; l < labels; ++l)
        if (a.find(l) < 0 && !draw_.one_in(3)) of.push(l);
    } else if (in.op == Op::add_rows) {
      for (int d = 0; d < a.rank; ++d)
        if (a.dims[d].label == in.from || draw_.one_in(3)) of.push(a.dims[d].label);
    }
    in.ids = programs::random_spec(draw_, of, false);
    in.ids.reduced = {};
    if (in.op == Op::look_along || in.op == Op::added_along) {
      in.ids = a;
      in.ids.unreduced = in.ids.reduced = {};
      if (in.op == Op::look_along && draw_.one_in(2) && in.ids.dim_of(in.axis) < 0)
        in.ids.dims[in.ids.find(in.from)].axes.push(in.axis);
    }
    return true;
  }

  // A bound of the result's elements.
  static constexpr double bound(Instruction const& in, double a, double b) {
    double n = 1;
    for (int k = 0; k < in.list.size; ++k) n *= most_extent;
    switch (in.op) {
      case Op::tanh:
      case Op::sin:
      case Op::softmax:
        return 1;
      case Op::add:
      case Op::subtract:
      case Op::named_add:
      case Op::replaced:
      case Op::halves:
      case Op::last_of_two:
        return a + b;
      case Op::multiply:
      case Op::named_multiply:
        return a * b;
      case Op::larger:
        return std::max(a, b);
      case Op::sum:
      case Op::named_sum:
      case Op::norm:
      case Op::named_norm:
      case Op::norm_1:
        return a * n;
      case Op::logsumexp:
      case Op::named_logsumexp:
        return a + 6;
      case Op::variance:
      case Op::named_variance:
        return a * a * 4;
      case Op::prod:
      case Op::named_prod: {
        double out = 1;
        for (double k = 0; k < n && out <= too_large; ++k) out *= std::max(a, 1.0);
        return out;
      }
      case Op::contract:
      case Op::named_contract:
      case Op::matrix_product:
        return a * b * most_extent * most_extent;
      case Op::running_product: {
        double const m = std::max(a, 1.0);
        return m * m * m * m * m;
      }
      case Op::running_sum:
      case Op::running_sum_back:
      case Op::added_along:
        return a * most_extent;
      case Op::add_rows:
        return a * most_extent * most_extent * most_extent;
      default:
        return a;
    }
  }

  Draw draw_;
  Op favourite_;
  Known known_[inputs + most_instructions]{};
};

/// The program of this seed: up to ten instructions. The seed selects an operation that it has, where one can be
/// drawn, so each operation has its programs.
constexpr Program generate(std::uint64_t seed) {
  auto const favourite = static_cast<Op>(47 * seed % static_cast<std::uint64_t>(op_count));
  for (std::uint64_t again = 0;; ++again) {
    Drawing const out(seed + again * 7919, 4 + static_cast<int>((seed / 3) % 7), favourite);
    if (out.program.size > 0 && (out.has_favourite() || again > 60)) return out.program;
  }
}

}  // namespace gradient_programs
