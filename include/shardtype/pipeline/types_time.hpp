#pragma once
/// How long a schedule takes whose passes and moves take given times.

#include <cstddef>

#include <shardtype/pipeline/types_schedule.hpp>

namespace shardtype::pipeline {

/// The times of a pipeline, in seconds or any other unit.
struct Costs {
  double forward = 1;   ///< the forward pass of a microbatch in one stage
  double backward = 1;  ///< its backward pass
  double move = 0;      ///< until a block has arrived at the next rank
  double embed = 0;     ///< the forward pass of the embedding
  double unembed = 0;   ///< its backward pass
  double head = 0;      ///< both passes of the head; in an evaluation the forward pass alone
};

/// A run of a schedule: the time until its last pass ends, and the part of it in which all ranks
/// together do nothing.
struct Prediction {
  double seconds = 0;
  double idle = 0;  ///< from 0 to 1
};

namespace detail {

/// Where the passes of all stages end. A pass begins when its rank is free and what it reads is
/// there.
class Timeline {
 public:
  constexpr Timeline(Schedule const& s, Costs const& c)
      : schedule_(s), costs_(c), ends_(2 * stages() * microbatches(), -1.0) {
    sd::List<sd::List<Slot>> passes;
    for (int r = 0; r < s.ranks; ++r) passes.push_back(detail::passes(s, r));
    sd::List<std::size_t> next(static_cast<std::size_t>(s.ranks), 0);
    sd::List<double> free(static_cast<std::size_t>(s.ranks), 0.0);
    for (bool moved = true; moved;) {
      moved = false;
      for (int rank = 0; rank < s.ranks; ++rank) {
        auto const r = static_cast<std::size_t>(rank);
        while (next[r] < passes[r].size()) {
          Slot const& slot = passes[r][next[r]];
          double const ready = ready_at(slot, rank);
          if (ready < 0) break;
          double const takes = time_of(slot, rank);
          free[r] = (ready > free[r] ? ready : free[r]) + takes;
          ends_[number(slot.pass, slot.chunk * s.ranks + rank, slot.microbatch)] = free[r];
          busy_ += takes;
          if (free[r] > last_) last_ = free[r];
          ++next[r];
          moved = true;
        }
      }
    }
  }
  constexpr Prediction prediction() const {
    double const all = last_ * schedule_.ranks;
    return {last_, all > 0 ? (all - busy_) / all : 0};
  }

 private:
  constexpr std::size_t stages() const {
    return static_cast<std::size_t>(schedule_.ranks) * static_cast<std::size_t>(schedule_.chunks);
  }
  constexpr std::size_t microbatches() const {
    return static_cast<std::size_t>(schedule_.microbatches);
  }
  constexpr std::size_t number(Pass pass, int stage, int microbatch) const {
    std::size_t const row = pass == Pass::forward ? 0 : stages();
    return (row + static_cast<std::size_t>(stage)) * microbatches() +
           static_cast<std::size_t>(microbatch);
  }
  /// When what a pass reads is there; below 0: not yet known.
  constexpr double ready_at(Slot const& slot, int rank) const {
    int const stage = slot.chunk * schedule_.ranks + rank;
    int const last = static_cast<int>(stages()) - 1;
    if (slot.pass == Pass::forward && stage == 0) return 0;
    if (slot.pass == Pass::backward && stage == last)
      return ends_[number(Pass::forward, stage, slot.microbatch)];
    int const from = slot.pass == Pass::forward ? stage - 1 : stage + 1;
    double const made = ends_[number(slot.pass, from, slot.microbatch)];
    return made < 0 ? made : made + (schedule_.ranks > 1 ? costs_.move : 0);
  }
  constexpr double time_of(Slot const& slot, int rank) const {
    bool const forward = slot.pass == Pass::forward;
    bool const first = slot.chunk == 0 && rank == 0;
    bool const last = slot.chunk + 1 == schedule_.chunks && rank + 1 == schedule_.ranks;
    double out = forward ? costs_.forward : costs_.backward;
    if (first) out += forward ? costs_.embed : costs_.unembed;
    if (last && forward == schedule_.forward_only) out += costs_.head;
    return out;
  }

  Schedule schedule_;
  Costs costs_;
  sd::List<double> ends_;
  double busy_ = 0;
  double last_ = 0;
};

}  // namespace detail

/// The time of a schedule and its idle part where passes and moves take these times. Where each
/// pass takes 1 and a move nothing, they are `slots` and `bubble`. Error E85: as of the schedule.
constexpr Prediction predict(Schedule const& schedule, Costs const& costs) {
  return detail::Timeline(detail::checked(schedule), costs).prediction();
}

}  // namespace shardtype::pipeline
