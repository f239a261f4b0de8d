#pragma once
/// Overloads that refuse everyday mistakes, which would be "no matching function" and a list of
/// candidates. They take everything by a conversion and are templates: any other function of the
/// name, also a user's own, is the better match.

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <type_traits>

#include <shardtype/check/sentences.hpp>

namespace shardtype::checking {

/// A parameter that takes every argument, numbers in braces too.
struct Anything {
  constexpr Anything() = default;
  template <class T>
  constexpr Anything(T const&) {}                             // NOLINT(google-explicit-constructor)
  constexpr Anything(std::initializer_list<std::int64_t>) {}  // NOLINT
};

/// A parameter that takes words.
struct Word {
  template <class T>
    requires std::is_convertible_v<T const&, std::string_view>
  constexpr Word(T const&) {}  // NOLINT(google-explicit-constructor)
};

/// A dim by its number, as the compiler prints it in a refusal.
template <int>
struct NumberedDim {};

// Refused, D17: `sum<0>(a)`, a dim by its number.
#define SHARDTYPE_NOT_BY_NUMBER(name)                                                   \
  template <int First, int... More>                                                     \
  constexpr auto name(checking::Anything const&, checking::Anything const& = {},        \
                      checking::Anything const& = {}, checking::Anything const& = {}) { \
    checking::refused<rules::Code::D17_which_dim, false, checking::NumberedDim<First>,  \
                      checking::NumberedDim<More>...>{};                                \
    return checking::Poisoned{};                                                        \
  }
// Refused, D17: `concat(a, b)` without an index, or with a number.
#define SHARDTYPE_NOT_WITHOUT_INDEX(name)                                                      \
  template <int... Numbers>                                                                    \
  constexpr auto name(checking::Anything const&, checking::Anything const& = {},               \
                      checking::Anything const& = {}, checking::Anything const& = {},          \
                      checking::Anything const& = {}) {                                        \
    checking::refused<rules::Code::D17_which_dim, false, checking::NumberedDim<Numbers>...>{}; \
    return checking::Poisoned{};                                                               \
  }
// Refused, A12: `sort<J>(a, "descending")`, a word where an option of op is meant; behind the
// parameters that are named here.
#define SHARDTYPE_NOT_BY_WORD(name, ...)                      \
  template <class... Is>                                      \
  constexpr auto name(__VA_ARGS__, checking::Word const&) {   \
    checking::refused<rules::Code::A12_word, false, Is...>{}; \
    return checking::Poisoned{};                              \
  }
// Refused, T12: `zeros(mesh, {8, 8})`, or other arguments than a tensor is made of.
#define SHARDTYPE_NOT_CREATED(name)                                                   \
  template <class... Parts>                                                           \
  constexpr auto name(checking::Anything const&, checking::Anything const& = {},      \
                      checking::Anything const& = {}, checking::Anything const& = {}, \
                      checking::Anything const& = {}) {                               \
    checking::refuse_creation<Parts...>();                                            \
    return checking::Poisoned{};                                                      \
  }
// Refused: calls of a function of a family that no other overload takes, such as one without its
// labels, and of names of others; behind the code what stands for the result, which `auto [q, r] =
// ...` takes apart.
#define SHARDTYPE_REFUSED_CALLS(name, code, ...)                                        \
  template <class... Labels>                                                            \
  constexpr auto name(checking::Anything const&, checking::Anything const& = {},        \
                      checking::Anything const& = {}, checking::Anything const& = {},   \
                      checking::Anything const& = {}, checking::Anything const& = {}) { \
    checking::refused<rules::Code::code, false, Labels...>{};                           \
    return __VA_ARGS__{};                                                               \
  }                                                                                     \
  template <int First, int... More>                                                     \
  constexpr auto name(checking::Anything const&, checking::Anything const& = {},        \
                      checking::Anything const& = {}, checking::Anything const& = {},   \
                      checking::Anything const& = {}) {                                 \
    checking::refused<rules::Code::code, false, checking::NumberedDim<First>,           \
                      checking::NumberedDim<More>...>{};                                \
    return __VA_ARGS__{};                                                               \
  }

/// Whether `Parts` are those of a tensor type that is refused itself.
template <class... Parts>
inline constexpr bool names_unlawful = false;
template <class T, class... Parts>
inline constexpr bool names_unlawful<T, Parts...> = any_poisoned<Tensor<T, Parts...>>;
template <class T, class... Parts>
inline constexpr bool names_unlawful<Tensor<T, Parts...>> = any_poisoned<Tensor<T, Parts...>>;

/// Refused, T12; not of a type that is refused itself.
template <class... Parts>
constexpr void refuse_creation() {
  if constexpr (!names_unlawful<Parts...>) refused<Code::T12_not_created, false, Parts...>{};
}

}  // namespace shardtype::checking
