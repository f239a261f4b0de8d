#pragma once
/// Finds the Pareto front of one value of a program: a step of the dynamic program behind automatic
/// mode.

#include <cstddef>
#include <cstdint>

#include <shardtype/core/list.hpp>
#include <shardtype/plan/relaxation.hpp>

namespace shardtype::planning {

/// Finds the Pareto front of one value, given those of its operands.
///
/// Without a memory limit it has one candidate per layout, the fastest. With a limit it has all
/// candidates within the limit that no other beats in both time and memory, so that the fastest
/// program within the limit is found. Operands are computed one after the other; each is brought to
/// the layout that the value needs before the next is begun.
class FrontierSearch : public Relaxation {
 public:
  /// `home`: for a shared value, the layout (of the graph) in which it is already available; else
  /// -1.
  constexpr FrontierSearch(RecordedProgram const& p, int node, LayoutGraph const& graph,
                           Frontier const* const* operands, Rates const& rates, int home = -1,
                           FrontierMemory const& to = {})
      : Relaxation(p, node, graph, rates, to), fronts_(operands), makings_(to.makings) {
    if (!p.countable(node)) return;  // a value that cannot exist has no candidates
    if (n_.making == Making::given || home >= 0) {
      Option o;
      o.layout = home >= 0 ? static_cast<std::int16_t>(home) : graph.index[n_.pinned];
      o.size = bytes_[o.layout];
      offer(o);
      relax();
      return;
    }
    if (makings_ == nullptr && !limited_) {
      own_makings_.resize(static_cast<std::size_t>(graph.layouts) *
                          static_cast<std::size_t>(n_.operands + 1));
      makings_ = own_makings_.data();
    }
    for (int way = 0; way < n_.ways; ++way) make(way);
    if (!limited_) keep_made();
    relax();
    if (n_.pinned >= 0) begin_at(graph.index[n_.pinned]);
  }

  /// Lists the strategies of a value, in all ways to compute it and without a memory limit; their
  /// times include those of the operands' candidates.
  constexpr FrontierSearch(RecordedProgram const& p, int node, LayoutGraph const& graph,
                           Frontier const* const* operands, Rates const& rates, StrategyList& to)
      : Relaxation(p, node, graph, rates, {}), fronts_(operands), makings_(nullptr), listed_(&to) {
    to.parties = n_.ways * n_.operands + 1;
    if (!p.countable(node)) return;
    for (int way = 0; way < n_.ways; ++way) make(way);
  }

  constexpr Frontier view() const { return {graph_, ways_, first_, makings()}; }
  constexpr std::int32_t const* makings() const {
    return limited_ ? own_makings_.data() : makings_;
  }

 private:
  static constexpr int max_met_labels = (max_inputs + 1) * max_dims;  ///< of one value

  // Computation: every axis splits a label of the operands, is idle, or is unreduced in a set of
  // operands.

