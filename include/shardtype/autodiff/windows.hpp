#pragma once
/// The gradients of windows with a run-time start, of shifts, running sums and products, and of sorted values.

#include <algorithm>
#include <cstdint>
#include <source_location>
#include <type_traits>

#include <shardtype/autodiff/along.hpp>
#include <shardtype/ops/argsort.hpp>
#include <shardtype/ops/cumsum.hpp>
#include <shardtype/ops/dynamic_slice.hpp>
#include <shardtype/ops/dynamic_update.hpp>
#include <shardtype/ops/full_like.hpp>
#include <shardtype/ops/scatter_along.hpp>
#include <shardtype/ops/shift.hpp>
#include <shardtype/ops/sort.hpp>
#include <shardtype/ops/take_along.hpp>
#include <shardtype/ops/top_k.hpp>

namespace shardtype::autodiff {

/// A dim without rows.
struct NoRows : Index<"no rows"> {};

/// Zeros with the dims of `ct`, but `rows` along `From`, which becomes `To`.
template <class From, class To, class C>
constexpr auto zeros_like(C const& ct, std::int64_t rows) {
  return autodiff::padded<NoRows, To>(autodiff::sliced<From, NoRows>(ct, 0, 0), 0, rows);
}

/// `rows` rows of `ct` from `start` on; dim `From` becomes `To`.
template <class From, class To, class C, class Start>
constexpr auto window_of(C const& ct, Start const& start, std::int64_t rows) {
  if constexpr (std::is_same_v<From, To>) {
    return dynamic_slice<From>(ct, start, rows);
  } else {
    return dynamic_slice<From, To>(ct, start, rows);
  }
}
/// The window among zeros.
template <class I, class... Result>
struct Vjp<op::DynamicSlice<I, Result...>> : Differentiable {
  using Op = op::DynamicSlice<I, Result...>;
  template <class V, class A, class... Start>
  static constexpr auto save(Op const&, V const&, A const& a, Start const&... start) {
    return keep(a.extents()[place_of<tensor_of<A>, I>], start...);
  }
  template <int K, class V, class A, class... Start, class S, class C>
  static constexpr auto pull(Op const& op, S const& saved, C const& ct) {
    using Window = shardtype::detail::into_t<I, Result...>;
    std::int64_t const rows = kept<0>(saved);
    if constexpr (sizeof...(Start) == 0) {
      std::int64_t const rest = rows - op.size;
      std::int64_t const begin = std::max(std::int64_t{0}, std::min(op.start, rest));
      return autodiff::padded<Window, I>(ct, begin, rest - begin);
    } else {
      return call(along_into<op::DynamicUpdate, I, Window>{}, std::source_location::current(),
                  autodiff::zeros_like<Window, I>(ct, rows), ct, kept<1>(saved));
    }
  }
};

/// Of the tensor the rows that stay, of the update the window.
template <class I, class... Into>
struct Vjp<op::DynamicUpdate<I, Into...>> : Differentiable {
  using Op = op::DynamicUpdate<I, Into...>;
  using Window = shardtype::detail::into_t<I, Into...>;
  template <class V, class A, class B, class... Start>
  static constexpr auto save(Op const&, V const&, A const&, B const& update,
                             Start const&... start) {
    return keep(update.extents()[place_of<tensor_of<B>, Window>], start...);
  }
  template <int K, class V, class A, class B, class... Start, class S, class C>
  static constexpr auto pull(Op const& op, S const& saved, C const& ct) {
    std::int64_t const rows = kept<0>(saved);
    auto const start = [&] {
      if constexpr (sizeof...(Start) == 0) {
        return op.start;
      } else {
        return kept<1>(saved);
      }
    }();
    if constexpr (K == 0) {
      return dynamic_update<I, Into...>(ct, autodiff::zeros_like<I, Window>(ct, rows), start);
    } else {
      return autodiff::window_of<I, Window>(ct, start, rows);
    }
  }
};

/// As many rows back. Sends as many bytes.
template <class I>
struct Vjp<op::Shift<I>> : SavesNothing {
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(op::Shift<I> const& op, S const&, C const& ct) {
    return shift<I>(ct, -op.n, op.edge);
  }
};
/// Sums from the other end. Sends as many bytes.
template <class I>
struct Vjp<op::CumSum<I>> : SavesNothing {
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(op::CumSum<I> const& op, S const&, C const& ct) {
    return call(op::CumSum<I>{op.exclusive, !op.reverse}, std::source_location::current(), ct);
  }
};

/// Sums of ct times the products, from the other end, over the element. The first zero of a row gets
/// the sums of products without it, what comes before it the sums up to it, and what follows it 0.
/// Zeros are counted by a second scan, and there are two backward: each sends one row per rank.
template <class I>
struct Vjp<op::CumProd<I>> : Differentiable {
  using Op = op::CumProd<I>;
  /// As of `prod`: the text has not the right gradient again where elements are zero.
  static constexpr bool first_order = true;
  template <class A>
  static constexpr auto forward(Op const& op, std::source_location const& called, A const& a) {
    using T = element_t<tensor_of<A>>;
    auto const zero = cast<T>(a == 0).tensor();
    auto const zeros = call(op::CumSum<I>{false, op.reverse}, called, zero);
    auto const factors = where(zero * zeros == 1, 1, a).tensor();
    auto const products = call(op, called, factors);
    auto const met = [&] {  // by each result
      if (op.exclusive) return (zeros - zero).tensor();
      return zeros;
    }();
    // times 0, so that it is NaN as the product is if a factor is infinite
    auto const value = where(met == 0, products, products * 0).tensor();
    auto const saved = autodiff::keep(a, products, zeros, met);
    return Forward<std::remove_cvref_t<decltype(value)>, std::remove_cvref_t<decltype(saved)>>{
        value, saved};
  }
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Op const& op, S const& saved, C const& ct) {
    auto const& a = kept<0>(saved);
    auto const& zeros = kept<2>(saved);
    auto const terms = (ct * kept<1>(saved)).tensor();
    auto const sums = [&](auto const& those) {
      return call(op::CumSum<I>{op.exclusive, !op.reverse}, std::source_location::current(),
                  where(those, terms, op::zero).tensor());
    };
    auto const before = sums(kept<3>(saved) == 0);
    auto const of_first = sums(kept<3>(saved) != 0);
    return where(zeros == 0, before / where(a == 0, 1, a),
                 where(zeros == 1, where(a == 0, of_first, op::zero), op::zero))
        .tensor();
  }
};

