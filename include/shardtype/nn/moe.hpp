#pragma once
/// Mixtures of experts: tokens go to the ranks of their experts and back.

#include <cstdint>
#include <source_location>
#include <type_traits>

#include <shardtype/check/call_site.hpp>
#include <shardtype/nn/router.hpp>
#include <shardtype/ops/collectives.hpp>
#include <shardtype/ops/run_to_host.hpp>

namespace shardtype::nn {

/// Rows are sent to the ranks of their experts and back, all of them: nothing is dropped.
struct Ragged {};
/// All tokens are gathered on each rank, which computes the rows of its own experts; results are reduce-scattered.
struct Gathered {};
/// As Ragged, but a rank sends each expert at most `rows` rows; those that come later in the order of tokens have no
/// part in the result. All sizes are known without looking at the ids.
struct Capacity {
  std::int64_t rows = 0;
};

/// Functions of experts: `f(h)` of the first product.
struct Gelu {
  template <class H>
  constexpr auto operator()(H const& h) const {
    return gelu_tanh(h);
  }
};
struct Silu {
  template <class H>
  constexpr auto operator()(H const& h) const {
    return silu(h);
  }
};

namespace detail {

/// The axes of `Dim<I, Xs...>`, and dims with them.
template <class Part>
struct AxesOf;
template <class I, class... Xs>
struct AxesOf<Dim<I, Xs...>> {
  using label = I;
  static constexpr bool split = sizeof...(Xs) > 0;
  template <class L>
  using dim = Dim<L, Xs...>;
  template <class A>
  static constexpr auto whole(A const& a, std::source_location const& where) {
    return used_as<Reduced<Xs...>>(a, where);
  }
  /// One reduce_scatter for each axis, major to minor.
  template <class L, class A>
  static constexpr auto scattered(A const& a, std::source_location const& where) {
    return scattered_over<L>(a, where, shardtype::detail::Pack<Xs...>{});
  }

