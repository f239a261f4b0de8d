#pragma once
/// Label-correcting relaxation: from the layouts in which a value is computed to all others.

#include <cstddef>
#include <cstdint>
#include <limits>

#include <shardtype/core/list.hpp>
#include <shardtype/plan/frontier.hpp>

namespace shardtype::planning {

/// Memory into which a Pareto front without a memory limit is written.
struct FrontierMemory {
  Option* ways = nullptr;
  std::int32_t* first = nullptr;
  std::int32_t* makings = nullptr;
};

/// The known candidates for one value, and their relaxation by single steps.
///
/// It also runs at compile time, where each statement and call counts: hence plain pointers and few
/// calls in loops.
class Relaxation {
 public:
  /// Without a memory limit the candidates are written to `to`, which is cleared; by default, to
  /// memory of its own.
  constexpr Relaxation(RecordedProgram const& p, int node, LayoutGraph const& graph,
                       Rates const& rates, FrontierMemory const& to)
      : p_(p),
        n_(p.nodes.at[node]),
        node_(node),
        graph_(graph),
        rates_(rates),
        limited_(rates.memory_limit >= 0),
        ways_(to.ways),
        first_(to.first) {
    auto const layouts = static_cast<std::size_t>(graph.layouts);
    if (ways_ == nullptr && !limited_) {
      own_ways_.resize(n_.pinned >= 0 && n_.making != Making::given ? 2 * layouts : layouts);
      ways_ = own_ways_.data();
    }
    if (first_ == nullptr) {
      own_first_.resize(layouts);
      first_ = own_first_.data();
    }
    own_best_.resize(layouts);
    own_moved_.resize(layouts);
    own_waiting_.resize(layouts);
    best_ = own_best_.data();
    moved_ = own_moved_.data();
    waiting_ = own_waiting_.data();
    forget();
    measure_blocks();
  }

  // has pointers into itself
  Relaxation(Relaxation const&) = delete;
  Relaxation& operator=(Relaxation const&) = delete;

  constexpr shardtype::detail::List<Option> const& options() const { return own_ways_; }
  constexpr std::int32_t const* first() const { return first_; }

 protected:
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

  /// Whether the first candidate's time and bytes moved are better than the second's; memory is
  /// ignored.
  static constexpr bool sooner(std::int64_t time, std::int64_t moved, std::int64_t than,
                               std::int64_t than_moved) {
    return time < than || (time == than && moved < than_moved);
  }
  /// Keeps a candidate that no other beats, and drops those that it beats. Returns whether it was
  /// kept.
  constexpr bool offer(Option const& o) {
    if (limited_) return offer_within(o);
    if (!sooner(o.time, o.moved, best_[o.layout], moved_[o.layout])) return false;
    ways_[begin_ + o.layout] = o;
    keep(o.layout, o.time, o.moved);
    return true;
  }
  /// Without a limit: the candidate stored for this layout becomes its best.
  constexpr void keep(int layout, std::int64_t time, std::int64_t moved) {
    best_[layout] = time;
    moved_[layout] = moved;
    first_[layout] = begin_ + layout;
    waiting_[layout] = true;
  }
  /// Restricts the value to one layout, and relaxes again from there: a constraint.
  constexpr void begin_at(int layout) {
    std::int32_t const kept = first_[layout];
    forget();
    if (!limited_) begin_ = graph_.layouts;
    for (std::int32_t k = kept; k >= 0;) {
      Option o = ways_[k];
      k = o.next;
      o.next = -1;
      offer(o);
    }
    relax();
  }
  /// Relaxes reshard steps from all reachable layouts until no arrival time improves
  /// (label-correcting shortest paths).
  constexpr void relax() {
    if (n_.cyclic >= 0) return;  // nothing moves it
    for (bool any = true; any;) {
      any = false;
      for (int s = 0; s < graph_.layouts; ++s) {
        if (!waiting_[s]) continue;
        waiting_[s] = false;
        any = true;
        for (std::int32_t k = first_[s]; k >= 0; k = ways_[k].next) {
          if (limited_) {
            if (moved_on_.data()[k]) continue;
            moved_on_.data()[k] = true;
          }
          move_on(k);
        }
      }
    }
  }

  RecordedProgram const& p_;
  ProgramNode const& n_;
  int node_;
  LayoutGraph graph_;
  Rates const& rates_;
  bool limited_;
  /// Without a limit: one per layout, and a second set by layout after a constraint.
  Option* ways_;
  std::int32_t begin_ = 0;
  std::int32_t* first_;                  ///< first candidate of each layout, or -1
  std::int64_t const* bytes_ = nullptr;  ///< of each layout's largest block
  std::int64_t* best_ = nullptr;         ///< without a limit: the least time of each layout
  std::int64_t* moved_ = nullptr;        ///< and the bytes moved in it

 private:
  /// The price of a step; a lower bound if it depends on the resulting block.
  struct Price {
    std::int64_t time = -1;
    std::int64_t moved = 0;
  };

