#pragma once
/// Reductions of the elements that a mask keeps, and of those that are no NaN: reductions of
/// elementwise expressions, which are computed while they are reduced, with their plans and
/// gradients.

#include <cstdint>
#include <limits>
#include <type_traits>

#include <shardtype/check/call.hpp>
#include <shardtype/check/contraction.hpp>
#include <shardtype/check/labels_of.hpp>
#include <shardtype/check/misused.hpp>
#include <shardtype/check/named.hpp>
#include <shardtype/ops/dims.hpp>
#include <shardtype/ops/math.hpp>
#include <shardtype/ops/reductions.hpp>

namespace shardtype {

namespace detail {

/// The option `where(mask)` of a reduction, which is used before the call returns.
template <class M>
struct Where {
  M const& mask;
};
template <class M>
Where(M const&) -> Where<M>;

template <class A>
using reduced_argument = checking::element_t<tensor_of_argument_t<A>>;
/// The least (or the largest) value of a type: what a mask leaves out of a maximum or minimum.
template <class T, bool Largest>
constexpr auto bound_of() {
  if constexpr (detail::is_floating<T>) {
    return Largest ? std::numeric_limits<double>::infinity()
                   : -std::numeric_limits<double>::infinity();
  } else {
    return Largest ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest();
  }
}
/// The number of elements that the mask keeps of those of `like`, in its element type.
template <class... Out, class A, class M>
constexpr auto kept_elements(A const& like, M const& mask, checking::CallSite where) {
  using T = reduced_argument<A>;
  if constexpr (!is_complex<T> &&
                std::is_same_v<labels_of_argument_t<A>, labels_of_argument_t<M>>) {
    return api::sum<Out...>(api::cast<T>(mask), where);
  } else {
    return api::sum<Out...>(
        api::where(mask, api::call(op::FullLike<int>{1}, where, like), op::zero), where);
  }
}
/// The squares of absolute values.
template <class A>
constexpr auto squared_size(A const& a) {
  if constexpr (is_complex<reduced_argument<A>>) {
    return (api::square(api::real(a)) + api::square(api::imag(a))).tensor();
  } else {
    return api::square(a).tensor();
  }
}

/// `A` with the dims that the named result `To` has, split as in `A`, and reduced over the axes
/// that split the others: the gradient of what is computed beside elements of `A` is a pending sum.
template <class A, class To>
struct KeptDims {
  using S = Scope<A, To>;
  static constexpr Spec make() {
    Spec const& a = S::template spec<0>;
    Spec out = a;
    out.rank = 0;
    out.unreduced = {};
    for (int d = 0; d < a.rank; ++d)
      if (S::template spec<1>.find(a.dims[d].label) >= 0) {
        out.add(a.dims[d].label, a.dims[d].axes);
      } else {
        out.reduced = out.reduced | a.dims[d].axes.set();
      }
    return out;
  }
  static constexpr Spec value = make();
  using type = tensor_from_spec<S, KeptDims, checking::element_t<A>, A>;
};

/// The mean of the kept elements, where `a` is: of a named result in the sharding of `a`.
template <class... Out, class A, class M>
constexpr auto mean_beside(A const& a, M const& mask, checking::CallSite where) {
  if constexpr (all_labels_named<Out...>) {
    return api::sum<Out...>(api::where(mask, a, op::zero), where) /
           detail::kept_elements<Out...>(a, mask, where);
  } else {
    using Like = tensor_of_argument_t<A>;
    using Kept = typename KeptDims<Like, named_as_t<checking::element_t<Like>, Like, Out...>>::type;
    return api::sum<Kept>(api::where(mask, a, op::zero), where) /
           detail::kept_elements<Kept>(a, mask, where);
  }
}

}  // namespace detail

namespace api {

/// An option of reductions: of the elements where the bool tensor `mask` is true. The mask has some
/// dims of the operand, split alike: `sum<J>(a, where(mask))` of `a[I@X, J]` and `mask[I@X, J]`, or
/// of `mask[J]`, which leaves out columns. It may be an expression, `where(a > 0)`. As `where=` of
/// NumPy and JAX.
template <class M>
constexpr detail::Where<M> where(core::Argument<M> const& mask) {
  return {mask.self()};
}

/// The sum of the kept elements; of bool the number of kept true ones. Forms and refusals as of
/// sum(a), with those of `where`: P04, P05, P09 a mask that is not bool. The gradient is zero where
/// the mask is false.
template <class... Out, class A, class M>
constexpr auto sum(core::Argument<A> const& a, detail::Where<M> const& kept,
                   checking::CallSite where = {}) {
  return api::sum<Out...>(api::where(kept.mask, a.self(), op::zero), where);
}
/// The product of the kept elements; as prod(a), 1 if there are none.
template <class... Out, class A, class M>
constexpr auto prod(core::Argument<A> const& a, detail::Where<M> const& kept,
                    checking::CallSite where = {}) {
  return api::prod<Out...>(api::where(kept.mask, a.self(), 1), where);
}
/// The largest kept element; as max(a), the least value of the type if there are none.
template <class... Out, class A, class M>
constexpr auto max(core::Argument<A> const& a, detail::Where<M> const& kept,
                   checking::CallSite where = {}) {
  constexpr auto least = detail::bound_of<detail::reduced_argument<A>, false>();
  return api::max<Out...>(api::where(kept.mask, a.self(), least), where);
}
/// The least kept element; as min(a), the largest value of the type if there are none.
template <class... Out, class A, class M>
constexpr auto min(core::Argument<A> const& a, detail::Where<M> const& kept,
                   checking::CallSite where = {}) {
  constexpr auto most = detail::bound_of<detail::reduced_argument<A>, true>();
  return api::min<Out...>(api::where(kept.mask, a.self(), most), where);
}
/// Whether any kept element is true; as any(a), false if there are none.
template <class... Out, class A, class M>
constexpr auto any(core::Argument<A> const& a, detail::Where<M> const& kept,
                   checking::CallSite where = {}) {
  return api::any<Out...>(a.self() && kept.mask, where);
}
/// Whether all kept elements are true; as all(a), true if there are none.
template <class... Out, class A, class M>
constexpr auto all(core::Argument<A> const& a, detail::Where<M> const& kept,
                   checking::CallSite where = {}) {
  return api::all<Out...>(a.self() || !kept.mask, where);
}
/// The number of kept elements that are not zero; as count_nonzero(a).
template <class... Out, class A, class M>
constexpr auto count_nonzero(core::Argument<A> const& a, detail::Where<M> const& kept,
                             checking::CallSite where = {}) {
  return api::count_nonzero<Out...>(api::where(kept.mask, a.self(), op::zero), where);
}
/// The mean of the kept elements: their sum divided by their number, NaN if there are none. Each of
/// the two is reduced: `A[I@X, J]` -> `mean<Dim<J>>(a, where(mask))` -> `[J]`, two all_reduces. A
/// split dim needs a named result (P04), since a quotient of pending sums is no pending sum.
template <class... Out, class A, class M>
constexpr auto mean(core::Argument<A> const& a, detail::Where<M> const& kept,
                    checking::CallSite where = {}) {
  if constexpr (detail::is_floating<detail::reduced_argument<A>>) {
    return (api::sum<Out...>(a.self(), kept, where) /
            detail::kept_elements<Out...>(a.self(), kept.mask, where))
        .tensor();
  } else {
    return api::mean<Out...>(a.self(), where);  // refused, P12
  }
}
/// The variance of the kept elements: the mean of the squared distances from their mean, divided by
/// their number less `ddof`, NaN unless that is above 0. `a` is read twice; `A[I@X, J]` ->
/// `var<Dim<J>>(a, where(mask))` -> `[J]`, four all_reduces. As mean for the rest.
template <class... Out, class A, class M>
constexpr auto var(core::Argument<A> const& a, detail::Where<M> const& kept, double ddof = 0,
                   checking::CallSite where = {}) {
  if constexpr (detail::is_floating<detail::reduced_argument<A>>) {
    auto const middle = detail::mean_beside<Out...>(a.self(), kept.mask, where).tensor();
    auto const far = api::where(kept.mask, a.self() - middle, op::zero).tensor();
    auto const sizes = detail::squared_size(far);
    auto const left = detail::kept_elements<Out...>(sizes, kept.mask, where) - ddof;
    auto const squares = api::sum<Out...>(sizes, where);
    return api::where(left > 0, squares / left, std::numeric_limits<double>::quiet_NaN()).tensor();
  } else {
    return api::var<Out...>(a.self(), ddof, where);  // refused, P12
  }
}
/// The square root of var(a, where(mask)), with gradient 0 at 0; otherwise as that.
template <class... Out, class A, class M>
constexpr auto stddev(core::Argument<A> const& a, detail::Where<M> const& kept, double ddof = 0,
                      checking::CallSite where = {}) {
  auto const square = api::var<Out...>(a.self(), kept, ddof, where);
  return api::where(square == 0, op::zero, api::sqrt(api::where(square == 0, 1, square))).tensor();
}

// Each is a function of a variable and of a temporary, as other reductions.
#define SHARDTYPE_OF_TEMPORARY(name)                                       \
  template <class... Out, class A, class M>                                \
  constexpr auto name(core::Argument<A>&& a, detail::Where<M> const& kept, \
                      checking::CallSite where = {}) {                     \
    core::Argument<A> const& variable = a;                                 \
    return api::name<Out...>(variable, kept, where);                       \
  }
SHARDTYPE_OF_TEMPORARY(sum)
SHARDTYPE_OF_TEMPORARY(prod)
SHARDTYPE_OF_TEMPORARY(max)
SHARDTYPE_OF_TEMPORARY(min)
SHARDTYPE_OF_TEMPORARY(any)
SHARDTYPE_OF_TEMPORARY(all)
SHARDTYPE_OF_TEMPORARY(count_nonzero)
SHARDTYPE_OF_TEMPORARY(mean)
#undef SHARDTYPE_OF_TEMPORARY

// Reductions of the elements that are no NaN: `where(!isnan(a))`. As those of NumPy and JAX, but
// the largest and the least of no elements are the bounds of the type, as of max and min.

/// The sum of the elements that are no NaN: sum(a, where(!isnan(a))).
template <class... Out, class A>
constexpr auto nansum(core::Argument<A> const& a, checking::CallSite where = {}) {
  return api::sum<Out...>(a.self(), detail::Where{!api::isnan(a.self())}, where);
}
/// Their product.
template <class... Out, class A>
constexpr auto nanprod(core::Argument<A> const& a, checking::CallSite where = {}) {
  return api::prod<Out...>(a.self(), detail::Where{!api::isnan(a.self())}, where);
}
/// The largest of them.
template <class... Out, class A>
constexpr auto nanmax(core::Argument<A> const& a, checking::CallSite where = {}) {
  return api::max<Out...>(a.self(), detail::Where{!api::isnan(a.self())}, where);
}
/// The least of them.
template <class... Out, class A>
constexpr auto nanmin(core::Argument<A> const& a, checking::CallSite where = {}) {
  return api::min<Out...>(a.self(), detail::Where{!api::isnan(a.self())}, where);
}
/// Their mean.
template <class... Out, class A>
constexpr auto nanmean(core::Argument<A> const& a, checking::CallSite where = {}) {
  return api::mean<Out...>(a.self(), detail::Where{!api::isnan(a.self())}, where);
}
/// Their variance, and its root.
template <class... Out, class A>
constexpr auto nanvar(core::Argument<A> const& a, double ddof = 0, checking::CallSite where = {}) {
  return api::var<Out...>(a.self(), detail::Where{!api::isnan(a.self())}, ddof, where);
}
template <class... Out, class A>
constexpr auto nanstddev(core::Argument<A> const& a, double ddof = 0,
                         checking::CallSite where = {}) {
  return api::stddev<Out...>(a.self(), detail::Where{!api::isnan(a.self())}, ddof, where);
}

// Everyday mistakes (check/misused.hpp).
SHARDTYPE_NOT_BY_NUMBER(nansum)
SHARDTYPE_NOT_BY_NUMBER(nanprod)
SHARDTYPE_NOT_BY_NUMBER(nanmax)
SHARDTYPE_NOT_BY_NUMBER(nanmin)
SHARDTYPE_NOT_BY_NUMBER(nanmean)
SHARDTYPE_NOT_BY_NUMBER(nanvar)
SHARDTYPE_NOT_BY_NUMBER(nanstddev)

}  // namespace api

}  // namespace shardtype
