#pragma once
/// Repeated steps whose values change size from round to round: the loops of blocked algorithms.

#include <cstdint>

#include <shardtype/plan/accounting.hpp>

namespace shardtype::planning {

/// One step in one round of a repeat.
struct Round {
  std::int64_t number = 0;  ///< number of the round, from 0
  int step = 0;             ///< index of the step in the round
  std::int64_t block = 0;   ///< the `block` of the Repeat
  bool runs = true;         ///< whether the step runs in this round
  Sizing sizing{};          ///< of the step's value; initially as in the plan
  Computation work{};       ///< of a step that computes
  Coords first{};           ///< the rank with the first block of the value; it changes for
                            ///< block-cyclic blocks
};

/// Consecutive steps of a plan that run together, round after round.
struct Repeat {
  int from = 0;  ///< the first of the steps
  int size = 0;
  std::int64_t rounds = 0;
  std::int64_t block = 0;  ///< a number from which sizes are computed, such as the rows of a panel
  /// Changes a step for one round; gets the round as `round` initializes it.
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
