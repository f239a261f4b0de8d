#pragma once
/// Sums of the costs of steps, for the plans of operations, functions and whole expressions.

#include <algorithm>
#include <cstdint>

#include <shardtype/core/list.hpp>
#include <shardtype/plan/cost.hpp>
#include <shardtype/plan/rank_classes.hpp>

namespace shardtype::planning {

/// Costs of a local computation on the busiest rank.
struct Computation {
  std::int64_t flops = 0;
  std::int64_t bytes = 0;      ///< read and written; none for a view
  std::int64_t workspace = 0;  ///< bytes besides operands and result
  bool shares = false;         ///< whether the result shares memory with an operand
  /// Flops of a product, as flops of float; they determine its time. Negative: not a product; its
  /// bytes determine the time.
  double product = -1;
};

/// Predicted time of a local computation, in picoseconds.
constexpr std::int64_t computing_time(Computation const& c, Machine const& m) {
  if (c.product >= 0) return picoseconds(c.product, m.flops_per_second);
  return picoseconds(static_cast<double>(c.bytes), m.memory_bytes_per_second);
}

/// Bytes that one rank holds now, and their maximum so far. Counted exactly; results saturate.
class MemoryUse {
 public:
  constexpr void hold(std::int64_t bytes) {
    low_ += bytes;
    if (low_ > saturated) low_ -= saturated + 1, ++high_;
    need(0);
  }
  constexpr void release(std::int64_t bytes) {
    if (low_ < bytes) low_ += saturated + 1, --high_;
    low_ -= bytes;
  }
  /// Records temporary memory in addition to the bytes held.
  constexpr void need(std::int64_t bytes) { peak_ = std::max(peak_, add_sat(held(), bytes)); }
  constexpr std::int64_t held() const { return high_ > 0 ? saturated : low_; }
  constexpr std::int64_t peak() const { return peak_; }

 private:
  // the bytes held are high * 2^62 + low
  std::int64_t low_ = 0;
  std::int64_t high_ = 0;
  std::int64_t peak_ = 0;
};

/// The questions that an Accounting can answer.
enum class Answer : std::int8_t {
  counts,  ///< collectives and messages
  bytes,   ///< bytes that ranks move
  flops,
  memory,
  cost
};

/// Receives the steps that run, in order, and adds up their costs. Any number of steps; only the
/// requested answers are computed.
class Accounting {
 public:
  /// Answers everything except times.
  constexpr Accounting() = default;
  /// Answers everything. The machine must outlive it.
  constexpr explicit Accounting(Machine const& m) : machine_(&m), priced_(true) {}
  /// Answers one question only.
  constexpr explicit Accounting(Answer only) : asked_(only), all_(false) {}
  constexpr Accounting(Answer only, Machine const& m)
      : machine_(&m), asked_(only), all_(false), priced_(true) {}

  /// Whether this answer is requested, so that its data must be passed.
  constexpr bool asks(Answer a) const {
    return (all_ || asked_ == a) && (a != Answer::cost || priced_);
  }

  // the steps that run

  /// A rank holds these bytes from now on, or no longer, or temporarily.
  constexpr void hold(std::int64_t bytes) { memory_.hold(bytes); }
  constexpr void release(std::int64_t bytes) { memory_.release(bytes); }
  constexpr void need(std::int64_t bytes) { memory_.need(bytes); }
  /// A slice, a transpose or a collective. `first` has the first block of its dims, if that is not
  /// the first rank.
  constexpr void move(Step const& s, Sizing const& z, Coords const& first = {}) {
    if (asks(Answer::counts)) run(s.collective, z.sizes.product(s.axes));
    if (asks(Answer::bytes) && s.collective != Collective::none) moves_.push_back({s, z, first});
    if (asks(Answer::cost)) spend(step_cost(s, z, *machine_));
  }
  constexpr void compute(Computation const& c) {
    ++counts_[0];
    flops_ = add_sat(flops_, c.flops);
    if (asks(Answer::cost)) spend({computing_time(c, *machine_), 0, c.flops, 0, 0});
  }
  /// A step over a group of `ranks` ranks, when only counts are requested.
  constexpr void run(Collective c, std::int64_t ranks) {
    ++counts_[static_cast<int>(c)];
    messages_ = add_sat(messages_, step_messages(c, ranks));
  }
  /// Adds a cost that is already known.
  constexpr void spend(Cost const& c) { cost_ = cost_ + c; }
  /// Calls `body(k, *this)` for each round, k = 0, 1, ...; the steps it passes may depend on k.
  template <class Body>
  constexpr void repeat(std::int64_t rounds, Body body) {
    for (std::int64_t k = 0; k < rounds; ++k) body(k, *this);
  }

