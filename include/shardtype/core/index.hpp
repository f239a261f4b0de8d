#pragma once
/// Index labels: names of tensor dimensions, like the letters of einsum.

#include <concepts>
#include <cstdint>
#include <string_view>

#include <shardtype/core/limits.hpp>
#include <shardtype/core/name.hpp>

namespace shardtype {

struct IndexBase {};

/// An index label. Derive from it:
///
///     struct I : Index<"I"> {};         // extent given when a tensor is created
///     struct K : Index<"K", 4096> {};   // static extent: sizes and costs are compile-time
///     constants
template <core::FixedString Name, std::int64_t Extent = dynamic>
struct Index : IndexBase {
  static_assert(Extent == dynamic || Extent >= 0, "an extent is not negative");
  static constexpr std::string_view name = Name.view();
  static constexpr std::int64_t extent = Extent;
};

namespace detail {
// std::derived_from would cost a millisecond of compile time per type
void as_index(IndexBase const*);
}  // namespace detail

/// A type derived from `Index`.
template <class I>
concept IndexLabel = requires(I* any) { detail::as_index(any); } && !std::same_as<I, IndexBase>;

}  // namespace shardtype
