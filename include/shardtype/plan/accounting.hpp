#pragma once
/// What steps add up to: one accounting for the plans of operations, functions and whole expressions.

#include <algorithm>
#include <cstdint>

#include <shardtype/core/list.hpp>
#include <shardtype/plan/cost.hpp>
#include <shardtype/plan/rank_classes.hpp>

namespace shardtype::planning {

/// What a local computation takes on the busiest rank.
struct Computation {
  std::int64_t flops = 0;
  std::int64_t bytes = 0;      ///< read and written; a view reads and writes none
  std::int64_t workspace = 0;  ///< bytes beside operands and result
  bool shares = false;         ///< the result lies in the memory of an operand
  /// Flops of a product, in those of float: it takes their time. Negative: it takes the time of its bytes.
  double product = -1;
};

/// Predicted time of a local computation, in picoseconds.
constexpr std::int64_t computing_time(Computation const& c, Machine const& m) {
  if (c.product >= 0) return picoseconds(c.product, m.flops_per_second);
  return picoseconds(static_cast<double>(c.bytes), m.memory_bytes_per_second);
}

/// Bytes that one rank holds, and the most at once. Exact on the way, whatever is added and taken away;
/// what it answers saturates.
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
  /// For a moment, beside what is held.
  constexpr void need(std::int64_t bytes) { peak_ = std::max(peak_, add_sat(held(), bytes)); }
  constexpr std::int64_t held() const { return high_ > 0 ? saturated : low_; }
  constexpr std::int64_t peak() const { return peak_; }

 private:
  // the bytes are high * 2^62 + low
  std::int64_t low_ = 0;
  std::int64_t high_ = 0;
  std::int64_t peak_ = 0;
};

/// What an Accounting can be asked.
enum class Answer : std::int8_t {
  counts,  ///< collectives and messages
  bytes,   ///< that ranks move
  flops,
  memory,
  cost
};

/// Is told what runs, in order, and answers what it adds up to. Any number of steps; an answer that is not asked
/// for takes no time.
class Accounting {
 public:
  /// Answers all but times.
  constexpr Accounting() = default;
  /// Answers all. The machine must live as long.
  constexpr explicit Accounting(Machine const& m) : machine_(&m), priced_(true) {}
  /// Answers one question only.
  constexpr explicit Accounting(Answer only) : asked_(only), all_(false) {}
  constexpr Accounting(Answer only, Machine const& m)
      : machine_(&m), asked_(only), all_(false), priced_(true) {}

  /// Whether this is asked: what the answer needs must be told.
  constexpr bool asks(Answer a) const {
    return (all_ || asked_ == a) && (a != Answer::cost || priced_);
  }

  // what runs

  /// A rank holds so many bytes from now on, or no longer, or for a moment.
  constexpr void hold(std::int64_t bytes) { memory_.hold(bytes); }
  constexpr void release(std::int64_t bytes) { memory_.release(bytes); }
  constexpr void need(std::int64_t bytes) { memory_.need(bytes); }
  /// A slice, a transpose or a collective. Where the first block of its dims is not with the first rank:
  /// `first` has it.
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
  /// A step over a group of so many ranks, of which only counts are asked.
  constexpr void run(Collective c, std::int64_t ranks) {
    ++counts_[static_cast<int>(c)];
    messages_ = add_sat(messages_, step_messages(c, ranks));
  }
  /// What something costs that has a price already.
  constexpr void spend(Cost const& c) { cost_ = cost_ + c; }
  /// Calls `body(k, *this)` for each round, k = 0, 1, ...: what it tells may depend on k.
  template <class Body>
  constexpr void repeat(std::int64_t rounds, Body body) {
    for (std::int64_t k = 0; k < rounds; ++k) body(k, *this);
  }

  // what it adds up to

  /// How many collectives of this kind run; none: how many local steps.
  constexpr int count(Collective c) const { return counts_[static_cast<int>(c)]; }
  /// How many collectives run at all.
  constexpr int collectives() const {
    int n = 0;
    for (Collective const c : all_collectives) n += count(c);
    return n;
  }
  /// Messages each rank sends.
  constexpr std::int64_t messages() const { return messages_; }
  /// Payload bytes at the rank with these coordinates; conventions at `step_bytes`.
  constexpr std::int64_t bytes(Coords const& at) const {
    std::int64_t sum = 0;
    for (Move const& m : moves_) sum = add_sat(sum, step_bytes(m.step, m.sizing, m.seen_from(at)));
    return sum;
  }
  /// The most bytes that any rank moves.
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
  /// Floating-point operations of the busiest rank of each step.
  constexpr std::int64_t flops() const { return flops_; }
  /// Most bytes a rank holds at once.
  constexpr std::int64_t peak_bytes() const { return memory_.peak(); }
  /// Predicted cost for the busiest rank of each step.
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

    /// Coordinates counted from the first block's.
    constexpr Coords seen_from(Coords at) const {
      for (int x = 0; x < max_axes; ++x)
        if (first[x] != 0) at.at[x] = (at[x] + sizing.sizes[x] - first[x]) % sizing.sizes[x];
      return at;
    }
  };

  Machine const* machine_ = nullptr;
  Answer asked_ = Answer::counts;
  bool all_ = true;
  bool priced_ = false;  // g++ 12 takes the address of a default argument for one that may be none
  int counts_[collective_rows]{};
  std::int64_t messages_ = 0;
  std::int64_t flops_ = 0;
  Cost cost_{};
  MemoryUse memory_;
  shardtype::detail::List<Move> moves_;
};

}  // namespace shardtype::planning
