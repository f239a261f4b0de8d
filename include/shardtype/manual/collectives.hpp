#pragma once
/// The collectives of manual mode, on Locals: the names of strict mode, and what it has no need of.
///
/// Each takes mesh axes, in the order in which the ranks of the group are numbered (first axis major), and
/// then the dims it works along. Pieces are equal, or it is an Error, E61.

#include <cstdint>
#include <initializer_list>
#include <source_location>
#include <span>

#include <shardtype/manual/moves.hpp>

namespace shardtype {

/// What the result of a collective that makes all blocks equal is typed as: invariant, unless the call
/// says otherwise, as in `all_gather<X, I>(a, to_varying)`.
struct ToVarying {};
struct ToReduced {};
inline constexpr ToVarying to_varying{};
inline constexpr ToReduced to_reduced{};

/// `a[I]{V:X}` -> `all_reduce<X>(a)` -> `[I]`: the sum of the ranks' blocks, on all; also `[I]{U:X}` ->
/// `[I]`. `all_reduce<Max, X>`, `<Min, X>` and `<Mean, X>` (by the number of ranks) likewise. One
/// AllReduce, 2 n (p - 1) / p bytes. JAX: psum, pmax, pmin, pmean. Refused: V03 of an invariant block
/// (JAX multiplies it by the number of ranks), V06, V16, C11 of bools, S04, P12.
template <class... Named, class A>
  requires(detail::is_block<A>)
auto all_reduce(A const& a, std::source_location where = std::source_location::current()) {
  return detail::mean_if_named<Named...>(
      detail::move_block<detail::Now, Movement::all_reduce, AxisState::replicated, Named...>(
          a, where, detail::ReduceBlocks{}));
}

/// `a[I, J]{V:X}` -> `all_gather<X, I>(a)` -> `[I, J]`, invariant: the blocks of the group behind one
/// another along I. An index that `a` lacks becomes a new first dim of one row per rank (JAX: untiled).
/// `all_gather<X, I>(a, to_varying)` leaves it typed `{V:X}` (JAX's default), `to_reduced` `{R:X}` (its
/// cotangent is then a reduce_scatter). Receives n (p - 1) bytes. Refused: V03, V06.
template <class... Named, class A>
  requires(detail::is_block<A>)
auto all_gather(A const& a, std::source_location where = std::source_location::current()) {
  return detail::move_block<detail::Now, Movement::all_gather, AxisState::replicated, Named...>(
      a, where, detail::GatherBlocks{});
}
template <class... Named, class A>
  requires(detail::is_field<A>)
auto all_gather(A const& a, ToVarying,
                std::source_location where = std::source_location::current()) {
  return detail::move_block<detail::Now, Movement::all_gather, AxisState::varying, Named...>(
      a, where, detail::GatherBlocks{});
}
template <class... Named, class A>
  requires(detail::is_field<A>)
auto all_gather(A const& a, ToReduced,
                std::source_location where = std::source_location::current()) {
  return detail::move_block<detail::Now, Movement::all_gather, AxisState::reduced, Named...>(
      a, where, detail::GatherBlocks{});
}

/// `a[I, J]{V:X}` or `{U:X}` -> `reduce_scatter<X, I>(a)` -> `[I, J]{V:X}`: the sum of the ranks' blocks,
/// of which each rank keeps its piece along I. `<Max, X, I>`, `<Min, X, I>`, `<Mean, X, I>` likewise. Sends
/// n (p - 1) / p bytes. JAX: psum_scatter. Refused: V03, V06, V16, K04, C11, S04, P12. Error E61.
template <class... Named, class A>
  requires(detail::is_block<A>)
auto reduce_scatter(A const& a, std::source_location where = std::source_location::current()) {
  return detail::mean_if_named<Named...>(
      detail::move_block<detail::Now, Movement::reduce_scatter, AxisState::varying, Named...>(
          a, where, detail::ScatterBlocks{}));
}

/// `a[I, J]{V:X}` -> `all_to_all<X, I, J>(a)` -> `[I, J]{V:X}`: the block is cut along I into one piece per
/// rank, and the pieces that come are put together along J, which may be I. A J that `a` lacks becomes a
/// new first dim, and I, which then has one row per rank, goes (JAX: untiled). Sends n (p - 1) / p bytes.
/// Refused: V03, V06, K04. Error E61.
template <class... Named, class A>
  requires(detail::is_block<A>)
auto all_to_all(A const& a, std::source_location where = std::source_location::current()) {
  return detail::move_block<detail::Now, Movement::all_to_all, AxisState::varying, Named...>(
      a, where, detail::ExchangePieces{});
}

/// `a[I]{V:X}` -> `permute<X>(a, {{0, 1}, {1, 2}})` -> `[I]{V:X}`: the block of rank 0 of the group to rank
/// 1, and so on. A rank that none is sent to gets zeros. Sends n bytes. JAX: ppermute. Refused: V03, V06.
/// Error E64: a rank outside the group, or one that stands twice as source or as destination.
template <class... Xs, class A>
  requires(detail::is_field<A>)
auto permute(A const& a, std::span<SourceDestination const> pairs,
             std::source_location where = std::source_location::current()) {
  return detail::move_block<detail::Now, Movement::permute, AxisState::varying, Xs...>(
      a, where, detail::PermuteBlocks{pairs});
}
template <class... Xs, class A>
  requires(detail::is_field<A>)
auto permute(A const& a, std::initializer_list<SourceDestination> pairs,
             std::source_location where = std::source_location::current()) {
  return permute<Xs...>(a, std::span<SourceDestination const>(pairs.begin(), pairs.size()), where);
}

/// `a[I]{V:X}` -> `rotate<X>(a, 1)` -> `[I]{V:X}`: each block to the rank `by` places further along the
/// group, round the end. Sends n bytes. A permute that every rank takes part in.
template <class... Xs, class A>
  requires(detail::is_field<A>)
auto rotate(A const& a, std::int64_t by,
            std::source_location where = std::source_location::current()) {
  return detail::move_block<detail::Now, Movement::permute, AxisState::varying, Xs...>(
      a, where, detail::RotateBlocks{by});
}

/// `a[I]{V:X}` -> `broadcast_from<X>(a, 0)` -> `[I]`: the block of rank `root` of the group, on all;
/// `(a, 0, to_varying)` leaves it typed `{V:X}`. JAX: pbroadcast. Refused: V03, V06. Error E64: no such
/// rank.
template <class... Xs, class A>
  requires(detail::is_field<A>)
auto broadcast_from(A const& a, int root,
                    std::source_location where = std::source_location::current()) {
  return detail::move_block<detail::Now, Movement::broadcast, AxisState::replicated, Xs...>(
      a, where, detail::BroadcastBlock{root});
}
template <class... Xs, class A>
  requires(detail::is_field<A>)
auto broadcast_from(A const& a, int root, ToVarying,
                    std::source_location where = std::source_location::current()) {
  return detail::move_block<detail::Now, Movement::broadcast, AxisState::varying, Xs...>(
      a, where, detail::BroadcastBlock{root});
}

/// `a[I]` -> `shard<X, I>(a)` -> `[I]{V:X}`: of an invariant block, each rank keeps its piece along I.
/// Sends nothing. Refused: V05 of one that varies, K04. Error E61.
template <class... Named, class A>
  requires(detail::is_field<A>)
auto shard(A const& a, std::source_location where = std::source_location::current()) {
  return detail::move_block<detail::Now, Movement::shard, AxisState::varying, Named...>(
      a, where, []<class R>(auto& c) {
        int const d = R::dim(0);
        c.set(d, c.piece(d));
        return c.run([&](auto& moves) { return moves.shard(c.a.buffer(), c.around(d)); });
      });
}

// Casts: the same block under another type. They send nothing and share memory.

/// `a[I]` or `a[I]{R:X}` -> `varying<X>(a)` -> `[I]{V:X}`. Operations do it by themselves where operands
/// meet; a loop's carry may need it. JAX: pvary, pcast(to='varying'). Refused: V04, V06.
template <class... Xs, class A>
  requires(detail::is_field<A>)
auto varying(A const& a, std::source_location where = std::source_location::current()) {
  return detail::cast_block<AxisState::varying, Xs...>(a, where);
}
/// `a[I]` -> `reduced<X>(a)` -> `[I]{R:X}`: its cotangent stays unreduced. JAX: pcast(to='reduced').
/// Refused: V04, V05, V06.
template <class... Xs, class A>
  requires(detail::is_block<A>)
auto reduced(A const& a, std::source_location where = std::source_location::current()) {
  return detail::cast_block<AxisState::reduced, Xs...>(a, where);
}
/// `a[I]{V:X}` -> `unreduced<X>(a)` -> `[I]{U:X}`: the blocks are taken as summands, or with
/// `unreduced<Max, X>` as candidates. JAX: pcast(to='unreduced'). Refused: V03, V04, V06, V16.
template <class... Named, class A>
  requires(detail::is_field<A>)
auto unreduced(A const& a, std::source_location where = std::source_location::current()) {
  return detail::cast_block<AxisState::unreduced, Named...>(a, where);
}

}  // namespace shardtype
