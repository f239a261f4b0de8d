#pragma once
/// Runs the plan of a whole expression on the calling rank.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/core/compiled.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/execute/executor.hpp>
#include <shardtype/execute/reduce_run.hpp>
#include <shardtype/kernels/expression.hpp>
#include <shardtype/kernels/product.hpp>
#include <shardtype/lazy/same_values.hpp>
#include <shardtype/lazy/walk.hpp>
#include <shardtype/plan/program_plan.hpp>
#include <shardtype/runtime/trace.hpp>
#include <shardtype/tensor/local.hpp>

namespace shardtype::execute {

/// A block of any element type while a plan runs. It may be a view.
struct AnyBlock {
  void const* data = nullptr;
  kernels::Layout layout{};
  Buffer keep{};
};

class ProgramRun;
using MakeBlock = AnyBlock (*)(ProgramRun&, int step, void const* part);
using MoveBlock = AnyBlock (*)(ProgramRun&, int step);

/// How the values of the backward pass are computed that belong to one part of the expression.
struct BackwardKernels {
  /// By Backward: of its elements.
  MakeBlock of_elements[7]{};
  /// Of a function, reduction or operation: the cotangents of its operands.
  MakeBlock pulls[max_operands]{};
};

/// Run-time data of one part of the expression: a tensor's memory, or the functions that compute a
/// value.
struct ProgramPart {
  MakeBlock make = nullptr;
  MoveBlock move = nullptr;
  void const* part = nullptr;  ///< the node of the function, reduction or operation
  /// For an operation: computes the extents of its result's labels. Error E24, and the operation's
  /// own errors.
  void (*set_extents)(void const* part, RecordedProgram& p, int node,
                      LabelPart const* labels) = nullptr;
  MeshRef const* mesh = nullptr;
  std::int64_t const* extents = nullptr;
  Buffer const* buffer = nullptr;
  int argument = -1;  ///< of a tensor: the number of the argument of a function; -1: none
  /// For an operation: whether two nodes of this type have equal run-time arguments.
  bool (*equal)(void const* part, void const* other) = nullptr;
  BackwardKernels const* backward = nullptr;  ///< null: its program has no backward pass
};

/// One run of a plan. It keeps the block of each step until its last reader has used it.
class ProgramRun {
 public:
  ProgramRun(MeshRef const& mesh, AxisMap const& axes, ProgramPlan const& plan,
             LabelPart const* labels, AxisPart const* axis_parts,
             shardtype::detail::List<ProgramPart> const& parts, std::source_location const& where);

  MeshState& mesh() { return mesh_; }
  MeshRef const& mesh_ref() const { return mesh_ref_; }
  /// The indices of the program's labels.
  LabelPart const* labels() const { return labels_; }
  AxisMap const& axes() const { return axes_; }
  /// `names` with the program's axes.
  Names with_axes(Names names) const {
    names.axes = plan_.program.axes;
    for (int x = 0; x < names.axes; ++x) {
      names.axis_id[x] = axis_parts_[x].id;
      names.axis_name[x] = axis_parts_[x].name;
    }
    return names;
  }
  ProgramPlan const& plan() const { return plan_; }
  std::source_location const& where() const { return where_; }
  AnyBlock const& block(int step) const { return blocks_[static_cast<std::size_t>(step)]; }
  AnyBlock const& input(int step, int k) const { return block(plan_.steps.at[step].input[k]); }
  /// The blocks of the further results of a step's operation.
  shardtype::detail::List<AnyBlock>& further(int step) {
    return further_[static_cast<std::size_t>(step)];
  }
  /// The block of a further result, which the operation gives up if no later step takes it.
  AnyBlock take_result(int step);
  /// Gives the blocks of further results back that nothing reads.
  void drop_unread_results(int step) {
    for (std::size_t k = 0; k < further(step).size(); ++k) {
      bool read = false;
      for (int m = step + 1; m < plan_.size && !read; ++m)
        read = plan_.steps.at[m].kind == ProgramStep::Kind::make &&
               node(m).making == Making::result && first(plan_.steps.at[m].input[0]) == step &&
               node(m).result == static_cast<int>(k) + 1;
      if (!read) further(step)[k] = {};
    }
  }
  ProgramNode const& node(int step) const {
    return plan_.program.nodes.at[plan_.steps.at[step].node];
  }
  Extents extents(int step) const { return plan_.sizing(step).extents; }

  /// The block of the last step.
  AnyBlock run();

  /// Whether the memory of a step's input is not used after it.
  bool frees_input(int step) {
    int const input = plan_.steps.at[step].input[0];
    return last_read(input) == step && !in_given(input);
  }

