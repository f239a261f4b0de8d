#pragma once
/// Why the values of a plan have their shardings: what the best other choice would cost.

#include <string>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/dim.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/lazy/planned_program.hpp>

namespace shardtype::checking {
struct ChoicesHeader {};  // check/elsewhere.hpp
}  // namespace shardtype::checking

namespace shardtype {

/// The choice of a value's sharding in a plan. Of an operand of the program it is the user's.
struct LayoutChoice {
  std::string value;      ///< as `explain` calls it: `T3`
  std::string made_by;    ///< `product`, `given`
  std::string chosen;     ///< `[S@X, F]{U:Y}`
  std::string otherwise;  ///< the best other sharding; empty: there is none
  double seconds = 0;  ///< what it would add to the predicted time; less than 0: it would be faster
};

namespace api {

/// Of each operand and each computed value of a plan the sharding in which it is made, and the best
/// one that splits other dims, or over other axes: the program is planned again with it, all other
/// values free. Takes as many plans as the values have shardings: less than a second for a network
/// of two layers, some ten seconds for a block of a transformer with its gradient.
detail::List<LayoutChoice> layout_choices(core::Taken<PlannedProgram> program);

/// The same as a table:
///
///     A   given    [S@X, D]        else [S, D@X]    + 2.3 µs
///     T1  product  [S@X, F]        else [S, F@X]    + 85 µs
std::string explain_choices(core::Taken<PlannedProgram> program);

}  // namespace api

}  // namespace shardtype

#ifndef SHARDTYPE_COMPILED
#include <shardtype/visualize/choices.ipp>
#endif
