#pragma once
/// A whole expression as values: operations and operands, without shardings.

#include <cstdint>

#include <shardtype/core/block.hpp>
#include <shardtype/core/held.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/plan/layout_graph.hpp>
#include <shardtype/plan/work.hpp>
#include <shardtype/rules/program_limit.hpp>

namespace shardtype::planning {

/// Maximal number of operands of one value. Results of several expressions are read by several
/// values.
inline constexpr int max_operands = 8;
/// Maximal number of values that one step reads: a pull reads a cotangent, the operands and the
/// value, an operation on split rows the totals besides its operands.
inline constexpr int max_inputs = max_operands + 2;
/// Maximal number of factors of one chain of products, whose parts are values: 105 for 14 factors.
/// Exceeded: code L03.
inline constexpr int max_chain = 14;

struct Plan;
struct RecordedProgram;

/// An operation that communicates by itself: its operands and its results have the shardings of
/// its call in strict mode, and its steps are those of that call's plan.
struct OwnCall {
  /// The plan of the call that computes the value `node`, for the program's sizes.
  Plan (*plan)(RecordedProgram const&, int node) = nullptr;
  /// The program's axes, by those of the call; -1: the call has fewer.
  std::int8_t axis[max_axes];

  constexpr OwnCall() {
    for (std::int8_t& x : axis) x = -1;
  }
};
/// The block sizes of a value's block-cyclic dims; 0: not block-cyclic.
struct CyclicSplit {
  std::int32_t block[max_dims]{};
  friend constexpr bool operator==(CyclicSplit const&, CyclicSplit const&) = default;
};

/// The node kinds: how a value of a program is computed.
enum class Making : std::int8_t {
  given,      ///< an operand of the program: a user's tensor
  product,    ///< of two values: summed over the labels that the result lacks
  map,        ///< an elementwise function, broadcast by labels
  reduction,  ///< over the labels that the result lacks
  relabel,    ///< renames the dims
  operation,  ///< an operation on blocks in which some dims are not split
  result,     ///< a further result of an operation, where that is computed
  shard_map   ///< a function of blocks, or an operation that communicates by itself; the shardings
              ///< of its operands and its result are fixed
};

/// How a value of the backward pass is computed (plan/transposed_program.hpp).
enum class Backward : std::int8_t {
  none,    ///< a value of the program itself
  pull,    ///< the cotangent of an operand, from that of the value that reads it
  add,     ///< the sum of cotangents
  sum,     ///< a sum over labels
  spread,  ///< repeated along new dims, or with the dims in another order
  one,     ///< the cotangent of the loss
  zero     ///< that of an operand on which the loss does not depend
};

struct RecordedProgram;
struct ProgramNode;
/// The work of an operation on one rank, whose blocks have these extents by the program's labels.
using BlockWork = Work (*)(RecordedProgram const&, ProgramNode const&, std::int64_t const*);
/// Sets the open extents of the dims of value `node` that the operation of value `made` makes, of
/// those of its operands.
using MadeExtents = void (*)(RecordedProgram&, int node, int made);

/// The plan of an operation that communicates where the dim that it works along is split, on an
/// operand in this sharding, whose labels are the operand's dims.
using CallOnRows = Plan (*)(RecordedProgram const&, int node, Spec const& operand);

/// A value of a program. Its dims are labels of the program.
struct ProgramNode {
  Making making = Making::given;
  std::int8_t rank = 0;
  std::int16_t labels[max_dims]{};
  ReduceKind unreduced_kind =
      ReduceKind::sum;  ///< kind of pending reduction over its unreduced axes
  /// The layout (LayoutCode) of an operand of the program, or else of a constraint; -1: none.
  std::int32_t pinned = -1;
  std::int32_t element_bytes = 1;
  /// Cost of a multiply-add of its elements relative to float.
  std::int32_t work = 1;
  /// For a product: bytes of each element of operands and result in the copies that its kernel
  /// makes, such as those in float for bfloat16; 0: none.
  std::int32_t copy_bytes = 0;
  /// Of a reduction: bytes of the accumulator of a long sum; one per element.
  std::int32_t total_bytes = 0;
  /// Number of its part of the expression, in the order of the walk; -1: not part of the
  /// expression.
  std::int32_t origin = -1;
  /// Number of the segment of the expression whose values may be computed again in the backward
  /// pass; -1: none.
  std::int32_t segment = -1;
  bool again = false;  ///< whether it is a value of such a segment, computed again
  Backward backward = Backward::none;
  std::int8_t pulls = -1;  ///< of a pull: the number of the operand
  /// Of a pull of an operation: further operands, as bits, whose cotangents are its further
  /// results.
  std::uint8_t pulls_too = 0;
  std::int32_t pulled = -1;    ///< of a pull: the part of the expression that reads the operand
  std::int32_t first_use = 0;  ///< index of its first operand in `uses`
  std::int8_t operands = 0;    ///< per alternative
  std::int16_t ways = 0;       ///< number of alternatives: the ways to cut a part of a chain
  /// Sets of operands that may be unreduced over the same axis together; the result then is, too.
  std::int8_t unreduced_count = 0;
  std::uint8_t unreduced_sets[max_operands]{};
  /// For an operation, and for each further result of one: its name, and a bit for each dim that
  /// must not be split, of the value (first) and of its operands. A shard_map has only a name.
  char const* name = nullptr;
  std::uint8_t whole[max_inputs + 1]{};
  BlockWork work_on = nullptr;  ///< null: only what is read and written counts
  /// Null: the operation makes no dims, or their extents depend on its run-time arguments.
  MadeExtents made_extents = nullptr;
  CallOnRows call_on_rows = nullptr;  ///< null: it does not communicate
  std::int8_t along = -1;             ///< the operand's dim that such an operation works along
  /// Of each operand of an operation, the value's dim for each dim of its type: 4 bits each.
  std::uint32_t order[max_operands]{};
  /// The run-time arguments of an operation that decide about its plan or its work, as a number; 0:
  /// their defaults.
  std::int32_t variant = 0;
  bool varies = false;       ///< whether there are such arguments
  std::int32_t readers = 0;  ///< number of values that read it
  bool read_again = false;   ///< whether several of them do in one plan
  bool kept = false;         ///< others may read it as well
  bool has_results = false;  ///< whether values of Making::result read it
  bool keeps = false;        ///< whether its operands are held to the end of the program
  bool in_place = false;     ///< whether its block is the memory of its operand: it costs no time
  /// Of a further result of an operation its number; the first result is number 0.
  std::int8_t result = 0;
  /// A dim of an operation and a dim of an operand that are split alike, though they have no label
  /// in common: of different extents where the parts divide both. -1: none.
  std::int8_t aligned_dim = -1;
  std::int8_t aligned_with = -1;
  std::int8_t aligned_operand = 0;
  /// The dim that runs fastest in the longer of these two, of the value that has the shorter one:
  /// its axes are the minor ones there, if each rank has one row of the shorter one. `tail_party`:
  /// of the operation (0) or that operand.
  std::int8_t tail_dim = -1;
  std::int8_t tail_party = 0;
  std::int16_t own_call = -1;  ///< of an operation that communicates by itself: its number
  std::int16_t cyclic = -1;    ///< number of its CyclicSplit: nothing moves it; -1: in blocks
  std::int32_t shares =
      0;  ///< number of consumers of a value computed once; the value is shared if this is at least
          ///< 2
  /// For an operation on rows of its first operand that may be split: the value of their totals;
  /// -1: none. A reduction reads either its operand or them; an operation that rereads its operand
  /// exchanges them (`RowExchange`), so that they have no candidates of their own.
  std::int32_t totals = -1;
  bool sums = false;     ///< whether an operation on parts of a dim gives summands of its value
  bool rereads = false;  ///< whether the operation reads its operands again beside the totals
  std::int8_t totals_of = 1;  ///< number of the first operands that exchanged totals are made of

