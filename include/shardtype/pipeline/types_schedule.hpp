#pragma once
/// Schedules of a pipeline as values: which rank runs which pass of which microbatch in which slot,
/// the idle part of the slots, and how many microbatches a rank stores.
///
/// Sources: Huang et al. 2019, GPipe (arXiv:1811.06965); Narayanan et al. 2021, Efficient
/// Large-Scale Language Model Training on GPU Clusters (arXiv:2104.04473), of the interleaved order
/// too.

#include <cstddef>
#include <cstdint>
#include <string>

#include <shardtype/core/error.hpp>
#include <shardtype/core/list.hpp>

namespace shardtype::pipeline {

/// The order in which a rank runs its passes.
enum class Order : std::uint8_t { gpipe, one_forward_one_backward, interleaved };

/// A pipeline over `ranks` ranks of `microbatches` microbatches, in which each rank holds `chunks`
/// stages: rank r those numbered r, r + ranks, r + 2 ranks, ...
struct Schedule {
  Order order = Order::gpipe;
  int ranks = 1;
  int microbatches = 1;
  int chunks = 1;
  bool forward_only = false;  ///< without backward passes: an evaluation

  friend constexpr bool operator==(Schedule const&, Schedule const&) = default;
};

/// What a rank does in a slot. Every pass of a stage takes one slot.
enum class Pass : std::uint8_t { idle, forward, backward };
struct Slot {
  Pass pass = Pass::idle;
  int microbatch = 0;
  int chunk = 0;

  friend constexpr bool operator==(Slot const&, Slot const&) = default;
};

/// An exact fraction in lowest terms.
struct Fraction {
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;

