#pragma once
/// How a product is overlapped with its communication.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <shardtype/plan/machine.hpp>
#include <shardtype/plan/overlap.hpp>
#include <shardtype/runtime/run_time.hpp>

namespace shardtype {

namespace overlap {

/// A product and the collective before or after it, without overlap.
struct Workload {
  double product = 0;        ///< seconds
  double communication = 0;  ///< seconds
  std::int64_t ranks = 1;
  std::int64_t chunks = 1;  ///< messages per block in one direction
  bool sums = false;        ///< whether a reduce_scatter or all_reduce follows the product
};

/// Predicted seconds. One chunk of the shorter of the two parts cannot be hidden: the last product
/// (for sums the first), or the first message. With more than two ranks, sending blocks in both
/// directions halves it, except for sums, which wait for the previous rank in both directions.
inline double predicted(Overlap how, Workload const& w, Machine const& m) {
  if (how == Overlap::none) return w.product + w.communication;
  double const pieces = static_cast<double>(w.ranks * w.chunks);
  bool const both_ways = how == Overlap::bidirectional && w.ranks > 2 && !w.sums;
  return std::max(w.product * m.cut_product, w.communication) +
         std::min(w.product, w.communication) / pieces * (both_ways ? 0.5 : 1.0);
}

/// The fastest algorithm between nodes.
inline Overlap fastest(Workload const& w, Machine const& m) {
  Overlap best = Overlap::none;
  for (Overlap const how : {Overlap::ring, Overlap::bidirectional})
    if (predicted(how, w, m) < predicted(best, w, m)) best = how;
  return best;
}

/// How a block travels round the ring: in one direction, or half of it in each of 2; in `chunks`
/// messages per direction. Between two progress calls to MPI at most `piece` flops are computed.
struct Route {
  int directions = 1;
  std::int64_t chunks = 8;
  double piece = 1.5e9;
};

/// The messages for blocks of at most `rows` rows of `row_bytes`, at most 16 in each direction.
/// More messages hide more communication until the cost of each outweighs it: an MPI call between
/// products, about ten latencies.
inline Route route(Overlap how, std::int64_t rows, std::int64_t row_bytes, Machine const& m) {
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

}  // namespace overlap

}  // namespace shardtype
