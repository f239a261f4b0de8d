// The operations of random programs with gradients, as values. An operation that changes the extent of a dim is
// followed by one that undoes it, so that an index has one extent in a program.
#pragma once

#include <cstdint>

#include <shardtype/types.hpp>

#include "harness/cases.hpp"

namespace gradient_programs {

using namespace shardtype;
using programs::axes;
using programs::labels;
using rules::Labels;
using rules::ReductionKind;

enum class Op : std::int8_t {
  // functions of an element
  tanh,
  sin,
  half,
  negate,
  absolute,
  // of two
  add,
  subtract,
  multiply,
  quotient,  // a / (2 + b b)
  larger,
  chosen,  // where(b > 0, a, 0)
  named_add,
  named_multiply,
  // reductions
  sum,
  mean,
  max,
  logsumexp,
  norm,
  norm_1,
  variance,
  prod,
  softmax,
  named_sum,
  named_mean,
  named_max,
  named_logsumexp,
  named_norm,
  named_variance,
  named_prod,
  // products
  contract,
  matrix_product,
  named_contract,
  // dims
  transpose,
  renamed,   // relabel twice
  reshaped,  // split_dim, merge_dims
  broadcast,
  last_of_two,  // stack, at
  // along a dim
  roll,
  flip,
  window,    // slice, pad
  dynamic,   // dynamic_slice, pad
  replaced,  // dynamic_update by rows of the second operand
  spread,    // pad with rows between, slice
  repeated,  // repeat, slice
  tiled,     // tile, slice
  halves,    // concat of two slices
  sorted,
  shift,
  wrapped,  // shift around
  running_sum,
  running_sum_back,
  running_product,
  top,       // top_k of half the rows, pad
  triangle,  // tril
  // lookups; ids are constants of any sharding
  look_up,      // take of ids of another label
  add_rows,     // scatter_add to another label
  look_along,   // take_along
  added_along,  // scatter_along
  // changes of sharding
  to_partial,
  reduced,
  used_as,
  reshard,
  all_gather,
  all_reduce,
  reduce_scatter,
  all_to_all,
  count
};
inline constexpr int op_count = static_cast<int>(Op::count);

constexpr bool is_between(Op op, Op first, Op last) { return op >= first && op <= last; }
constexpr bool is_reduction(Op op) { return is_between(op, Op::sum, Op::softmax); }
constexpr bool is_named_reduction(Op op) { return is_between(op, Op::named_sum, Op::named_prod); }
constexpr bool is_lookup(Op op) { return is_between(op, Op::look_up, Op::added_along); }
constexpr bool is_move(Op op) { return op >= Op::to_partial; }
constexpr int operands(Op op) {
  switch (op) {
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::quotient:
    case Op::larger:
    case Op::chosen:
    case Op::named_add:
    case Op::named_multiply:
    case Op::contract:
    case Op::matrix_product:
    case Op::named_contract:
    case Op::last_of_two:
    case Op::replaced:
    case Op::halves:
      return 2;
    default:
      return 1;
  }
}
/// Whether the result has no value, or no gradient, for an extent of 0.
constexpr bool needs_elements(Op op) {
  switch (op) {
    case Op::mean:
    case Op::max:
    case Op::variance:
    case Op::logsumexp:
    case Op::named_mean:
    case Op::named_max:
    case Op::named_variance:
    case Op::named_logsumexp:
      return true;
    default:
      return false;
  }
}
/// Whether it tells equal elements apart from nearly equal ones.
constexpr bool compares(Op op) {
  return op == Op::max || op == Op::named_max || op == Op::larger || op == Op::sorted ||
         op == Op::absolute || op == Op::norm_1 || op == Op::chosen || op == Op::top;
}
/// Whether elements of its result may be equal.
constexpr bool repeats(Op op) {
  switch (op) {
    case Op::half:
    case Op::negate:
    case Op::transpose:
    case Op::renamed:
    case Op::reshaped:
    case Op::roll:
    case Op::flip:
    case Op::wrapped:
    case Op::sorted:
    case Op::tanh:
      return false;
    default:
      return op < Op::to_partial;
  }
}

/// One operation. `list`: the reduced labels, the labels of the result, or their new order; `ids`: the sharding of
/// the ids; `fused`: an expression stays one.
struct Instruction {
  Op op{};
  int operand[2] = {0, 0};
  Labels list{};
  int axis = 0;
  int from = 0;
  int to = 0;
  bool fused = false;
  Spec ids{};
  Spec result{};
};

constexpr ReductionKind kind_of(Op op) {
  switch (op) {
    case Op::sum:
    case Op::mean:
    case Op::named_sum:
    case Op::named_mean:
      return ReductionKind::sum;
    case Op::max:
    case Op::named_max:
      return ReductionKind::max;
    case Op::norm_1:
      return ReductionKind::sum_of_sizes;
    default:
      return ReductionKind::whole;
  }
}

}  // namespace gradient_programs