  // the answers

  /// Number of collectives of this kind; for `none`, of local steps.
  constexpr int count(Collective c) const { return counts_[static_cast<int>(c)]; }
  /// Number of all collectives.
  constexpr int collectives() const {
    int n = 0;
    for (Collective const c : all_collectives) n += count(c);
    return n;
  }
  /// Number of messages that each rank sends.
  constexpr std::int64_t messages() const { return messages_; }
  /// Payload bytes of the rank with these coordinates; conventions at `step_bytes`.
  constexpr std::int64_t bytes(Coords const& at) const {
    std::int64_t sum = 0;
    for (Move const& m : moves_) sum = add_sat(sum, step_bytes(m.step, m.sizing, m.seen_from(at)));
    return sum;
  }
  /// The bytes of the rank that moves the most.
  constexpr std::int64_t bytes_per_rank() const {
    if (moves_.empty()) return 0;
    Sizes sizes;
    for (Move const& m : moves_)
      for (int x = 0; x < max_axes; ++x) sizes.at[x] = std::max(sizes[x], m.sizing.sizes[x]);
    RankClasses ranks(max_axes, sizes);
    for (Move const& m : moves_) {
      ranks.note(m.step, m.sizing);
      AxisList rotated;
      for (int x = 0; x < max_axes; ++x)
        if (m.first[x] != 0) rotated.push(x);
      ranks.tell_all_apart(rotated);
    }
    std::int64_t most = 0;
    for (std::int64_t k = 0; k < ranks.size(); ++k) most = std::max(most, bytes(ranks.at(k)));
    return most;
  }
  /// Floating-point operations; of each step, those of its busiest rank.
  constexpr std::int64_t flops() const { return flops_; }
  /// Peak of the bytes that a rank holds.
  constexpr std::int64_t peak_bytes() const { return memory_.peak(); }
  /// Predicted cost; of each step, that of its busiest rank.
  constexpr Cost cost() const {
    Cost c = cost_;
    c.peak_bytes = peak_bytes();
    return c;
  }
  /// Predicted time.
  constexpr std::int64_t picoseconds() const { return cost_.picoseconds; }
  constexpr double seconds() const { return static_cast<double>(picoseconds()) * 1e-12; }

 private:
  struct Move {
    Step step{};
    Sizing sizing{};
    Coords first{};

    /// Coordinates relative to those of the first block.
    constexpr Coords seen_from(Coords at) const {
      for (int x = 0; x < max_axes; ++x)
        if (first[x] != 0) at.at[x] = (at[x] + sizing.sizes[x] - first[x]) % sizing.sizes[x];
      return at;
    }
  };

  Machine const* machine_ = nullptr;
  Answer asked_ = Answer::counts;
  bool all_ = true;
  bool priced_ = false;  // a flag, because g++ 12 takes the address of a default argument for
                         // possibly null
  int counts_[collective_rows]{};
  std::int64_t messages_ = 0;
  std::int64_t flops_ = 0;
  Cost cost_{};
  MemoryUse memory_;
  shardtype::detail::List<Move> moves_;
};

}  // namespace shardtype::planning
