// The operations of random programs that are not cases: products, reductions, lookups and changes
// of sharding. All others, and all new ones, are cases (case.hpp).
#pragma once

#include <cstdint>
#include <type_traits>

#include <shardtype/types.hpp>

namespace programs {

using namespace shardtype;

// Element types. All values are integers, those of bool 0 and 1; double represents them exactly.
enum class Element : std::int8_t { integer, boolean, floating };

enum class Op : std::int16_t {
  // named elementwise functions; the other elementwise functions are cases
  named_add,
  named_multiply,
  named_divide,
  named_choose,  // where(p, y, z)
  // reductions
  sum,
  max,
  min,
  any,
  all,
  mean,  // of n x, where n is the number of elements
  norm_1,
  norm_inf,
  prod,
  place,
  least_place,
  norm,       // rounded down
  logsumexp,  // the root of the sum of powers of two, rounded down
  reproducible_sum,
  reproducible_norm,
  named_sum,
  named_max,
  named_min,
  named_any,
  named_all,
  named_mean,
  named_norm_1,
  named_norm_inf,
  named_prod,
  named_place,
  named_least_place,
  named_norm,
  named_logsumexp,
  named_reproducible_sum,
  named_reproducible_norm,
  // products
  contract,
  matrix_product,
  named_contract,
  named_matrix_product,
  // dims
  last_of_two,  // stack, slice, squeeze
  broadcast,
  // indexing
  look_up,   // gather
  add_rows,  // scatter_add
  one_hot,
  take_along,
  named_look_up,
  named_add_rows,
  named_one_hot,
  window,       // dynamic_slice of half the rows, padded
  window_at,    // the same with the start in a tensor
  replaced,     // dynamic_update by half the rows
  replaced_at,  // the same with the start in a tensor
  // changes of sharding
  to_partial,
  reduced,
  reshard,
  all_gather,
  all_reduce,
  reduce_scatter,
  all_to_all,
  moved,  // transfer, on the same mesh
  count   // followed by the cases (cases.hpp)
};

constexpr bool is_between(Op op, Op first, Op last) { return op >= first && op <= last; }
constexpr bool is_named_elementwise(Op op) {
  return is_between(op, Op::named_add, Op::named_choose);
}
constexpr bool is_reduction(Op op) { return is_between(op, Op::sum, Op::reproducible_norm); }
constexpr bool is_named_reduction(Op op) {
  return is_between(op, Op::named_sum, Op::named_reproducible_norm);
}
constexpr bool is_product(Op op) { return is_between(op, Op::contract, Op::named_matrix_product); }
// Reductions whose last step is not linear.
constexpr bool takes_root(Op strict_op) {
  return strict_op == Op::norm || strict_op == Op::reproducible_norm || strict_op == Op::logsumexp;
}

// The element types that an operand may have, as a set of 1 << Element.
inline constexpr unsigned integers = 1;
inline constexpr unsigned booleans = 2;
inline constexpr unsigned floats = 4;
inline constexpr unsigned numbers = integers | floats;
inline constexpr unsigned everything = 7;
inline constexpr unsigned as_first = 8;   // that of the first operand
inline constexpr unsigned as_second = 9;  // that of the second operand
inline constexpr unsigned starts = 10;    // integers without dims

struct Taken {
  int operands = 1;
  unsigned at[3] = {everything, 0, 0};
};
constexpr Taken taken_by(Op strict_op) {
  auto const one = [](unsigned a) { return Taken{1, {a, 0, 0}}; };
  auto const two = [](unsigned a, unsigned b) { return Taken{2, {a, b, 0}}; };
  switch (strict_op) {
    case Op::prod:
      return one(numbers);
    case Op::contract:
    case Op::matrix_product:
    case Op::named_contract:
    case Op::named_matrix_product:
      return two(numbers, as_first);
    case Op::last_of_two:
    case Op::replaced:
      return two(everything, as_first);
    case Op::any:
    case Op::all:
      return one(booleans);
    case Op::named_choose:
      return {3, {booleans, everything, as_second}};
    case Op::mean:
    case Op::norm_1:
    case Op::norm_inf:
    case Op::norm:
    case Op::logsumexp:
    case Op::reproducible_sum:
    case Op::reproducible_norm:
      return one(floats);
    case Op::look_up:
    case Op::take_along:
      return two(everything, integers);
    case Op::add_rows:
      return two(numbers, integers);
    case Op::one_hot:
      return one(integers);
    case Op::window_at:
      return two(everything, starts);
    case Op::replaced_at:
      return {3, {everything, as_first, starts}};
    default:
      return {};
  }
}
constexpr Element given_by(Op strict_op, Element first, Element second) {
  switch (strict_op) {
    case Op::place:
    case Op::least_place:
      return Element::integer;
    case Op::sum:
      return first == Element::boolean ? Element::integer : first;
    case Op::named_choose:
      return second;
    default:
      return first;
  }
}

// A user-defined function.
struct TwiceAndOne {
  template <class T>
  T operator()(T const& x) const {
    return 2 * x + 1;
  }
};

// The linearity and kind of the library's own tags for functions and reductions.
template <class F, class T = std::int64_t>
inline constexpr rules::Linearity meets = shardtype::detail::linearity_of<F, T>;
constexpr Op strict(Op op);  // cases.hpp

constexpr rules::ReductionKind reduction_kind(Op op) {
  switch (strict(op)) {
    case Op::sum:
      return reductions::Sum::kind;
    case Op::max:
      return reductions::Maximum::kind;
    case Op::min:
      return reductions::Minimum::kind;
    case Op::any:
      return reductions::Any::kind;
    case Op::all:
      return reductions::All::kind;
    case Op::mean:
      return reductions::Mean::kind;
    case Op::norm_1:
      return reductions::Norm1::kind;
    case Op::norm_inf:
      return reductions::NormInf::kind;
    case Op::prod:
      return reductions::Product::kind;
    case Op::place:
      return reductions::PlaceOfMaximum::kind;
    case Op::least_place:
      return reductions::PlaceOfMinimum::kind;
    case Op::norm:
      return reductions::Norm::kind;
    case Op::logsumexp:
      return reductions::LogSumExp::kind;
    case Op::reproducible_sum:
      return reductions::ReproducibleSum::kind;
    default:
      return reductions::ReproducibleNorm::kind;
  }
}

}  // namespace programs
