#pragma once
/// The choice of the algorithm and the messages that overlap a product with its communication.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <shardtype/core/compiled.hpp>
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
double predicted(Overlap how, Workload const& w, Machine const& m);

/// The fastest algorithm between nodes.
Overlap fastest(Workload const& w, Machine const& m);

/// The route of a block round the ring: in one direction, or half of it in each of 2; in `chunks`
/// messages per direction. Between two progress calls to MPI at most `piece` flops are computed.
struct Route {
  int directions = 1;
  std::int64_t chunks = 8;
  double piece = 1.5e9;
};

/// The messages for blocks of at most `rows` rows of `row_bytes`, at most 16 in each direction.
/// More messages hide more communication until the cost of each outweighs it: an MPI call between
/// products, about ten latencies.
Route route(Overlap how, std::int64_t rows, std::int64_t row_bytes, Machine const& m);

}  // namespace overlap

}  // namespace shardtype

#ifndef SHARDTYPE_COMPILED
#include <shardtype/overlap/policy.ipp>
#endif
