#pragma once
/// Which mesh axes split the indices of a model, in one place.

#include <type_traits>

#include <shardtype/check/sentences/types.hpp>
#include <shardtype/core/dim.hpp>

namespace shardtype::train {

/// A rule: index `I` is split over the mesh axes `Xs`, major to minor, or over `Cyclic<X, n>`.
template <class I, class... Xs>
struct Split {
  static_assert(sizeof...(Xs) > 0, "a rule names the mesh axes that split its index: Split<D, X>");
  using index = I;
  using type = Dim<I, Xs...>;
};

namespace detail {

template <class I, class... Splits>
struct Find {
  using type = Dim<I>;
};
template <class I, class First, class... Rest>
struct Find<I, First, Rest...>
    : std::conditional_t<std::is_same_v<I, typename First::index>, First, Find<I, Rest...>> {};

template <class Split, class... Splits>
inline constexpr int rules_of =
    (0 + ... + int{std::is_same_v<typename Split::index, typename Splits::index>});

}  // namespace detail

/// The rules of a model: what splits each of its indices. An index without a rule is whole on all
/// ranks, and `Shardings<>` splits nothing. As the logical axis rules of Flax; but each index has
/// one rule, and a tensor of which one axis would split two dims is refused (T01) where Flax leaves
/// one of them whole: parameters and activations have rules of their own. Refused: T13 two rules of
/// one index.
///
///     using Parameters = train::Shardings<train::Split<D, X>, train::Split<H, Y>>;
///     using Activations = train::Shardings<train::Split<B, X>, train::Split<H, Y>>;
///     train::Placed<Parameters, float, D, H> w;      // Tensor<float, Dim<D, X>, Dim<H, Y>>
///     train::Placed<Activations, float, B, S, D> x;  // Tensor<float, Dim<B, X>, Dim<S>, Dim<D>>
///
/// Source: Flax, "Scale up Flax Modules on multiple devices", logical axis annotation.
template <class... Splits>
struct Shardings {
  static constexpr bool lawful = ((detail::rules_of<Splits, Splits...> == 1) && ...);
  static_assert(
      alignof(std::conditional_t<
              lawful, char, checking::refused<rules::Code::T13_two_rules, lawful, Splits...>>) > 0);
  /// The dim of index `I` by its rule; `Dim<I>` without a rule.
  template <class I>
  using dim = typename detail::Find<I, Splits...>::type;
};

/// The dim of index `I` by the rules: `Dim<I, Xs...>`.
template <class Rules, class I>
using PlacedDim = typename Rules::template dim<I>;

/// The tensor with elements `T` and these indices, split by the rules.
template <class Rules, class T, class... Is>
using Placed = Tensor<T, PlacedDim<Rules, Is>...>;

}  // namespace shardtype::train
