#pragma once
/// The best ways to have one value of a program in each of its layouts: a step of the dynamic program
/// behind automatic mode.

#include <cstddef>
#include <cstdint>
#include <limits>

#include <shardtype/core/list.hpp>
#include <shardtype/plan/cost.hpp>
#include <shardtype/plan/program.hpp>

namespace shardtype::planning {

/// What steps over each set of axes cost on a machine.
struct Rates {
  static constexpr int collectives = static_cast<int>(Collective::broadcast) + 1;
  Machine over[1 << max_axes]{};
  std::int64_t ranks[1 << max_axes]{};
  std::int64_t latency[1 << max_axes][collectives]{};  ///< picoseconds
  /// Bytes that temporaries may take on a rank; none: negative.
  std::int64_t memory_limit = -1;

  constexpr Rates(Machine const& m, Sizes const& sizes, Identity const* axis_id, int axes,
                  std::int64_t limit)
      : memory_limit(limit) {
    for (unsigned set = 0; set < 1U << axes; ++set) {
      Identity members[max_axes]{};
      std::int64_t along[max_axes]{};
      int n = 0;
      std::int64_t p = 1;
      for (int x = 0; x < axes; ++x) {
        if (((set >> x) & 1U) == 0 || sizes[x] == 1) continue;  // an axis of one rank has no links
        members[n] = axis_id[x];
        along[n++] = sizes[x];
        p *= sizes[x];
      }
      over[set] = m.over(members, along, n);
      ranks[set] = p;
      for (int c = 1; c < collectives; ++c)
        latency[set][c] = step_latency(static_cast<Collective>(c), p, over[set]);
    }
  }
};

/// One way to have a value in a layout, and how it was come by.
struct Option {
  std::int64_t time = 0;   ///< picoseconds
  std::int64_t moved = 0;  ///< bytes a rank moves; decides between equal times
  std::int64_t peak = 0;   ///< most bytes of temporaries at once on the way
  std::int64_t size = 0;   ///< bytes of a block
  std::int64_t held = 0;   ///< bytes of temporaries it is: none for what the user gave
  std::int32_t from = -1;  ///< the way before the last step
  std::int32_t edge = -1;  ///< that step; or -1: it was made, as `making` says
  std::int32_t making = -1;
  std::int16_t layout = 0;
  std::int32_t next = -1;  ///< another way to have this layout
};

/// How a way's value is made: by which alternative, from which ways of the operands.
struct MadeFrom {
  std::int16_t way = 0;
  std::int32_t operand[max_operands]{};
};

/// The ways to have one value, wherever they lie; those that no other beats in time and memory.
struct Frontier {
  LayoutGraph graph{};
  Option const* ways = nullptr;
  std::int32_t const* first = nullptr;  ///< of each layout, or -1
  MadeFrom const* makings = nullptr;
};

/// Bytes of the largest block of a value in a layout.
constexpr std::int64_t block_bytes(Program const& p, int node, int code) {
  ProgramNode const& n = p.nodes[node];
  std::int64_t parts[max_dims];
  for (int d = 0; d < n.rank; ++d) parts[d] = 1;
  int const base = 2 + n.rank * p.axes;
  for (int x = 0; x < p.axes; ++x, code /= base)
    if (int const at = code % base; at >= 2) parts[(at - 2) / p.axes] *= p.sizes.at[x];
  std::int64_t bytes = n.element_bytes;
  for (int d = 0; d < n.rank; ++d) bytes *= ceil_div(p.extents[n.labels[d]], parts[d]);
  return bytes;
}

namespace detail {

/// An order of operands in which the peak of all is least: by how much of each one's peak is given back.
struct MakingOrder {
  int size = 0;
  int at[max_operands]{};
  std::int64_t peak = 0;
  std::int64_t held = 0;

