#pragma once
/// The transpose of halo_exchange.

#include <array>
#include <cstdint>
#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/window.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/execute/window.hpp>
#include <shardtype/kernels/fill.hpp>
#include <shardtype/ops/halo_exchange.hpp>

namespace shardtype::checking {

/// The operand is a Halo; the result is the tensor whose halos it has.
template <class I, class A, class J>
struct Resolve<op::HaloAdd<I>, Halo<A, J>> : Resolve<op::HaloAdd<I>, A> {};

}  // namespace shardtype::checking

namespace shardtype {

namespace execute {
template <class I>
struct Run<op::HaloAdd<I>> {
  template <class R, class A>
  static A run(op::HaloAdd<I> const& op, std::source_location const& where, Halo<A, I> const& h) {
    kernels::Layout const block = detail::block_layout(A::local_rows(h.mesh(), h.extents()));
    kernels::Layout with_halo = block;
    for (std::size_t d = 0; d < A::rank; ++d) with_halo.extent[d] = h.local_extents()[d];
    return A(h.mesh(), h.extents(),
             exchange_halo<R, true>(op, where, h, with_halo.packed(), block));
  }
};
}  // namespace execute

/// The plan of adding up halos of tensors of type `A`.
template <class I, class A, class J>
constexpr decltype(auto) plan(op::HaloAdd<I> const& op, Type<Halo<A, J>>) {
  return plan(op, type<A>);
}

/// Adds the rows of the halos to the rows that they stand for, on the ranks that hold these: a Halo of
/// `A[I@X, J]` -> `halo_add(h)` -> `A[I@X, J]`, the transpose of `halo_exchange<I>`, whose gradient it
/// computes. A row of the result is the sum of the own one and of those in the halos, in the order of
/// their ranks, so the same bits in each run. Rows beyond the ends are ignored, or with
/// `op::Edge::wrap` added to rows of the other end. Each rank sends the rows that it receives in
/// halo_exchange. Refused: B03, C11 of bool, I07 of an unreduced maximum or minimum.
template <class A, class I>
auto halo_add(Halo<A, I> const& h, checking::CallSite where = std::source_location::current()) {
  planning::Window const& w = h.window();
  return call(op::HaloAdd<I>{-w.low, w.high, w.edge}, where, h);
}
/// Of a halo_exchange that was refused: nothing more is said.
inline checking::Poisoned halo_add(checking::Poisoned const&) { return {}; }

/// A Halo like `h` with zeros: to write a cotangent of `h`, for halo_add. Communicates nothing.
template <class A, class I>
Halo<A, I> zeros_like(Halo<A, I> const& h) {
  using T = typename A::element;
  using Space = typename A::memory_space;
  runtime::Buffer rows;
  if (h.mesh().here()) {
    rows = h.mesh().state().pool().template take<Space>(static_cast<std::size_t>(h.local_size()) *
                                                        sizeof(T));
    typename Space::execution_space const exec{};
    kernels::fill(exec, static_cast<T*>(rows.data()), h.local_size(), T{});
    exec.fence();
  }
  return Halo<A, I>(h, std::move(rows));
}

}  // namespace shardtype
