#pragma once
/// Builds programs: the values of an expression, with all ways to associate its products.

#include <cstdint>

#include <shardtype/plan/program.hpp>
#include <shardtype/rules/elementwise.hpp>
#include <shardtype/rules/reduction.hpp>

namespace shardtype::planning {

/// Labels of a program, in order.
struct ProgramLabels {
  static constexpr int most = 32;
  std::int8_t size = 0;
  std::int16_t at[most]{};

  /// Drops labels for which there is no room; no tensor has so many.
  constexpr void push(int label) {
    if (size < most) at[size++] = static_cast<std::int16_t>(label);
  }
  constexpr bool contains(int label) const {
    for (int k = 0; k < size; ++k)
      if (at[k] == label) return true;
    return false;
  }
};

/// A set of kinds of pending reductions.
using ReduceKinds = unsigned;
constexpr ReduceKinds only(ReduceKind kind) { return 1U << static_cast<unsigned>(kind); }
inline constexpr ReduceKinds every_kind =
    only(ReduceKind::sum) | only(ReduceKind::max) | only(ReduceKind::min);

/// Sets of operands of a function that may be unreduced over the same axis together, and of which
/// kinds their pending reductions may be.
struct UnreducedSets {
  int size = 0;
  std::uint8_t at[max_operands]{};
  ReduceKinds kinds[max_operands]{};

  constexpr void add(unsigned set, ReduceKinds of = every_kind) {
    if (set == 0 || of == 0) return;
    for (int k = 0; k < size; ++k)
      if (at[k] == set) {
        kinds[k] |= of;
        return;
      }
    if (size == max_operands) return;
    kinds[size] = of;
    at[size++] = static_cast<std::uint8_t>(set);
  }
};

/// The kinds of pending reductions that go through a function.
constexpr ReduceKinds kinds_through(Linearity how) {
  switch (how) {
    case Linearity::none:
      return 0;
    case Linearity::maximum:
      return only(ReduceKind::max);
    case Linearity::minimum:
      return only(ReduceKind::min);
    case Linearity::choosing:
      return every_kind;
    default:
      return only(ReduceKind::sum);
  }
}

/// The sets of a function of expressions, from the sets of its arguments; each argument's operands
/// are numbered separately. `size`: number of arguments. An argument without sets (a number, a
/// user's function) is never unreduced.
constexpr UnreducedSets unreduced_sets(Linearity how, UnreducedSets const* arguments, int size) {
  UnreducedSets out;
  ReduceKinds const through = kinds_through(how);
  auto each = [&](UnreducedSets const& a) {
    for (int k = 0; k < a.size; ++k) out.add(a.at[k], a.kinds[k] & through);
  };
  // unions of one set of each argument
  auto together = [&](int first) {
    unsigned choice[max_operands]{};
    for (int k = first; k < size; ++k)
      if (arguments[k].size == 0) return;
    for (;;) {
      unsigned set = 0;
      ReduceKinds kinds = through;
      for (int k = first; k < size; ++k) {
        set |= arguments[k].at[choice[k]];
        // an empty set, that of a zero, is a summand
        kinds &=
            arguments[k].at[choice[k]] == 0 ? only(ReduceKind::sum) : arguments[k].kinds[choice[k]];
      }
      out.add(set, kinds);
      int k = first;
      for (; k < size; ++k) {
        if (++choice[k] < static_cast<unsigned>(arguments[k].size)) break;
        choice[k] = 0;
      }
      if (k == size) return;
    }
  };
  switch (how) {
    case Linearity::none:
      break;
    case Linearity::linear:
    case Linearity::scaling:
      for (int k = 0; k < size; ++k) each(arguments[k]);
      break;
    case Linearity::dividing:
      each(arguments[0]);
      break;
    case Linearity::additive:
    case Linearity::maximum:
    case Linearity::minimum:
      together(0);
      break;
    case Linearity::choosing:
      together(1);
      break;
  }
  return out;
}

/// Builds a RecordedProgram, operands first. It does not repeat the checks of the type layer.
class ProgramBuilder {
 public:
  RecordedProgram program{};

