#pragma once
/// Dims split into three and more, merged from as many, and both in one call: compositions of
/// split_dim and merge_dims.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <shardtype/check/labels_of.hpp>
#include <shardtype/check/misused.hpp>
#include <shardtype/ops/dims.hpp>

namespace shardtype {

namespace detail {

/// The product of extents; dynamic if one of them is.
template <class... Ds>
constexpr std::int64_t product_of_static() {
  std::int64_t product = 1;
  for (std::int64_t const n : detail::static_extents<Ds...>())
    product = n == dynamic || product == dynamic ? dynamic : mul_sat(product, n);
  return product;
}
/// The name of an index that stands for several, which all others of one call differ from.
template <class... Ls>
constexpr auto joined_name() {
  constexpr std::string_view begin = "joined";
  constexpr std::size_t n = (begin.size() + ... + (Ls::name.size() + 1));
  char text[n + 1]{};
  std::size_t at = 0;
  auto const add = [&](std::string_view word) {
    for (char const c : word) text[at++] = c;
  };
  add(begin);
  ((add(" "), add(Ls::name)), ...);
  return core::FixedString<n + 1>(text);
}
/// The index of a dim that consists of dims with the labels `Ls`.
template <class... Ls>
struct DimsAsOne : Index<detail::joined_name<Ls...>(), detail::product_of_static<Ls...>()> {};
/// Stands before the labels of the parts that are yet to be split: they may be those of the value.
struct Rest : Index<"rest", 1> {};
/// The dim that the dims `Ds` are split from, with their axes.
template <class M, class Axes, class... Ds>
struct DimAsOne;
template <class M, class... Xs>
struct DimAsOne<M, Pack<Xs...>> {
  using type = Dim<M, Xs...>;
};
template <class M, class... Xs, class L, class... Ds>
struct DimAsOne<M, Pack<Xs...>, L, Ds...> : DimAsOne<M, Pack<Xs...>, Ds...> {};
template <class M, class... Xs, class L, class... Ys, class... Ds>
struct DimAsOne<M, Pack<Xs...>, Dim<L, Ys...>, Ds...> : DimAsOne<M, Pack<Xs..., Ys...>, Ds...> {};

/// Splits dim I into parts, the first of them in each call.
template <class I, class First, class Second, class... Parts>
struct SplitIntoParts {
  template <class A>
  static constexpr auto of(A const& a, std::int64_t const* n, checking::CallSite where) {
    if constexpr (sizeof...(Parts) == 0) {
      return api::split_dim<I, First, Second>(a, std::array<std::int64_t, 2>{n[0], n[1]}, where);
    } else {
      using M = DimsAsOne<Rest, label_of_t<Second>, label_of_t<Parts>...>;
      constexpr bool bare =
          DimOf<First>::bare && DimOf<Second>::bare && (DimOf<Parts>::bare && ...);
      using RestDim =
          std::conditional_t<bare, M, typename DimAsOne<M, Pack<>, Second, Parts...>::type>;
      std::int64_t rest = n[1];
      for (std::size_t k = 0; k < sizeof...(Parts); ++k) rest = mul_sat(rest, n[k + 2]);
      return SplitIntoParts<M, Second, Parts...>::of(
          api::split_dim<I, First, RestDim>(a, std::array<std::int64_t, 2>{n[0], rest}, where),
          n + 1, where);
    }
  }
};
/// Merges neighbouring dims into the last one that is named, the first two of them in each call.
template <class First, class Second, class Third, class... More>
struct MergedDims {
  template <class A>
  static constexpr auto of(A const& a, checking::CallSite where) {
    if constexpr (sizeof...(More) == 0) {
      return api::merge_dims<First, Second, Third>(a, where);
    } else {
      using M = DimsAsOne<First, Second>;
      return MergedDims<M, Third, More...>::of(api::merge_dims<First, Second, M>(a, where), where);
    }
  }
};
/// All dims of a value, the labels `Is`, merged into one and split again.
template <class Is>
struct ReshapedFrom;
template <class I>
struct ReshapedFrom<Pack<I>> {
  template <class... Ps, class A>
  static constexpr auto to(A const& a, std::int64_t const* n, checking::CallSite where) {
    using M = DimsAsOne<I>;
    return SplitIntoParts<M, Ps...>::of(api::relabel<I, M>(a, where), n, where);
  }
};
template <class I, class J, class... Is>
struct ReshapedFrom<Pack<I, J, Is...>> {
  template <class... Ps, class A>
  static constexpr auto to(A const& a, std::int64_t const* n, checking::CallSite where) {
    using M = DimsAsOne<I, J, Is...>;
    return SplitIntoParts<M, Ps...>::of(MergedDims<I, J, Is..., M>::of(a, where), n, where);
  }
};

}  // namespace detail

namespace api {

/// Splits a dim into three or more, the last running fastest: `A[I@(X,Y)]` -> `split_dim<I, Dim<J,
/// X>, Dim<K, Y>, Dim<L>>(a, {2, 3, 4})` -> `A[J@X, K@Y, L]`. It is split_dim into two, one part
/// after the other, each of them local and legal under the same law; `split_dim<I, J, K, L>` finds
/// the axes. Refusals and errors as split_dim into two.
template <class I, class First, class Second, class Third, class... Parts, class A>
constexpr auto split_dim(core::Argument<A> const& a,
                         std::array<std::int64_t, 3 + sizeof...(Parts)> const& extents =
                             detail::static_extents<First, Second, Third, Parts...>(),
                         checking::CallSite where = {}) {
  return detail::SplitIntoParts<I, First, Second, Third, Parts...>::of(a.self(), extents.data(),
                                                                       where);
}

/// Merges three or more neighbouring dims into one, the last that is named: `A[J@X, K, L]` ->
/// `merge_dims<J, K, L, I>(a)` -> `A[I@X]`. It is merge_dims of two, pair by pair from the left.
/// Refusals and errors as merge_dims of two.
template <class First, class Second, class Third, class I, class... More, class A>
constexpr auto merge_dims(core::Argument<A> const& a, checking::CallSite where = {}) {
  return detail::MergedDims<First, Second, Third, I, More...>::of(a.self(), where);
}

/// All elements in their order, along other dims: `A[I@X, J]` -> `reshape<P, Q>(a, {n, m})` ->
/// `A[P@X, Q]`. It merges all dims into one and splits that one: local, shares memory, and legal
/// where both are, that is where the blocks line up; `reshape<Dim<P, X>, Q>` says which part has
/// which axes. Refused: D06, D09, D10, B03, D23 fewer than two dims. Errors: E40 blocks that do not
/// line up, E41 extents of another number of elements. As jnp.reshape.
template <class... Ps, class A>
  requires(sizeof...(Ps) >= 2)
constexpr auto reshape(
    core::Argument<A> const& a,
    std::array<std::int64_t, sizeof...(Ps)> const& extents = detail::static_extents<Ps...>(),
    checking::CallSite where = {}) {
  using Is = detail::labels_of_argument_t<A>;
  if constexpr (std::is_base_of_v<checking::Poisoned, A>) {
    return checking::Poisoned{};
  } else if constexpr (detail::length(Is{}) == 0) {
    checking::refused<rules::Code::D23_two_parts, false, detail::argument_t<A>, Ps...>{};
    return checking::Poisoned{};
  } else {
    return detail::ReshapedFrom<Is>::template to<Ps...>(a.self(), extents.data(), where);
  }
}

// Everyday mistakes (check/misused.hpp).
SHARDTYPE_NOT_WITHOUT_INDEX(reshape)
// Refused, D23: `reshape<P>(a, {96})`.
template <class P>
constexpr auto reshape(checking::Anything const&, checking::Anything const& = {}) {
  checking::refused<rules::Code::D23_two_parts, false, P>{};
  return checking::Poisoned{};
}

}  // namespace api

}  // namespace shardtype
