#pragma once
/// The plan of an operation on given tensors as text, with their actual sizes.

#include <string>
#include <type_traits>

#include <shardtype/core/text.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/plan/explain.hpp>
#include <shardtype/tensor/operand.hpp>

namespace shardtype::api {

/// `explain(op::Matmul<Dim<I, X>, Dim<K, Y>>{}, a, b)`: the plan of `plan_at` as text, on
/// the tensors' machine and nodes.
template <class Op, class A, class... B>
  requires MarksOperation<Op>
std::string explain(Op const& op, core::Argument<A> const& a, B const&... b) {
  return api::explain(
      api::plan_at(op, detail::operand(a.self()), detail::operand(b)...),
      checking::Resolve<Op, detail::operand_t<A>, detail::operand_t<B>...>::S::names,
      api::machine_here(detail::operand(a.self()).mesh()));
}

/// The calling rank's coordinates along the axes of this operation, in the plan's numbering: the
/// argument of `plan_at(...).bytes(coords)`.
template <class Op, class A, class... B>
Coords coords_in(Op const&, core::Argument<A> const& a, B const&...) {
  return runtime::map_axes(a.self().mesh().state(), checking::Resolve<Op, A, B...>::S::names)
      .coords;
}

/// The type as text: `f32[I@X, J]{U:Y}`.
template <class A>
std::string type_name() {
  return detail::element_name<typename A::element>() +
         core::spec_text(A::spec, core::Scope<A>::names);
}
/// The type with the tensor's extents: `f32[1500@X, 1100]{U:Y}`.
template <class A>
std::string type_name(core::Argument<A> const& a) {
  Extents extents;
  for (std::size_t d = 0; d < A::rank; ++d)
    extents.at[A::spec.dims[d].label] = a.self().extents()[d];
  return detail::element_name<typename A::element>() +
         core::spec_text(A::spec, core::Scope<detail::operand_t<A>>::names, &extents);
}

}  // namespace shardtype::api
