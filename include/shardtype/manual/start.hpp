#pragma once
/// Manual mode's collectives, started and not waited for: each takes what its namesake without `_start`
/// takes, refuses what that refuses, and returns a Pending of what that returns (tensor/pending.hpp).

#include <cstdint>
#include <initializer_list>
#include <source_location>
#include <span>

#include <shardtype/manual/collectives.hpp>
#include <shardtype/manual/ragged.hpp>

namespace shardtype {

/// `a[I]{V:X}` -> `all_reduce_start<X>(a)` -> a Pending of `[I]`; with Max, Min or Mean first likewise.
template <class... Named, class A>
  requires(detail::is_block<A>)
auto all_reduce_start(A const& a, std::source_location where = std::source_location::current()) {
  return detail::mean_if_named<Named...>(
      detail::move_block<detail::Later, Movement::all_reduce, AxisState::replicated, Named...>(
          a, where, detail::ReduceBlocks{}));
}

/// `a[I, J]{V:X}` -> `all_gather_start<X, I>(a)` -> a Pending of `[I, J]`; `to_varying` and `to_reduced` as
/// for all_gather.
template <class... Named, class A>
  requires(detail::is_block<A>)
auto all_gather_start(A const& a, std::source_location where = std::source_location::current()) {
  return detail::move_block<detail::Later, Movement::all_gather, AxisState::replicated, Named...>(
      a, where, detail::GatherBlocks{});
}
template <class... Named, class A>
  requires(detail::is_field<A>)
auto all_gather_start(A const& a, ToVarying,
                      std::source_location where = std::source_location::current()) {
  return detail::move_block<detail::Later, Movement::all_gather, AxisState::varying, Named...>(
      a, where, detail::GatherBlocks{});
}
template <class... Named, class A>
  requires(detail::is_field<A>)
auto all_gather_start(A const& a, ToReduced,
                      std::source_location where = std::source_location::current()) {
  return detail::move_block<detail::Later, Movement::all_gather, AxisState::reduced, Named...>(
      a, where, detail::GatherBlocks{});
}

/// `a[I, J]{V:X}` -> `reduce_scatter_start<X, I>(a)` -> a Pending of `[I, J]{V:X}`.
template <class... Named, class A>
  requires(detail::is_block<A>)
auto reduce_scatter_start(A const& a,
                          std::source_location where = std::source_location::current()) {
  return detail::mean_if_named<Named...>(
      detail::move_block<detail::Later, Movement::reduce_scatter, AxisState::varying, Named...>(
          a, where, detail::ScatterBlocks{}));
}

/// `a[I, J]{V:X}` -> `all_to_all_start<X, I, J>(a)` -> a Pending of `[I, J]{V:X}`.
template <class... Named, class A>
  requires(detail::is_block<A>)
auto all_to_all_start(A const& a, std::source_location where = std::source_location::current()) {
  return detail::move_block<detail::Later, Movement::all_to_all, AxisState::varying, Named...>(
      a, where, detail::ExchangePieces{});
}

/// `a[I]{V:X}` -> `permute_start<X>(a, {{0, 1}, {1, 2}})` -> a Pending of `[I]{V:X}`.
template <class... Xs, class A>
  requires(detail::is_field<A>)
auto permute_start(A const& a, std::span<SourceDestination const> pairs,
                   std::source_location where = std::source_location::current()) {
  return detail::move_block<detail::Later, Movement::permute, AxisState::varying, Xs...>(
      a, where, detail::PermuteBlocks{pairs});
}
template <class... Xs, class A>
  requires(detail::is_field<A>)
auto permute_start(A const& a, std::initializer_list<SourceDestination> pairs,
                   std::source_location where = std::source_location::current()) {
  return permute_start<Xs...>(a, std::span<SourceDestination const>(pairs.begin(), pairs.size()),
                              where);
}

/// `a[I]{V:X}` -> `rotate_start<X>(a, 1)` -> a Pending of `[I]{V:X}`.
template <class... Xs, class A>
  requires(detail::is_field<A>)
auto rotate_start(A const& a, std::int64_t by,
                  std::source_location where = std::source_location::current()) {
  return detail::move_block<detail::Later, Movement::permute, AxisState::varying, Xs...>(
      a, where, detail::RotateBlocks{by});
}

/// `a[I]{V:X}` -> `broadcast_from_start<X>(a, 0)` -> a Pending of `[I]`; `to_varying` as for broadcast_from.
template <class... Xs, class A>
  requires(detail::is_field<A>)
auto broadcast_from_start(A const& a, int root,
                          std::source_location where = std::source_location::current()) {
  return detail::move_block<detail::Later, Movement::broadcast, AxisState::replicated, Xs...>(
      a, where, detail::BroadcastBlock{root});
}
template <class... Xs, class A>
  requires(detail::is_field<A>)
auto broadcast_from_start(A const& a, int root, ToVarying,
                          std::source_location where = std::source_location::current()) {
  return detail::move_block<detail::Later, Movement::broadcast, AxisState::varying, Xs...>(
      a, where, detail::BroadcastBlock{root});
}

/// As ragged_all_to_all, a Pending of its result: the numbers are exchanged before it returns, the rows are
/// under way.
template <class... Xs, class A, class B>
  requires(detail::is_field<A> && detail::is_field<B>)
auto ragged_all_to_all_start(A const& operand, B const& output, RaggedRows const& rows,
                             std::source_location where = std::source_location::current()) {
  return detail::ragged_block<detail::Later, Xs...>(operand, output, rows, where);
}

}  // namespace shardtype