  constexpr MakingOrder(std::int64_t const* peaks, std::int64_t const* helds, int n) : size(n) {
    for (int k = 0; k < n; ++k) {
      int place = k;
      for (; place > 0; --place) {
        int const before = at[place - 1];
        if (peaks[before] - helds[before] >= peaks[k] - helds[k]) break;
        at[place] = before;
      }
      at[place] = k;
    }
    for (int k = 0; k < n; ++k) {
      if (held + peaks[at[k]] > peak) peak = held + peaks[at[k]];
      held += helds[at[k]];
    }
  }
};

}  // namespace detail

/// Finds the frontier of one value, given those of its operands.
///
/// Without a memory limit there is one way for each layout, the fastest; with one, all within the limit that
/// are not beaten in time and memory by another, so that the fastest program within it is found.
/// Operands are made one after the other, each as the value takes it before the next is begun.
///
/// The compiler runs it, which counts every statement and call: hence plain pointers and few calls in loops.
class FrontierSearch {
 public:
  /// `home`: of a value that several read, the layout (of the graph) in which it is there already; else -1.
  constexpr FrontierSearch(Program const& p, int node, LayoutGraph const& graph,
                           Frontier const* const* operands, Rates const& rates, int home = -1)
      : p_(p),
        n_(p.nodes[node]),
        node_(node),
        graph_(graph),
        fronts_(operands),
        rates_(rates),
        limited_(rates.memory_limit >= 0) {
    auto const layouts = static_cast<std::size_t>(graph.layouts);
    bytes_.resize(layouts);
    for (std::size_t s = 0; s < layouts; ++s) bytes_[s] = block_bytes(p, node, graph.codes[s]);
    first_.assign(layouts, -1);
    best_.assign(layouts, never);
    if (!limited_) options_.resize(layouts);
    if (n_.making == Making::given || home >= 0) {
      Option o;
      o.layout = home >= 0 ? static_cast<std::int16_t>(home) : graph.index[n_.pinned];
      o.size = bytes_[static_cast<std::size_t>(o.layout)];
      offer(o);
      settle();
      return;
    }
    if (!limited_) {
      moved_.assign(layouts, 0);
      makings_.resize(layouts);
    }
    for (int way = 0; way < n_.ways; ++way) make(way);
    if (!limited_) keep_made();
    settle();
    if (n_.pinned >= 0) begin_at(graph.index[n_.pinned]);
  }

  constexpr Frontier view() const {
    return {graph_, options_.data(), first_.data(), makings_.data()};
  }
  constexpr shardtype::detail::List<Option> const& options() const { return options_; }
  constexpr shardtype::detail::List<std::int32_t> const& first() const { return first_; }
  constexpr shardtype::detail::List<MadeFrom> const& makings() const { return makings_; }

 private:
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

  /// What is still to be looked at, the fastest first.
  struct Waiting {
    std::int64_t time = 0;
    std::int32_t option = 0;
  };

  /// What is constrained is made in one layout, and may be moved from there.
  constexpr void begin_at(int layout) {
    std::int32_t const kept = first_[static_cast<std::size_t>(layout)];
    first_.assign(first_.size(), -1);
    best_.assign(first_.size(), never);
    if (!limited_) {
      begin_ = options_.size();
      options_.resize(2 * begin_);
    }
    for (std::int32_t k = kept; k >= 0;) {
      Option const o = options_[static_cast<std::size_t>(k)];
      k = o.next;
      offer(o);
    }
    settle();
  }

  /// Whether a known option of a layout makes another one, so fast and so large, useless.
  constexpr bool beaten(int layout, std::int64_t time, std::int64_t moved,
                        std::int64_t peak) const {
    Option const* const all = options_.data();
    for (std::int32_t k = first_.data()[layout]; k >= 0; k = all[k].next) {
      Option const& o = all[k];
      if ((o.time < time || (o.time == time && o.moved <= moved)) && (!limited_ || o.peak <= peak))
        return true;
    }
    return false;
  }
  /// An option that nothing beats is kept, and those it beats are not.
  constexpr bool offer(Option o) {
    if (limited_ && o.peak > rates_.memory_limit) return false;
    if (beaten(o.layout, o.time, o.moved, o.peak)) return false;
    std::int32_t* link = &first_.data()[o.layout];
    std::int32_t number = 0;
    o.next = -1;
    if (limited_) {
      Option* const all = options_.data();
      while (*link >= 0) {
        Option& other = all[*link];
        bool const faster = other.time < o.time || (other.time == o.time && other.moved < o.moved);
        if (!faster && other.peak >= o.peak) {
          *link = other.next;
        } else {
          link = &other.next;
        }
      }
      number = static_cast<std::int32_t>(options_.size());
      *link = number;
      options_.push_back(o);
    } else {
      number = static_cast<std::int32_t>(begin_) + o.layout;
      *link = number;
      options_.data()[number] = o;
      best_.data()[o.layout] = o.time;
    }
    push({o.time, number});
    return true;
  }
  /// Whether an option that waits is still one of its layout's.
  constexpr bool stands(Waiting const& w) const {
    Option const* const all = options_.data();
    if (all[w.option].time != w.time) return false;
    std::int32_t k = first_.data()[all[w.option].layout];
    while (k >= 0 && k != w.option) k = all[k].next;
    return k == w.option;
  }