  /// The value of a step whose packed block is in `memory`.
  AnyBlock packed_block(int step, Buffer memory) const;
  /// A new packed block for a step's value.
  template <class T, class Space>
  Value<T> fresh(int step) {
    Sizing const z = plan_.sizing(step);
    return Blocks<T, Space>{mesh_, axes_, z}.fresh(plan_.spec(step));
  }

 private:
  /// Finds steps that an earlier one makes superfluous, if two operations could be the same.
  void find_same() {
    int comparable = 0;
    for (ProgramPart const& p : parts_) comparable += p.equal != nullptr ? 1 : 0;
    repeats_ = comparable > 1;
    if (!repeats_) return;
    same_.find(plan_, [&](int k, int j) {
      ProgramPart const& a = part(k);
      ProgramPart const& b = part(j);
      if (node(k).backward != Backward::none || node(j).backward != Backward::none) return false;
      if (node(k).again || node(j).again) return false;  // computed again on purpose
      if (a.part != nullptr && a.part == b.part) return same_labels(k, j);  // in a shared operation
      if (plan_.steps.at[k].kind == ProgramStep::Kind::given)
        return a.argument >= 0 && a.argument == b.argument;
      return a.equal != nullptr && a.equal == b.equal && a.make == b.make &&
             a.equal(a.part, b.part);
    });
  }
  /// Whether the values of two steps have the same indices: parts of a chain of products may not.
  bool same_labels(int k, int j) const {
    for (int d = 0; d < node(k).rank; ++d)
      if (labels_[node(k).labels[d]].id != labels_[node(j).labels[d]].id) return false;
    return node(k).rank == node(j).rank;
  }
  int first(int step) const { return repeats_ ? same_.first(step) : step; }
  /// Gives a step's blocks back.
  void drop(int step) {
    blocks_[static_cast<std::size_t>(step)] = {};
    further(step) = shardtype::detail::List<AnyBlock>();
  }
  /// Whether a step's block is memory of an operand of the program.
  bool in_given(int step) const {
    while (node(step).making == Making::relabel &&
           plan_.steps.at[step].kind == ProgramStep::Kind::make)
      step = plan_.steps.at[step].input[0];
    return plan_.steps.at[step].kind == ProgramStep::Kind::given;
  }
  int& last_read(int step) { return last_read_[static_cast<std::size_t>(step)]; }
  ProgramPart const& part(int step) const {
    int const origin = node(step).origin;
    return origin < 0 ? parts_.back() : parts_[static_cast<std::size_t>(origin)];
  }
  /// The part whose elements a step's value has: that of a constrained value is its operand's.
  ProgramPart const& part_of_elements(int step) const {
    RecordedProgram const& p = plan_.program;
    int node = plan_.steps.at[step].node;
    while (p.nodes.at[node].origin < 0 && p.nodes.at[node].making == planning::Making::relabel)
      node = p.operand(node, 0, 0);
    int const origin = p.nodes.at[node].origin;
    return origin < 0 ? parts_.back() : parts_[static_cast<std::size_t>(origin)];
  }
  AnyBlock given(int step) { return packed_block(step, *part(step).buffer); }
  AnyBlock made(int step);

