#pragma once
/// Reverse-mode differentiation of a program in values: the forward and the backward pass as one
/// program, without shardings.
///
/// | value | cotangent of operand k |
/// |---|---|
/// | product | the product of the cotangent with the other operand |
/// | map | the cotangent, or a map of it and of what the derivative reads; summed over the labels
///   that the operand lacks |
/// | reduction | a map to the operand's labels of the cotangent and of what the derivative reads |
/// | relabel | the cotangent with the operand's labels |
/// | operation | an operation on the cotangent and on what the derivative reads |
/// | result of a function with a gradient by hand | what its backward function computes |
///
/// Cotangents of one value are added by one map, so that an unreduced sum of several of them is
/// reduced once. Constraints hold for the value, not for its cotangent, whose sharding the planner
/// chooses.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <shardtype/core/list.hpp>
#include <shardtype/plan/backward_writer.hpp>
#include <shardtype/plan/part_gradient.hpp>
#include <shardtype/plan/program_builder.hpp>
#include <shardtype/plan/update_writer.hpp>

namespace shardtype::planning {

/// The derivatives of a program: by part of the expression, and those written by hand.
struct ProgramDerivatives {
  shardtype::detail::List<PartGradient> const& parts;
  shardtype::detail::List<PullByHand> const& by_hand;
};

/// Writes the forward and the backward pass of a program: `program`, whose root reads the loss and
/// then the gradients.
class Transposition : public ResultWriter {
 public:
  /// Of the program `forward`, whose root is the loss. `way(k)`: how product `k` is computed.
  template <class Way>
  Transposition(RecordedProgram const& forward, ProgramDerivatives const& derivatives,
                Way const& way, WantedResults const& wanted)
      : ResultWriter(derivatives.parts, wanted.again),
        from_(forward),
        by_hand_(derivatives.by_hand),
        to_(at(forward.size), -1),
        hand_(at(forward.size), -1) {
    program.labels = forward.labels;
    program.axes = forward.axes;
    program.sizes = forward.sizes;
    program.extents = forward.extents;
    program.own_call = forward.own_call;
    program.cyclic_split = forward.cyclic_split;
    for (std::size_t h = 0; h < by_hand_.size(); ++h)
      for (int const k : by_hand_[h].results) hand_[at(k)] = static_cast<int>(h);
    copy_forward(way, wanted);
    int const forward_size = program.size;
    List<int> const& wrt = wanted.wrt;
    active_.resize(at(forward_size), false);
    find_left();
    cotangents_.resize(at(forward_size));
    for (int const w : wrt) active_[at(to_[at(w)])] = true;
    for (int k = 0; k < forward_size; ++k) find_active(k);
    int const loss = to_[at(forward.root)];
    if (active_[at(loss)]) cotangents_[at(loss)].push_back(filled(loss, Backward::one));
    for (int k = forward_size - 1; k >= 0; --k) pull(k);
    write_results(loss, wanted);
    count_readers();
  }

