#pragma once
/// The gradient of transfers between meshes: the cotangent is transferred back.

#include <source_location>

#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/check/transfer.hpp>
#include <shardtype/ops/collectives.hpp>
#include <shardtype/ops/run_collectives.hpp>
#include <shardtype/runtime/mesh.hpp>

namespace shardtype::autodiff {

/// The mesh that a tensor came from.
struct CameFrom {
  runtime::MeshRef mesh;
};

}  // namespace shardtype::autodiff

namespace shardtype::op {

/// Refused, X03: an operand or result that is reduced over axes, whose cotangent is an unreduced
/// sum, which no transfer takes.
template <class Target, class... Out>
template <int K, class V, class A>
constexpr Verdict Transfer<Target, Out...>::judge() {
  bool const whole = Scope<autodiff::tensor_of<A>>::template spec<0>.reduced.empty() &&
                     Scope<autodiff::tensor_of<V>>::template spec<0>.reduced.empty();
  return whole ? Verdict{} : refuse(Code::X03_not_differentiable);
}
template <class Target, class... Out>
template <class V, class A>
auto Transfer<Target, Out...>::save(V const&, A const& a) const {
  return autodiff::CameFrom{a.mesh()};
}
/// The cotangent goes back to the operand's mesh and sharding, so the backward pass is collective
/// over both meshes.
template <class Target, class... Out>
template <class G>
auto Transfer<Target, Out...>::pull(G const& g) const {
  using Back = Transfer<shardtype::detail::AnyMesh, cotangent_t<typename G::type>>;
  return api::call(Back{&g.saved.mesh}, std::source_location{}, g.ct);
}

}  // namespace shardtype::op
