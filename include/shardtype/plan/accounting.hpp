#pragma once
/// Sums of the costs of steps, for the plans of operations, functions and whole expressions.

#include <algorithm>
#include <cstddef>
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
  /// Flops of a product, as flops of float; they determine its time. Negative: not a product; the
  /// longer of its flops and its bytes determines the time.
  double product = -1;
};

/// Predicted time of a local computation, in picoseconds.
constexpr std::int64_t computing_time(Computation const& c, Machine const& m) {
  if (c.product >= 0) return picoseconds(c.product, m.flops_per_second);
  return std::max(picoseconds(static_cast<double>(c.flops), m.flops_per_second),
                  picoseconds(static_cast<double>(c.bytes), m.memory_bytes_per_second));
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

  /// In a broadcast of block-cyclic rows from one axis to another: a rank holds rows that it needs
  /// only where its coordinates along both, counted from the first block, are alike modulo
  /// `divisor`. 1: anywhere.
  struct Meeting {
    int holds = 0;
    int needs = 0;
    std::int64_t divisor = 1;
    std::int64_t shift = 0;

    constexpr bool at(Coords const& c) const {
      return (c.at[holds] - c.at[needs] - shift) % divisor == 0;
    }
    friend constexpr bool operator==(Meeting const&, Meeting const&) = default;
  };

  struct Moved {
    Step step{};
    Sizing sizing{};
    Coords first{};
    int root = -1;
    std::int64_t times = 1;   ///< how often it runs
    bool endless = false;     ///< whether it runs an unknown number of times
    std::int64_t terms = 0;   ///< of the first of three rounds of a series; else 0
    std::int64_t middle = 0;  ///< number of the second of them

    constexpr bool is_root(Coords const& at) const {
      return root >= 0 && rank_in_group(step.axes, sizing.sizes, at) == root;
    }
    /// The bytes of a rank that is not the root, of a move or of three that are a series; -1: they
    /// are none.
    constexpr std::int64_t bytes(Coords const& at) const {
      std::int64_t const once = mul_sat(step_bytes(step, sizing, seen_from(at)), times);
      if (terms > 0) return sum_of_series(once, this[1].bytes(at), this[2].bytes(at));
      return endless && once > 0 ? saturated : once;
    }
    /// The axes along which they may differ from rank to rank.
    constexpr AxisSet sees() const {
      AxisSet out;
      for (Spec const* s : {&step.before, &step.after})
        for (int d = 0; d < s->rank; ++d)
          for (int k = 0; k < s->dims[d].axes.size; ++k) out.insert(s->dims[d].axes[k]);
      if (!kind_of(step).is(move_rows::whole))
        for (int k = 0; k < step.axes.size; ++k) out.insert(step.axes[k]);
      return out;
    }
    /// Where the bytes depend on what a rank has itself; elsewhere only on what it needs.
    constexpr Meeting meeting() const {
      if (step.move != Move::broadcast_rows) return {};
      AxisList const& a = step.before.dims[step.from].axes;
      AxisList const& b = step.after.dims[step.to].axes;
      if (a.size != 1 || b.size != 1 || a.cyclic == 0 || a.cyclic != b.cyclic) return {};
      for (int d = 0; d < step.after.rank; ++d)
        if (step.after.dims[d].axes.contains(a[0])) return {};
      // Euclid's; std::gcd would be twenty functions and classes in every file
      std::int64_t divisor = sizing.sizes[a[0]];
      for (std::int64_t rest = sizing.sizes[b[0]]; rest != 0;) {
        std::int64_t const next = divisor % rest;
        divisor = rest;
        rest = next;
      }
      return {a[0], b[0], divisor, (first[a[0]] + sizing.sizes[b[0]] - first[b[0]]) % divisor};
    }

   private:
    /// Coordinates relative to those of the first block.
    constexpr Coords seen_from(Coords at) const {
      for (int x = 0; x < max_axes; ++x)
        if (first[x] != 0) at.at[x] = (at[x] + sizing.sizes[x] - first[x]) % sizing.sizes[x];
      return at;
    }
    constexpr std::int64_t sum_of_series(std::int64_t begin, std::int64_t between,
                                         std::int64_t end) const {
      std::int64_t const most = saturated / terms;
      if (begin > most || between > most || end > most) return -1;
      if ((between - begin) * (terms - 1) != (end - begin) * middle) return -1;
      return terms % 2 == 0 ? mul_sat(terms / 2, begin + end) : mul_sat(terms, (begin + end) / 2);
    }
  };

  /// Calls `visit(move)` for each move, and once for three that are a series; stops where that is
  /// false.
  template <class Visit>
  constexpr bool each_move(Visit visit) const {
    Moved const* const end = moves_.end();
    for (Moved const* m = moves_.begin(); m != end; m += m->terms > 0 ? 3 : 1)
      if (!visit(*m)) return false;
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
  /// the first rank; `root`: the number in its group of the rank whose block a broadcast sends, and
  /// which receives nothing; -1: not known, so that all ranks count. `times`: how often it runs.
  constexpr void move(Step const& s, Sizing const& z, Coords const& first = {}, int root = -1,
                      std::int64_t times = 1) {
    if (asks(Answer::counts)) run(s.collective(), z.sizes.product(s.axes), times);
    if (asks(Answer::bytes) && s.is_collective()) add_move(s, z, first, root).times = times;
    if (asks(Answer::cost)) spend(step_cost(s, z, *machine_) * times);
  }
  /// A collective in `terms` rounds of a loop, of sizes that grow or shrink by the same amounts
  /// from round to round: its bytes are an arithmetic series. `rounds`: the first of these rounds,
  /// number `middle` of them, and the last; `times`: how often it runs in each. Only for bytes.
  constexpr void move_series(Step const& s, Sizing const* const (&rounds)[3], Coords const& first,
                             int root, std::int64_t times, std::int64_t terms,
                             std::int64_t middle) {
    std::size_t const begin = moves_.size();
    for (Sizing const* const z : rounds) add_move(s, *z, first, root).times = times;
    moves_[begin].terms = terms;
    moves_[begin].middle = middle;
  }
  /// A step that runs an unknown number of times: what it does once, without bound.
  constexpr void move_unbounded(Step const& s, Sizing const& z) {
    if (asks(Answer::counts)) {
      counts_[static_cast<int>(s.collective())] = unbounded;
      if (step_messages(s.collective(), z.sizes.product(s.axes)) > 0) messages_ = saturated;
    }
    if (asks(Answer::bytes) && s.is_collective()) add_move(s, z, {}, -1).endless = true;
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
  constexpr void run(Collective c, std::int64_t ranks, std::int64_t times = 1) {
    int& count = counts_[static_cast<int>(c)];
    count = add_counts(count, static_cast<int>(std::min<std::int64_t>(times, unbounded)));
    messages_ = add_sat(messages_, mul_sat(step_messages(c, ranks), times));
  }
  /// The axes of the moves that follow are numbered as in a part of a program: `axes` has their
  /// numbers in the program, -1 where there is none; up to `end_of_part`.
  constexpr void number_axes(std::int8_t const (&axes)[max_axes]) {
    for (int x = 0; x < max_axes; ++x) axes_[x] = axes[x];
    renumbers_ = true;
  }
  constexpr void end_of_part() { renumbers_ = false; }
  /// Takes off time that steps spend beside others.
  constexpr void hide(std::int64_t picoseconds) {
    if (cost_.picoseconds < longest_time) cost_.picoseconds -= picoseconds;
  }
  /// Predicted time of a step by itself, if costs are requested.
  constexpr std::int64_t time(Computation const& c) const { return computing_time(c, *machine_); }
  constexpr std::int64_t time(Step const& s, Sizing const& z) const {
    return step_cost(s, z, *machine_).picoseconds;
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
  /// Payload bytes of the rank with these coordinates; conventions at `step_bytes`. Negative: the
  /// rounds of a loop are no series.
  constexpr std::int64_t bytes(Coords const& at) const {
    std::int64_t sum = 0;
    bool const all = each_move([&](Moved const& m) {
      std::int64_t const n = m.bytes(at);
      if (!m.is_root(at)) sum = add_sat(sum, n < 0 ? 0 : n);
      return n >= 0;
    });
    return all ? sum : -1;
  }
  /// The bytes of the rank that moves the most, or as above.
  constexpr std::int64_t bytes_per_rank() const {
    if (moves_.empty()) return 0;
    Sizes sizes;
    for (Moved const& m : moves_)
      for (int x = 0; x < max_axes; ++x) sizes.at[x] = std::max(sizes[x], m.sizing.sizes[x]);
    RankClasses ranks(max_axes, sizes);
    for (Moved const& m : moves_) {
      ranks.note(m.step, m.sizing);
      AxisList rotated;
      for (int x = 0; x < max_axes; ++x)
        if (m.first[x] != 0) rotated.push(x);
      ranks.tell_all_apart(rotated);
      if (m.root >= 0) ranks.tell_apart(m.step.axes, m.root);
    }
    // of each representative: the sum, and the bytes of one move, evaluated once for each position
    // along the axes it sees: at the first representative that is alike there. Compilers evaluate
    // this for large meshes, and count statements and calls, so the loop over all has few.
    auto const total = static_cast<std::size_t>(ranks.size());
    struct Rank {
      Coords at{};
      std::size_t alike = 0;
      std::size_t apart = 0;  // the first rank that needs as this one, and has nothing of that
      std::size_t first = 0;  // of the list of those that are alike to themselves
      std::int64_t bytes = 0;
      std::int64_t sum = 0;
    };
    // in place of a List, which would be eight functions and classes in every file
    struct Each {
      Rank* ranks;
      constexpr explicit Each(std::size_t n) : ranks(new Rank[n]) {}
      Each(Each const&) = delete;
      Each& operator=(Each const&) = delete;
      constexpr ~Each() { delete[] ranks; }
    } const each(total);
    Rank* const begin = each.ranks;
    for (std::size_t k = 0; k < total; ++k) begin[k].at = ranks.at(static_cast<std::int64_t>(k));
    std::size_t firsts = 0;
    AxisSet seen;
    Meeting met;
    bool is_new = true;
    auto const along = [&](std::size_t k, AxisSet axes) {
      return static_cast<std::size_t>(ranks.along(static_cast<std::int64_t>(k), axes));
    };
    bool const all = each_move([&](Moved const& m) {
      Meeting const meets = m.meeting();
      if (AxisSet const sees = m.sees(); is_new || !(sees == seen) || !(meets == met)) {
        is_new = false;
        seen = sees;
        met = meets;
        AxisSet needs = sees;
        needs.erase(meets.holds);
        firsts = 0;
        for (std::size_t k = 0; k < total; ++k) begin[k].apart = total;
        for (std::size_t k = 0; k < total; ++k) {
          if (meets.at(begin[k].at)) {
            begin[k].alike = along(k, sees);
          } else {
            std::size_t& apart = begin[along(k, needs)].apart;
            apart = std::min(apart, k);
            begin[k].alike = apart;
          }
          if (begin[k].alike == k) begin[firsts++].first = k;
        }
      }
      for (std::size_t n = 0; n < firsts; ++n) {
        Rank& r = begin[begin[n].first];
        r.bytes = m.bytes(r.at);
        if (r.bytes < 0) return false;
      }
      bool const has_root = m.root >= 0;
      int const axis = m.step.axes.size == 1 ? m.step.axes[0] : -1;
      for (std::size_t k = 0; k < total; ++k)
        if (!has_root || (axis >= 0 ? begin[k].at.at[axis] != m.root : !m.is_root(begin[k].at)))
          begin[k].sum = begin[k].sum > saturated - begin[begin[k].alike].bytes
                             ? saturated
                             : begin[k].sum + begin[begin[k].alike].bytes;
      return true;
    });
    std::int64_t most = 0;
    for (std::size_t k = 0; k < total; ++k) most = std::max(most, begin[k].sum);
    return all ? most : -1;
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
  constexpr Moved& add_move(Step const& s, Sizing const& z, Coords const& first, int root) {
    Moved m;
    m.step = s;
    m.sizing = z;
    m.first = first;
    m.root = root;
    if (renumbers_) renumber(m);
    return moves_.push_back(m);
  }
  constexpr void renumber(Moved& m) const {
    Moved const from = m;
    m.sizing.sizes = {};
    m.first = {};
    for (int x = 0; x < max_axes; ++x) {
      if (axes_[x] < 0) continue;
      m.sizing.sizes.at[axes_[x]] = from.sizing.sizes[x];
      m.first.at[axes_[x]] = from.first[x];
    }
    auto const list = [&](AxisList& axes) {
      for (int k = 0; k < axes.size; ++k) axes.at[k] = axes_[axes.at[k]];
    };
    auto const set = [&](AxisSet& axes) {
      AxisSet const old = axes;
      axes = {};
      for (int x = 0; x < max_axes; ++x)
        if (old.contains(x)) axes.insert(axes_[x]);
    };
    list(m.step.axes);
    for (Spec* const s : {&m.step.before, &m.step.after}) {
      for (int d = 0; d < s->rank; ++d) list(s->dims[d].axes);
      set(s->unreduced);
      set(s->reduced);
    }
  }

  Machine const* machine_ = nullptr;
  bool renumbers_ = false;
  std::int8_t axes_[max_axes]{};
  Answer asked_ = Answer::counts;
  bool all_ = true;
  bool priced_ = false;  // a flag, because g++ 12 takes the address of a default argument for
                         // possibly null
  int counts_[collective_rows]{};
  std::int64_t messages_ = 0;
  std::int64_t flops_ = 0;
  Cost cost_{};
  MemoryUse memory_;
  shardtype::detail::List<Moved> moves_;
};

}  // namespace shardtype::planning