 private:
  void write_results(int loss, WantedResults const& wanted) {
    bool const updates = !wanted.updates.empty();
    List<int> results{result(loss, wanted.each[0])};
    List<int> gradients;
    for (std::size_t k = 0; k < wanted.wrt.size(); ++k) {
      int const operand = to_[at(wanted.wrt[k])];
      int const ct = gradient(operand);
      gradients.push_back(updates ? gradient_there(operand, ct, wanted.updates[k])
                                  : result(ct, wanted.each[k + 1]));
    }
    int const norm = wanted.norm.joins >= 0 ? norm_of(gradients, wanted.norm) : -1;
    for (std::size_t k = 0; k < gradients.size(); ++k)
      results.push_back(updates ? updated(to_[at(wanted.wrt[k])], gradients[k], norm,
                                          wanted.updates[k], wanted.each[k + 1])
                                : gradients[k]);
    for (std::size_t k = 0; k < wanted.beside.size(); ++k)
      results.push_back(result(to_[at(wanted.beside[k])], wanted.each[1 + wanted.wrt.size() + k]));
    join(results);
  }
  /// Copies the values that the loss needs, products in one way.
  template <class Way>
  void copy_forward(Way const& way, WantedResults const& wanted) {
    List<bool> needed(at(from_.size), false);
    auto need = [&](int k) { needed[at(k)] = true; };
    need(from_.root);
    for (int const k : wanted.beside) need(k);
    for (std::size_t k = 0; k < wanted.updates.size(); ++k) need(wanted.wrt[k]);
    for (int k = from_.size - 1; k >= 0; --k) {
      if (!needed[at(k)]) continue;
      ProgramNode const& n = from_.nodes.at[k];
      if (hand_[at(k)] >= 0)
        for (int const a : by_hand_[at(hand_[at(k)])].arguments) need(a);
      if (n.totals >= 0) need(n.totals);
      for (int r = 1; r <= further_read(n); ++r) need(further_result(from_, k, r));
      for (int w = 0; w < n.ways; ++w)
        for (int m = 0; m < n.operands && (n.ways == 1 || !is_chain(n) || w == way(k)); ++m)
          need(from_.operand(k, w, m));
    }
    for (int k = 0; k < from_.size; ++k) {
      if (!needed[at(k)]) continue;
      bool const chain = is_chain(from_.nodes.at[k]) && from_.nodes.at[k].ways > 1;
      to_[at(k)] = copy(k, chain ? way(k) : -1, [&](int m) { return to_[at(m)]; });
    }
    copied_hand_.resize(at(program.size), -1);
    for (int k = 0; k < from_.size; ++k)
      if (to_[at(k)] >= 0) copied_hand_[at(to_[at(k)])] = hand_[at(k)];
  }
  /// A copy of a value, whose operands are those that `of` gives. `only`: the way that it has; -1:
  /// all of them.
  template <class Of>
  int copy(int k, int only, Of const& of) {
    ProgramNode n = from_.nodes.at[k];
    if (only >= 0) n.ways = 1;
    if (n.totals >= 0) n.totals = of(n.totals);
    n.shares = 0;
    n.readers = 0;
    n.kept = n.read_again = false;
    int const value = program.add(n);
    for (int w = 0; w < n.ways; ++w)
      for (int m = 0; m < n.operands; ++m)
        program.use(of(from_.operand(k, std::max(only, 0) + w, m)));
    return value;
  }
  /// Number of further results that the pulls of an operation read.
  int further_read(ProgramNode const& n) const {
    if (n.making != Making::operation || n.origin < 0 || n.backward != Backward::none) return 0;
    unsigned most = 0;
    for (int m = 0; m < n.operands; ++m) most |= parts_[at(n.origin)].of[m].reads;
    return std::max(static_cast<int>(std::bit_width(most)) - n.operands - 1, 0);
  }
  static bool is_chain(ProgramNode const& n) { return n.making == Making::product; }

  PullOf pull_of(int k, int operand) const {
    ProgramNode const& n = node(k);
    PullOf out;
    out.exists = n.making == Making::product || n.making == Making::relabel;
    if (n.origin >= 0 && !out.exists) out = parts_[at(n.origin)].of[operand];
    return out;
  }
  /// The function with a gradient by hand whose result value `k` is, or null.
  PullByHand const* hand_of(int k) const {
    return copied_hand_[at(k)] < 0 ? nullptr : &by_hand_[at(copied_hand_[at(k)])];
  }
  void find_active(int k) {
    if (PullByHand const* const by = hand_of(k)) {
      for (int const a : by->arguments)
        if (active_[at(to_[at(a)])]) active_[at(k)] = true;
      return;
    }
    ProgramNode const& n = node(k);
    for (int m = 0; m < n.operands; ++m)
      if (active_[at(program.operand(k, 0, m))] && pull_of(k, m).exists) active_[at(k)] = true;
  }

