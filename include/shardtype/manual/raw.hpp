#pragma once
/// Blocks whose contents the type system cannot check: memory written by a user's own kernels, and
/// the user's promise that blocks are identical.

#include <array>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <string>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/manual.hpp>
#include <shardtype/core/text.hpp>
#include <shardtype/manual/moves.hpp>
#include <shardtype/manual/shard_map.hpp>

namespace shardtype {

/// Inside of shard_map: a block with uninitialized memory of its own, for the caller's kernels to
/// write: `raw_local<float, Dim<I>>(mesh, {4})` -> `f32[I]{V:X,Y}`. It varies over every axis,
/// because nothing is known about its values. Its `mutable_local()` is the Kokkos view.
/// Communicates nothing.
template <class T, class... Dims, MeshAxis... Xs>
auto raw_local(Mesh<Xs...> const& mesh, std::array<std::int64_t, sizeof...(Dims)> const& extents) {
  return detail::uninitialized<
      typename detail::VaryingBlock<T, detail::Pack<Dims...>, Xs...>::type>(mesh, extents);
}

/// Asserts that the ranks along X hold identical blocks, which no rule can check: `a[I]{V:X}` ->
/// `assume_invariant<X>(a)` -> `[I]`. Communicates nothing; with SHARDTYPE_CHECK=values the blocks
/// are compared, byte by byte, and error E65 names a rank that differs. Refused: V03, V06, T05, X03 a
/// value whose gradient is wanted.
template <class... Xs, class A>
  requires(detail::is_field<A>)
auto assume_invariant(A const& a, checking::CallSite where = std::source_location::current()) {
  using L = detail::leaving_t<A>;
  using R = detail::invariant_t<L, Xs...>;
  using Judged = detail::judged_t<R, L>;
  if constexpr (!detail::accepts<Judged>) {
    return checking::Poisoned(Judged{});
  } else if constexpr (core::is_active<A>) {
    return checking::Poisoned(checking::refused<rules::Code::X03_not_differentiable, false, L>{});
  } else {
    using Out = core::tensor_from_spec<typename R::S, typename R::Holder, typename L::element, L>;
    auto const& block = detail::operand(a);
    if (runtime::run_time.settings.check_values && block.mesh().here()) {
      core::AxisList over;
      for (int x = 0; x < core::max_axes; ++x)
        if (R::S::template spec<1>.reduced.contains(x)) over.push(x);
      execute::MoveGroup const group(block.mesh().state(), R::S::names, over);
      execute::BlockMoves<typename L::element, typename L::memory_space> moves(block.mesh().state(),
                                                                               group, where);
      moves.check_equal(block.buffer(), block.local_size(),
                        core::axes_text(R::S::template spec<1>.reduced, R::S::names));
    }
    return Out(block.mesh(), block.extents(), block.buffer());
  }
}

}  // namespace shardtype
