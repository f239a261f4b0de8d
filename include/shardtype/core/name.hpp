#pragma once
/// Compile-time text for the names of axes and indices.

#include <cstddef>
#include <string_view>

#include <shardtype/core/namespaces.hpp>

namespace shardtype::core {

/// A string literal as a template argument: the "X" of `Axis<"X", 4>`.
template <std::size_t N>
struct FixedString {
  char text[N]{};

  constexpr FixedString(char const (&literal)[N]) {
    for (std::size_t i = 0; i < N; ++i) text[i] = literal[i];
  }
  constexpr std::string_view view() const { return {text, N - 1}; }
  friend constexpr bool operator==(FixedString const&, FixedString const&) = default;
};

/// Identity of a type as a value: equal pointers mean equal types, so sets of types and look-ups
/// are plain loops.
using Identity = void const*;

}  // namespace shardtype::core

namespace shardtype {

namespace detail {
template <class T>
inline constexpr char identity_of = 0;
}  // namespace detail

}  // namespace shardtype

namespace shardtype::core {

/// The identity of type `T`.
template <class T>
inline constexpr Identity identity = &detail::identity_of<T>;

}  // namespace shardtype::core
