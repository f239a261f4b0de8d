// Random programs over Specs, as plain values. draw_programs.hpp draws programs, interpreter.hpp
// runs them on simulated ranks, meaning.hpp computes their dense values, and real_programs.hpp runs
// them on real tensors. An operation is a case, a struct in one file of cases/ (case.hpp).
#pragma once

#include <cstdint>

#include <shardtype/types.hpp>

#include "harness/operations.hpp"

namespace programs {

inline constexpr int labels = 3;
inline constexpr int axes = 3;
inline constexpr int inputs = 2;
inline constexpr int most_instructions = 6;
inline constexpr Int most_extent = 5;

constexpr Taken taken(Op op);  // cases.hpp

// One operation on existing values. `list`: the reduced labels, the labels of the result, or their
// new order.
struct Instruction {
  Op op{};
  int operand[3] = {0, 0, 0};
  rules::Labels list{};
  rules::Labels summed{};  // of a product
  int axis = 0;
  int from = 0;
  int to = 0;
  Int most = 0;  // the bound of the elements of the first operand
  Element element = Element::integer;
  Spec result{};
  Spec ids{};  // the sharding of ids by which rows are added, and in programs with gradients of all
               // ids
  // In programs with gradients: the number of the case, and whether the result stays an expression.
  int with_gradient = 0;
  bool fused = false;
};

struct Program {
  Spec input[inputs]{};
  Element input_element[inputs]{};
  Instruction code[most_instructions]{};
  int size = 0;
  bool needs_elements[labels] = {};  // the labels over which maxima or means are taken
  // Of programs of automatic mode: the sharding of the last value, and which values are computed
  // once.
  Spec wanted{};
  bool shared[most_instructions] = {};

  constexpr Spec const& spec(int value) const {
    return value < inputs ? input[value] : code[value - inputs].result;
  }
  constexpr Element element(int value) const {
    return value < inputs ? input_element[value] : code[value - inputs].element;
  }
  constexpr bool uses(int value) const {
    for (int k = 0; k < size; ++k)
      for (int m = 0; m < taken(code[k].op).operands; ++m)
        if (code[k].operand[m] == value) return true;
    return false;
  }
};

constexpr rules::Labels without(rules::Labels const& all, rules::Labels const& those) {
  rules::Labels out;
  for (int k = 0; k < all.size; ++k)
    if (!those.contains(all.at[k])) out.push(all.at[k]);
  return out;
}
constexpr rules::Labels with(rules::Labels all, int label) {
  if (!all.contains(label)) all.push(label);
  return all;
}
constexpr rules::Labels only(int label) { return with({}, label); }
constexpr rules::Labels together(rules::Labels all, Spec const& more) {
  for (int d = 0; d < more.rank; ++d) all = with(all, more.dims[d].label);
  return all;
}
// Half of `n` rows, and the requested start of a window of that many rows.
constexpr Int half(Int n) { return n - n / 2; }
constexpr Int drawn_start(Instruction const& in) { return 2 * in.to - 1; }

}  // namespace programs