  /// A label of extent `extent`.
  constexpr int label(std::int64_t extent) {
    program.extents.push_back(extent);
    return program.labels++;
  }
  /// Adds an operand of the program: a user's tensor. Its sharding is in the program's axes, with
  /// its dims' numbers as labels.
  constexpr int given(ProgramLabels const& labels, Spec const& spec, int element_bytes, int work) {
    ProgramNode n = value(Making::given, labels, element_bytes, work);
    n.unreduced_kind = spec.kind;
    int const node = program.add(n);
    program.pin(node, spec);
    return node;
  }
  /// Adds the product of several values, summed over the labels that `out` lacks, with all
  /// associations that keep their order.
  constexpr int product(int const* operands, int size, ProgramLabels const& out) {
    int part[max_chain * max_chain]{};  // index of the part [i, j], at i * size + j
    if (size > max_chain) {
      program.pass(rules::ProgramLimit::factors);
      return operands[0];
    }
    for (int k = 0; k < size; ++k) part[k * size + k] = operands[k];
    for (int length = 2; length <= size; ++length)
      for (int i = 0; i + length <= size; ++i)
        part[i * size + i + length - 1] = part_of(operands, size, i, i + length - 1, out, part);
    return part[size - 1];
  }
  /// Adds an elementwise function of values; the result has the labels `out`.
  constexpr int map(int const* operands, int size, ProgramLabels const& out,
                    UnreducedSets const& sets, int element_bytes, int work) {
    ProgramNode n = value(Making::map, out, element_bytes, work);
    n.operands = static_cast<std::int8_t>(size);
    n.ways = 1;
    for (int k = 0; k < sets.size; ++k) {
      ReduceKind kind{};
      if (!one_kind(operands, size, sets.at[k], kind)) continue;
      if ((sets.kinds[k] & only(kind)) == 0) continue;
      if (n.unreduced_count == 0) n.unreduced_kind = kind;
      if (n.unreduced_kind == kind) n.unreduced_sets[n.unreduced_count++] = sets.at[k];
    }
    int const node = program.add(n);
    for (int k = 0; k < size; ++k) use(operands[k]);
    return node;
  }
  /// Adds a reduction of a value over the labels that `kept` lacks.
  constexpr int reduction(int operand, ProgramLabels const& kept, ReductionKind how) {
    ProgramNode const from = program.nodes.at[operand];
    ProgramNode n = value(Making::reduction, kept, from.element_bytes, from.work);
    n.unreduced_kind = unreduced_kind(how);
    n.operands = 1;
    n.ways = 1;
    if (goes_through_unreduced(how) && from.unreduced_kind == n.unreduced_kind)
      n.unreduced_sets[n.unreduced_count++] = 1;
    int const node = program.add(n);
    use(operand);
    return node;
  }
  /// Adds an operation on values; `n` has its name, the dims that must not be split, and its other
  /// properties.
  constexpr int operation(ProgramNode n, int const* operands, int size, ProgramLabels const& out,
                          int element_bytes, int work) {
    ProgramNode v = labelled(n, out);
    v.making = Making::operation;
    v.element_bytes = element_bytes;
    v.work = work;
    v.operands = static_cast<std::int8_t>(size);
    v.ways = 1;
    bool const reads_totals = v.totals >= 0 && !v.rereads;
    if (reads_totals) v.ways = 2;
    int const node = program.add(v);
    for (int k = 0; k < size; ++k) use(operands[k]);
    if (reads_totals) program.use(v.totals);
    return node;
  }
  /// Adds the totals of rows of a value, one per element of the dims `kept`, which ranks send in
  /// `sent_bytes` bytes and sum up in `total_bytes`, for the operation that is added next. Nothing
  /// else reads them. `exchanged`: they have no candidates of their own.
  constexpr int totals(int rows, ProgramLabels const& kept, int sent_bytes, int total_bytes,
                       bool exchanged) {
    ProgramNode n = value(Making::reduction, kept, sent_bytes, program.nodes.at[rows].work);
    n.total_bytes = total_bytes;
    if (exchanged) return program.add(n);
    n.operands = 1;
    n.ways = 1;
    int const node = program.add(n);
    program.use(rows);
    return node;
  }
  /// Adds the value of a shard_map, whose result has this sharding; the shardings of its operands
  /// are fixed. `keeps`: it holds its operands to the end of the program.
  constexpr int shard_map(int const* operands, int size, ProgramLabels const& out, Spec const& spec,
                          int element_bytes, int work, char const* name, bool keeps = false) {
    ProgramNode v = value(Making::shard_map, out, element_bytes, work);
    v.name = name;
    v.keeps = keeps;
    v.unreduced_kind = spec.kind;
    v.operands = static_cast<std::int8_t>(size);
    v.ways = 1;
    int const node = program.add(v);
    program.pin(node, spec);
    for (int k = 0; k < size; ++k) use(operands[k]);
    return node;
  }
  /// Makes a shard_map an operation that communicates by itself.
  constexpr void own_call(int node, OwnCall const& call) {
    program.nodes.edit(node).own_call = static_cast<std::int16_t>(program.own_call.size());
    program.own_call.push_back(call);
  }
  /// Adds a value with other labels, dim by dim.
  constexpr int relabel(int operand, ProgramLabels const& labels) {
    ProgramNode const from = program.nodes.at[operand];
    ProgramNode n = value(Making::relabel, labels, from.element_bytes, from.work);
    n.unreduced_kind = from.unreduced_kind;
    n.operands = 1;
    n.ways = 1;
    n.unreduced_sets[n.unreduced_count++] = 1;
    int const node = program.add(n);
    use(operand);
    return node;
  }
  /// Constrains the sharding in which a value is computed; readers may reshard it.
  constexpr int constrain(int operand, Spec const& spec) {
    ProgramNode const& from = program.nodes.at[operand];
    int node = operand;
    if (from.making == Making::given || from.pinned >= 0 || from.readers > 0 || from.kept) {
      ProgramLabels same;
      for (int d = 0; d < from.rank; ++d) same.push(from.labels[d]);
      node = relabel(operand, same);
    }
    program.pin(node, spec);
    return node;
  }
  /// Adds a reader of a shared value.
  constexpr void share(int value) {
    ProgramNode& n = program.nodes.edit(value);
    n.kept = true;
    if (n.making != Making::given) ++n.shares;
  }
  /// Sets the requested result: a value with its dims in this order, and its sharding with their
  /// numbers as labels.
  constexpr void finish(int root, ProgramLabels const& order, Spec const& wanted) {
    ProgramNode& n = program.nodes.edit(root);
    bool same = true;
    for (int d = 0; d < n.rank; ++d) same = same && n.labels[d] == order.at[d];
    bool const any_order = n.making == Making::product || n.making == Making::map;
    if (!same && any_order && n.pinned < 0 && n.readers == 0 && !n.kept) {
      for (int d = 0; d < n.rank; ++d) n.labels[d] = order.at[d];
    } else if (!same) {
      UnreducedSets all;
      all.add(1);
      root = map(&root, 1, order, all, n.element_bytes, n.work);
    }
    program.root = root;
    program.wanted = program.code(root).of(wanted);
    for (int k = 0; k < program.size; ++k)
      if (program.nodes.at[k].making == Making::given && program.nodes.at[k].readers > 1)
        program.nodes.edit(k).read_again = reads_of(k) > 1;
  }