  /// Adds the cotangents of the operands of value `k`.
  void pull(int k) {
    if (PullByHand const* const by = hand_of(k)) {
      // its results follow each other, and all their readers them
      if (active_[at(k)] && k == first_copied(by->results)) pull_by_hand(*by);
      return;
    }
    List<int>& mine = cotangents_[at(k)];
    if (!active_[at(k)] || mine.empty()) return;
    int const ct = sum_of(mine, k);
    mine = {ct};
    unsigned const together = pulled_together(k);
    for (int m = 0; m < node(k).operands; ++m)
      if (pulls(k, m) && ((together >> m) & 1U) == 0)
        note(k, m, pulled(k, m, program.operand(k, 0, m), pull_of(k, m), ct));
    if (together != 0) pull_together(k, together, ct);
  }
  int first_copied(List<int> const& values) const {
    for (int const k : values)
      if (to_[at(k)] >= 0) return to_[at(k)];
    return -1;
  }
  /// Adds the cotangents that a function gives for its arguments: copies of the values that compute
  /// them from the stand-ins, in whose places the cotangents of its results are.
  void pull_by_hand(PullByHand const& by) {
    List<int> copies(at(from_.size), -1);
    bool any = false;
    for (int const r : by.results)
      any = any || (to_[at(r)] >= 0 && !cotangents_[at(to_[at(r)])].empty());
    if (!any) return;
    std::int32_t const segment = node(first_copied(by.results)).segment;
    for (std::size_t r = 0; r < by.results.size(); ++r) {
      int const stand_in = by.stand_ins[r];
      int const made = to_[at(by.results[r])];
      List<int> const none;
      List<int> const& all = made < 0 ? none : cotangents_[at(made)];
      int const like = made < 0 ? first_copied(by.results) : made;
      copies[at(stand_in)] =
          all.empty()
              ? add(value(Making::map, Backward::zero, labels_of(from_.nodes.at[stand_in]), like),
                    {})
              : bring(sum_of(all, made), labels_of(made), made, true);
    }
    List<bool> needed(at(from_.size), false);
    auto const need = [&](int k) {
      if (copies[at(k)] < 0 && to_[at(k)] >= 0) copies[at(k)] = seen(segment, to_[at(k)]);
      needed[at(k)] = copies[at(k)] < 0;
    };
    for (int const ct : by.cotangents) need(ct);
    for (int k = from_.size - 1; k >= 0; --k) {
      if (!needed[at(k)]) continue;
      ProgramNode const& n = from_.nodes.at[k];
      if (n.totals >= 0) need(n.totals);
      for (int m = 0; m < n.ways * n.operands; ++m) need(from_.uses.at[n.first_use + m]);
    }
    for (int k = 0; k < from_.size; ++k) {
      if (!needed[at(k)]) continue;
      copies[at(k)] = copy(k, -1, [&](int m) { return copies[at(m)]; });
      program.nodes.edit(copies[at(k)]).segment = -1;
    }
    for (std::size_t m = 0; m < by.arguments.size(); ++m) {
      int const argument = to_[at(by.arguments[m])];
      if (active_[at(argument)]) cotangents_[at(argument)].push_back(copies[at(by.cotangents[m])]);
    }
  }
  void note(int k, int m, int cotangent) {
    cotangents_[at(program.operand(k, 0, m))].push_back(cotangent);
  }
  bool pulls(int k, int m) const {
    return active_[at(program.operand(k, 0, m))] && pull_of(k, m).exists;
  }
  /// Whether the pulls of value `k` are operations on blocks.
  bool pulls_blocks(int k) const {
    return node(k).making == Making::operation ||
           (node(k).making == Making::reduction && pull_of(k, 0).rows);
  }
  /// The operand of value `k` whose cotangent has the most dims.
  int widest(int k) const {
    int out = -1;
    for (int m = 0; m < node(k).operands; ++m)
      if (pulls(k, m) &&
          (out < 0 || node(program.operand(k, 0, m)).rank > node(program.operand(k, 0, out)).rank))
        out = m;
    return out;
  }
  /// The operands of an operation, as bits, whose cotangents one operation computes: they have no
  /// dim that may be split but those of the widest. 0: each by itself.
  unsigned pulled_together(int k) const {
    if (!pulls_blocks(k)) return 0;
    int const first = widest(k);
    unsigned out = 0;
    int count = 0;
    for (int m = 0; m < node(k).operands; ++m) {
      if (!pulls(k, m)) continue;
      int const operand = program.operand(k, 0, m);
      bool fits = true;
      for (int d = 0; d < node(operand).rank; ++d)
        fits = fits && (((whole_in(k, m + 1) >> d) & 1U) != 0 ||
                        program.find(program.operand(k, 0, first), node(operand).labels[d]) >= 0);
      if (!fits) continue;
      out |= 1U << m;
      ++count;
    }
    return count > 1 ? out : 0;
  }
  /// The first cotangent is the value of the operation, others are its further results.
  void pull_together(int k, unsigned operands, int ct) {
    int const first = widest(k);
    int const value_of_first = program.operand(k, 0, first);
    int const made = pulled(k, first, value_of_first, pull_of(k, first), ct);
    note(k, first, made);
    program.nodes.edit(made).has_results = true;
    program.nodes.edit(made).pulls_too = static_cast<std::uint8_t>(operands & ~(1U << first));
    int number = 0;
    for (int m = 0; m < node(k).operands; ++m) {
      if (m == first || ((operands >> m) & 1U) == 0) continue;
      int const operand = program.operand(k, 0, m);
      ProgramLabels const labels = labels_by_type(k, m, operand);
      ProgramNode n = value(Making::result, Backward::pull, labels, operand);
      n.name = node(made).name;
      n.pulls = static_cast<std::int8_t>(m);
      n.pulled = node(k).origin;
      n.result = static_cast<std::int8_t>(++number);
      n.sums = true;
      n.unreduced_sets[n.unreduced_count++] = 1;
      unsigned whole = reordered(whole_in(k, m + 1), operand, labels);
      for (int d = 0; d < labels.size; ++d)
        if (program.find(made, labels.at[d]) < 0) whole |= 1U << d;
      n.whole[0] = static_cast<std::uint8_t>(whole);
      n.whole[1] = node(made).whole[0];
      note(k, m, add(n, {made}));
    }
  }
  int pulled(int k, int m, int operand, PullOf const& how, int ct) {
    ProgramNode const n = node(k);
    switch (n.making) {
      case Making::product:
        return of_product(k, m, operand, ct);
      case Making::relabel:
        return of_relabel(k, operand, ct);
      case Making::map:
        return bring(how.passes ? ct : read(k, m, operand, how, ct, labels_of(k)),
                     labels_of(operand), operand);
      default:
        return read(k, m, operand, how, ct, labels_by_type(k, m, operand));
    }
  }
  int of_product(int k, int m, int operand, int ct) {
    int const other = seen(node(k).segment, program.operand(k, 0, 1 - m));
    ProgramLabels const wanted = labels_of(operand);
    ProgramLabels made;
    for (int d = 0; d < wanted.size; ++d)
      if (program.find(other, wanted.at[d]) >= 0 || program.find(ct, wanted.at[d]) >= 0)
        made.push(wanted.at[d]);
    ProgramNode n = value(Making::product, Backward::pull, made, operand);
    n.pulled = node(k).origin;
    n.copy_bytes = node(k).copy_bytes;
    for (int side = 0; side < 2; ++side)
      n.unreduced_sets[n.unreduced_count++] = static_cast<std::uint8_t>(1 << side);
    return bring(add(n, m == 0 ? List<int>{ct, other} : List<int>{other, ct}), wanted, operand);
  }
  /// The dims of a cotangent may be in another order than those of the value.
  int of_relabel(int k, int operand, int ct) {
    ProgramLabels labels;
    for (int d = 0; d < node(ct).rank; ++d)
      labels.push(node(operand).labels[program.find(k, node(ct).labels[d])]);
    ProgramNode n = value(Making::relabel, Backward::pull, labels, operand);
    n.unreduced_sets[n.unreduced_count++] = 1;
    return add(n, {ct});
  }
  /// The labels of an operand in the order of its type, in which operations give cotangents.
  ProgramLabels labels_by_type(int k, int m, int operand) const {
    ProgramNode const& n = node(operand);
    ProgramLabels out;
    for (int d = 0; d < n.rank; ++d)
      out.push(n.labels[node(k).making == Making::operation ? node(k).place(m, d) : d]);
    return out;
  }
  /// The dims of value `k` with these labels, of which `bits` are by the dims of value `like`.
  std::uint8_t reordered(unsigned bits, int like, ProgramLabels const& labels) const {
    unsigned out = 0;
    for (int d = 0; d < labels.size; ++d)
      if (((bits >> program.find(like, labels.at[d])) & 1U) != 0) out |= 1U << d;
    return static_cast<std::uint8_t>(out);
  }
  /// The dims that the pulls of value `k` need whole, of that value (party 0) or of an operand.
  unsigned whole_in(int k, int party) const {
    ProgramNode const& n = node(k);
    unsigned out = n.whole[party];
    if (n.making == Making::reduction) {
      int const operand = program.operand(k, 0, 0);
      for (int d = 0; party > 0 && d < node(operand).rank; ++d)
        if (program.find(k, node(operand).labels[d]) < 0) out |= 1U << d;
      return out;
    }
    unsigned const by_type = parts_[at(n.origin)].worked_on[party];
    for (int d = 0; d < max_dims; ++d)
      if (((by_type >> d) & 1U) != 0) out |= 1U << (party == 0 ? d : n.place(party - 1, d));
    return out;
  }
  /// A value that a derivative computes from the cotangent and what it reads.
  int read(int k, int m, int operand, PullOf const& how, int ct, ProgramLabels const& labels) {
    ProgramNode const of = node(k);
    bool const operation = of.making == Making::operation || how.rows;
    ProgramNode n =
        value(operation ? Making::operation : Making::map, Backward::pull, labels, operand);
    n.pulls = static_cast<std::int8_t>(m);
    n.pulled = of.origin;
    List<int> operands{ct};
    if (operation) {
      n.whole[0] = reordered(whole_in(k, m + 1), operand, labels);
      n.whole[1] = reordered(whole_in(k, 0), k, labels_of(ct));
    }
    for (int q = 0; q < static_cast<int>(std::bit_width(how.reads)); ++q) {
      if (((how.reads >> q) & 1U) == 0) continue;
      int const value = q < of.operands    ? program.operand(k, 0, q)
                        : q == of.operands ? k
                                           : further_result(program, k, q - of.operands);
      if (operation)
        n.whole[operands.size() + 1] =
            q <= of.operands ? static_cast<std::uint8_t>(whole_in(k, q < of.operands ? q + 1 : 0))
                             : node(value).whole[0];
      operands.push_back(seen(of.segment, value));
    }
    if (operation) {
      n.name = of.name == nullptr ? "reduction" : of.name;
      n.work_on = how.work;
      n.variant = of.variant;
      n.sums = true;
    } else {
      n.unreduced_sets[n.unreduced_count++] = 1;  // derivatives are linear in the cotangent
    }
    return add(n, operands);
  }

