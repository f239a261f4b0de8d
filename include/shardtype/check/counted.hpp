#pragma once
/// Reductions with a count beside the result, on types.

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <shardtype/check/reduction.hpp>

namespace shardtype {

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

}  // namespace reductions

namespace op {

/// The reduction `F` (a tag of `reductions`) with a count as second result; labels and named results
/// as of Reduce.
template <class F, class... Out>
struct ReduceCounted : F::Arguments {
  using operation = ReduceCounted;
  static constexpr std::string_view name = F::name;
  static constexpr bool recorded = false;  ///< two results
};
template <class... Out>
using CountedMax = ReduceCounted<reductions::CountedMaximum, Out...>;
template <class... Out>
using CountedMin = ReduceCounted<reductions::CountedMinimum, Out...>;
template <class... Out>
using CountedProd = ReduceCounted<reductions::CountedProduct, Out...>;

}  // namespace op

namespace detail {

/// `Base`: the same reduction with one result. In its plan an element of the result is one of each
/// of the two results.
template <class Base, class F, class A, bool ok = bool(Base::verdict)>
struct CountedReduction : Base {
  struct Alike {
    static constexpr Spec value = Base::wanted();
  };
  /// The type of the counts.
  using counts =
      tensor_from_spec<typename Base::S, Alike, real_of<element_t<A>>, typename Base::result>;
  static constexpr std::int64_t bytes_of_both =
      sizeof(element_t<A>) + sizeof(real_of<element_t<A>>);

  static constexpr Plan plan_call(auto const& op, Sizes const& sizes,
                                  std::int64_t const* const* given) {
    std::int64_t made[max_dims]{};
    Base::set_extents(op, sizes, given, made);
    std::int64_t const* const extents[] = {given[0], made};
    std::int64_t const bytes[] = {sizeof(element_t<A>), bytes_of_both};
    CallValues<1> const values(Base::S::names, Base::S::readings, Base::wanted(), sizes, extents,
                               bytes);
    if constexpr (Base::communicates) {
      return Base::plan_of(values.call);
    } else {
      // the totals are there beside the results; a second set of them is there before
      constexpr std::int64_t totals = F::template total_bytes<element_t<A>>;
      return planning::reduction_plan(F::name, values.call,
                                      std::max(totals, 2 * totals - bytes_of_both));
    }
  }
};
template <class Base, class F, class A>
struct CountedReduction<Base, F, A, false> : Base {};

template <class F, class A, class... Out>
constexpr auto resolve_counted() {
  using Base = typename decltype(resolve_reduction<F, A, Out...>())::type;
  return Type<CountedReduction<Base, F, A>>{};
}

}  // namespace detail

}  // namespace shardtype

namespace shardtype::checking {

template <class F, class... Out, class A>
struct Resolve<op::ReduceCounted<F, Out...>, A>
    : decltype(detail::resolve_counted<F, A, Out...>())::type {};

}  // namespace shardtype::checking
