#pragma once
/// Definitions of policy.hpp.

#include <shardtype/overlap/policy.hpp>

namespace shardtype::overlap {

SHARDTYPE_INLINE double predicted(Overlap how, Workload const& w, Machine const& m) {
  if (how == Overlap::none) return w.product + w.communication;
  double const pieces = static_cast<double>(w.ranks * w.chunks);
  bool const both_ways = how == Overlap::bidirectional && w.ranks > 2 && !w.sums;
  return std::max(w.product * m.cut_product, w.communication) +
         std::min(w.product, w.communication) / pieces * (both_ways ? 0.5 : 1.0);
}

SHARDTYPE_INLINE Overlap fastest(Workload const& w, Machine const& m) {
  Overlap best = Overlap::none;
  for (Overlap const how : {Overlap::ring, Overlap::bidirectional})
    if (predicted(how, w, m) < predicted(best, w, m)) best = how;
  return best;
}

SHARDTYPE_INLINE Route route(Overlap how, std::int64_t rows, std::int64_t row_bytes,
                             Machine const& m) {
  Route out;
  out.piece = 0.03 * m.flops_per_second;  // the transport below MPI buffers about 30 ms of traffic
  out.directions = how == Overlap::bidirectional ? 2 : 1;
  std::int64_t const one_way = (rows + out.directions - 1) / out.directions;
  auto const bytes = static_cast<double>(one_way * row_bytes);
  double const hidden = std::sqrt(bytes / m.bytes_per_second / (10 * m.latency));
  auto const wanted = static_cast<std::int64_t>(std::clamp(
      std::min(hidden, bytes / static_cast<double>(run_time.sending().message_bytes)), 1.0, 16.0));
  out.chunks = std::min(wanted, std::max<std::int64_t>(one_way, 1));
  return out;
}

}  // namespace shardtype::overlap