  constexpr void forget() {
    for (int s = 0; s < graph_.layouts; ++s) {
      first_[s] = -1;
      best_[s] = never;
      moved_[s] = 0;
      waiting_[s] = false;
    }
  }
  /// Computes the bytes of the blocks of all layouts. Layouts with equal block sizes share a row of
  /// prices.
  constexpr void measure_blocks() {
    auto const layouts = static_cast<std::size_t>(graph_.layouts);
    own_bytes_.resize(layouts);
    own_row_.resize(layouts);
    std::int64_t* const bytes = own_bytes_.data();
    int* const row = own_row_.data();
    shardtype::detail::List<std::int64_t> sizes;
    for (int s = 0; s < graph_.layouts; ++s) {
      int const alike = graph_.alike[s];
      if (alike < s) {
        bytes[s] = bytes[alike];
        row[s] = row[alike];
        continue;
      }
      bytes[s] = block_bytes(p_, node_, graph_.codes[s]);
      std::size_t known = 0;
      while (known < sizes.size() && sizes[known] != bytes[s]) ++known;
      if (known == sizes.size()) sizes.push_back(bytes[s]);
      row[s] = static_cast<int>(known) * graph_.kinds();
    }
    own_prices_.resize(sizes.size() * static_cast<std::size_t>(graph_.kinds()));
    bytes_ = bytes;
    row_ = row;
    prices_ = own_prices_.data();
  }
  constexpr Price price(Fan const& fan, std::int64_t before, std::int64_t after) const {
    int const set = fan.member_bits;
    if (fan.collective == Collective::none) return {slice_time(after, rates_.over[0]), 0};
    std::int64_t const moved = step_payload(fan.collective, before, after, rates_.ranks[set]);
    return {rates_.latency[set][static_cast<int>(fan.collective)] +
                step_transfer(fan.collective, moved, rates_.over[set]),
            moved};
  }

  constexpr bool offer_within(Option const& o) {
    if (o.peak > rates_.memory_limit) return false;
    std::int32_t* link = &first_[o.layout];
    for (std::int32_t k = *link; k >= 0; k = ways_[k].next) {
      Option const& other = ways_[k];
      if (other.peak <= o.peak && !sooner(o.time, o.moved, other.time, other.moved)) return false;
    }
    while (*link >= 0) {
      Option& other = ways_[*link];
      if (other.peak >= o.peak && !sooner(other.time, other.moved, o.time, o.moved)) {
        *link = other.next;
      } else {
        link = &other.next;
      }
    }
    *link = static_cast<std::int32_t>(own_ways_.size());
    own_ways_.push_back(o);
    moved_on_.push_back(false);
    ways_ = own_ways_.data();
    waiting_[o.layout] = true;
    return true;
  }
  /// Relaxes all steps from a candidate.
  constexpr void move_on(std::int32_t number) {
    int const layout = ways_[number].layout;
    std::int64_t const begun = ways_[number].time;
    std::int64_t const moved = ways_[number].moved;
    Price* const prices = prices_ + row_[layout];
    Edge const* const edges = graph_.edges;
    Fan const* const last = graph_.fans + graph_.first[layout + 1];
    for (Fan const* fan = graph_.fans + graph_.first[layout]; fan != last; ++fan) {
      Price& least = prices[fan->kind];
      if (least.time < 0)
        least = price(*fan, bytes_[layout], bytes_[layout] / rates_.ranks[fan->member_bits]);
      std::int64_t const sum = begun + least.time;
      std::int64_t const time = sum < longest_time ? sum : longest_time;
      int const end = fan[1].first;
      for (int e = fan->first; e < end; ++e) {
        // with a memory limit there is no single best; a slower candidate may need less memory
        int const to = edges[e].to;
        if (best_[to] < time) continue;
        if (n_.has_results && first_[to] >= 0 && ways_[first_[to]].from < 0) continue;
        if (best_[to] == time && moved_[to] <= moved + least.moved) continue;
        step(number, *fan, e);
      }
    }
  }
  /// Relaxes one step: offers the candidate that it leads to.
  constexpr void step(std::int32_t number, Fan const& fan, int edge) {
    Option const& here = ways_[number];
    int const to = graph_.edges[edge].to;
    std::int64_t const size = bytes_[to];
    Price const takes = price(fan, here.size, size);
    std::int64_t const time = in_time(here.time + takes.time);
    std::int64_t const moved = add_sat(here.moved, takes.moved);
    if (!limited_ && !sooner(time, moved, best_[to], moved_[to])) return;
    Option within;
    Option& o = limited_ ? within : ways_[begin_ + to];
    o.time = time;
    o.moved = moved;
    o.peak = add_sat(here.held, size);
    if (fan.collective != Collective::none)
      o.peak = add_sat(o.peak, !limited_ ? here.size
                                         : planning::room_of_move(
                                               p_, node_, fan.collective, fan.from_dim,
                                               graph_.edges[edge].to_dim, graph_.codes[here.layout],
                                               graph_.codes[to], here.size, size));
    if (o.peak < here.peak) o.peak = here.peak;
    o.size = size;
    o.held = size;
    o.from = number;
    o.edge = edge;
    o.making = -1;
    o.layout = static_cast<std::int16_t>(to);
    if (limited_) {
      offer_within(o);
    } else {
      keep(to, time, moved);
    }
  }

  int const* row_ = nullptr;  ///< of each layout: index of its row of prices
  Price* prices_ = nullptr;   ///< by kind of fan; negative: not computed yet
  bool* waiting_ = nullptr;   ///< layouts with candidates that are not relaxed yet

  shardtype::detail::List<Option> own_ways_;
  shardtype::detail::List<std::int32_t> own_first_;
  shardtype::detail::List<std::int64_t> own_bytes_;
  shardtype::detail::List<std::int64_t> own_best_;
  shardtype::detail::List<std::int64_t> own_moved_;
  shardtype::detail::List<int> own_row_;
  shardtype::detail::List<Price> own_prices_;
  shardtype::detail::List<bool> own_waiting_;
  shardtype::detail::List<bool> moved_on_;  ///< with a limit: candidates that are already relaxed
};

}  // namespace shardtype::planning
