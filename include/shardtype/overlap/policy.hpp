#pragma once
/// How a product with communication beside it is run.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <shardtype/plan/machine.hpp>
#include <shardtype/plan/overlap.hpp>

namespace shardtype {

namespace overlap {

/// A product and the collective before or after it, as they are alone.
struct Workload {
  double product = 0;        ///< seconds
  double communication = 0;  ///< seconds
  std::int64_t ranks = 1;
  std::int64_t chunks = 1;  ///< messages of a block, one way
  bool sums = false;        ///< a reduce_scatter or all_reduce after the product
};

/// Predicted seconds. What a ring cannot hide is a chunk of whatever takes less: the last product, or for sums
/// the first one, or the first message. With more than two ranks, blocks that come from both sides halve that;
/// sums wait for the rank before on both sides alike.
inline double predicted(Overlap how, Workload const& w, Machine const& m) {
  if (how == Overlap::none) return w.product + w.communication;
  double const pieces = static_cast<double>(w.ranks * w.chunks);
  bool const both_ways = how == Overlap::bidirectional && w.ranks > 2 && !w.sums;
  return std::max(w.product * m.cut_product, w.communication) +
         std::min(w.product, w.communication) / pieces * (both_ways ? 0.5 : 1.0);
}

/// The fastest between nodes.
inline Overlap fastest(Workload const& w, Machine const& m) {
  Overlap best = Overlap::none;
  for (Overlap const how : {Overlap::ring, Overlap::bidirectional})
    if (predicted(how, w, m) < predicted(best, w, m)) best = how;
  return best;
}

/// How a block goes round: `directions` 1, or 2 for half of it each way; each in `chunks` messages. At most
/// `piece` flops are made without a look at what has come.
struct Route {
  int directions = 1;
  std::int64_t chunks = 8;
  double piece = 1.5e9;
};

/// Bytes of a message: smaller ones make the network slower. Lowered by tests only.
inline std::int64_t message_bytes = std::int64_t{1} << 17;

/// The messages for blocks of at most `rows` rows of `row_bytes`, 16 each way at most. More of them hide
/// more, until what each costs outweighs it: an MPI call between products, some ten latencies.
inline Route route(Overlap how, std::int64_t rows, std::int64_t row_bytes, Machine const& m) {
  Route out;
  out.piece = 0.03 * m.flops_per_second;  // what is below MPI holds so long's bytes
  out.directions = how == Overlap::bidirectional ? 2 : 1;
  std::int64_t const one_way = (rows + out.directions - 1) / out.directions;
  auto const bytes = static_cast<double>(one_way * row_bytes);
  double const hidden = std::sqrt(bytes / m.bytes_per_second / (10 * m.latency));
  auto const wanted = static_cast<std::int64_t>(
      std::clamp(std::min(hidden, bytes / static_cast<double>(message_bytes)), 1.0, 16.0));
  out.chunks = std::min(wanted, std::max<std::int64_t>(one_way, 1));
  return out;
}

}  // namespace overlap

}  // namespace shardtype