  /// The value's dim for dim `d` of the type of an operand.
  constexpr int place(int operand, int d) const {
    return static_cast<int>((order[operand] >> (4 * d)) & 15U);
  }
};

/// Bytes of the copies that the kernel of a product makes of blocks of `bytes` bytes together.
constexpr std::int64_t copies_of(ProgramNode const& product, std::int64_t bytes) {
  return mul_sat(bytes / product.element_bytes, product.copy_bytes);
}

/// An expression: values listed after their operands, and the requested result. It may be of any
/// size.
struct RecordedProgram {
  int size = 0;
  int labels = 0;
  int axes = 0;
  int root = -1;
  std::int32_t wanted = 0;                                 ///< the requested layout of the root
  rules::ProgramLimit passed = rules::ProgramLimit::none;  ///< the first limit that it exceeds
  Sizes sizes{};
  shardtype::detail::Held<std::int64_t> extents;  ///< by label
  shardtype::detail::Held<ProgramNode> nodes;
  shardtype::detail::Held<std::int32_t> uses;
  shardtype::detail::Held<OwnCall> own_call;
  shardtype::detail::Held<CyclicSplit> cyclic_split;

  constexpr void pass(rules::ProgramLimit limit) {
    if (passed == rules::ProgramLimit::none) passed = limit;
  }
  constexpr bool overflows() const { return passed != rules::ProgramLimit::none; }
  /// Whether run-time arguments decide about a plan.
  constexpr bool varies() const {
    for (int k = 0; k < size; ++k)
      if (nodes.at[k].varies) return true;
    return false;
  }
  constexpr bool shared(int node) const { return nodes.at[node].shares > 1; }
  constexpr planning::LayoutCode code(int node) const { return {nodes.at[node].rank, axes}; }
  constexpr int operand(int node, int way, int k) const {
    ProgramNode const& n = nodes.at[node];
    return uses.at[n.first_use + way * n.operands + k];
  }
  /// Whether the shardings of a value and of its operands are fixed.
  constexpr bool is_fixed(int node) const {
    ProgramNode const& n = nodes.at[node];
    return n.making == Making::shard_map ||
           (n.making == Making::result && nodes.at[operand(node, 0, 0)].own_call >= 0);
  }
  /// Index of the dim of a value with this label, or -1.
  constexpr int find(int node, int label) const {
    for (int d = 0; d < nodes.at[node].rank; ++d)
      if (nodes.at[node].labels[d] == label) return d;
    return -1;
  }
  /// Whether a tensor can have the extents of a value.
  constexpr bool countable(int node) const {
    std::int64_t own[max_dims]{};
    for (int d = 0; d < nodes.at[node].rank; ++d) own[d] = extents.at[nodes.at[node].labels[d]];
    return shardtype::core::countable(own, nodes.at[node].rank);
  }
  /// Whether the program can be computed from values whose extents a tensor can have.
  constexpr bool countable() const {
    shardtype::detail::List<bool> made(static_cast<std::size_t>(size), false);
    bool* const can = made.data();
    for (int k = 0; k < size; ++k) {
      if (!countable(k)) continue;
      can[k] = nodes.at[k].making == Making::given;
      for (int way = 0; way < nodes.at[k].ways && !can[k]; ++way) {
        can[k] = true;
        for (int m = 0; m < nodes.at[k].operands; ++m) can[k] = can[k] && can[operand(k, way, m)];
      }
    }
    return can[root];
  }
  /// Extents of a value's dims, axis sizes and element size, for specs whose labels are the value's
  /// dims.
  constexpr Sizing sizing(int node) const {
    Sizing z;
    for (int d = 0; d < nodes.at[node].rank; ++d)
      z.extents.at[d] = extents.at[nodes.at[node].labels[d]];
    z.sizes = sizes;
    z.element_bytes = nodes.at[node].element_bytes;
    return z;
  }
  constexpr Spec spec(int node, int layout_code) const {
    Spec s = code(node).spec(layout_code);
    s.kind = s.unreduced.empty() ? ReduceKind::sum : nodes.at[node].unreduced_kind;
    if (int const split = nodes.at[node].cyclic; split >= 0)
      for (int d = 0; d < s.rank; ++d) s.dims[d].axes.cyclic = cyclic_split.at[split].block[d];
    return s;
  }