  constexpr void make(int way) {
    way_ = way;
    joined_ = n_.totals >= 0 && p_.operand(node_, way, 0) == n_.totals;
    labels_ = 0;
    aligned_label_ = tail_label_ = -1;
    parties_ = n_.operands + 1;
    for (int d = 0; d < n_.rank; ++d) note(n_.labels[d], 0, d);
    for (int k = 1; k < parties_; ++k) {
      int const number = p_.operand(node_, way, k - 1);
      ProgramNode const& operand = p_.nodes.at[number];
      front_[k] = fronts_[number];
      index_at_[k] = front_[k]->graph.index;
      first_at_[k] = front_[k]->first;
      for (int d = 0; d < operand.rank; ++d) {
        bool const aligned = k == n_.aligned_operand + 1 && d == n_.aligned_with;
        note(aligned                        ? n_.labels[n_.aligned_dim]
             : n_.making == Making::relabel ? n_.labels[d]
                                            : operand.labels[d],
             k, d);
        if (aligned) align(n_.labels[n_.aligned_dim], p_.extents.at[operand.labels[d]]);
      }
    }
    for (int k = 0; k < parties_; ++k) {
      int const base = (k == 0 ? graph_ : front_[k]->graph).code.base();
      for (int x = 0, p = 1; x < p_.axes; ++x, p *= base) power_[k][x] = p;
      code_[k] = 0;
    }
    for (int l = 0; l < labels_; ++l) {
      spread_[l] =
          n_.totals >= 0 && n_.rereads && digit_[l][1] > 0 && p_.find(n_.totals, label_[l]) < 0;
      whole_[l] = whole_[l] && !spread_[l];
    }
    find_tail();
    flops_ = 0;
    if (p_.is_fixed(node_)) {
      code_[0] = n_.pinned;
      for (int k = 1; k < parties_; ++k)
        code_[k] = p_.nodes.at[p_.operand(node_, way, k - 1)].pinned;
      return consider();
    }
    sets_ = 0;
    for (int set = 0; set < n_.unreduced_count; ++set) {
      bool possible = true;
      for (int k = 1; k < parties_; ++k)
        if (((n_.unreduced_sets[set] >> (k - 1)) & 1U) != 0)
          possible = possible && can_be_unreduced(p_, p_.operand(node_, way, k - 1));
      if (possible) together_[sets_++] = 1U | static_cast<unsigned>(n_.unreduced_sets[set]) << 1U;
    }
    if (n_.making == Making::operation) {
      flops_ = n_.work_on == nullptr
                   ? 0
                   : static_cast<double>(n_.work_on(p_, n_, p_.extents.data()).flops);
    } else {
      flops_ = 2.0 * n_.work;
      for (int l = 0; l < labels_; ++l) flops_ *= static_cast<double>(extent_[l]);
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
      extent_[l] = p_.extents.at[label];
      parts_[l] = 1;
      aligned_[l] = 0;
      on_[l] = 0;
      whole_[l] = false;
      for (int k = 0; k < parties_; ++k) digit_[l][k] = 0;
    }
    digit_[l][party] = 2 + d * p_.axes;
    whole_[l] = whole_[l] || (!joined_ && ((n_.whole[party] >> d) & 1U) != 0);
  }
  /// The number of the dim whose axes are minor ones of a longer dim.
  constexpr void find_tail() {
    if (n_.tail_dim < 0) return;
    int const label =
        n_.tail_party == 0
            ? n_.labels[n_.tail_dim]
            : p_.nodes.at[p_.operand(node_, way_, n_.tail_party - 1)].labels[n_.tail_dim];
    for (int l = 0; l < labels_; ++l)
      if (label_[l] == label) tail_label_ = l;
    longer_party_ = n_.tail_party == 0 ? n_.aligned_operand + 1 : 0;
  }
  /// Considers the assignment if the axes of that dim are minor ones of the longer dim.
  constexpr void consider_tail() {
    int const l = tail_label_;
    if (parts_[aligned_label_] != aligned_[aligned_label_] || extent_[l] % parts_[l] != 0) return;
    int code = 0;
    for (int k = 0; k < on_[l]; ++k)
      code += (digit_[aligned_label_][longer_party_] + on_[aligned_label_] + k) *
              power_[longer_party_][axis_[l][k]];
    code_[longer_party_] += code;
    consider_all();
    code_[longer_party_] -= code;
  }
  /// The parts of this label divide `extent` too, if it is another one.
  constexpr void align(int label, std::int64_t extent) {
    for (int l = 0; l < labels_; ++l)
      if (label_[l] == label) {
        aligned_label_ = l;
        if (extent != extent_[l]) aligned_[l] = extent < extent_[l] ? extent : extent_[l];
      }
  }
  /// Enumerates all assignments of the axes from `x` on. `code_` holds the layouts of all parties
  /// so far.
  constexpr void place(int x) {
    if (x == p_.axes || x == searched_axes) {  // see GraphWriter for the second condition
      consider();
      return;
    }
    place(x + 1);
    for (int set = 0; set < sets_; ++set) {
      unsigned const members = together_[set];
      for (int k = 0; k < parties_; ++k)
        if (((members >> k) & 1U) != 0) code_[k] += power_[k][x];
      place(x + 1);
      for (int k = 0; k < parties_; ++k)
        if (((members >> k) & 1U) != 0) code_[k] -= power_[k][x];
    }
    for (int l = 0; l < labels_; ++l)
      if (!whole_[l]) place_on(l, x);
  }
  /// Puts axis `x` at each position among the axes of label `l`. A value that lacks the label
  /// becomes an unreduced sum, unless its ranks exchange totals; operands that lack it are
  /// replicated along the axis.
  constexpr void place_on(int l, int x) {
    if (aligned_[l] > 0 && aligned_[l] % mul_sat(parts_[l], p_.sizes[x]) != 0) return;
    int* const list = axis_[l];
    int const n = on_[l]++;
    int const* const digit = digit_[l];
    std::int64_t const parts = parts_[l];
    double const flops = flops_;
    parts_[l] *= p_.sizes.at[x];
    if (extent_[l] > 0)  // then extents divide evenly
      flops_ = flops / static_cast<double>(ceil_div(extent_[l], parts)) *
               static_cast<double>(ceil_div(extent_[l], parts_[l]));
    for (int k = 0; k < parties_; ++k)
      if (digit[k] > 0) code_[k] += (digit[k] + n) * power_[k][x];
    bool const sums = digit[0] == 0 && !spread_[l] && l != tail_label_;
    if (sums) code_[0] += power_[0][x];
    list[n] = x;
    place(x + 1);
    for (int at = n - 1; at >= 0; --at) {  // one position further to the front
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
    if (sums) code_[0] -= power_[0][x];
    parts_[l] = parts;
    flops_ = flops;
    --on_[l];
  }
  constexpr void consider() {
    if (tail_label_ >= 0 && on_[tail_label_] > 0)
      consider_tail();
    else
      consider_all();
  }
  constexpr void consider_all() {
    std::int64_t time = 0;
    std::int64_t moved = 0;
    result_ = graph_.index[code_[0]];
    auto bytes = static_cast<double>(bytes_[result_]);
    for (int k = 1; k < parties_; ++k) {
      std::int32_t const o = first_at_[k][index_at_[k][code_[k]]];
      if (o < 0) return;
      chosen_[k] = o;
      Option const& operand = front_[k]->ways[o];
      if (n_.making == Making::result && operand.from >= 0 && !limited_) return;
      time += operand.time;
      moved += operand.moved;
      if (moved > saturated) moved = saturated;  // no function call, because compilers count calls
      bytes += static_cast<double>(operand.size);
    }
    std::int64_t exchanged = 0;
    std::int64_t joining = 0;
    if (n_.call_on_rows != nullptr && code_[1] > 0) {
      int const number = p_.operand(node_, way_, 0);
      Spec const operand = p_.spec(number, code_[1]);
      if (planning::exchanges_rows(p_, node_, operand)) {
        Cost const c =
            planning::own_cost(p_, node_, planning::own_plan(p_, node_, operand), rates_);
        exchanged = c.bytes;
        joining = c.picoseconds - work(bytes);  // which its plan counts
      }
    }
    if (n_.rereads) {
      RowExchange const e = planning::exchange_of(p_, node_, code_[1]);
      if (e.axes != 0) {
        Cost const c = planning::exchange_cost(p_, node_, e, rates_);
        exchanged = c.bytes;
        joining = c.picoseconds;
      }
    }
    if (listed_ != nullptr) {
      listed_->time.push_back(in_time(in_time(time + joining) + work(bytes)));
      listed_->layouts.push_back(static_cast<std::int16_t>(result_));
      for (int other = 0; other < n_.ways; ++other)
        for (int k = 1; k < parties_; ++k)
          listed_->layouts.push_back(other == way_ ? front_[k]->ways[chosen_[k]].layout
                                                   : std::int16_t{-1});
      return;
    }
    if (!limited_) {
      if (best_[result_] < time && best_[result_] < longest_time) return;
      time = in_time(in_time(time + joining) + work(bytes));
      moved = add_sat(moved, exchanged);
      if (!sooner(time, moved, best_[result_], moved_[result_])) return;
      best_[result_] = time;
      moved_[result_] = moved;
      note_making(makings_ + result_ * parties_);
      return;
    }
    std::int64_t const own = in_time(joining + work(bytes));
    for (int k = 1; k < parties_; ++k) first_of_[k] = chosen_[k];
    for (;;) {
      combine(own, exchanged);
      int k = 1;  // next combination of the operands' candidates
      for (; k < parties_; ++k) {
        chosen_[k] = front_[k]->ways[chosen_[k]].next;
        if (chosen_[k] >= 0) break;
        chosen_[k] = first_of_[k];
      }
      if (k == parties_) return;
    }
  }
  /// Records the current alternative and candidates.
  constexpr void note_making(std::int32_t* making) const {
    making[0] = way_;
    for (int k = 1; k < parties_; ++k) making[k] = chosen_[k];
  }
  /// Offers the value computed from the chosen candidates; `own` is the time of its own
  /// computation, `moved` are the bytes exchanged in it.
  constexpr void combine(std::int64_t own, std::int64_t moved) {
    Option o;
    o.time = own;
    o.moved = moved;
    for (int k = 1; k < parties_; ++k) {
      Option const& operand = front_[k]->ways[chosen_[k]];
      if (n_.making == Making::result && operand.from >= 0) return;
      o.time = in_time(o.time + operand.time);
      o.moved = add_sat(o.moved, operand.moved);
    }
    o.making = static_cast<std::int32_t>(own_makings_.size());
    own_makings_.resize(own_makings_.size() + static_cast<std::size_t>(parties_));
    note_making(own_makings_.data() + o.making);
    finish(o, result_, own_makings_.data() + o.making);
    if (!offer(o)) own_makings_.resize(static_cast<std::size_t>(o.making));
  }
  /// Without a limit: keeps the fastest computed candidate of each layout.
  constexpr void keep_made() {
    for (int s = 0; s < graph_.layouts; ++s) {
      if (best_[s] == never) continue;
      Option& o = ways_[s];
      o.time = best_[s];
      o.moved = moved_[s];
      o.making = s * (n_.operands + 1);
      finish(o, s, makings_ + o.making);
      keep(s, o.time, o.moved);
    }
  }
  /// Computes the memory use of a computed candidate.
  constexpr void finish(Option& o, int layout, std::int32_t const* making) const {
    std::int64_t peaks[max_inputs];
    std::int64_t helds[max_inputs];
    for (int k = 0; k < n_.operands; ++k) {
      Option const& operand = fronts_[p_.operand(node_, making[0], k)]->ways[making[k + 1]];
      peaks[k] = operand.peak;
      helds[k] = operand.held;
    }
    MakingOrder const order(peaks, helds, n_.operands);
    o.layout = static_cast<std::int16_t>(layout);
    o.size = bytes_[layout];
    // a relabel shares its operand's memory
    bool const fresh = n_.making != Making::relabel;
    o.held = !fresh ? order.held : n_.keeps ? add_sat(order.held, o.size) : o.size;
    o.peak = add_sat(order.held, fresh ? o.size : 0);
    if (n_.copy_bytes > 0) {
      std::int64_t copied = o.size;
      for (int k = 0; k < n_.operands; ++k)
        copied =
            add_sat(copied, fronts_[p_.operand(node_, making[0], k)]->ways[making[k + 1]].size);
      o.peak = add_sat(o.peak, copies_of(n_, copied));
    }
    if (limited_ && (n_.own_call >= 0 || n_.call_on_rows != nullptr)) {
      Spec const operand = spec_of_operand(making);
      if (n_.own_call >= 0 || planning::exchanges_rows(p_, node_, operand))
        o.peak = add_sat(o.peak, planning::own_plan(p_, node_, operand).memory().most() - o.size);
    }
    if (n_.total_bytes > 0 && n_.making == Making::reduction)
      o.peak = add_sat(o.peak, mul_sat(o.size / n_.element_bytes, n_.total_bytes));
    bool const works = limited_ && n_.work_on != nullptr;
    if (works) o.peak = add_sat(o.peak, room_of_operation(layout, making));
    if (n_.rereads) {
      Frontier const& rows = *fronts_[p_.operand(node_, making[0], 0)];
      RowExchange const e =
          planning::exchange_of(p_, node_, rows.graph.codes[rows.ways[making[1]].layout]);
      if (e.axes != 0) {  // the AllReduce packs its operand
        std::int64_t const totals = planning::block_bytes(p_, n_.totals, e.joined);
        ProgramNode const& of = p_.nodes.at[n_.totals];
        std::int64_t const summed = mul_sat(totals / of.element_bytes, of.total_bytes);
        std::int64_t const moved = mul_sat(2, totals);
        std::int64_t const joining =
            add_sat(order.held, add_sat(totals, moved > summed ? moved : summed));
        o.peak = add_sat(o.peak, totals);
        if (joining > o.peak) o.peak = joining;
      }
    }
    if (order.peak > o.peak) o.peak = order.peak;
  }
  /// The sharding of the first operand of a candidate.
  constexpr Spec spec_of_operand(std::int32_t const* making) const {
    if (n_.operands == 0) return {};
    int const operand = p_.operand(node_, making[0], 0);
    Frontier const& front = *fronts_[operand];
    return p_.spec(operand, front.graph.codes[front.ways[making[1]].layout]);
  }
  /// Bytes that an operation needs: its workspace, and copies of operands that are parts of others.
  constexpr std::int64_t room_of_operation(int layout, std::int32_t const* making) const {
    shardtype::detail::List<std::int64_t> extents(static_cast<std::size_t>(p_.labels));
    for (int l = 0; l < p_.labels; ++l) extents[static_cast<std::size_t>(l)] = p_.extents.at[l];
    planning::note_block(p_, node_, graph_.codes[layout], extents.data());
    std::int64_t copied = 0;
    for (int k = 0; k < n_.operands; ++k) {
      int const operand = p_.operand(node_, making[0], k);
      Frontier const& front = *fronts_[operand];
      Option const& o = front.ways[making[k + 1]];
      planning::note_block(p_, operand, front.graph.codes[o.layout], extents.data());
      bool const part = o.from >= 0 && front.graph.fans[front.graph.edges[o.edge].fan].collective ==
                                           Collective::none;
      if (part) copied = add_sat(copied, o.size);
    }
    return add_sat(copied, n_.work_on(p_, n_, extents.data()).workspace);
  }
  /// Picoseconds of the value's own computation for the current assignment of axes; `bytes` are
  /// read and written.
  constexpr std::int64_t work(double bytes) const {
    Machine const& m = rates_.over[0];
    if (n_.making == Making::product) return picoseconds(flops_, m.flops_per_second);
    if (n_.making == Making::relabel || n_.making == Making::result || n_.in_place) return 0;
    std::int64_t const memory = picoseconds(bytes, m.memory_bytes_per_second);
    if (joined_) return 0;  // see ProgramPlan
    if (n_.work_on == nullptr || n_.rereads) return memory;
    std::int64_t const computing = picoseconds(flops_, m.flops_per_second);
    return computing > memory ? computing : memory;
  }

  Frontier const* const* fronts_;
  std::int32_t* makings_;
  StrategyList* listed_ = nullptr;  ///< where strategies are listed in place of a search
  shardtype::detail::List<std::int32_t> own_makings_;

  // The alternative under consideration. Parties: the value, then its operands.
  int way_ = 0;
  bool joined_ = false;  ///< whether it reads totals of its rows
  int parties_ = 0;
  Frontier const* front_[max_inputs + 1]{};
  std::int16_t const* index_at_[max_inputs + 1]{};
  std::int32_t const* first_at_[max_inputs + 1]{};
  int labels_ = 0;
  int label_[max_met_labels]{};
  std::int64_t extent_[max_met_labels]{};
  int digit_[max_met_labels][max_inputs + 1]{};  ///< digit of the first axis on a party's
                                                 ///< dim, or 0
  bool whole_[max_met_labels]{};
  std::int64_t aligned_[max_met_labels]{};  ///< the least extent of dims that line up, or 0
  int aligned_label_ = -1;
  int tail_label_ = -1;
  int longer_party_ = 0;
  bool spread_[max_met_labels]{};  ///< of rows whose ranks exchange totals
  int power_[max_inputs + 1][searched_axes]{};
  int sets_ = 0;
  unsigned together_[max_operands]{};  ///< parties that may be unreduced over an axis together
  // the current assignment of axes
  double flops_ = 0;  ///< of a product or an operation
  int code_[max_inputs + 1]{};
  std::int64_t parts_[max_met_labels]{};
  int on_[max_met_labels]{};
  int axis_[max_met_labels][searched_axes]{};
  int result_ = 0;
  std::int32_t first_of_[max_inputs + 1]{};
  std::int32_t chosen_[max_inputs + 1]{};
};

}  // namespace shardtype::planning