  /// The gradient of value `k`, an operand of the program.
  int gradient(int k) {
    List<int> const& all = cotangents_[at(k)];
    return all.empty() ? filled(k, Backward::zero) : sum_of(all, k);
  }
  /// An operand of the program that is read again from its own sharding needs no other.
  bool counts(int reader, int k) const {
    return !(node(k).making == Making::given && node(reader).again);
  }
  void count_readers() {
    for (int k = 0; k < program.size; ++k)
      for (int u = 0; u < node(k).ways * node(k).operands; ++u)
        if (int const read = program.uses.at[node(k).first_use + u]; counts(k, read))
          ++program.nodes.edit(read).readers;
    for (int k = 0; k < program.size; ++k) {
      ProgramNode& n = program.nodes.edit(k);
      if (n.readers < 2) continue;
      if (n.making == Making::given) {
        n.read_again = true;
      } else {
        n.shares = n.readers;
        n.kept = true;
      }
    }
  }

  RecordedProgram const& from_;
  List<PullByHand> const& by_hand_;
  List<int> to_;           ///< the copy of each value of the program; -1: none
  List<int> hand_;         ///< the function by hand whose result a value is; -1: none
  List<int> copied_hand_;  ///< the same of the copies
  List<bool> active_;
  List<List<int>> cotangents_;
};

}  // namespace shardtype::planning