/// The cotangents of all rows at which an element is the running maximum (minimum), the first one of
/// equal elements. Of a dim that is not split: the rows of an element may be on other ranks, and a
/// running sum that begins anew there is none.
template <class I, class F, class Compare>
struct RunningExtremeVjp : Differentiable {
  using Op = op::Cumulative<I, F>;
  template <int K, class V, class A>
  static constexpr Verdict judge() {
    Spec const& a = Scope<A>::template spec<0>;
    bool const split = a.dims[place_of<A, I>].axes.size > 0;
    return split ? refuse(Code::X03_not_differentiable) : Verdict{};
  }
  template <class V, class A>
  static constexpr auto save(Op const& op, V const&, A const& a) {
    using Count = op::CumSum<I>;
    auto const here = std::source_location::current();
    auto const before = call(Op{true, op.reverse}, here, a);
    auto const one = cast<std::int64_t>(call(op::FullLike<int>{1}, here, a)).tensor();
    auto const first = call(Count{true, op.reverse}, here, one) == 0;
    auto const begins = where(first || map(Compare{}, a, before), one, 0).tensor();
    auto const runs = call(Count{op.exclusive, op.reverse}, here, begins);
    auto const own = op.exclusive ? call(Count{false, op.reverse}, here, begins) : runs;
    return keep(begins, runs, own, a.extents()[place_of<tensor_of<A>, I>]);
  }
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& ct) {
    auto const& runs = kept<1>(saved);
    // before the first row an exclusive one is no element
    auto const sums = scatter_along<I>(where(runs > 0, ct, op::zero).tensor(),
                                       max(runs - 1, 0).tensor(), kept<3>(saved));
    return where(kept<0>(saved) > 0, take_along<I>(sums, (kept<2>(saved) - 1).tensor()), op::zero)
        .tensor();
  }
};
template <class I>
struct Vjp<op::CumMax<I>> : RunningExtremeVjp<I, reductions::Maximum, functions::Greater> {};
template <class I>
struct Vjp<op::CumMin<I>> : RunningExtremeVjp<I, reductions::Minimum, functions::Less> {};

/// The largest elements are looked up at their places, whose gradient is that of take_along.
template <class I, class... Result>
struct Vjp<op::TopK<I, Result...>> : Differentiable {
  using Op = op::TopK<I, Result...>;
  template <int K, class V, class A>
  static constexpr Verdict judge() {
    return {};
  }
  template <class A>
  static constexpr auto instead(Op const& op, std::source_location const& called, A const& a) {
    auto const places = shardtype::call(op, called, a.value()).places;
    auto const values = shardtype::call(op::TakeAlong<I, Result...>{}, called, a, places);
    return TopK<std::remove_cvref_t<decltype(values)>, std::remove_cvref_t<decltype(places)>>{
        values, places};
  }
};

/// Each row to the place that it came from.
template <class I>
struct Vjp<op::Sort<I>> : Differentiable {
  template <class V, class A>
  static constexpr auto save(op::Sort<I> const& op, V const&, A const& a) {
    return keep(argsort<I>(a, op.order), a.extents()[place_of<tensor_of<A>, I>]);
  }
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(op::Sort<I> const&, S const& saved, C const& ct) {
    return scatter_along<I>(ct, kept<0>(saved), kept<1>(saved));
  }
};

}  // namespace shardtype::autodiff