  // a binary heap
  constexpr void push(Waiting const& w) {
    heap_.push_back(w);
    Waiting* const heap = heap_.data();
    std::size_t k = heap_.size() - 1;
    while (k > 0) {
      std::size_t const up = (k - 1) / 2;
      if (heap[up].time <= w.time) break;
      heap[k] = heap[up];
      k = up;
    }
    heap[k] = w;
  }
  constexpr Waiting pop() {
    Waiting* const heap = heap_.data();
    Waiting const top = heap[0];
    std::size_t const n = heap_.size() - 1;
    Waiting const last = heap[n];
    heap_.pop_back();
    std::size_t k = 0;
    while (2 * k + 1 < n) {
      std::size_t down = 2 * k + 1;
      if (down + 1 < n && heap[down + 1].time < heap[down].time) ++down;
      if (heap[down].time >= last.time) break;
      heap[k] = heap[down];
      k = down;
    }
    if (n > 0) heap[k] = last;
    return top;
  }

  /// Moves the value on, step by step, from where it can be had.
  constexpr void settle() {
    std::int64_t const* const bytes = bytes_.data();
    std::int64_t const* const best = best_.data();  // with a limit nothing is: each may be smaller
    while (!heap_.empty()) {
      Waiting const next = pop();
      if (!stands(next)) continue;
      Option const here = options_.data()[next.option];
      Edge const* const end = graph_.edges + graph_.first[here.layout + 1];
      for (Edge const* e = graph_.edges + graph_.first[here.layout]; e != end; ++e) {
        int const to = e->to;
        int const set = e->member_bits;
        std::int64_t time = here.time + rates_.latency[set][static_cast<int>(e->collective)];
        // what can be had as soon without this step, or is settled already
        if (best[to] <= time) continue;
        std::int64_t const after = bytes[to];
        std::int64_t moved = 0;
        std::int64_t peak = here.held + after;
        if (e->collective == Collective::none) {
          time += picoseconds(static_cast<double>(after), rates_.over[0].memory_bytes_per_second);
        } else {
          moved = step_payload(e->collective, here.size, after, rates_.ranks[set]);
          time += step_transfer(e->collective, moved, rates_.over[set]);
          peak += here.size;
        }
        moved += here.moved;
        if (peak < here.peak) peak = here.peak;
        if (beaten(to, time, moved, peak)) continue;
        Option o;
        o.time = time;
        o.moved = moved;
        o.peak = peak;
        o.size = o.held = after;
        o.from = next.option;
        o.edge = static_cast<std::int32_t>(e - graph_.edges);
        o.layout = e->to;
        offer(o);
      }
    }
  }

  // Making: every axis splits a label of the operands, or is idle, or owed by a set of operands.