  constexpr Fraction(std::int64_t over, std::int64_t under) : numerator(over), denominator(under) {
    std::int64_t a = over, b = under;
    while (b != 0) {
      std::int64_t const rest = a % b;
      a = b;
      b = rest;
    }
    numerator /= a;
    denominator /= a;
  }
  constexpr double value() const {
    return static_cast<double>(numerator) / static_cast<double>(denominator);
  }
  friend constexpr bool operator==(Fraction const&, Fraction const&) = default;
};

namespace detail {

namespace sd = shardtype::detail;

/// Error E85, the same on all ranks.
[[noreturn]] inline void throw_schedule(std::string const& text) {
  throw Error("E85", "a pipeline " + text, FailedOn::every_rank);
}
constexpr Schedule checked(Schedule const& s) {
  constexpr std::int64_t most = 1 << 24;
  if (s.ranks < 1 || s.microbatches < 1 || s.chunks < 1)
    detail::throw_schedule("of " + std::to_string(s.ranks) + " ranks, " +
                           std::to_string(s.microbatches) + " microbatches and " +
                           std::to_string(s.chunks) +
                           " chunks on each rank; each number is at least 1");
  if (s.ranks > most / s.microbatches / s.chunks)
    detail::throw_schedule("of more than " + std::to_string(most) + " forward passes");
  if (s.order == Order::interleaved && s.microbatches % s.ranks != 0)
    detail::throw_schedule("in the interleaved order of " + std::to_string(s.microbatches) +
                           " microbatches over " + std::to_string(s.ranks) +
                           " ranks; the ranks must divide the microbatches");
  return s;
}

/// A schedule of a step: Error E85 if its forward passes alone are meant.
constexpr Schedule with_backward(Schedule const& s) {
  if (s.forward_only) detail::throw_schedule("of forward passes alone has no gradients");
  return detail::checked(s);
}

/// The number of forward passes that rank `rank` runs before its first backward pass.
constexpr int warmup(Schedule const& s, int rank) {
  int const all = s.microbatches * s.chunks;
  int const behind = s.ranks - rank - 1;
  int const some = s.order == Order::gpipe ? all
                   : s.chunks == 1         ? behind + 1
                                           : 2 * behind + (s.chunks - 1) * s.ranks + 1;
  return some < all ? some : all;
}
/// The `k`-th forward or backward pass of a rank: with chunks, groups of as many microbatches as
/// there are ranks run through all chunks in turn.
constexpr Slot nth(Schedule const& s, Pass pass, int k) {
  int const group = s.ranks * s.chunks;
  int const chunk = s.chunks == 1 ? 0 : k / s.ranks % s.chunks;
  int const microbatch = s.chunks == 1 ? k : k / group * s.ranks + k % s.ranks;
  return {pass, microbatch, pass == Pass::forward ? chunk : s.chunks - 1 - chunk};
}
/// The passes of a rank, in their order.
constexpr sd::List<Slot> passes(Schedule const& s, int rank) {
  int const all = s.microbatches * s.chunks;
  int const first = s.forward_only ? all : detail::warmup(s, rank);
  sd::List<Slot> out;
  for (int k = 0; k < first; ++k) out.push_back(detail::nth(s, Pass::forward, k));
  if (s.forward_only) return out;
  for (int k = 0; k < all; ++k) {
    out.push_back(detail::nth(s, Pass::backward, k));
    if (first + k < all) out.push_back(detail::nth(s, Pass::forward, first + k));
  }
  return out;
}

}  // namespace detail

/// All forward passes, then all backward passes. Error E85: a number below 1.
constexpr Schedule gpipe(int ranks, int microbatches) {
  return detail::checked({Order::gpipe, ranks, microbatches, 1});
}
/// Rank r runs up to `ranks - r` forward passes, then backward and forward passes in turn, then the
/// remaining backward passes. As long as gpipe, and a rank stores at most as many microbatches as
/// there are ranks behind it, and one. Error E85: a number below 1.
constexpr Schedule one_forward_one_backward(int ranks, int microbatches) {
  return detail::checked({Order::one_forward_one_backward, ranks, microbatches, 1});
}
/// Each rank holds `chunks` stages, so the idle part is smaller by about that factor, and `chunks`
/// times as many blocks move. With one chunk it is one_forward_one_backward. Error E85: a number
/// below 1, or microbatches that the ranks do not divide.
constexpr Schedule interleaved(int ranks, int microbatches, int chunks) {
  return detail::checked({Order::interleaved, ranks, microbatches, chunks});
}

/// The forward passes of a schedule alone, in their order: what evaluate and forward run. Each rank
/// holds the same stages, and stores nothing.
constexpr Schedule forward_only(Schedule schedule) {
  schedule.forward_only = true;
  return detail::checked(schedule);
}

/// The slots of all ranks: each pass runs in the first slot in which its rank is free and what it
/// reads was made in an earlier one.
class Table {
 public:
  constexpr explicit Table(Schedule const& schedule) : schedule_(detail::checked(schedule)) {
    fill();
  }
  constexpr Schedule const& schedule() const { return schedule_; }
  /// The number of slots, the same for each rank.
  constexpr int slots() const { return slots_; }
  constexpr Slot const& at(int rank, int slot) const {
    return rows_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(slot)];
  }

