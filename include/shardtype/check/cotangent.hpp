#pragma once
/// The types of cotangents.

#include <shardtype/check/resolve.hpp>
#include <shardtype/rules/cotangent.hpp>

namespace shardtype {

namespace detail {

template <class A, bool exists>
struct CotangentOf {
  using S = Scope<A>;
  static constexpr Spec value = rules::cotangent(S::template spec<0>);
  using type = tensor_from_spec<S, CotangentOf, element_t<A>, A>;
};
template <class A>
struct CotangentOf<A, false> {};

/// Whether a tensor of type `A` has a cotangent.
template <class A>
inline constexpr bool has_cotangent = rules::has_cotangent(Scope<A>::template spec<0>);

/// The conversion of a cotangent of type `Got` to one of type `Want`.
template <class Want, class Got, bool communicates>
struct Finishes {
  using S = Scope<Want, Got>;
  static constexpr rules::Finish how =
      rules::finish(S::template spec<1>, S::template spec<0>, communicates);
  static constexpr Verdict verdict = how.verdict;
  struct Met {
    static constexpr Spec value = how.met;
  };
  /// The axes of to_partial.
  struct Partial {
    static constexpr AxisList value = how.partial;
  };
  /// The type before to_partial.
  using met = tensor_from_spec<S, Met, element_t<Want>, Want>;
};

}  // namespace detail

/// The type of the cotangent of a tensor or Local of type `A`: `Unreduced<X>` and `Reduced<X>` are
/// swapped, all else stays. An unreduced maximum or minimum has none.
template <class A>
using cotangent_t = typename detail::CotangentOf<A, detail::has_cotangent<A>>::type;

}  // namespace shardtype
