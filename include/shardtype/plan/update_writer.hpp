#pragma once
/// The results of a program with a backward pass, and the values of an optimizer's step in it: new
/// parameters, each computed where the optimizer's state lies.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <shardtype/core/list.hpp>
#include <shardtype/plan/backward_writer.hpp>
#include <shardtype/plan/part_gradient.hpp>
#include <shardtype/plan/program_builder.hpp>
#include <shardtype/plan/reduction_plan.hpp>

namespace shardtype::planning {

/// The update of an operand of the program by its gradient.
struct WantedUpdate {
  int part = -1;           ///< number of the part that computes it
  Spec spec{};             ///< the sharding in which it is computed: that of the optimizer's state
  bool chosen = false;     ///< whether the planner chooses that sharding instead
  bool from_value = true;  ///< whether the new value is computed from the elements of the old one
};
/// The norm of all gradients, which every update reads; its parts, -1: none.
struct WantedNorm {
  int adds = -1;   ///< adds the squares of some gradients
  int joins = -1;  ///< the same of the last ones, and sums up over the mesh
};

/// Whether a value is a parameter after its update.
inline bool is_update(ProgramNode const& n) {
  return n.name != nullptr && std::string_view(n.name) == "update";
}
/// Pins an update, and what it reads of the parameter's dims, to a layout: that of the state.
inline void pin_update(RecordedProgram& p, int node, std::int32_t layout) {
  p.nodes.edit(node).pinned = layout;
  for (int m = 0; m < p.nodes[node].operands; ++m) {
    int const read = p.operand(node, 0, m);
    if (p.nodes[read].making == Making::relabel && p.nodes[read].rank == p.nodes[node].rank)
      p.nodes.edit(read).pinned = layout;
  }
}

/// The results that are wanted of a program with a backward pass.
struct WantedResults {
  shardtype::detail::List<int> wrt;     ///< operands of the program, whose gradients are wanted
  shardtype::detail::List<int> beside;  ///< further values
  /// How each is wanted: first the loss, then the gradients, then those values.
  shardtype::detail::List<WantedResult> each;
  /// The values of the first so many segments that the backward pass reads are computed again.
  int again = 0;
  /// If there are any, one for each gradient: the operands after their updates are results in the
  /// place of the gradients.
  shardtype::detail::List<WantedUpdate> updates;
  WantedNorm norm{};
};

/// Sums of numbers over all axes, the same bits on all ranks: an AllReduce, and a Broadcast of the
/// first rank's sums.
constexpr Plan alike_sums_plan(std::string_view name, int numbers, int axes, Sizes const& sizes) {
  Plan out;
  out.name = name;
  out.sizing.element_bytes = static_cast<std::int64_t>(sizeof(double)) * numbers;
  out.sizing.sizes = sizes;
  Spec parts;
  AxisList all;
  for (int x = 0; x < axes; ++x) {
    parts.unreduced.insert(x);
    all.push(x);
  }
  out.push(planning::shared_step(Move::reduce, Slot::a, all, parts, {}));
  out.push(planning::shared_step(Move::broadcast, Slot::a, all, {}, {}));
  return out;
}
inline Plan norm_plan(RecordedProgram const& p, int) {
  return planning::alike_sums_plan("global_norm", 1, p.axes, p.sizes);
}

/// Adds the results of a program behind its passes.
class ResultWriter : public SegmentWriter {
 protected:
  using SegmentWriter::SegmentWriter;

  /// A value in the sharding and with the order of dims in which it is wanted.
  int result(int k, WantedResult const& wanted) {
    int const out = renamed(bring(k, wanted.labels, k, true));
    program.pin(out, wanted.spec);
    return out;
  }
  /// The root, which reads all results.
  void join(List<int> results) {
    do {
      List<int> next;
      for (std::size_t k = 0; k < results.size(); k += max_operands) {
        List<int> some;
        for (std::size_t m = k; m < results.size() && m < k + max_operands; ++m)
          some.push_back(results[m]);
        ProgramNode n = of_blocks("results", 4);
        n.keeps = n.in_place = true;
        next.push_back(number(n, some));
      }
      results = next;
    } while (results.size() > 1);
    program.root = results[0];
    program.wanted = 0;
  }

  /// The gradient `ct` of value `k` where the update is computed.
  int gradient_there(int k, int ct, WantedUpdate const& update) {
    return there(bring(ct, labels_of(k), k, true), update);
  }
  /// The norm of these gradients, which are where their updates are computed.
  int norm_of(List<int> const& gradients, WantedNorm const& norm) {
    int out = -1;
    for (std::size_t k = 0; k < gradients.size();) {
      List<int> some;
      for (int m = 1; m < max_operands && k < gradients.size(); ++m) some.push_back(gradients[k++]);
      if (out >= 0) some.push_back(out);
      ProgramNode n = of_blocks("norm", sizeof(double));
      n.origin = norm.adds;
      if (k == gradients.size()) {
        n.origin = norm.joins;
        n.own_call = static_cast<std::int16_t>(program.own_call.size());
        OwnCall call;
        call.plan = &norm_plan;
        for (int x = 0; x < max_axes; ++x)
          if (x < program.axes) call.axis[x] = static_cast<std::int8_t>(x);
        program.own_call.push_back(call);
      }
      out = number(n, some);
    }
    return out;
  }
  /// Value `k` after its update, which reads `norm` if there is one; brought to where it is wanted.
  int updated(int k, int gradient, int norm, WantedUpdate const& update,
              WantedResult const& wanted) {
    ProgramNode n = value(Making::operation, Backward::none, labels_of(k), k);
    n.name = "update";
    n.origin = update.part;
    List<int> operands{gradient};
    if (update.from_value) operands.push_back(there(k, update));
    if (norm >= 0) operands.push_back(norm);
    constexpr std::uint32_t in_order = 0x76543210;
    for (std::size_t m = 0; m < operands.size(); ++m) n.order[m] = in_order;
    // computed where the state lies, and nowhere else
    if (!update.chosen) n.making = Making::shard_map;
    int const out = add(n, operands);
    if (!update.chosen) program.pin(out, update.spec);
    return result(out, wanted);
  }

 private:
  int renamed(int k) {
    ProgramNode n = value(Making::relabel, Backward::none, labels_of(k), k);
    n.origin = -1;
    n.unreduced_sets[n.unreduced_count++] = 1;
    return add(n, {k});
  }
  int there(int k, WantedUpdate const& update) {
    if (update.chosen) return k;
    int const out = renamed(k);
    program.pin(out, update.spec);
    return out;
  }
  /// A number that is computed of blocks as they are.
  static ProgramNode of_blocks(char const* name, std::int32_t bytes) {
    ProgramNode n;
    n.making = Making::shard_map;
    n.name = name;
    n.element_bytes = bytes;
    n.ways = 1;
    return n;
  }
  int number(ProgramNode const& n, List<int> const& of) {
    int const out = add(n, of);
    program.pin(out, Spec{});
    return out;
  }
};

}  // namespace shardtype::planning