 private:
  template <class L, class A, class Y, class... Ys>
  static constexpr auto scattered_over(A const& a, std::source_location const& where,
                                       shardtype::detail::Pack<Y, Ys...>) {
    if constexpr (sizeof...(Ys) == 0) {
      return reduce_scatter<Y, L>(a, where);
    } else {
      return scattered_over<L>(reduce_scatter<Y, L>(a, where), where,
                               shardtype::detail::Pack<Ys...>{});
    }
  }
};
template <class A, std::size_t D>
using dim_at =
    typename autodiff::NthDim<typename autodiff::DimsOf<autodiff::tensor_of<A>>::type, D>::type;

/// The label of `w[E, ..]` that is neither the first nor `D`.
template <class W, class D>
using hidden_label =
    std::conditional_t<std::is_same_v<label_at<W, 1>, D>, label_at<W, 2>, label_at<W, 1>>;

/// Whether x is `[S@X, D]`, the weights are `[E@X, D, F]` and `[E@X, F, D]`, or not split along E.
template <class A, class W1, class W2>
constexpr bool fits() {
  using X = autodiff::tensor_of<A>;
  using In = autodiff::tensor_of<W1>;
  using To = autodiff::tensor_of<W2>;
  if constexpr (X::spec.rank != 2 || In::spec.rank != 3 || To::spec.rank != 3) {
    return false;
  } else {
    using ExpertDim = AxesOf<dim_at<W1, 0>>;
    using Alike = typename AxesOf<dim_at<A, 0>>::template dim<typename ExpertDim::label>;
    return std::is_same_v<dim_at<W1, 0>, dim_at<W2, 0>> &&
           (!ExpertDim::split || std::is_same_v<Alike, dim_at<W1, 0>>);
  }
}
/// The number of rows of the rank that gets most, the same on all ranks. Of tensors without data -1.
template <class Sizes>
constexpr std::int64_t most_rows([[maybe_unused]] Sizes const& sizes,
                                 [[maybe_unused]] std::source_location const& where) {
  if constexpr (shardtype::detail::is_dry<Sizes> || shardtype::detail::is_poison<Sizes>) {
    return -1;
  } else {
    return item(max<Tensor<std::int64_t>>(call(op::RowsOnRanks{}, where, sizes), where), where);
  }
}
/// `act(rows w_in) w_out`, group by group, of the rows that `rows()` gives, which are not kept longer than needed.
template <class D, class F, class Rows, class Sizes, class W1, class W2, class Act>
constexpr auto experts_of(Rows const& rows, Sizes const& sizes, W1 const& w_in, W2 const& w_out,
                          Act const& act, std::source_location const& where) {
  auto const hidden = call(op::RaggedDot<D>{}, where, rows(), w_in, sizes);
  return call(op::RaggedDot<F>{}, where, act(hidden).tensor(), w_out, sizes);
}

template <class A, class R, class W1, class W2, class Form, class Act>
constexpr auto mixture(A const& x, R const& routes, W1 const& w_in, W2 const& w_out,
                       [[maybe_unused]] Form const& form, Act const& act,
                       std::source_location const& where) {
  using ExpertDim = AxesOf<dim_at<W1, 0>>;
  using E = typename ExpertDim::label;
  using S = label_at<A, 0>;
  using D = label_at<A, 1>;
  using F = hidden_label<W1, D>;
  std::int64_t const experts = w_in.extents()[0];
  auto const& ids = routes.experts;
  if constexpr (ExpertDim::split && std::is_same_v<Form, nn::Gathered>) {
    auto const all = ExpertDim::whole(ids, where);
    auto const counts = sum<Ranks>(call(op::ExpertCounts<E>{experts}, where, all), where);
    auto const sizes = reshard<typename ExpertDim::template dim<E>>(counts, where);
    auto const places = call(op::OwnExpertPlaces{}, where, all, sizes);
    std::int64_t const most = detail::most_rows(sizes, where);
    auto const rows = [&] {
      return call(op::SpreadRows<ExpertRows>{most}, where, ExpertDim::whole(x, where), places);
    };
    return ExpertDim::template scattered<S>(
        call(op::CombineRows{}, where,
             detail::experts_of<D, F>(rows, sizes, w_in, w_out, act, where), places,
             ExpertDim::whole(routes.weights, where)),
        where);
  } else {
    std::int64_t capacity = 0;
    if constexpr (std::is_same_v<Form, Capacity>) capacity = form.rows;
    auto const places = call(op::ExpertPlaces{experts, capacity}, where, ids);
    auto const sent = call(op::ExpertCounts<E>{experts, capacity}, where, ids);
    if constexpr (!ExpertDim::split) {
      auto const rows = [&] { return call(op::SpreadRows<SentRows>{}, where, x, places); };
      return call(op::CombineRows{}, where,
                  detail::experts_of<D, F>(rows, sent, w_in, w_out, act, where), places,
                  routes.weights);
    } else {
      auto const received = reshard<Dim<Ranks>, typename ExpertDim::template dim<E>>(sent, where);
      auto const sizes = sum<Ranks>(received, where);
      std::int64_t most = -1;
      if constexpr (!std::is_same_v<Form, Capacity>) most = detail::most_rows(sizes, where);
      std::int64_t each = -1;
      auto const rows = [&] {
        auto const leaving = call(op::SpreadRows<SentRows>{}, where, x, places);
        if constexpr (!shardtype::detail::is_poison<decltype(leaving)>)
          each = autodiff::rows_each(leaving, autodiff::ranks_of(leaving));
        return call(op::ExchangeRows<false>{most, capacity}, where, leaving, sent, received);
      };
      auto const made = [&] {
        auto const there = detail::experts_of<D, F>(rows, sizes, w_in, w_out, act, where);
        return call(op::ExchangeRows<true>{each}, where, there, sent, received);
      };
      return call(op::CombineRows{}, where, made(), places, routes.weights);
    }
  }
}

}  // namespace detail

namespace api {

/// A mixture of experts: of each token of x the sum over its choices of weight times act(x w_in[e]) w_out[e].
/// `x[S@X, D]`, `routes` of `router`, `w_in[E@X, D, F]`, `w_out[E@X, F, D]` -> `[S@X, D]`. E, the first dim of the
/// weights, may be uneven, and so may S. Of `x[B@X, S, D]` and its routes the result is `[B@X, S, D]`.
///
///     auto y = nn::moe(x, routes, w_in, w_out);                                  // Ragged, gelu
///     auto z = nn::moe(x, routes, w_in, w_out, nn::Capacity{64}, nn::Silu{});
///     auto v = nn::moe<Dim<S, X>, Dim<D>>(x, routes, w_in, w_out);                // F split: [E@X, D, F@Y]
///
/// On each rank the rows of its experts lie one behind the other and are multiplied by `ragged_dot`; nothing of shape
/// [S, D, F] or [E, S, D] exists. Communication by form, of S tokens and k choices on p ranks:
///
/// | form | forward | bytes of a rank, of T |
/// |---|---|---|
/// | E whole, `w_in[E, D, F]` | nothing | 0 |
/// | `Ragged` | all_to_all of counts, all_reduce of a number, all_to_all of rows there and back | 2 k S D / p |
/// | `Gathered` | all_gathers of x and routes, all_reduce of a number, reduce_scatter | 2 S D (p - 1) / p |
/// | `Capacity{c}` | as Ragged, without the all_reduce | at most as Ragged |
///
/// Backward: the rows go the same ways, once each. Blocks of rows are as long as those of the rank with most rows, which
/// all ranks agree on. Plans count as many rows on each rank as it has tokens times choices (Ragged), or a p-th of all
/// (Gathered): even loads.
///
/// If F is split, `w_in[E@X, D, F@Y]`, `w_out[E@X, F@Y, D]`, the result is a sum `{U:Y}`: name it, `moe<Dim<S, X>,
/// Dim<D>>(...)` (one all_reduce) or `moe<Dim<S, X>, Dim<D, Y>>(...)` (one reduce_scatter). Use x (and the router's
/// weights, by the x that they come from) as `{R:Y}` for gradients, else X01; weights that are not split over X as
/// `{R:X}`. Refused: as ragged_dot (D18 where tokens and experts are not split over the same axes). Errors: E40
/// sequences that are split unevenly; as ragged_dot. Ids outside of the experts have no part, and are E50 under
/// SHARDTYPE_CHECK=values.
template <class... Out, class A, class R, class W1, class W2, class Form = Ragged, class Act = Gelu>
constexpr auto moe(core::Argument<A> const& x, R const& routes, W1 const& w_in, W2 const& w_out,
                   Form const& form = {}, Act const& act = {},
                   checking::CallSite where = std::source_location::current()) {
  using Rows = std::remove_cvref_t<decltype(detail::as_tokens(x.self(), where))>;
  if constexpr (checking::any_poisoned<A, W1, W2, Rows>) {
    return checking::Poisoned{};
  } else if constexpr (!detail::fits<Rows, W1, W2>()) {
    return checking::Poisoned(
        checking::refused<rules::Code::D18_rows_and_groups, false, autodiff::tensor_of<A>,
                          autodiff::tensor_of<W1>, autodiff::tensor_of<W2>>{});
  } else if constexpr (sizeof...(Out) > 0) {
    return reshard<Out...>(api::moe(x, routes, w_in, w_out, form, act, where), where);
  } else if constexpr (autodiff::tensor_of<A>::spec.rank == 3) {
    auto const ids = detail::as_tokens(routes.experts, where);
    auto const weights = detail::as_tokens(routes.weights, where);
    using Merged =
        Routes<std::remove_cvref_t<decltype(ids)>, std::remove_cvref_t<decltype(weights)>>;
    return split_dim<detail::AllTokens, detail::dim_at<A, 0>, detail::dim_at<A, 1>>(
        detail::mixture(detail::as_tokens(x.self(), where), Merged{ids, weights}, w_in, w_out, form,
                        act, where),
        {x.self().extents()[0], x.self().extents()[1]}, where);
  } else {
    return detail::mixture(x.self(), routes, w_in, w_out, form, act, where);
  }
}

}  // namespace api

}  // namespace shardtype::nn
