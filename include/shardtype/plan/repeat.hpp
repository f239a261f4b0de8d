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
  std::int64_t times = 1;   ///< how often a collective runs in this round, each time alike
  Sizing sizing{};          ///< of the step's value; initially as in the plan
  Computation work{};       ///< of a step that computes
  Coords first{};           ///< the rank with the first block of the value; it changes for
                            ///< block-cyclic blocks
  int root = -1;  ///< of a broadcast: the number of its root in the group of its axes, the
                  ///< coordinate along them if it is one; -1: as in the plan
};

/// The first steps of a round that run beside the other ones of the round before (look-ahead): a
/// panel is made and sent while the one before it is applied. Bytes, flops and memory are the same;
/// the price has the longer of the two.
struct LookAhead {
  int steps = 0;  ///< 0: none
  std::int64_t turns =
      1;  ///< the ranks that compute in them take turns, and do so every so many rounds

  friend constexpr bool operator==(LookAhead const&, LookAhead const&) = default;
};

/// Consecutive steps of a plan that run together, round after round.
struct Repeat {
  int from = 0;  ///< the first of the steps
  int size = 0;
  /// Negative (`dynamic`): not known. Then counts are `unbounded`, and bytes, messages, flops and
  /// time saturate.
  std::int64_t rounds = 0;
  std::int64_t block = 0;  ///< a number from which sizes are computed, such as the rows of a panel
  /// Changes a step for one round; gets the round as `round` initializes it.
  void (*in_round)(Step const&, Round&) = nullptr;
  /// If positive: in the rounds k, k + period, k + 2 period, ..., but for the last `period` rounds
  /// of all, the bytes of each step at each rank are an arithmetic series, and `first` and `root`
  /// are the same. So they are summed without looking at each round.
  std::int64_t period = 0;
  LookAhead ahead{};

  friend constexpr bool operator==(Repeat const&, Repeat const&) = default;
  constexpr bool known() const { return rounds >= 0; }
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
  /// Passes one step in all rounds to an accounting of bytes. `closed`: by series, where they are.
  constexpr void replay_bytes(Accounting& a, int step, Step const& s, Sizing const& z,
                              bool closed) const {
    if (!s.is_collective()) return;
    if (!known()) return a.move_unbounded(s, z);
    std::int64_t const classes = closed && period > 0 ? period : 1;
    std::int64_t const series = closed && period > 0 && rounds > period ? rounds - period : 0;
    for (std::int64_t k = 0; k < classes; ++k) {
      std::int64_t const terms = k < series ? (series - k - 1) / classes + 1 : 0;
      std::int64_t begin = k;
      if (terms > 3 && replay_series(a, step, s, z, k, terms)) begin += terms * classes;
      for (std::int64_t n = begin; n < rounds; n += classes)
        if (Round const r = round(step, s, z, n); r.runs)
          a.move(s, r.sizing, r.first, r.root, r.times);
    }
  }

 private:
  /// The rounds k, k + period, ...; false: they are not alike enough.
  constexpr bool replay_series(Accounting& a, int step, Step const& s, Sizing const& z,
                               std::int64_t k, std::int64_t terms) const {
    std::int64_t const middle = terms / 2;
    Round const rounds_of[3] = {round(step, s, z, k), round(step, s, z, k + middle * period),
                                round(step, s, z, k + (terms - 1) * period)};
    Sizing const* sizes[3]{};
    for (int m = 0; m < 3; ++m) {
      Round const& r = rounds_of[m];
      sizes[m] = &r.sizing;
      if (!r.runs || r.root != rounds_of[0].root || r.times != rounds_of[0].times) return false;
      for (int x = 0; x < max_axes; ++x)
        if (r.first[x] != rounds_of[0].first[x]) return false;
    }
    a.move_series(s, sizes, rounds_of[0].first, rounds_of[0].root, rounds_of[0].times, terms,
                  middle);
    return true;
  }
};

}  // namespace shardtype::planning
