#pragma once
/// Mesh axes: the dimensions of the grid of ranks.

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <shardtype/core/limits.hpp>
#include <shardtype/core/name.hpp>

namespace shardtype {

struct AxisBase {};

/// A mesh axis. Derive from it, so that compilers print `X` instead of the template:
///
///     struct X : Axis<"X", 2> {};   // two ranks along X
///     struct Y : Axis<"Y"> {};      // as many as the Mesh is given at run time
template <core::FixedString Name, std::int64_t Size = dynamic>
struct Axis : AxisBase {
  static_assert(Size == dynamic || Size >= 1, "a mesh axis has at least one rank");
  static constexpr std::string_view name = Name.view();
  static constexpr std::int64_t size = Size;
};

namespace detail {
// std::derived_from would cost a millisecond of compile time per type
void as_axis(AxisBase const*);
}  // namespace detail

/// A type derived from `Axis`.
template <class X>
concept MeshAxis = requires(X* any) { detail::as_axis(any); } && !std::same_as<X, AxisBase>;

}  // namespace shardtype
