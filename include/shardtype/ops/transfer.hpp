#pragma once
/// The same value on another mesh.

#include <array>
#include <cstdint>
#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/transfer.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/execute/carrier.hpp>

namespace shardtype {

namespace execute {
template <MeshAxis... Ys, class... Out>
struct Run<op::Transfer<Mesh<Ys...>, Out...>> {
  using Op = op::Transfer<Mesh<Ys...>, Out...>;
  template <class R, class A>
  static typename R::result run(Op const& op, std::source_location const& where, A const& a) {
    using To = typename R::result;
    Ends<R> const ends(a, *op.mesh);
    TransferPlan const plan = ends.plan(sizeof(typename A::element));
    int const me = shardtype::detail::job_rank();
    std::array<std::int64_t, To::rank> extents{};
    for (std::size_t d = 0; d < To::rank; ++d) extents[d] = ends.extents[R::spec.dims[d].label];
    Carrier<typename A::element, typename A::memory_space> carrier(a.mesh().state(),
                                                                   op.mesh->state(), plan, where);
    return To(*op.mesh, extents,
              carrier.run({ends.from, ends.extents, me}, {ends.to, ends.extents, me},
                          static_cast<typename A::element const*>(a.buffer().data())));
  }
  /// The plan: bytes from rank to rank. Communicates nothing.
  template <class R, class A>
  static TransferPlan plan(Op const& op, A const& a) {
    return Ends<R>(a, *op.mesh).plan(sizeof(typename A::element));
  }
};
}  // namespace execute

/// The same value on another mesh: `transfer<Dim<I, P>, Dim<J>>(a, mesh)` converts `A[I@X, J]` on
/// `Mesh<X>` to `A[I@P, J]` on `Mesh<P>`. The meshes may have other axes, another number or order
/// of ranks, and ranks in common or none; dims may be listed in another order.
///
/// Each rank receives each element that it needs and lacks once, from one of the ranks that hold
/// it; `plan_transfer` gives the bytes. Collective over the ranks of both meshes. Refused: A02
/// while unreduced (all_reduce or reduce_scatter it first), B03 with cyclic dims, R01, R02, N05,
/// M01.
template <class... Out, class A, class... Ys>
auto transfer(A const& a, Mesh<Ys...> const& mesh,
              checking::CallSite where = std::source_location::current()) {
  return call(op::Transfer<Mesh<Ys...>, Out...>{&mesh}, where, a);
}

/// The plan of `transfer<Out...>(a, mesh)`: bytes from rank to rank, in ranks of the job.
/// Communicates nothing; refuses what transfer refuses.
template <class... Out, class A, class... Ys>
auto plan_transfer(A const& a, Mesh<Ys...> const& mesh) {
  return plan_at(op::Transfer<Mesh<Ys...>, Out...>{&mesh}, a);
}

}  // namespace shardtype
