#pragma once
/// The plan of sorting rows: its runs, its merges, and the buffers between them.

#include <cstdint>

namespace shardtype::planning {

/// Length of a run that is sorted by insertion.
inline constexpr std::int64_t insertion = 16;
/// Largest number of elements that are kept by selection: each run is read once, and elements less
/// than the last kept one are inserted.
inline constexpr std::int64_t selection = 32;

/// Longest run on the host: it fits into the cache.
inline constexpr std::int64_t host_run = 8192;

/// The plan of sorting rows of `n` elements, of which the first `keep` are wanted.
struct SortPlan {
  std::int64_t rows, n, keep;
  std::int64_t run = insertion;
  int in_runs = 0;  ///< number of merges within a run
  int merges = 0;   ///< number of merges of runs
  bool selects = false;
  bool packs = false;  ///< device: lists of selected elements are packed, and merged within `a`

  /// Whether the sorted rows end up in the first of the two buffers.
  constexpr bool ends_in_first() const { return packs || (in_runs + merges) % 2 == 0; }
  /// Whether there is a second buffer: the same on a device as on the host, for which plans count
  /// it.
  constexpr bool has_second() const { return packs ? n > host_run : in_runs + merges > 0; }
  /// Elements from one sorted row to the next.
  constexpr std::int64_t pitch() const { return packs ? keep : n; }
};

/// `host`: for a processor with caches; otherwise for a device.
constexpr SortPlan plan_sort(std::int64_t rows, std::int64_t n, std::int64_t keep, bool host) {
  SortPlan p{rows, n, keep};
  p.selects = keep <= selection && n > 2 * selection;
  p.packs = !host && p.selects;
  // a run that fits into the cache, or keeps a device's threads busy
  std::int64_t const most = host ? host_run : p.selects ? 256 : 64;
  // if few elements are kept, sorting more than twice as many is wasted
  while (p.run < n && p.run < most && (p.selects || p.run < 2 * keep)) {
    p.run *= 2;
    if (!p.selects) ++p.in_runs;
  }
  for (std::int64_t width = p.run; width < n; width *= 2) ++p.merges;
  return p;
}

}  // namespace shardtype::planning
