#pragma once
/// Definitions of run.hpp.

#include <shardtype/lazy/run.hpp>

namespace shardtype::execute {

SHARDTYPE_INLINE ProgramRun::ProgramRun(MeshRef const& mesh, AxisMap const& axes,
                                        ProgramPlan const& plan, LabelPart const* labels,
                                        AxisPart const* axis_parts,
                                        shardtype::detail::List<ProgramPart> const& parts,
                                        std::source_location const& where)
    : mesh_ref_(mesh),
      mesh_(mesh.state()),
      axes_(axes),
      plan_(plan),
      labels_(labels),
      axis_parts_(axis_parts),
      parts_(parts),
      where_(where) {
  blocks_.resize(static_cast<std::size_t>(plan.size));
  further_.resize(static_cast<std::size_t>(plan.size));
  last_read_.resize(static_cast<std::size_t>(plan.size));
  find_same();
  for (int k = 0; k < plan.size; ++k) {
    last_read(first(k)) = k;
    for (int m = 0; m < plan.steps[k].inputs; ++m) last_read(plan.steps[k].input[m]) = k;
  }
}

SHARDTYPE_INLINE AnyBlock ProgramRun::run() {
  shardtype::detail::Trace* const trace = run_time.trace;
  for (int k = 0; k < plan_.size; ++k) {
    ProgramStep const& s = plan_.steps[k];
    double const begin = trace != nullptr ? trace->now() : 0;
    blocks_[static_cast<std::size_t>(k)] = first(k) != k                        ? block(first(k))
                                           : s.kind == ProgramStep::Kind::given ? given(k)
                                           : s.kind == ProgramStep::Kind::move
                                               ? part_of_elements(k).move(*this, k)
                                               : made(k);
    if (first(k) != k) further(k) = further(first(k));
    if (trace != nullptr && s.kind != ProgramStep::Kind::given) trace->done(k, begin);
    for (int m = 0; m < s.inputs; ++m)
      if (last_read(s.input[m]) == k) drop(s.input[m]);
    if (first(k) != k && last_read(first(k)) == k) drop(first(k));
  }
  return blocks_.back();
}

SHARDTYPE_INLINE AnyBlock ProgramRun::take_result(int step) {
  int const maker = plan_.steps[step].input[0];
  AnyBlock& block = further(maker)[static_cast<std::size_t>(node(step).result) - 1];
  for (int m = step + 1; m < plan_.size; ++m)
    if (plan_.steps[m].kind == ProgramStep::Kind::make && node(m).making == Making::result &&
        first(plan_.steps[m].input[0]) == first(maker) && node(m).result == node(step).result)
      return block;
  return std::exchange(block, {});
}

SHARDTYPE_INLINE AnyBlock ProgramRun::packed_block(int step, Buffer memory) const {
  Spec const spec = plan_.spec(step);
  Sizing const z = plan_.sizing(step);
  kernels::Layout extents;
  extents.rank = spec.rank;
  for (int d = 0; d < spec.rank; ++d) extents.extent[d] = held(spec, d, z, axes_.coords);
  return execute::packed_block(std::move(memory), extents);
}

SHARDTYPE_INLINE void set_extents_of_result(RecordedProgram& p, int node, std::int64_t const* made,
                                            std::string_view name, LabelPart const* labels) {
  ProgramNode const& n = p.nodes[node];
  for (int d = 0; d < n.rank; ++d) {
    std::int64_t& known = p.extents.edit(n.labels[d]);
    if (known != dynamic && known != made[d])
      throw Error("E24",
                  "index " + std::string(labels[n.labels[d]].name) + " has extent " +
                      std::to_string(made[d]) + " in the result of " + std::string(name) +
                      ", elsewhere " + std::to_string(known),
                  FailedOn::every_rank);
    known = made[d];
  }
}

SHARDTYPE_INLINE AnyBlock ProgramRun::made(int step) {
  // the same block with other names
  if (node(step).making == Making::relabel) return input(step, 0);
  ProgramNode const& n = node(step);
  if (n.backward == Backward::none) return part(step).make(*this, step, part(step).part);
  if (n.backward != Backward::pull)
    return part(step).backward->of_elements[static_cast<int>(n.backward)](*this, step, nullptr);
  if (n.making == Making::result) return take_result(step);
  ProgramPart const& of = parts_[static_cast<std::size_t>(n.pulled)];
  MakeBlock const make = n.making == Making::product ? of.make : of.backward->pulls[n.pulls];
  return make(*this, step, of.part);
}

}  // namespace shardtype::execute
