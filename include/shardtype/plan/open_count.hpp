#pragma once
/// Counts of plans with loops, where sizes are known only at run time.

#include <cstdint>

#include <shardtype/plan/plan.hpp>

namespace shardtype::planning {

/// The number of collectives of kind `c` for all sizes: exact for steps outside of loops,
/// `unbounded` for a loop whose length, or the steps that run in it, depend on sizes. `open`: the
/// plan without them; `make(extent, ranks)`: the plan if all unknown extents and axis sizes are
/// these. Whether they matter is seen by trying three.
template <class Make>
constexpr int open_count(Plan const& open, Collective c, Make const& make) {
  constexpr std::int64_t most_rounds = 1 << 12;  // longer loops count as unknown
  int outside = 0;
  bool loops = false;
  for (int k = 0; k < open.size; ++k) {
    if (open.steps[k].collective() != c) continue;
    if (open.repeat_of(k) >= 0) {
      loops = true;
    } else {
      outside = add_counts(outside, 1);
    }
  }
  if (!loops) return outside;
  struct Sizes {
    std::int64_t extent;
    std::int64_t ranks;
  };
  int count = -1;
  for (Sizes const& z : {Sizes{1 << 12, 2}, Sizes{3 << 12, 6}, Sizes{1 << 24, 16}}) {
    Plan const p = make(z.extent, z.ranks);
    for (int k = 0; k < p.repeat_count; ++k)
      if (!p.repeats[k].known() || p.repeats[k].rounds > most_rounds) return unbounded;
    int const n = p.count(c);
    if (count >= 0 && n != count) return unbounded;
    count = n;
  }
  return count;
}

}  // namespace shardtype::planning
