#pragma once
/// How a product with communication beside it is run.

#include <algorithm>
#include <cstdint>

#include <shardtype/runtime/wait.hpp>

namespace shardtype {

/// `none`: communicate, then compute, or the other way round, as the plan says. `ring`: blocks go round in
/// chunks while they are multiplied. `bidirectional`: half of each block either way round. `shared`: ranks of
/// one node multiply straight out of, and into, memory that they share. `automatic`: shared within one node,
/// where every copy takes a core that multiplies; ring between nodes, where the network works beside it.
enum class Overlap { none, ring, bidirectional, shared, automatic };

namespace overlap {

/// How a block goes round: `directions` 1, or 2 for half of it each way; each in `chunks` messages.
struct Route {
  int directions = 1;
  std::int64_t chunks = 8;
};

/// Bytes of a message: smaller ones make the network slower, larger ones hide less. Lowered by tests only.
inline std::int64_t message_bytes = std::int64_t{1} << 19;

/// What is run for `wanted`.
inline Overlap chosen(Overlap wanted) {
  if (wanted != Overlap::automatic) return wanted;
  return shardtype::detail::on_one_node ? Overlap::shared : Overlap::ring;
}

/// The messages for blocks of at most `rows` rows of `row_bytes`, 16 each way at most.
inline Route route(Overlap how, std::int64_t rows, std::int64_t row_bytes) {
  Route out;
  out.directions = how == Overlap::bidirectional ? 2 : 1;
  std::int64_t const one_way = (rows + out.directions - 1) / out.directions;
  std::int64_t const wanted = std::clamp<std::int64_t>(one_way * row_bytes / message_bytes, 1, 16);
  out.chunks = std::min(wanted, std::max<std::int64_t>(one_way, 1));
  return out;
}

}  // namespace overlap

}  // namespace shardtype