 private:
  /// The number of a pass of a stage among those of all stages.
  constexpr std::size_t number(Pass pass, int stage, int microbatch) const {
    int const stages = schedule_.ranks * schedule_.chunks;
    int const side = pass == Pass::backward ? stages : 0;
    auto const microbatches = static_cast<std::size_t>(schedule_.microbatches);
    return static_cast<std::size_t>(side + stage) * microbatches +
           static_cast<std::size_t>(microbatch);
  }
  constexpr void fill() {
    int const stages = schedule_.ranks * schedule_.chunks;
    auto const ranks = static_cast<std::size_t>(schedule_.ranks);
    detail::sd::List<detail::sd::List<Slot>> order;
    for (int r = 0; r < schedule_.ranks; ++r) order.push_back(detail::passes(schedule_, r));
    rows_.resize(ranks);
    detail::sd::List<std::size_t> next(ranks, 0);
    detail::sd::List<int> made(number(Pass::backward, stages, 0), -1);
    auto left = number(schedule_.forward_only ? Pass::forward : Pass::backward, stages, 0);
    for (; left > 0; ++slots_) {
      for (std::size_t r = 0; r < ranks; ++r) {
        Slot now;
        if (next[r] < order[r].size()) {
          Slot const& wanted = order[r][next[r]];
          int const stage = wanted.chunk * schedule_.ranks + static_cast<int>(r);
          int reads = -1;  // the slot in which its operand was made; the first stage has one
          if (wanted.pass == Pass::forward && stage > 0)
            reads = made[number(Pass::forward, stage - 1, wanted.microbatch)];
          if (wanted.pass == Pass::backward)
            reads = made[stage + 1 < stages ? number(Pass::backward, stage + 1, wanted.microbatch)
                                            : number(Pass::forward, stage, wanted.microbatch)];
          bool const first = wanted.pass == Pass::forward && stage == 0;
          if (first || (reads >= 0 && reads < slots_)) {
            made[number(wanted.pass, stage, wanted.microbatch)] = slots_;
            now = wanted;
            ++next[r];
            --left;
          }
        }
        rows_[r].push_back(now);
      }
    }
  }

  Schedule schedule_;
  int slots_ = 0;
  detail::sd::List<detail::sd::List<Slot>> rows_;
};

/// The number of slots from the first pass to the last.
constexpr int slots(Schedule const& schedule) { return Table(schedule).slots(); }

/// The idle part of the slots of all ranks: (S - 1) / (M + S - 1) of gpipe and
/// one_forward_one_backward over S ranks with M microbatches, (S - 1) / (V M + S - 1) of
/// interleaved with V chunks; of their forward passes alone as well. The papers divide by the busy
/// slots in place of all.
constexpr Fraction bubble(Schedule const& schedule) {
  int const busy = (schedule.forward_only ? 1 : 2) * schedule.microbatches * schedule.chunks;
  int const all = pipeline::slots(schedule);
  return {all - busy, all};
}

/// The most microbatches whose forward pass rank `rank` has run and whose backward pass it has not
/// finished, counted once for each chunk: what a rank stores for the backward pass; 0 of forward
/// passes alone. Error E85: no such rank.
constexpr int peak_stored(Schedule const& schedule, int rank) {
  detail::checked(schedule);
  if (rank < 0 || rank >= schedule.ranks)
    detail::throw_schedule("of " + std::to_string(schedule.ranks) + " ranks has no rank " +
                           std::to_string(rank));
  // after the warm-up each forward pass follows a backward pass
  return schedule.forward_only ? 0 : detail::warmup(schedule, rank);
}

/// The table as text, a line for each rank: `F2` is the forward pass of microbatch 2, `B2` its
/// backward pass, with chunks `F2.1` that of chunk 1.
inline std::string draw(Schedule const& schedule) {
  Table const table(schedule);
  std::size_t widest = 1;
  auto const text = [&](Slot const& s) {
    if (s.pass == Pass::idle) return std::string(".");
    std::string out = (s.pass == Pass::forward ? "F" : "B") + std::to_string(s.microbatch);
    if (schedule.chunks > 1) out += "." + std::to_string(s.chunk);
    return out;
  };
  for (int r = 0; r < schedule.ranks; ++r)
    for (int t = 0; t < table.slots(); ++t)
      if (text(table.at(r, t)).size() > widest) widest = text(table.at(r, t)).size();
  std::size_t const digits = std::to_string(schedule.ranks - 1).size();
  std::string out;
  for (int r = 0; r < schedule.ranks; ++r) {
    std::string const number = std::to_string(r);
    std::string line = "rank " + std::string(digits - number.size(), ' ') + number + " ";
    for (int t = 0; t < table.slots(); ++t) {
      std::string const one = text(table.at(r, t));
      line += " " + one;
      if (t + 1 < table.slots()) line += std::string(widest - one.size(), ' ');
    }
    out += line + "\n";
  }
  return out;
}

}  // namespace shardtype::pipeline
