#pragma once
/// Definitions of take_rows.hpp.

#include <shardtype/execute/take_rows.hpp>

namespace shardtype::execute::runs {

SHARDTYPE_INLINE void find_runs(Rows const& base, detail::List<Rows> const& parts,
                                std::int64_t longest, StepScratch& s) {
  s.run_at.assign(1, 0);
  s.run_row.clear();
  s.run_first.assign(1, 0);
  for (Rows const& part : parts) {
    for (std::int64_t i = 0, k = 0; i < base.count && k < part.count;) {
      std::int64_t const here = base[i];
      std::int64_t const there = part[k];
      if (here < there) {
        i = base.below(there);
      } else if (there < here) {
        k = part.below(here);
      } else {
        std::int64_t const n = std::min({base.in_a_row(i), part.in_a_row(k), longest});
        s.run_row.push_back(i);
        s.run_at.push_back(s.run_at.back() + n);
        i += n;
        k += n;
      }
    }
    s.run_first.push_back(static_cast<std::int64_t>(s.run_row.size()));
  }
}

SHARDTYPE_INLINE void order_runs(StepScratch& s) {
  s.run_order.clear();
  for (std::size_t r = 0; r < s.run_row.size(); ++r)
    s.run_order.push_back(static_cast<std::int64_t>(r));
  auto const before = [&](std::int64_t a, std::int64_t b) {
    return s.run_row[static_cast<std::size_t>(a)] < s.run_row[static_cast<std::size_t>(b)];
  };
  if (!std::is_sorted(s.run_order.begin(), s.run_order.end(), before))
    std::sort(s.run_order.begin(), s.run_order.end(), before);
}

}  // namespace shardtype::execute::runs