 private:
  /// How often operand `k` of the program is read in one plan at most: of the parts of a chain only
  /// some are computed.
  constexpr int reads_of(int k) const {
    shardtype::detail::List<int> all(static_cast<std::size_t>(program.size), 0);
    int* const reads = all.data();
    for (int m = 0; m < program.size; ++m) {
      ProgramNode const& n = program.nodes.at[m];
      for (int way = 0; way < n.ways; ++way) {
        int sum = 0;
        for (int o = 0; o < n.operands; ++o) {
          int const operand = program.operand(m, way, o);
          sum += operand == k ? 1 : reads[operand];
        }
        if (sum > reads[m]) reads[m] = sum < 2 ? sum : 2;
      }
    }
    return reads[program.root];
  }
  static constexpr ProgramNode value(Making making, ProgramLabels const& labels, int element_bytes,
                                     int work) {
    ProgramNode n = labelled({}, labels);
    n.making = making;
    n.element_bytes = element_bytes;
    n.work = work;
    return n;
  }
  static constexpr ProgramNode labelled(ProgramNode n, ProgramLabels const& labels) {
    for (int k = 0; k < labels.size && k < max_dims; ++k) n.labels[n.rank++] = labels.at[k];
    return n;
  }
  constexpr void use(int operand) {
    program.use(operand);
    ++program.nodes.edit(operand).readers;
  }
  /// Whether the operands of a set have the same kind of pending reduction.
  constexpr bool one_kind(int const* operands, int size, unsigned set, ReduceKind& kind) const {
    bool first = true;
    for (int k = 0; k < size; ++k) {
      if (((set >> k) & 1U) == 0) continue;
      ReduceKind const mine = program.nodes.at[operands[k]].unreduced_kind;
      if (!first && mine != kind) return false;
      kind = mine;
      first = false;
    }
    return true;
  }
  /// The labels of the product of operands i to j: those of the result, and those that other
  /// operands share.
  constexpr ProgramLabels labels_of(int const* operands, int size, int i, int j,
                                    ProgramLabels const& out) const {
    if (i == 0 && j == size - 1) return out;
    ProgramLabels labels;
    for (int k = i; k <= j; ++k) {
      ProgramNode const& n = program.nodes.at[operands[k]];
      for (int d = 0; d < n.rank; ++d) {
        int const l = n.labels[d];
        bool needed = out.contains(l);
        for (int m = 0; m < size && !needed; ++m)
          needed = (m < i || m > j) && program.find(operands[m], l) >= 0;
        if (needed && !labels.contains(l)) labels.push(l);
      }
    }
    return labels;
  }
  constexpr int part_of(int const* operands, int size, int i, int j, ProgramLabels const& out,
                        int const* part) {
    ProgramLabels const labels = labels_of(operands, size, i, j, out);
    if (labels.size > max_dims) return -1;
    ProgramNode const like = program.nodes.at[operands[i]];
    ProgramNode n = value(Making::product, labels, like.element_bytes, like.work);
    n.operands = 2;
    int ways = 0;
    for (int k = i; k < j; ++k)
      if (part[i * size + k] >= 0 && part[(k + 1) * size + j] >= 0) ++ways;
    if (ways == 0) return -1;
    n.ways = static_cast<std::int16_t>(ways);
    // only unreduced sums may be multiplied
    for (int side = 0; side < 2; ++side) {
      bool sums = true;
      for (int k = i; k <= j; ++k)
        sums = sums && program.nodes.at[operands[k]].unreduced_kind == ReduceKind::sum;
      if (sums) n.unreduced_sets[n.unreduced_count++] = static_cast<std::uint8_t>(1 << side);
    }
    int const node = program.add(n);
    for (int k = i; k < j; ++k) {
      int const a = part[i * size + k];
      int const b = part[(k + 1) * size + j];
      if (a < 0 || b < 0) continue;
      use(a);
      use(b);
    }
    return node;
  }
};

}  // namespace shardtype::planning
