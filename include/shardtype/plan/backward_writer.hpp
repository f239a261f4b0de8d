#pragma once
/// Values that a program gets behind its own: those of a backward pass, and those computed again.

#include <cstddef>
#include <cstdint>

#include <shardtype/core/list.hpp>
#include <shardtype/plan/part_gradient.hpp>
#include <shardtype/plan/program_builder.hpp>

namespace shardtype::planning {

/// Adds the values of a backward pass to a program.
class BackwardWriter {
 protected:
  template <class T>
  using List = shardtype::detail::List<T>;

 public:
  RecordedProgram program{};

 protected:
  explicit BackwardWriter(List<PartGradient> const& parts) : parts_(parts) {}

  static std::size_t at(int k) { return static_cast<std::size_t>(k); }
  ProgramNode const& node(int k) const { return program.nodes.at[k]; }
  static ProgramLabels labels_of(ProgramNode const& n) {
    ProgramLabels out;
    for (int d = 0; d < n.rank; ++d) out.push(n.labels[d]);
    return out;
  }
  ProgramLabels labels_of(int k) const { return labels_of(node(k)); }

  /// The part of the expression whose elements a value has: that of a constrained value is its
  /// operand's.
  int element_part(int k) const {
    while (node(k).origin < 0 && node(k).making == Making::relabel) k = program.operand(k, 0, 0);
    return node(k).origin;
  }
  /// `like`: a value with such elements.
  ProgramNode value(Making making, Backward how, ProgramLabels const& labels, int like) const {
    ProgramNode n;
    for (int d = 0; d < labels.size; ++d) n.labels[n.rank++] = labels.at[d];
    n.making = making;
    n.backward = how;
    n.element_bytes = node(like).element_bytes;
    n.work = node(like).work;
    n.origin = element_part(like);
    n.ways = 1;
    return n;
  }
  int add(ProgramNode n, List<int> const& operands) {
    n.operands = static_cast<std::int8_t>(operands.size());
    int const out = program.add(n);
    for (int const o : operands) program.use(o);
    return out;
  }
  int filled(int like, Backward how) {
    return add(value(Making::map, how, labels_of(like), like), {});
  }
  int spread(int ct, ProgramLabels const& to, int like) {
    ProgramNode n = value(Making::map, Backward::spread, to, like);
    n.unreduced_sets[n.unreduced_count++] = 1;
    return add(n, {ct});
  }
  /// A cotangent with these labels, in their order if `ordered`: summed over others, and repeated
  /// along those that it lacks.
  int bring(int ct, ProgramLabels const& to, int like, bool ordered = false) {
    ProgramLabels const have = labels_of(ct);
    ProgramLabels both;
    bool lacks = false;
    for (int d = 0; d < have.size; ++d)
      if (to.contains(have.at[d])) both.push(have.at[d]);
    for (int d = 0; d < to.size; ++d) lacks = lacks || !have.contains(to.at[d]);
    if (both.size < have.size) {
      ProgramNode n = value(Making::reduction, Backward::sum, both, like);
      n.unreduced_sets[n.unreduced_count++] = 1;
      if (n.origin >= 0) n.total_bytes = parts_[at(n.origin)].total_bytes;
      ct = add(n, {ct});
    }
    for (int d = 0; d < to.size && ordered && !lacks; ++d) lacks = both.at[d] != to.at[d];
    return lacks ? spread(ct, to, like) : ct;
  }
  int sum_of(List<int> const& parts, int like) {
    List<int> now = parts;
    while (now.size() > 1) {
      List<int> next;
      for (std::size_t k = 0; k < now.size(); k += max_operands) {
        List<int> some;
        for (std::size_t m = k; m < now.size() && m < k + max_operands; ++m) some.push_back(now[m]);
        if (some.size() == 1) {
          next.push_back(some[0]);
          continue;
        }
        ProgramNode n = value(Making::map, Backward::add, labels_of(like), like);
        n.unreduced_sets[n.unreduced_count++] = static_cast<std::uint8_t>((1U << some.size()) - 1);
        next.push_back(add(n, some));
      }
      now = next;
    }
    return now[0];
  }

  List<PartGradient> const& parts_;
};

/// Adds values of the forward pass that the backward pass computes again: those of the first
/// segments that were marked so.
class SegmentWriter : public BackwardWriter {
 protected:
  SegmentWriter(List<PartGradient> const& parts, int again)
      : BackwardWriter(parts), again_(again) {}

  /// Finds the values that something outside of their segment reads: these are kept.
  void find_left() {
    copies_.resize(at(program.size), -1);
    left_.resize(at(program.size), false);
    for (int k = 0; k < program.size; ++k)
      for (int m = 0; m < node(k).ways * node(k).operands; ++m) {
        int const operand = program.uses[node(k).first_use + m];
        if (node(operand).segment != node(k).segment) left_[at(operand)] = true;
      }
  }
  bool is_again(int k) const {
    return node(k).segment >= 0 && node(k).segment < again_ && node(k).making != Making::given &&
           !left_[at(k)];
  }
  /// Value `k` as the backward pass of segment `segment` reads it.
  int seen(int segment, int k) {
    if (node(k).segment != segment || !is_again(k)) return k;
    return copied(k);
  }
  int copied(int k) {
    if (copies_[at(k)] >= 0) return copies_[at(k)];
    ProgramNode n = node(k);
    List<int> operands;
    for (int m = 0; m < n.ways * n.operands; ++m)
      operands.push_back(read_again(n.segment, program.uses[n.first_use + m]));
    if (n.totals >= 0) n.totals = copied(n.totals);
    n.again = true;
    int const out = program.add(n);
    for (int const o : operands) program.use(o);
    return copies_[at(k)] = out;
  }
  /// An operand of a value that is computed again: an operand of the program is brought again to
  /// where it is read.
  int read_again(int segment, int k) {
    if (node(k).making != Making::given) return seen(segment, k);
    ProgramNode n = value(Making::relabel, Backward::none, labels_of(k), k);
    n.origin = -1;
    n.again = true;
    n.unreduced_kind = node(k).unreduced_kind;
    n.cyclic = node(k).cyclic;
    n.unreduced_sets[n.unreduced_count++] = 1;
    int const out = add(n, {k});
    program.nodes.edit(out).pinned = node(k).pinned;
    return out;
  }

 private:
  int again_ = 0;
  List<bool> left_;   ///< of each value whether something outside of its segment reads it
  List<int> copies_;  ///< of each value that which is computed again; -1: none
};

}  // namespace shardtype::planning
