#pragma once
/// Definitions of node_places.hpp.

#include <shardtype/runtime/node_places.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE NodePlaces places_on(List<int> const& nodes) {
  NodePlaces out;
  List<int> numbers;  // in the job, of each node here
  List<int> held;
  for (int const number : nodes) {
    std::size_t k = 0;
    while (k < numbers.size() && numbers[k] != number) ++k;
    if (k == numbers.size()) {
      numbers.push_back(number);
      held.push_back(0);
    }
    out.node.push_back(static_cast<int>(k));
    out.place.push_back(held[k]++);
  }
  if (numbers.size() <= 1 || numbers.size() == nodes.size()) return {};
  out.first.push_back(0);
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    for (std::size_t g = 0; g < nodes.size(); ++g)
      if (out.node[g] == static_cast<int>(k)) out.members.push_back(static_cast<int>(g));
    out.first.push_back(static_cast<int>(out.members.size()));
    if (held[k] > out.most) out.most = held[k];
  }
  return out;
}

}  // namespace shardtype::detail