  MeshRef const& mesh_ref_;
  MeshState& mesh_;
  AxisMap const& axes_;
  ProgramPlan const& plan_;
  LabelPart const* labels_;
  AxisPart const* axis_parts_;
  shardtype::detail::List<ProgramPart> const& parts_;
  std::source_location where_;
  shardtype::detail::List<AnyBlock> blocks_;
  shardtype::detail::List<shardtype::detail::List<AnyBlock>> further_;
  shardtype::detail::List<int> last_read_;
  bool repeats_ = false;  ///< whether `same_` was looked for
  SameValues same_{};
};

template <class T>
AnyBlock any_block(Value<T> v) {
  return {v.data, v.layout, std::move(v.keep)};
}
template <class T>
T const* elements_of(AnyBlock const& b) {
  return static_cast<T const*>(b.data);
}

/// A packed block with these extents, in `memory`.
inline AnyBlock packed_block(Buffer memory, kernels::Layout const& extents) {
  void const* const data = memory.data();
  return {data, extents.packed(), std::move(memory)};
}

/// A slice or a collective.
template <class T, class Space>
AnyBlock move_block(ProgramRun& run, int step) {
  Sizing const z = run.plan().sizing(step);
  Step const s = run.plan().move(step);
  AnyBlock const& from = run.input(step, 0);
  Value<T> v{execute::elements_of<T>(from), from.layout, s.before, from.keep};
  Value<T> out = Executor<T, Space>(run.mesh(), run.axes(), z, run.where()).step(s, std::move(v));
  // a part of a value that nothing else reads would hold all of it, an empty one too
  if (s.move == Move::slice && run.frees_input(step)) {
    Value<T> packed = run.template fresh<T, Space>(step);
    typename Space::execution_space const& exec =
        runtime::instance<typename Space::execution_space>();
    if (out.layout.elements() > 0)
      kernels::copy_packed(exec, out.data, out.layout, static_cast<T*>(packed.keep.data()));
    runtime::fence(exec);
    return execute::any_block(std::move(packed));
  }
  return execute::any_block(std::move(out));
}

/// A local product of two blocks.
template <class T, class Space>
AnyBlock product_block(ProgramRun& run, int step, void const*) {
  using Exec = typename Space::execution_space;
  // the labels of this product, numbered from 0
  int met[2 * max_dims]{};
  int labels = 0;
  auto number = [&](int label) {
    int k = 0;
    while (k < labels && met[k] != label) ++k;
    if (k == labels) met[labels++] = label;
    return static_cast<std::int8_t>(k);
  };
  auto labelled_input = [&](int k) {
    AnyBlock const& b = run.input(step, k);
    ProgramNode const& n = run.node(run.plan().steps.at[step].input[k]);
    kernels::Labelled<T> out;
    out.data = execute::elements_of<T>(b);
    out.layout = b.layout;
    out.keep = b.keep;
    for (int d = 0; d < n.rank; ++d) out.label[d] = number(n.labels[d]);
    return out;
  };
  kernels::Labelled<T> const a = labelled_input(0);
  kernels::Labelled<T> const b = labelled_input(1);
  Labels kept;
  ProgramNode const& n = run.node(step);
  for (int d = 0; d < n.rank; ++d) kept.push(number(n.labels[d]));
  Value<T> c = run.template fresh<T, Space>(step);
  Exec const& exec = runtime::instance<Exec>();
  kernels::Product<T, Exec>(exec, run.mesh().pool(), {})(a, b, kept,
                                                         static_cast<T*>(c.keep.data()));
  runtime::fence(exec);
  return execute::any_block(std::move(c));
}

/// Data and strides of the operands of a step's kernel, along the dims of its result.
template <class... Ts>
kernels::Sources<static_cast<int>(sizeof...(Ts))> sources(ProgramRun& run, int step,
                                                          kernels::Elements<Ts...>) {
  kernels::Sources<static_cast<int>(sizeof...(Ts))> in;
  ProgramNode const& n = run.node(step);
  for (int k = 0; k < static_cast<int>(sizeof...(Ts)); ++k) {
    AnyBlock const& b = run.input(step, k);
    ProgramNode const& operand = run.node(run.plan().steps.at[step].input[k]);
    in.data[k] = b.data;
    for (int d = 0; d < n.rank; ++d)
      for (int e = 0; e < operand.rank; ++e)
        if (operand.labels[e] == n.labels[d]) in.stride[k][d] = b.layout.stride[e];
  }
  return in;
}
/// The block of an elementwise function, for the node `M` at `part`.
template <class M>
AnyBlock map_block(ProgramRun& run, int step, void const* part) {
  using L = shardtype::detail::Lowered<M, 0, char>;
  using Whole = typename M::whole;
  using T = typename Whole::element;
  Value<T> out = run.template fresh<T, typename Whole::memory_space>(step);
  typename Whole::execution_space const& exec =
      runtime::instance<typename Whole::execution_space>();
  kernels::evaluate<typename L::types>(exec, L::make(*static_cast<M const*>(part)),
                                       static_cast<T*>(out.keep.data()), out.layout,
                                       execute::sources(run, step, typename L::types{}));
  runtime::fence(exec);
  return execute::any_block(std::move(out));
}
/// A copy with the dims in another order.
template <class T, class Space>
AnyBlock reorder_block(ProgramRun& run, int step, void const*) {
  using Types = kernels::Elements<T>;
  Value<T> out = run.template fresh<T, Space>(step);
  typename Space::execution_space const& exec =
      runtime::instance<typename Space::execution_space>();
  kernels::evaluate<Types>(exec, kernels::Leaf<T, 0>{}, static_cast<T*>(out.keep.data()),
                           out.layout, execute::sources(run, step, Types{}));
  runtime::fence(exec);
  return execute::any_block(std::move(out));
}

/// The block of a reduction `F` of elements `T`; the result is like `Whole`.
template <class F, class Whole, class T>
AnyBlock reduction_block(ProgramRun& run, int step, void const*) {
  using Space = typename Whole::memory_space;
  using Reducer = reducer_t<F, T>;
  using Out = typename Whole::element;
  AnyBlock const& from = run.input(step, 0);
  ProgramNode const& n = run.node(step);
  int const operand = run.plan().steps.at[step].input[0];
  int kept[max_dims]{};
  for (int d = 0; d < n.rank; ++d)
    kept[d] = run.plan().program.find(run.plan().steps.at[operand].node, n.labels[d]);
  kernels::Layout extents;
  extents.rank = n.rank;
  for (int d = 0; d < n.rank; ++d) extents.extent[d] = from.layout.extent[kept[d]];
  AnyBlock out = execute::packed_block(
      execute::reduce_block<Reducer, true, Space>(run.mesh(), execute::elements_of<T>(from),
                                                  kept_first(from.layout, kept, n.rank), n.rank),
      extents);
  if constexpr (F::divides) {
    // divides by the total number of terms; a linear step, so summands may be divided before they
    // are added
    std::int64_t terms = 1;
    bool keeps[max_dims]{};
    for (int d = 0; d < n.rank; ++d) keeps[kept[d]] = true;
    Extents const of_operand = run.extents(operand);
    for (int d = 0; d < run.node(operand).rank; ++d) terms *= keeps[d] ? 1 : of_operand[d];
    execute::divide_block<Space>(static_cast<Out*>(out.keep.data()), out.layout.elements(),
                                 static_cast<double>(terms));
  }
  return out;
}

/// For each dim of the type `A`, the position of that dim in a value: they differ after a
/// transpose, which moves nothing.
template <class A>
void places_of(ProgramNode const& n, LabelPart const* labels, int* out) {
  using S = core::Scope<A>;
  for (int e = 0; e < n.rank; ++e)
    for (int d = 0; d < n.rank; ++d)
      if (labels[n.labels[d]].id == S::names.label_id[S::parsed[0].spec.dims[e].label]) out[e] = d;
}

/// The layout of an operand's block, with the dims in the order of type `A`.
template <class A>
kernels::Layout input_layout(ProgramRun& run, int step, int k) {
  kernels::Layout const& from = run.input(step, k).layout;
  int place[max_dims]{};
  execute::places_of<A>(run.node(run.plan().steps.at[step].input[k]), run.labels(), place);
  kernels::Layout layout;
  layout.rank = from.rank;
  for (int d = 0; d < layout.rank; ++d) {
    layout.extent[d] = from.extent[place[d]];
    layout.stride[d] = from.stride[place[d]];
  }
  return layout;
}
/// The block of an operand, packed, with its dims in the order of type `A`.
template <class A>
Buffer packed_input(ProgramRun& run, int step, int k) {
  using T = typename A::element;
  AnyBlock const& from = run.input(step, k);
  kernels::Layout const layout = execute::input_layout<A>(run, step, k);
  if (layout.contiguous() && from.data == from.keep.data()) return from.keep;
  Buffer memory = run.mesh().pool().template take<typename A::memory_space>(
      static_cast<std::size_t>(layout.elements()) * sizeof(T));
  typename A::execution_space const& exec = runtime::instance<typename A::execution_space>();
  kernels::copy_packed(exec, execute::elements_of<T>(from), layout, static_cast<T*>(memory.data()));
  runtime::fence(exec);
  return memory;
}

/// An operand of a step as a tensor of type `A`, in whose sharding it is.
template <class A>
A tensor_input(ProgramRun& run, int step, int k) {
  int const input = run.plan().steps.at[step].input[k];
  int place[max_dims]{};
  execute::places_of<A>(run.node(input), run.labels(), place);
  std::array<std::int64_t, A::rank> extents{};
  for (std::size_t d = 0; d < A::rank; ++d) extents[d] = run.extents(input)[place[d]];
  return A(run.mesh_ref(), extents, execute::packed_input<A>(run, step, k));
}

/// Sets the extents of a value that result of `op` has, in the order of its dims. Error E24: they
/// are others than known.
void set_extents_of_result(RecordedProgram& p, int node, std::int64_t const* made,
                           std::string_view name, LabelPart const* labels);

/// Runs a shard_map of automatic mode on one rank. Defined above this layer, in manual/.
template <class E>
struct ShardMapRun;

}  // namespace shardtype::execute

#ifndef SHARDTYPE_COMPILED
#include <shardtype/lazy/run.ipp>
#include <shardtype/runtime/instance.hpp>
#endif
