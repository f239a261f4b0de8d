#pragma once
/// A whole expression as values: what is computed from what, and nothing of how it is sharded.

#include <cstdint>

#include <shardtype/core/block.hpp>
#include <shardtype/plan/layout_graph.hpp>

namespace shardtype::planning {

/// Most values of one program, the possible intermediates of chains among them. Exceeded: code L03.
inline constexpr int max_nodes = 128;
/// Most operands of all these values, over all ways to make them. Exceeded: code L03.
inline constexpr int max_uses = 1024;
/// Most distinct index labels in one program. Exceeded: code L03.
inline constexpr int max_program_labels = 32;
/// Most operands of one elementwise function.
inline constexpr int max_operands = 8;

/// How a value of a program comes about.
enum class Making : std::int8_t {
  given,      ///< a tensor of the user's
  product,    ///< of two values: a sum over the labels that the result lacks
  map,        ///< an elementwise function, broadcast by labels
  reduction,  ///< over the labels that the result lacks
  relabel,    ///< other names for the dims
  operation   ///< an operation on blocks in which some dims are whole
};

/// A value of a program. Its dims are labels of the program.
struct ProgramNode {
  Making making = Making::given;
  std::int8_t rank = 0;
  std::int8_t labels[max_dims]{};
  ReduceKind owes = ReduceKind::sum;  ///< the kind of what unreduced axes of it owe
  /// The layout (LayoutCode) it comes in, for what is given; else the one it is constrained to, or -1.
  std::int32_t pinned = -1;
  std::int32_t element_bytes = 1;
  /// Time of a multiplication and an addition of its elements, in those of float.
  std::int32_t work = 1;
  /// Which part of the expression it belongs to, counted as the expression is walked; -1: to none.
  std::int16_t origin = -1;
  std::int16_t first_use = 0;  ///< where its operands stand in `uses`
  std::int8_t operands = 0;    ///< of each way
  std::int16_t ways = 0;       ///< alternatives: the splits of a part of a chain
  /// Sets of operands that may owe the same axis together; the result then does.
  std::int8_t owing = 0;
  std::uint8_t owing_sets[max_operands]{};
  /// Of an operation: its name; and a bit for each dim of the value (first) and of its operands that stays whole.
  char const* name = nullptr;
  std::uint8_t whole[max_operands + 1]{};
  std::int16_t readers = 0;  ///< how many values read it
  bool kept = false;         ///< may be read by others too
  std::int16_t shares =
      0;  ///< how many read what is made once for all of them; below 2: none is shared
};

/// An expression: values in an order in which operands come first, and what is asked for.
struct RecordedProgram {
  int size = 0;
  int uses_size = 0;
  int labels = 0;
  int axes = 0;
  int root = -1;
  std::int32_t wanted = 0;  ///< the layout that the root is to have
  bool overflow = false;
  std::int64_t extents[max_program_labels]{};
  Sizes sizes{};
  ProgramNode nodes[max_nodes]{};
  std::int16_t uses[max_uses]{};

  constexpr bool shared(int node) const { return nodes[node].shares > 1; }
  constexpr planning::LayoutCode code(int node) const { return {nodes[node].rank, axes}; }
  constexpr int operand(int node, int way, int k) const {
    ProgramNode const& n = nodes[node];
    return uses[n.first_use + way * n.operands + k];
  }
  /// Which dim of a value has this label, or -1.
  constexpr int find(int node, int label) const {
    for (int d = 0; d < nodes[node].rank; ++d)
      if (nodes[node].labels[d] == label) return d;
    return -1;
  }
  /// Whether a tensor can have the extents of a value.
  constexpr bool countable(int node) const {
    std::int64_t own[max_dims]{};
    for (int d = 0; d < nodes[node].rank; ++d) own[d] = extents[nodes[node].labels[d]];
    return shardtype::core::countable(own, nodes[node].rank);
  }
  /// Whether the program can be made of values that tensors can have the extents of.
  constexpr bool countable() const {
    bool can[max_nodes]{};
    for (int k = 0; k < size; ++k) {
      if (!countable(k)) continue;
      can[k] = nodes[k].making == Making::given;
      for (int way = 0; way < nodes[k].ways && !can[k]; ++way) {
        can[k] = true;
        for (int m = 0; m < nodes[k].operands; ++m) can[k] = can[k] && can[operand(k, way, m)];
      }
    }
    return can[root];
  }
  /// Extents of a value's dims, axis sizes and element size: for specs whose labels are its dims.
  constexpr Sizing sizing(int node) const {
    Sizing z;
    for (int d = 0; d < nodes[node].rank; ++d) z.extents.at[d] = extents[nodes[node].labels[d]];
    z.sizes = sizes;
    z.element_bytes = nodes[node].element_bytes;
    return z;
  }
  constexpr Spec spec(int node, int layout_code) const {
    Spec s = code(node).spec(layout_code);
    s.kind = s.unreduced.empty() ? ReduceKind::sum : nodes[node].owes;
    return s;
  }

  /// Adds a value; its operands, way by way, are added by `use`.
  constexpr int add(ProgramNode n) {
    if (size == max_nodes) {
      overflow = true;
      return 0;
    }
    n.first_use = static_cast<std::int16_t>(uses_size);
    nodes[size] = n;
    return size++;
  }
  constexpr void use(int operand) {
    if (uses_size == max_uses) {
      overflow = true;
      return;
    }
    uses[uses_size++] = static_cast<std::int16_t>(operand);
  }
  /// Gives the labels of a relabelled value the extents of its operand's dims. A label that has another one already,
  /// or -1.
  constexpr int settle_relabelled(int node) {
    if (nodes[node].making != Making::relabel) return -1;
    ProgramNode const& from = nodes[operand(node, 0, 0)];
    for (int d = 0; d < from.rank; ++d) {
      std::int64_t const extent = extents[from.labels[d]];
      std::int64_t& mine = extents[nodes[node].labels[d]];
      if (mine != dynamic && extent != dynamic && mine != extent) return nodes[node].labels[d];
      if (mine == dynamic) mine = extent;
    }
    return -1;
  }
  /// The same of all values.
  constexpr int settle_relabelled() {
    for (int k = 0; k < size; ++k)
      if (int const l = settle_relabelled(k); l >= 0) return l;
    return -1;
  }
  friend constexpr bool operator==(RecordedProgram const& a, RecordedProgram const& b) {
    // the shape of a program is its type's; what may differ is its sizes
    if (a.labels != b.labels || !(a.sizes == b.sizes)) return false;
    for (int l = 0; l < a.labels; ++l)
      if (a.extents[l] != b.extents[l]) return false;
    return true;
  }
};

}  // namespace shardtype::planning
