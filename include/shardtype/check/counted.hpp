#pragma once
/// Reductions with further results, on types: a count, or what the gradient needs.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/check/reduction.hpp>

namespace shardtype {

/// Result of `counted_max`, `counted_min` and `counted_prod`: the values and, alike, the counts.
/// Structured bindings give both.
template <class Values, class Counts>
struct Counted {
  Values values;
  Counts counts;
};

namespace reductions {

/// A total has the element and the number of those that equal it.
struct CountedMaximum : Tag<ReductionKind::whole, Takes::real> {
  static constexpr std::string_view name = "counted_max";
  template <class T>
  static constexpr std::int64_t total_bytes = 16;
};
struct CountedMinimum : Tag<ReductionKind::whole, Takes::real> {
  static constexpr std::string_view name = "counted_min";
  template <class T>
  static constexpr std::int64_t total_bytes = 16;
};
/// A total has the product of the elements that are not zero, and the number of those that are.
struct CountedProduct : Tag<ReductionKind::whole, Takes::floating> {
  static constexpr std::string_view name = "counted_prod";
  template <class T>
  static constexpr std::int64_t total_bytes = detail::is_complex<T> ? 24 : 16;
};

/// With logsumexp the parts m and s of which it is made, m + log(s): the largest element, and the
/// sum of the exponentials of distances from it.
struct LogSumExpParts : LogSumExp {
  template <class T>
  using second = T;
  template <class T>
  using third = detail::computed_t<T>;
};
/// With the product a number m and a scale, which never overflow: the product of the elements that
/// are neither zero nor infinite nor NaN is m times a power of two, of which the scale has the
/// exponent, and whether there are none, one or more of each of the others.
struct ProductParts : Product {
  static constexpr Takes takes = Takes::floating;
  template <class T>
  static constexpr std::int64_t total_bytes = detail::is_complex<T> ? 40 : 24;
  template <class T>
  using second = detail::computed_t<T>;
  template <class T>
  using third = double;
};

}  // namespace reductions

namespace op {

/// The reduction `F` (a tag of `reductions`) with a count as second result; labels and named
/// results as of Reduce.
template <class F, class... Out>
struct ReduceCounted : F::Arguments {
  using operation = ReduceCounted;
  using reduces_by = F;
  static constexpr std::string_view name = F::name;
  static constexpr bool resolved_by_library = true;
  static constexpr std::size_t results = 2;
  template <class R, class A>
  typename R::results run(std::source_location const& where, A const& a) const;
};
template <class... Out>
using CountedMax = ReduceCounted<reductions::CountedMaximum, Out...>;
template <class... Out>
using CountedMin = ReduceCounted<reductions::CountedMinimum, Out...>;
template <class... Out>
using CountedProd = ReduceCounted<reductions::CountedProduct, Out...>;

/// The reduction `F` with two further results, for its gradient.
template <class F, class... Out>
struct ReduceParts : F::Arguments {
  using operation = ReduceParts;
  static constexpr std::string_view name = F::name;
  static constexpr bool resolved_by_library = true;
  static constexpr std::size_t results = 3;
  template <class R, class A>
  typename R::results run(std::source_location const& where, A const& a) const;
};

}  // namespace op

namespace detail {

/// A reduction with further results, with elements `More`. `Base`: the same reduction with one
/// result. In its plan an element of the result is one of each of the results.
template <class Base, class F, class A, class... More>
struct ReductionOfSeveral : Base {
  /// A tensor like the result, with elements `T`.
  template <class T>
  using like = with_elements<typename Base::result, T>;
  using results = std::tuple<typename Base::result, like<More>...>;
  static constexpr std::size_t count = 1 + sizeof...(More);
  using Numbers = std::make_index_sequence<count>;
  /// The extents of all results.
  struct Made {
    std::int64_t at[count][max_dims]{};
  };
  static constexpr std::int64_t bytes_of_all = (static_cast<std::int64_t>(sizeof(element_t<A>)) +
                                                ... + static_cast<std::int64_t>(sizeof(More)));

  static constexpr Made extents(auto const& op, Sizes const& sizes,
                                std::int64_t const* const* given) {
    Made made;
    for (auto& each : made.at) Base::set_extents(op, sizes, given, each);
    return made;
  }
  static constexpr Plan plan_call(auto const& op, Sizes const& sizes,
                                  std::int64_t const* const* given) {
    std::int64_t made[max_dims]{};
    Base::set_extents(op, sizes, given, made);
    std::int64_t const bytes[] = {sizeof(element_t<A>), bytes_of_all};
    CallValues<1> const values(Base::S::names, Base::S::parsed, Base::wanted(), sizes, given, made,
                               bytes);
    if constexpr (Base::communicates) {
      return Base::plan_of(values.call);
    } else {
      // the totals are there beside the results; a second set of them is there before
      constexpr std::int64_t totals = sent_bytes<F, element_t<A>>;
      return planning::reduction_plan(
          F::name, values.call,
          std::max(totals, totals + F::template total_bytes<element_t<A>> - bytes_of_all));
    }
  }
};
template <class Base, class F, class A>
struct CountedReduction : ReductionOfSeveral<Base, F, A, real_of<element_t<A>>> {};
template <class Base, class F, class A>
struct ReductionInParts : ReductionOfSeveral<Base, F, A, typename F::template second<element_t<A>>,
                                             typename F::template third<element_t<A>>> {};

}  // namespace detail

}  // namespace shardtype

namespace shardtype::checking {

template <class F, class... Out, class A>
  requires is_tensor<A>
struct Resolve<op::ReduceCounted<F, Out...>, A>
    : detail::resolved_t<detail::CountedReduction, detail::Reduction<F, A, Out...>, F, A> {};
template <class F, class... Out, class A>
  requires is_tensor<A>
struct Resolve<op::ReduceParts<F, Out...>, A>
    : detail::resolved_t<detail::ReductionInParts, detail::Reduction<F, A, Out...>, F, A> {};

}  // namespace shardtype::checking