  constexpr void make(int way) {
    way_ = way;
    labels_ = 0;
    parties_ = n_.operands + 1;
    for (int d = 0; d < n_.rank; ++d) note(n_.labels[d], 0, d);
    for (int k = 1; k < parties_; ++k) {
      int const number = p_.operand(node_, way, k - 1);
      ProgramNode const& operand = p_.nodes[number];
      front_[k] = fronts_[number];
      for (int d = 0; d < operand.rank; ++d)
        note(n_.making == Making::relabel ? n_.labels[d] : operand.labels[d], k, d);
    }
    for (int k = 0; k < parties_; ++k) {
      int const base = (k == 0 ? graph_ : front_[k]->graph).code.base();
      for (int x = 0, p = 1; x < p_.axes; ++x, p *= base) power_[k][x] = p;
      code_[k] = 0;
    }
    place(0);
  }
  /// Dim `d` of a party (0: the value, then its operands) has this label.
  constexpr void note(int label, int party, int d) {
    int l = 0;
    while (l < labels_ && label_[l] != label) ++l;
    if (l == labels_) {
      ++labels_;
      label_[l] = label;
      extent_[l] = p_.extents[label];
      parts_[l] = 1;
      on_[l] = 0;
      for (int k = 0; k < parties_; ++k) digit_[l][k] = 0;
    }
    digit_[l][party] = 2 + d * p_.axes;
  }
  /// All places of the axes from `x` on. `code_` are the layouts of all parties so far.
  constexpr void place(int x) {
    if (x == p_.axes) {
      consider();
      return;
    }
    place(x + 1);
    for (int set = 0; set < n_.owing; ++set) {
      unsigned const members = 1U | static_cast<unsigned>(n_.owing_sets[set]) << 1U;
      for (int k = 0; k < parties_; ++k)
        if (((members >> k) & 1U) != 0) code_[k] += power_[k][x];
      place(x + 1);
      for (int k = 0; k < parties_; ++k)
        if (((members >> k) & 1U) != 0) code_[k] -= power_[k][x];
    }
    for (int l = 0; l < labels_; ++l) place_on(l, x);
  }
  /// Axis `x` at each place among the axes of label `l`. A value that lacks the label owes a sum; operands
  /// that do are the same on all ranks.
  constexpr void place_on(int l, int x) {
    int* const list = axis_[l];
    int const n = on_[l]++;
    int const* const digit = digit_[l];
    parts_[l] *= p_.sizes.at[x];
    for (int k = 0; k < parties_; ++k)
      if (digit[k] > 0) code_[k] += (digit[k] + n) * power_[k][x];
    if (digit[0] == 0) code_[0] += power_[0][x];
    list[n] = x;
    place(x + 1);
    for (int at = n - 1; at >= 0; --at) {  // before one more of the others
      int const y = list[at];
      list[at + 1] = y;
      list[at] = x;
      for (int k = 0; k < parties_; ++k)
        if (digit[k] > 0) code_[k] += power_[k][y] - power_[k][x];
      place(x + 1);
    }
    for (int at = 0; at < n; ++at) {
      list[at] = list[at + 1];
      for (int k = 0; k < parties_; ++k)
        if (digit[k] > 0) code_[k] -= power_[k][list[at]];
    }
    for (int k = 0; k < parties_; ++k)
      if (digit[k] > 0) code_[k] -= digit[k] * power_[k][x];
    if (digit[0] == 0) code_[0] -= power_[0][x];
    parts_[l] /= p_.sizes.at[x];
    --on_[l];
  }
  constexpr void consider() {
    std::int64_t time = 0;
    std::int64_t moved = 0;
    for (int k = 1; k < parties_; ++k) {
      Frontier const& f = *front_[k];
      std::int32_t const o = f.first[f.graph.index[code_[k]]];
      if (o < 0) return;
      chosen_[k] = o;
      time += f.ways[o].time;
      moved += f.ways[o].moved;
    }
    result_ = graph_.index[code_[0]];
    if (!limited_) {
      std::int64_t& best = best_.data()[result_];
      if (best < time) return;
      time += work(bytes_.data()[result_]);
      if (best < time || (best == time && moved_.data()[result_] <= moved)) return;
      best = time;
      moved_.data()[result_] = moved;
      MadeFrom& m = makings_.data()[result_];
      m.way = static_cast<std::int16_t>(way_);
      for (int k = 1; k < parties_; ++k) m.operand[k - 1] = chosen_[k];
      return;
    }
    for (int k = 1; k < parties_; ++k) first_of_[k] = chosen_[k];
    for (;;) {
      combine();
      int k = 1;  // the next choice of options of all operands
      for (; k < parties_; ++k) {
        chosen_[k] = front_[k]->ways[chosen_[k]].next;
        if (chosen_[k] >= 0) break;
        chosen_[k] = first_of_[k];
      }
      if (k == parties_) return;
    }
  }
  /// Offers the value made from these options.
  constexpr void combine() {
    MadeFrom m;
    m.way = static_cast<std::int16_t>(way_);
    Option o;
    o.time = work(bytes_.data()[result_]);
    for (int k = 1; k < parties_; ++k) {
      m.operand[k - 1] = chosen_[k];
      Option const& operand = front_[k]->ways[chosen_[k]];
      o.time += operand.time;
      o.moved += operand.moved;
    }
    finish(o, result_, m);
    o.making = static_cast<std::int32_t>(makings_.size());
    if (offer(o)) makings_.push_back(m);
  }
  /// Without a limit: what was made fastest in each layout.
  constexpr void keep_made() {
    for (int s = 0; s < graph_.layouts; ++s) {
      if (best_.data()[s] == never) continue;
      Option& o = options_.data()[s];
      o.time = best_.data()[s];
      o.moved = moved_.data()[s];
      o.making = s;
      finish(o, s, makings_.data()[s]);
      first_.data()[s] = s;
      push({o.time, s});
    }
  }
  /// The memory of a value that is made.
  constexpr void finish(Option& o, int layout, MadeFrom const& m) const {
    std::int64_t peaks[max_operands]{};
    std::int64_t helds[max_operands]{};
    for (int k = 0; k < n_.operands; ++k) {
      Option const& operand = fronts_[p_.operand(node_, m.way, k)]->ways[m.operand[k]];
      peaks[k] = operand.peak;
      helds[k] = operand.held;
    }
    detail::MakingOrder const order(peaks, helds, n_.operands);
    o.layout = static_cast<std::int16_t>(layout);
    o.size = bytes_.data()[layout];
    // other names for the same memory
    bool const fresh = n_.making != Making::relabel;
    o.held = fresh ? o.size : order.held;
    o.peak = order.held + (fresh ? o.size : 0);
    if (order.peak > o.peak) o.peak = order.peak;
  }
  /// Picoseconds that making the value takes, with the axes as they are placed.
  constexpr std::int64_t work(std::int64_t result_bytes) const {
    Machine const& m = rates_.over[0];
    if (n_.making == Making::relabel) return 0;
    if (n_.making == Making::product) {
      double flops = 2.0 * n_.work;
      for (int l = 0; l < labels_; ++l)
        flops *= static_cast<double>(ceil_div(extent_[l], parts_[l]));
      return picoseconds(flops, m.flops_per_second);
    }
    std::int64_t bytes = result_bytes;
    for (int k = 1; k < parties_; ++k) bytes += front_[k]->ways[chosen_[k]].size;
    return picoseconds(static_cast<double>(bytes), m.memory_bytes_per_second);
  }

