#pragma once
/// Ways to overlap a product with its communication.

namespace shardtype::planning {

/// `none`: communicate and compute one after the other, as the plan says. `ring`: blocks travel
/// round a ring in chunks while they are multiplied. `bidirectional`: half of each block travels in
/// each direction. `shared`: the ranks of one node multiply directly from, and into, memory that
/// they share. `automatic`: `shared` within one node, where every copy takes a core from the
/// product; between nodes the fastest of the first three for `machine_here()`.
enum class Overlap { none, ring, bidirectional, shared, automatic };

}  // namespace shardtype::planning

namespace shardtype {
using planning::Overlap;
}  // namespace shardtype
