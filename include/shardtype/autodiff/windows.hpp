#pragma once
/// The gradients of windows with a run-time start, of shifts, running sums and sorted values.

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
    auto const places = shardtype::top_k<I, Result...>(a.value(), op.k, called).places;
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