  Program const& p_;
  ProgramNode const& n_;
  int node_;
  LayoutGraph graph_;
  Frontier const* const* fronts_;
  Rates const& rates_;
  bool limited_;
  shardtype::detail::List<std::int64_t> bytes_;
  /// Without a limit: by layout, and again by layout behind what is constrained.
  shardtype::detail::List<Option> options_;
  std::size_t begin_ = 0;
  shardtype::detail::List<std::int32_t> first_;
  // of each layout, without a limit: the least time, and the bytes moved in it
  shardtype::detail::List<std::int64_t> best_;
  shardtype::detail::List<std::int64_t> moved_;
  shardtype::detail::List<MadeFrom> makings_;
  shardtype::detail::List<Waiting> heap_;

  // The alternative that is looked at. Parties: the value, then its operands.
  int way_ = 0;
  int parties_ = 0;
  Frontier const* front_[max_operands + 1]{};
  int labels_ = 0;
  int label_[max_program_labels]{};
  std::int64_t extent_[max_program_labels]{};
  int digit_[max_program_labels][max_operands + 1]{};  ///< of the first axis on a party's dim, or 0
  int power_[max_operands + 1][max_axes]{};
  // where its axes are
  int code_[max_operands + 1]{};
  std::int64_t parts_[max_program_labels]{};
  int on_[max_program_labels]{};
  int axis_[max_program_labels][max_axes]{};
  int result_ = 0;
  std::int32_t first_of_[max_operands + 1]{};
  std::int32_t chosen_[max_operands + 1]{};
};

}  // namespace shardtype::planning
