#pragma once
/// Definitions of carrier.hpp.

#include <shardtype/execute/carrier.hpp>

namespace shardtype::execute {

SHARDTYPE_INLINE Placement placement(MeshState const& mesh, Names const& names, Spec const& spec) {
  AxisMap const axes = map_axes(mesh, names);
  Placement p;
  p.spec = spec;
  p.sizes = axes.sizes;
  p.ranks = mesh.job_ranks();
  p.coords.resize(p.ranks.size());
  for (std::size_t k = 0; k < p.ranks.size(); ++k) {
    auto rest = static_cast<std::int64_t>(k);
    for (std::size_t m = mesh.axes().size(); m-- > 0;) {
      std::int64_t const size = mesh.axes()[m].size;
      for (int x = 0; x < names.axes; ++x)
        if (axes.position[x] == static_cast<int>(m)) p.coords[k].at[x] = rest % size;
      rest /= size;
    }
  }
  return p;
}

}  // namespace shardtype::execute