  /// Adds a value; its operands are added by `use`, alternative by alternative.
  constexpr int add(ProgramNode n) {
    n.first_use = uses.size();
    nodes.push_back(n);
    return size++;
  }
  /// Pins a value to a sharding in the program's axes, with its dims' numbers as labels.
  constexpr void pin(int node, Spec const& spec) {
    nodes.edit(node).pinned = code(node).of(spec);
    if (spec.cyclic_dim() < 0) return;
    CyclicSplit split;
    for (int d = 0; d < spec.rank; ++d) split.block[d] = spec.dims[d].axes.cyclic;
    int k = 0;
    while (k < cyclic_split.size() && !(cyclic_split.at[k] == split)) ++k;
    if (k == cyclic_split.size()) cyclic_split.push_back(split);
    nodes.edit(node).cyclic = static_cast<std::int16_t>(k);
  }
  constexpr void use(int operand) { uses.push_back(operand); }
  /// Sets the extents that operations determine of their operands' extents alone, and those of
  /// relabelled values. Returns a label that a relabel gives another extent, or -1.
  constexpr int infer_made() {
    for (int k = 0; k < size; ++k) {
      if (int const l = infer_relabelled(k); l >= 0) return l;
      ProgramNode const& n = nodes.at[k];
      if (n.made_extents != nullptr)
        n.made_extents(*this, k, n.making == Making::result ? operand(k, 0, 0) : k);
    }
    return -1;
  }
  /// Copies the extents of its operand's dims to the labels of a relabelled value. Returns a label
  /// that already has another extent, or -1.
  constexpr int infer_relabelled(int node) {
    if (nodes.at[node].making != Making::relabel) return -1;
    ProgramNode const& from = nodes.at[operand(node, 0, 0)];
    for (int d = 0; d < from.rank; ++d) {
      std::int64_t const extent = extents.at[from.labels[d]];
      std::int64_t& mine = extents.edit(nodes.at[node].labels[d]);
      if (mine != dynamic && extent != dynamic && mine != extent) return nodes.at[node].labels[d];
      if (mine == dynamic) mine = extent;
    }
    return -1;
  }
  /// The same for all values.
  constexpr int infer_relabelled() {
    for (int k = 0; k < size; ++k)
      if (int const l = infer_relabelled(k); l >= 0) return l;
    return -1;
  }
  friend constexpr bool operator==(RecordedProgram const& a, RecordedProgram const& b) {
    // programs of one type have the same shape; only their sizes may differ
    if (a.labels != b.labels || !(a.sizes == b.sizes)) return false;
    for (int l = 0; l < a.labels; ++l)
      if (a.extents.at[l] != b.extents.at[l]) return false;
    for (int k = 0; k < a.size; ++k)
      if (a.nodes.at[k].variant != b.nodes.at[k].variant) return false;
    return true;
  }
};

/// Whether operation `node` communicates where its operand has this sharding.
constexpr bool exchanges_rows(RecordedProgram const& p, int node, Spec const& operand) {
  ProgramNode const& n = p.nodes.at[node];
  return n.call_on_rows != nullptr && operand.dims[n.along].axes.size > 0;
}
/// What ranks exchange about rows that are split over them: each computes totals of its part, which
/// one AllReduce joins.
struct RowExchange {
  std::uint8_t axes = 0;    ///< that split the rows, as a set; none: rows are whole
  std::int32_t parts = 0;   ///< LayoutCode of the ranks' totals, unreduced over these axes
  std::int32_t joined = 0;  ///< that of the totals of whole rows
  constexpr AxisList group() const {
    AxisList out;
    for (int x = 0; x < max_axes; ++x)
      if (((axes >> x) & 1U) != 0) out.push(x);
    return out;
  }
};
/// The exchange of operation `node` if its first operand has this layout.
constexpr RowExchange exchange_of(RecordedProgram const& p, int node, std::int32_t layout) {
  RowExchange out;
  int const totals = p.nodes.at[node].totals;
  if (totals < 0 || !p.nodes.at[node].rereads) return out;
  ProgramNode const& rows = p.nodes.at[p.operand(node, 0, 0)];
  int const from = 2 + rows.rank * p.axes;
  int const to = 2 + p.nodes.at[totals].rank * p.axes;
  for (int x = 0, power = 1; x < p.axes; ++x, power *= to, layout /= from) {
    int const at = layout % from - 2;
    if (at < 0) continue;
    int const dim = p.find(totals, rows.labels[at / p.axes]);
    if (dim < 0) {
      out.axes = static_cast<std::uint8_t>(out.axes | 1U << x);
      out.parts += power;
    } else {
      out.parts += (2 + dim * p.axes + at % p.axes) * power;
      out.joined += (2 + dim * p.axes + at % p.axes) * power;
    }
  }
  return out;
}

}  // namespace shardtype::planning
