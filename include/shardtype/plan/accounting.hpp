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
  // defined before its uses: clang evaluates it in their constant expressions only then

  struct Move {
    Step step{};
    Sizing sizing{};
    Coords first{};
    int root = -1;         ///< apart from the step, whose coordinates may be relative
    bool endless = false;  ///< whether it runs an unknown number of times

    constexpr void take_root(int of_round) {
      root = of_round >= 0 ? of_round : step.root;
      step.root = -1;
    }
    constexpr bool is_root(Coords const& at) const {
      return root >= 0 && number_in_group(step.axes, sizing.sizes, at) == root;
    }
    /// The bytes of a rank that is not the root.
    constexpr std::int64_t bytes(Coords const& at) const {
      std::int64_t const once = step_bytes(step, sizing, seen_from(at));
      return endless && once > 0 ? saturated : once;
    }
    /// The axes along which they may differ from rank to rank.
    constexpr AxisSet sees() const {
      AxisSet out;
      for (Spec const* s : {&step.before, &step.after})
        for (int d = 0; d < s->rank; ++d)
          for (int k = 0; k < s->dims[d].axes.size; ++k) out.insert(s->dims[d].axes[k]);
      if (step.collective != Collective::broadcast)
        for (int k = 0; k < step.axes.size; ++k) out.insert(step.axes[k]);
      return out;
    }

   private:
    /// Coordinates relative to those of the first block.
    constexpr Coords seen_from(Coords at) const {
      for (int x = 0; x < max_axes; ++x)
        if (first[x] != 0) at.at[x] = (at[x] + sizing.sizes[x] - first[x]) % sizing.sizes[x];
      return at;
    }
  };
  /// See move_series.
  struct Series {
    Move ends[3]{};
    std::int64_t terms = 0;
    std::int64_t middle = 0;

    constexpr bool is_root(Coords const& at) const { return ends[0].is_root(at); }
    /// The sum, or -1 if the three rounds are not those of a series.
    constexpr std::int64_t bytes(Coords const& at) const {
      std::int64_t const begin = ends[0].bytes(at);
      std::int64_t const between = ends[1].bytes(at);
      std::int64_t const end = ends[2].bytes(at);
      std::int64_t const most = saturated / terms;
      if (begin > most || between > most || end > most) return -1;
      if ((between - begin) * (terms - 1) != (end - begin) * middle) return -1;
      return terms % 2 == 0 ? mul_sat(terms / 2, begin + end) : mul_sat(terms, (begin + end) / 2);
    }
  };

  template <class Visit>
  constexpr void each_move(Visit visit) const {
    for (Move const& m : moves_) visit(m);
    for (Series const& s : series_)
      for (Move const& m : s.ends) visit(m);
  }
  /// Adds the bytes of `m` to the sums of all representatives, evaluated once for each position along the axes `sees`.
  /// False: no series.
  template <class M>
  static constexpr bool add_to(shardtype::detail::List<std::int64_t>& sums,
                               shardtype::detail::List<std::int64_t>& each,
                               RankClasses const& ranks, M const& m, AxisSet sees) {
    for (std::size_t k = 0; k < sums.size(); ++k) {
      auto const like = static_cast<std::size_t>(ranks.along(static_cast<std::int64_t>(k), sees));
      Coords const at = ranks.at(static_cast<std::int64_t>(k));
      each[k] = like == k ? m.bytes(at) : each[like];
      if (each[k] < 0) return false;
      if (!m.is_root(at)) sums[k] = add_sat(sums[k], each[k]);
    }
    return true;
  }

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
  /// the first rank; `root`: that of a broadcast, if it is not the step's.
  constexpr void move(Step const& s, Sizing const& z, Coords const& first = {}, int root = -1) {
    if (asks(Answer::counts)) run(s.collective, z.sizes.product(s.axes));
    if (asks(Answer::bytes) && s.collective != Collective::none)
      add_move(s, z, first).take_root(root);
    if (asks(Answer::cost)) spend(step_cost(s, z, *machine_));
  }
  /// A collective in `terms` rounds of a loop, of sizes that grow or shrink by the same amounts from round to
  /// round: its bytes are an arithmetic series. `rounds`: the first of these rounds, number `middle` of them, and the
  /// last. Only for bytes.
  constexpr void move_series(Step const& s, Sizing const* const (&rounds)[3], Coords const& first,
                             int root, std::int64_t terms, std::int64_t middle) {
    Series& series = series_.push_back(Series());
    for (int k = 0; k < 3; ++k) {
      series.ends[k] = move_of(s, *rounds[k], first);
      series.ends[k].take_root(root);
    }
    series.terms = terms;
    series.middle = middle;
  }
  /// A step that runs an unknown number of times: what it does once, without bound.
  constexpr void move_unbounded(Step const& s, Sizing const& z) {
    if (asks(Answer::counts)) {
      counts_[static_cast<int>(s.collective)] = unbounded;
      if (step_messages(s.collective, z.sizes.product(s.axes)) > 0) messages_ = saturated;
    }
    if (asks(Answer::bytes) && s.collective != Collective::none) add_move(s, z, {}).endless = true;
    if (asks(Answer::cost)) {
      Cost all = step_cost(s, z, *machine_);
      all.picoseconds = longest_time;
      all.bytes = all.bytes > 0 ? saturated : 0;
      all.messages = all.messages > 0 ? saturated : 0;
      spend(all);
    }
  }
  constexpr void compute_unbounded() {
    counts_[0] = unbounded;
    flops_ = saturated;
    if (asks(Answer::cost)) spend({longest_time, 0, saturated, 0, 0});
  }
  constexpr void compute(Computation const& c) {
    counts_[0] = add_counts(counts_[0], 1);
    flops_ = add_sat(flops_, c.flops);
    if (asks(Answer::cost)) spend({computing_time(c, *machine_), 0, c.flops, 0, 0});
  }
  /// A step over a group of `ranks` ranks, when only counts are requested.
  constexpr void run(Collective c, std::int64_t ranks) {
    int& count = counts_[static_cast<int>(c)];
    count = add_counts(count, 1);
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
    for (Collective const c : all_collectives) n = add_counts(n, count(c));
    return n;
  }
  /// Number of messages that each rank sends.
  constexpr std::int64_t messages() const { return messages_; }
  /// Payload bytes of the rank with these coordinates; conventions at `step_bytes`. Negative: the rounds of a loop are
  /// no series.
  constexpr std::int64_t bytes(Coords const& at) const {
    std::int64_t sum = 0;
    for (Move const& m : moves_)
      if (!m.is_root(at)) sum = add_sat(sum, m.bytes(at));
    for (Series const& m : series_) {
      std::int64_t const all = m.bytes(at);
      if (all < 0) return -1;
      if (!m.is_root(at)) sum = add_sat(sum, all);
    }
    return sum;
  }
  /// The bytes of the rank that moves the most, or as above.
  constexpr std::int64_t bytes_per_rank() const {
    if (moves_.empty() && series_.empty()) return 0;
    Sizes sizes;
    each_move([&](Move const& m) {
      for (int x = 0; x < max_axes; ++x) sizes.at[x] = std::max(sizes[x], m.sizing.sizes[x]);
    });
    RankClasses ranks(max_axes, sizes);
    each_move([&](Move const& m) {
      ranks.note(m.step, m.sizing);
      AxisList rotated;
      for (int x = 0; x < max_axes; ++x)
        if (m.first[x] != 0) rotated.push(x);
      ranks.tell_all_apart(rotated);
      if (m.root >= 0) ranks.tell_apart(m.step.axes, m.root);
    });
    auto const total = static_cast<std::size_t>(ranks.size());
    shardtype::detail::List<std::int64_t> sums(total);
    shardtype::detail::List<std::int64_t> each(total);
    for (Move const& m : moves_) add_to(sums, each, ranks, m, m.sees());
    for (Series const& m : series_)
      if (!add_to(sums, each, ranks, m, m.ends[0].sees())) return -1;
    std::int64_t most = 0;
    for (std::int64_t const n : sums) most = std::max(most, n);
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
  static constexpr Move move_of(Step const& s, Sizing const& z, Coords const& first) {
    Move m;
    m.step = s;
    m.sizing = z;
    m.first = first;
    return m;
  }
  constexpr Move& add_move(Step const& s, Sizing const& z, Coords const& first) {
    return moves_.push_back(move_of(s, z, first));
  }

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
  shardtype::detail::List<Series> series_;
};

}  // namespace shardtype::planning
