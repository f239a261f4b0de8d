#pragma once
/// Whether a product communicates while it computes.

namespace shardtype::planning {

/// `none`: communicate, then compute, or the other way round, as the plan says. `ring`: blocks go round in
/// chunks while they are multiplied. `bidirectional`: half of each block either way round. `shared`: ranks of
/// one node multiply straight out of, and into, memory that they share. `automatic`: shared within one node,
/// where every copy takes a core that multiplies; between nodes what `machine_here()` makes the fastest of
/// the first three.
enum class Overlap { none, ring, bidirectional, shared, automatic };

}  // namespace shardtype::planning

namespace shardtype {
using planning::Overlap;
}  // namespace shardtype
