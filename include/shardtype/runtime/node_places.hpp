#pragma once
/// How the members of a communicator lie on nodes.

#include <cstdint>

#include <mpi.h>

#include <shardtype/core/block.hpp>
#include <shardtype/core/compiled.hpp>
#include <shardtype/core/list.hpp>

namespace shardtype::detail {

/// The nodes of a communicator's members. Empty: they share one node, or no two of them share one,
/// or the nodes are not known.
struct NodePlaces {
  List<int> node;     ///< of each member; nodes are numbered by their first members
  List<int> place;    ///< of each member among those of its node
  List<int> members;  ///< node by node
  List<int> first;    ///< where each node begins in `members`; one more: the end
  int most = 0;       ///< members of the fullest node

  int nodes() const { return first.empty() ? 0 : static_cast<int>(first.size()) - 1; }
  int node_of(int member) const { return node[static_cast<std::size_t>(member)]; }
  int place_of(int member) const { return place[static_cast<std::size_t>(member)]; }
  int ranks(int k) const {
    return first[static_cast<std::size_t>(k) + 1] - first[static_cast<std::size_t>(k)];
  }
  /// The `j`-th member of node `k`.
  int member(int k, int j) const {
    return members[static_cast<std::size_t>(first[static_cast<std::size_t>(k)]) +
                   static_cast<std::size_t>(j)];
  }
};

/// The places on `nodes`, the node of each member.
NodePlaces places_on(List<int> const& nodes);

/// The `k`-th of `parts` pieces of `whole`, whose lengths differ by one at most.
inline Range even_part(Range whole, int parts, int k) {
  std::int64_t const length = whole.size() / parts;
  std::int64_t const longer = whole.size() % parts;
  std::int64_t const begin = whole.begin + k * length + (k < longer ? k : longer);
  return {begin, begin + length + (k < longer ? 1 : 0)};
}

}  // namespace shardtype::detail

#ifndef SHARDTYPE_COMPILED
#include <shardtype/runtime/node_places.ipp>
#endif
