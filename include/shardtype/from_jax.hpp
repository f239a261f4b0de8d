#pragma once
/// JAX's names for functions of this library, for readers who come from JAX: `jax::psum<X>(a)` is
/// `all_reduce<X>(a)`. Types, refusals and costs are those of the function named beside each.

// A user's global may have the name of a local variable of ours.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <shardtype/check/call_site.hpp>
#include <shardtype/shardtype.hpp>

namespace shardtype::jax {

using shardtype::all_to_all;
using shardtype::axis_index;
using shardtype::axis_size;
using shardtype::ragged_all_to_all;
using shardtype::reduced;
using shardtype::shard_map;
using shardtype::unreduced;

/// all_reduce. Of an invariant value JAX returns the value times the axis size; here it is refused,
/// V03.
template <class... Xs, class A>
auto psum(A const& a, checking::CallSite where = {}) {
  return api::all_reduce<Xs...>(a, where);
}
/// all_reduce<Mean, ...>, all_reduce<Max, ...>, all_reduce<Min, ...>.
template <class... Xs, class A>
auto pmean(A const& a, checking::CallSite where = {}) {
  return api::all_reduce<Mean, Xs...>(a, where);
}
template <class... Xs, class A>
auto pmax(A const& a, checking::CallSite where = {}) {
  return api::all_reduce<Max, Xs...>(a, where);
}
template <class... Xs, class A>
auto pmin(A const& a, checking::CallSite where = {}) {
  return api::all_reduce<Min, Xs...>(a, where);
}

/// jax.lax.all_gather(tiled=True): `all_gather<X, I>(a, to_varying)`, equal on all ranks and typed
/// varying. With a new index: tiled=False.
template <class... Named, class A>
auto all_gather(A const& a, checking::CallSite where = {}) {
  return shardtype::all_gather<Named...>(a, to_varying, where);
}
/// The same, typed invariant, and typed reduced.
template <class... Named, class A>
auto all_gather_invariant(A const& a, checking::CallSite where = {}) {
  return shardtype::all_gather<Named...>(a, where);
}
template <class... Named, class A>
auto all_gather_reduced(A const& a, checking::CallSite where = {}) {
  return shardtype::all_gather<Named...>(a, to_reduced, where);
}
/// reduce_scatter, tiled=True.
template <class... Named, class A>
auto psum_scatter(A const& a, checking::CallSite where = {}) {
  return api::reduce_scatter<Named...>(a, where);
}
/// permute, pair by pair.
template <class... Xs, class A>
auto ppermute(A const& a, std::span<SourceDestination const> pairs, checking::CallSite where = {}) {
  return api::permute<Xs...>(a, pairs, where);
}
template <class... Xs, class A>
auto ppermute(A const& a, std::initializer_list<SourceDestination> pairs,
              checking::CallSite where = {}) {
  return api::permute<Xs...>(a, pairs, where);
}
/// permute by a permutation of the whole group: member k of the group receives the block of member
/// `from[k]`. Error E64: `from` is not a permutation of the group's ranks.
template <class... Xs, class A>
auto pshuffle(A const& a, std::span<int const> from, checking::CallSite where = {}) {
  if (static_cast<std::int64_t>(from.size()) != shardtype::axis_size<Xs...>())
    throw Error("E64", "pshuffle was given " + std::to_string(from.size()) +
                           " ranks for a group of " +
                           std::to_string(shardtype::axis_size<Xs...>()));
  std::vector<SourceDestination> pairs;
  for (int to = 0; to < static_cast<int>(from.size()); ++to)
    pairs.push_back({from[static_cast<std::size_t>(to)], to});
  return api::permute<Xs...>(a, std::span<SourceDestination const>(pairs), where);
}
/// `all_to_all<X, I, I>`: swaps the mesh axis with dim I, whose extent is the axis size.
template <class... Named, class A>
auto pswapaxes(A const& a, checking::CallSite where = {}) {
  return shardtype::all_to_all<Named...,
                               std::tuple_element_t<sizeof...(Named) - 1, std::tuple<Named...>>>(
      a, where);
}
/// broadcast_from, typed varying.
template <class... Xs, class A>
auto pbroadcast(A const& a, int source, checking::CallSite where = {}) {
  return api::broadcast_from<Xs...>(a, source, to_varying, where);
}
/// varying: pcast(to='varying').
template <class... Xs, class A>
auto pvary(A const& a, checking::CallSite where = {}) {
  return api::varying<Xs...>(a, where);
}

/// loop: `body(k, carry)` for k from `lower` to `upper` - 1.
template <class Body, class Carry>
auto fori_loop(std::int64_t lower, std::int64_t upper, Body const& body, Carry const& start) {
  std::int64_t const n = upper > lower ? upper - lower : 0;
  return api::loop(n, start,
                   [&](std::int64_t k, auto const& carry) { return body(lower + k, carry); });
}
/// loop_while.
template <class Condition, class Body, class Carry>
auto while_loop(Condition const& condition, Body const& body, Carry const& start) {
  return api::loop_while(condition, start, body);
}
/// branch.
template <class Condition, class Yes, class No, class... Args>
auto cond(Condition const& condition, Yes const& yes, No const& no, Args const&... args) {
  return api::branch(condition, yes, no, args...);
}
/// branch by a number: `switch_(number, f0, f1, ..., args...)`. `switch` is a keyword of C++.
template <class Number, class... Rest>
auto switch_(Number const& number,  // NOLINT(readability-identifier-naming)
             Rest const&... rest) {
  return api::branch(number, rest...);
}
/// dynamic_slice along one dim.
template <class I, class... Result, class A, class Start>
auto dynamic_slice_in_dim(A const& a, Start const& start, std::int64_t size) {
  return api::dynamic_slice<I, Result...>(a, start, size);
}

}  // namespace shardtype::jax

#pragma GCC diagnostic pop
