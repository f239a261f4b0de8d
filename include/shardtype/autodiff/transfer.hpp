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

/// The cotangent goes back to the operand's mesh and sharding, so the backward pass is collective
/// over both meshes. Refused, X03: an operand or result that is reduced over axes, whose cotangent
/// is an unreduced sum, which no transfer takes.
template <class Target, class... Out>
struct Vjp<op::Transfer<Target, Out...>> {
  static constexpr bool exists = true;
  static constexpr bool communicates = true;
  using Op = op::Transfer<Target, Out...>;

  template <int K, class V, class A>
  static constexpr Verdict judge() {
    using From = tensor_of<A>;
    bool const whole = Scope<From>::template spec<0>.reduced.empty() &&
                       Scope<tensor_of<V>>::template spec<0>.reduced.empty();
    return whole ? Verdict{} : refuse(Code::X03_not_differentiable);
  }
  template <class V, class A>
  static auto save(Op const&, V const&, A const& a) {
    return CameFrom{a.mesh()};
  }
  template <int K, class V, class A, class C>
  static auto pull(Op const&, CameFrom const& saved, C const& ct) {
    return api::call(
        op::Transfer<shardtype::detail::AnyMesh, cotangent_t<tensor_of<A>>>{&saved.mesh},
        std::source_location{}, ct);
  }
};

}  // namespace shardtype::autodiff
