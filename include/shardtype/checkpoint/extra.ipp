#pragma once
/// Definitions of extra.hpp.

#include <shardtype/checkpoint/extra.hpp>

namespace shardtype::checkpoint {

SHARDTYPE_INLINE bool operator==(Value const& a, Value const& b) {
  return std::visit(
      []<class A, class B>(A const& x, B const& y) {
        if constexpr (std::integral<A> && std::integral<B>) {
          return std::cmp_equal(x, y);
        } else if constexpr (std::is_same_v<A, B>) {
          return x == y;
        } else {
          return false;
        }
      },
      a.value_, b.value_);
}

SHARDTYPE_INLINE Value const& Extra::find(std::string_view name) const {
  auto const found = values_.find(std::string(name));
  if (found == values_.end())
    throw Error("E95", "the checkpoint has no value \"" + std::string(name) + "\"",
                FailedOn::every_rank);
  return found->second;
}

SHARDTYPE_INLINE void Extra::refuse(std::string_view name, char const* wanted) {
  throw Error("E95", "the value \"" + std::string(name) + "\" is not " + wanted,
              FailedOn::every_rank);
}

}  // namespace shardtype::checkpoint
