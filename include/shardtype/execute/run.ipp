#pragma once
/// Definitions of run.hpp.

#include <shardtype/execute/run.hpp>

namespace shardtype::execute {

SHARDTYPE_INLINE Plan choose_plan(Planner const& planner, Sizing const& z) {
  Sizing const open{planner.names.extents(), planner.names.sizes(), planner.element_bytes};
  return shardtype::detail::choose_plan(planner.make, planner.names, open, z, {});
}

SHARDTYPE_INLINE Call call_of(CallType const& type, std::source_location const& where,
                              Overlap overlap, Operand first, Operand second) {
  first.spec = &type.parsed[0].spec;
  if (second.mesh != nullptr) second.spec = &type.parsed[1].spec;
  Planner const planner{*type.names, type.element_bytes, type.make, type.choose};
  return {planner, *type.plans, where, first, second, overlap};
}

SHARDTYPE_INLINE void note_extents(Extents& known, Names const& names, Spec const& s,
                                   std::int64_t const* extents, char const* operand) {
  for (int d = 0; d < s.rank; ++d) {
    int const l = s.dims[d].label;
    if (known.at[l] != dynamic && known.at[l] != extents[d])
      throw Error("E24",
                  "index " + std::string(names.label_name[l]) + " has extent " +
                      std::to_string(extents[d]) + " in " + operand + ", elsewhere " +
                      std::to_string(known.at[l]),
                  FailedOn::every_rank);
    known.at[l] = extents[d];
  }
}

SHARDTYPE_INLINE Plan const& PlanCache::get(Sizing const& z, Planner const& planner) {
  if (known_ == nullptr) known_ = &*all().push_back(detail::Owned(new Known));
  for (auto const& p : *known_)
    if (p->sizing == z) return *p;
  // shapes that change at every call must not fill the memory
  if (known_->size() == 64) known_->erase(0);
  detail::Owned<Plan const> plan(new Plan const(planner(z)));
  if (!countable(plan->result, z.extents))
    throw Error("E20", "the result would have more than 2^58 elements", FailedOn::every_rank);
  return *known_->push_back(std::move(plan));
}

SHARDTYPE_INLINE Sizing Call::sizing(AxisMap const& axes) const {
  Names const& names = planner.names;
  if (on_two()) detail::check_one_mesh(mesh(), *second.mesh);
  Sizing z{names.extents(), axes.sizes, planner.element_bytes};
  note_extents(z.extents, names, *first.spec, first.extents, "the first operand");
  if (on_two()) note_extents(z.extents, names, *second.spec, second.extents, "the second operand");
  return z;
}

SHARDTYPE_INLINE PlannedCall::PlannedCall(Call const& call, std::int64_t* extents)
    : mesh_(call.mesh()),
      axes_(map_axes(mesh_.state(), call.planner.names)),
      sizing_(call.sizing(axes_)),
      plan_(call.plans.get(sizing_, call.planner)) {
  for (int d = 0; d < plan_.result.rank; ++d)
    extents[d] = sizing_.extents[plan_.result.dims[d].label];
}

}  // namespace shardtype::execute
