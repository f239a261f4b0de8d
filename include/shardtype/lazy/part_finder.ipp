#pragma once
/// Definitions of part_finder.hpp.

#include <shardtype/core/error.hpp>
#include <shardtype/lazy/part_finder.hpp>

namespace shardtype::execute {

SHARDTYPE_INLINE bool PartFinder::found(Identity type, int&) const {
  for (Identity known : found_)
    if (known == type) return true;
  return false;
}

SHARDTYPE_INLINE bool PartFinder::is_known(Identity tag, void const* at, int&) const {
  for (std::size_t k = 0; k < tags_.size(); ++k) {
    if (tags_[k] != tag) continue;
    if (objects_[k] != at)
      throw Error("E70",
                  "one share(...) of the program text was run twice, and both values stand in one "
                  "expression; give each a tag of its own: share<struct First>(a)",
                  FailedOn::every_rank);
    return true;
  }
  return false;
}

SHARDTYPE_INLINE int PartFinder::share(Identity tag, void const* at, int) {
  tags_.push_back(tag);
  objects_.push_back(at);
  return 0;
}

}  // namespace shardtype::execute
