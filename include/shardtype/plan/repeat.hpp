#pragma once
/// Steps that run again and again, on values that are larger or smaller each time: the loops of blocked algorithms.

#include <cstdint>

#include <shardtype/plan/accounting.hpp>

namespace shardtype::planning {

/// One step in one round of a repeat.
struct Round {
  std::int64_t number = 0;  ///< of the round, from 0
  int step = 0;             ///< which of the steps of a round, from 0
  std::int64_t block = 0;   ///< of the Repeat
  bool runs = true;         ///< whether this round has the step at all
  Sizing sizing{};          ///< of the step's value; before `in_round`, as in the plan
  Computation work{};       ///< of a computation
  Coords first{};           ///< which rank has the first block of the value: cyclic blocks go round
};

/// Neighbouring steps of a plan that run together, round after round.
struct Repeat {
  int from = 0;  ///< the first of the steps
  int size = 0;
  std::int64_t rounds = 0;
  std::int64_t block = 0;  ///< any number that sizes go by, such as the rows of a panel
  /// Says what a step has in a round: is given the round as `round` begins it, and changes it.
  void (*in_round)(Step const&, Round&) = nullptr;

  constexpr bool has(int step) const { return step >= from && step < from + size; }
  constexpr Round round(int step, Step const& s, Sizing const& z, std::int64_t number) const {
    Round r;
    r.number = number;
    r.step = step - from;
    r.block = block;
    r.sizing = z;
    if (in_round != nullptr) in_round(s, r);
    return r;
  }
};

}  // namespace shardtype::planning
