#pragma once
/// Execution of casts to unreduced sums, and of transfers to another mesh.

#include <array>
#include <cstdint>
#include <source_location>

#include <shardtype/execute/call.hpp>
#include <shardtype/execute/carrier.hpp>
#include <shardtype/execute/take_rows.hpp>
#include <shardtype/kernels/fill.hpp>
#include <shardtype/kernels/unpack.hpp>
#include <shardtype/ops/collectives.hpp>
#include <shardtype/runtime/instance.hpp>
#include <shardtype/tensor/block_layout.hpp>
#include <shardtype/tensor/create.hpp>

namespace shardtype {

namespace detail {

/// Whether the calling rank is the first along every axis over which `Out` is unreduced and `A` is
/// replicated or reduced.
template <class Out, class A>
bool keeps_value(MeshRef const& mesh) {
  using S = Scope<Out, A>;
  AxisMap const axes = runtime::map_axes(mesh.state(), S::names);
  for (int x = 0; x < max_axes; ++x) {
    AxisState const before = S::template spec<1>.state(x);
    bool const whole = before == AxisState::replicated || before == AxisState::reduced;
    if (S::template spec<0>.unreduced.contains(x) && whole && axes.coords[x] != 0) return false;
  }
  return true;
}

template <class Out, class A>
Out as_partial(A const& a) {
  Out out = detail::uninitialized<Out>(a.mesh(), a.extents());
  if (!a.mesh().here()) return out;
  using T = typename A::element;
  typename A::execution_space const& exec = runtime::instance<typename A::execution_space>();
  auto* const to = static_cast<T*>(out.buffer().data());
  kernels::fill(exec, to, out.local_size(), T{});
  if (detail::keeps_value<Out, A>(a.mesh())) {
    std::array<Rows, A::rank> rows = a.rows();
    T const* from = static_cast<T const*>(a.buffer().data());
    Buffer spread;
    if constexpr (A::spec.cyclic_dim() >= 0) {
      for (int d = 0; d < A::spec.rank; ++d) {
        auto const k = static_cast<std::size_t>(d);
        if (rows[k].contiguous() || rows[k] == out.rows()[k]) continue;
        kernels::Layout block = detail::block_layout(rows);
        spread = execute::place_rows<T, typename A::memory_space>(a.mesh().state(), from, block, d,
                                                                  out.rows()[k], rows[k]);
        from = static_cast<T const*>(spread.data());
        rows[k] = out.rows()[k];
      }
    }
    kernels::Layout part = detail::block_layout(out.rows());
    std::int64_t at = 0;
    for (int d = 0; d < A::spec.rank; ++d) {
      auto const k = static_cast<std::size_t>(d);
      at += (rows[k].begin - out.rows()[k].begin) * part.stride[d];
      part.extent[d] = rows[k].size();
    }
    kernels::copy_unpacked(exec, from, part, to + at);
    runtime::fence(exec);
  }
  runtime::fence(exec);
  return out;
}

}  // namespace detail

namespace op {

template <class... Xs>
template <class R, class A>
typename R::result ToPartial<Xs...>::run(std::source_location const&, A const& a) const {
  return detail::as_partial<typename R::result>(a);
}

template <class Target, class... Out>
template <class R, class A>
typename R::result Transfer<Target, Out...>::run(std::source_location const& where,
                                                 A const& a) const {
  using To = typename R::result;
  execute::Ends<R> const ends(a, *mesh);
  TransferPlan const moves = ends.plan(sizeof(typename A::element));
  int const me = detail::job_rank();
  std::array<std::int64_t, To::rank> extents{};
  for (std::size_t d = 0; d < To::rank; ++d) extents[d] = ends.extents[R::spec.dims[d].label];
  execute::Carrier<typename A::element, typename A::memory_space> carrier(
      a.mesh().state(), mesh->state(), moves, where);
  return To(*mesh, extents,
            carrier.run({ends.from, ends.extents, me}, {ends.to, ends.extents, me},
                        static_cast<typename A::element const*>(a.buffer().data())));
}
template <class Target, class... Out>
template <class R, class A>
TransferPlan Transfer<Target, Out...>::plan(A const& a) const {
  return execute::Ends<R>(a, *mesh).plan(sizeof(typename A::element));
}

}  // namespace op

}  // namespace shardtype
