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

namespace execute {

/// Error E65, on the ranks that differ, unless all ranks of the group hold the same bytes as the
/// first one, which sends them by the broadcast `call`. Collective over the mesh.
template <class T, class Space, class L>
void check_equal(L const& block, AxisMap const& map, planning::BlockCall call,
                 std::string const& axes, std::source_location const& where) {
  MeshState& mesh = block.mesh().state();
  std::int64_t const elements = block.local_size();
  MPI_Comm const comm = group_of(mesh, map, call.axes).raw();
  std::int64_t const least = detail::reduce_number(comm, elements, MPI_MIN);
  std::int64_t const most = detail::reduce_number(comm, elements, MPI_MAX);
  if (least != most)
    throw Error("E65", "a block that is promised to be the same along axis " + axes + " has " +
                           std::to_string(elements) + " elements on this rank, and from " +
                           std::to_string(least) + " to " + std::to_string(most) +
                           " on those of the group");
  call.sizes = map.sizes;
  Buffer const theirs =
      execute::run_block_call<T, Space>(mesh, map, call, {.from = 0}, block.buffer(), where);
  auto const count = static_cast<std::size_t>(elements);
  auto const on_host = [&](Buffer const& from) {
    Buffer const to = mesh.pool().template take<Kokkos::HostSpace>(count * sizeof(T));
    Kokkos::deep_copy(Flat<T, Kokkos::HostSpace>(static_cast<T*>(to.data()), count),
                      Flat<T const, Space>(static_cast<T const*>(from.data()), count));
    return to;
  };
  if (std::memcmp(on_host(block.buffer()).data(), on_host(theirs).data(), count * sizeof(T)) != 0)
    throw Error("E65", "a block that is promised to be the same along axis " + axes +
                           " differs from that of the first rank of the group");
}

}  // namespace execute

namespace api {

/// Inside of shard_map: a block with uninitialized memory of its own, for the caller's kernels to
/// write: `raw_local<float, Dim<I>>(mesh, {4})` -> `f32[I]{V:X,Y}`. It varies over every axis,
/// because nothing is known about its values. Its `mutable_local()` is the Kokkos view.
/// Communicates nothing.
template <class T, class... Dims, MeshAxis... Xs>
auto raw_local(runtime::MeshOf<Xs...> const& mesh,
               std::array<std::int64_t, sizeof...(Dims)> const& extents) {
  return detail::uninitialized<
      typename detail::VaryingBlock<T, detail::Pack<Dims...>, Xs...>::type>(mesh, extents);
}

/// Asserts that the ranks along X hold identical blocks, which no rule can check: `a[I]{V:X}` ->
/// `assume_invariant<X>(a)` -> `[I]`. Communicates nothing; with SHARDTYPE_CHECK=values the blocks
/// are compared, byte by byte, and error E65 names a rank that differs. Refused: V03, V06, T05, X03
/// a value whose gradient is wanted.
template <class... Xs, detail::FieldType A>
auto assume_invariant(core::Argument<A> const& a, checking::CallSite where = {}) {
  using L = detail::leaving_t<A>;
  using R = detail::Invariant<L, Xs...>;
  using Judged = detail::judged_t<R, L>;
  if constexpr (!detail::accepts<Judged>) {
    return checking::Poisoned(Judged{});
  } else if constexpr (core::is_active<A>) {
    return checking::Poisoned(checking::refused<rules::Code::X03_not_differentiable, false, L>{});
  } else {
    using Out = detail::accepted_t<R, typename L::element, L>;
    auto const& block = detail::operand(a.self());
    if (runtime::run_time.settings.check_values && block.mesh().here()) {
      core::AxisList over;
      for (int x = 0; x < core::max_axes; ++x)
        if (R::S::template spec<1>.reduced.contains(x)) over.push(x);
      planning::BlockCall const call{.how = rules::Movement::broadcast,
                                     .axes = over,
                                     .given = R::S::template spec<0>,
                                     .given_extents = block.extents().data()};
      execute::check_equal<typename L::element, typename L::memory_space>(
          block, runtime::map_axes(block.mesh().state(), R::S::names), call,
          core::axes_text(R::S::template spec<1>.reduced, R::S::names), where);
    }
    return Out(block.mesh(), block.extents(), block.buffer());
  }
}

}  // namespace api

}  // namespace shardtype
