#pragma once
/// The names of a struct's members, as its declaration spells them.

#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>

#include <shardtype/autodiff/parameters.hpp>

namespace shardtype::train {

using namespace execute;

namespace detail {

template <class S>
struct Placed {
  S value;
};
// Only the addresses of its members are used.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif
template <class S>
extern Placed<S> const placed;

template <class T>
struct PointsTo {
  T const* at;
};
template <class T>
PointsTo(T const*) -> PointsTo<T>;

template <class S, std::size_t K>
constexpr auto member_at() {
  return autodiff::with_members(
      placed<S>.value, [](auto const&... m) { return std::get<K>(std::tuple(PointsTo{&m}...)); });
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

template <auto Member>
constexpr std::string_view text_of_member() {
#if defined(__GNUC__) || defined(__clang__)
  return __PRETTY_FUNCTION__;
#else
  return {};
#endif
}
/// The last identifier before the last brace: `... {(& placed<S>.Placed<S>::value.S::weights)}
/// ...`.
constexpr std::string_view name_in(std::string_view text) {
  constexpr std::string_view letters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  std::size_t const end = text.find_last_of(letters, text.rfind('}'));
  if (end == std::string_view::npos) return {};
  std::size_t const before = text.find_last_not_of(letters, end);
  return text.substr(before + 1, end - before);
}

/// The name of member `K` of the struct `S`.
template <class S, std::size_t K>
inline constexpr std::string_view member_name =
    detail::name_in(detail::text_of_member<detail::member_at<S, K>()>());

}  // namespace detail

}  // namespace shardtype::train
