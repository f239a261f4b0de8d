#pragma once
/// Mixtures of experts: tokens go to the ranks of their experts and back.

#include <cstdint>
#include <source_location>
#include <type_traits>

#include <shardtype/check/call_site.hpp>
#include <shardtype/nn/labels.hpp>
#include <shardtype/nn/ragged_dot.hpp>
#include <shardtype/nn/router.hpp>
#include <shardtype/ops/collectives.hpp>
#include <shardtype/ops/run_to_host.hpp>

namespace shardtype::nn {

/// Rows are sent to the ranks of their experts and back, all of them: nothing is dropped.
struct Ragged {};
/// All tokens are gathered on each rank, which computes the rows of its own experts; results are
/// reduce-scattered.
struct Gathered {};
/// Ragged with a limit: a rank sends each expert at most `rows` rows. Rows that come later in the
/// order of tokens have no part in the result; with a limit of 0 none has. All sizes are known
/// without looking at the ids.
struct Capacity {
  std::int64_t rows = -1;  ///< E41 if it is not given
};

/// Functions of experts: `f(h)` of the first product. Silu is the default of all experts, gated or
/// not.
struct Gelu {
  template <class H>
  constexpr auto operator()(H const& h) const {
    return shardtype::gelu_tanh(h);
  }
};
struct Silu {
  template <class H>
  constexpr auto operator()(H const& h) const {
    return shardtype::silu(h);
  }
};
/// Gated experts, in place of the first weights of `moe`: `f(x gate[e]) (x up[e])`, both `[E@X, D,
/// F@Y]`. Source: Shazeer, "GLU variants improve transformer", 2020.
template <class G, class U = G>
struct Gated {
  G gate;
  U up;
};

namespace detail {

/// Stands where no function is given.
struct DefaultFunction : Silu {};
template <class T>
inline constexpr bool is_form = std::is_same_v<T, nn::Ragged> || std::is_same_v<T, nn::Gathered> ||
                                std::is_same_v<T, nn::Capacity>;
/// Whether `T` can be called with something. What it is called with is not tried: its body may
/// refuse other tensors.
struct WithCall {
  void operator()() const {}
};
template <class T>
struct CallTwice : T, WithCall {};
template <class T>
constexpr bool can_be_called() {
  if constexpr (!std::is_class_v<T>) {
    return std::is_function_v<std::remove_pointer_t<T>>;
  } else if constexpr (std::is_final_v<T>) {
    return true;
  } else {
    return !requires { &CallTwice<T>::operator(); };  // ambiguous
  }
}
template <class T>
inline constexpr bool is_function = !is_form<T> && detail::can_be_called<T>();
template <class Act, class H>
concept GivesTensor = requires(Act const& act, H const& h) { act(h).tensor(); };

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
    if constexpr (split) {
      return shardtype::used_as<Reduced<Xs...>>(a, where);
    } else {
      return a;
    }
  }
  /// One reduce_scatter for each axis, major to minor.
  template <class L, class A>
  static constexpr auto scattered(A const& a, [[maybe_unused]] std::source_location const& where) {
    if constexpr (split) {
      return scattered_over<L>(a, where, shardtype::detail::Pack<Xs...>{});
    } else {
      return a;
    }
  }

 private:
  template <class L, class A, class Y, class... Ys>
  static constexpr auto scattered_over(A const& a, std::source_location const& where,
                                       shardtype::detail::Pack<Y, Ys...>) {
    if constexpr (sizeof...(Ys) == 0) {
      return shardtype::reduce_scatter<Y, L>(a, where);
    } else {
      return scattered_over<L>(shardtype::reduce_scatter<Y, L>(a, where), where,
                               shardtype::detail::Pack<Ys...>{});
    }
  }
};
template <class A, std::size_t D>
using dim_at =
    typename autodiff::NthDim<typename autodiff::DimsOf<autodiff::tensor_of<A>>::type, D>::type;

/// The first weights of experts, of gated ones the gate.
template <class W>
struct FirstWeights {
  using gate = W;
  using up = W;
};
template <class G, class U>
struct FirstWeights<Gated<G, U>> {
  using gate = G;
  using up = U;
};
template <class W>
using gate_of = typename FirstWeights<W>::gate;
template <class W>
constexpr std::int64_t experts_in(W const& w) {
  return w.extents()[0];
}
template <class G, class U>
constexpr std::int64_t experts_in(Gated<G, U> const& w) {
  return w.gate.extents()[0];
}
/// Members of gated experts: `nn::GatedMlp`.
template <class P>
concept GatedMembers = requires(P const& p) { p.gate, p.up, p.down; };

/// The label of `w[E, ..]` that is neither the first nor `D`, and its dim.
template <class W, class D>
inline constexpr std::size_t hidden_at = std::is_same_v<label_at<W, 1>, D> ? 2 : 1;
template <class W, class D>
using hidden_label = label_at<W, static_cast<int>(hidden_at<W, D>)>;

/// Whether x is `[S@X, D]`, the weights are `[E@X, D, F]` and `[E@X, F, D]`, or not split along E;
/// of `[S@X, D@Y]` whether they are `[E@X, D, F@Y]` and `[E@X, F@Y, D]`.
template <class A, class W1, class Up, class W2>
constexpr bool fits() {
  using X = autodiff::tensor_of<A>;
  using In = autodiff::tensor_of<W1>;
  using To = autodiff::tensor_of<W2>;
  if constexpr (X::spec.rank != 2 || In::spec.rank != 3 || To::spec.rank != 3 ||
                autodiff::tensor_of<Up>::spec.rank != 3) {
    return false;
  } else {
    using ExpertDim = AxesOf<dim_at<W1, 0>>;
    using Alike = typename AxesOf<dim_at<A, 0>>::template dim<typename ExpertDim::label>;
    using FeatureDim = AxesOf<dim_at<A, 1>>;
    using D = typename FeatureDim::label;
    using F = hidden_label<W1, D>;
    constexpr std::size_t hidden = hidden_at<W1, D>;
    return std::is_same_v<dim_at<W1, 0>, dim_at<W2, 0>> &&
           std::is_same_v<dim_at<W1, 0>, dim_at<Up, 0>> &&
           std::is_same_v<dim_at<W1, hidden>, dim_at<Up, hidden_at<Up, D>>> &&
           (!FeatureDim::split ||
            std::is_same_v<dim_at<W1, hidden>, typename FeatureDim::template dim<F>>) &&
           (!ExpertDim::split || std::is_same_v<Alike, dim_at<W1, 0>>);
  }
}
/// The number of rows of the rank that gets most, the same on all ranks. Of tensors without data
/// -1.
template <class Sizes>
constexpr std::int64_t most_rows([[maybe_unused]] Sizes const& sizes,
                                 [[maybe_unused]] std::source_location const& where) {
  if constexpr (shardtype::detail::is_abstract<Sizes> || shardtype::detail::is_poison<Sizes>) {
    return -1;
  } else {
    return shardtype::item(shardtype::max<Tensor<std::int64_t>>(
                               shardtype::call(op::RowsOnRanks{}, where, sizes), where),
                           where);
  }
}
/// `act(rows w)`, or of gated experts `act(rows gate) (rows up)`, group by group, of the rows that
/// `rows()` gives, which are not kept longer than needed.
template <class D, class Rows, class Sizes, class W, class Act>
constexpr auto hidden_of(Rows const& rows, Sizes const& sizes, W const& w, Act const& act,
                         std::source_location const& where) {
  auto const hidden = shardtype::call(op::RaggedDot<D>{}, where, rows(), w, sizes);
  if constexpr (GivesTensor<Act, std::remove_cvref_t<decltype(hidden)>>) {
    return act(hidden).tensor();
  } else {
    return checking::Poisoned(checking::refused<rules::Code::D19_argument_of_moe, false, Act>{});
  }
}
template <class D, class A, class Sizes, class W>
constexpr auto both_products(A const& rows, Sizes const& sizes, W const& w,
                             std::source_location const& where) {
  auto const gate = shardtype::call(op::RaggedDot<D>{}, where, rows, w.gate, sizes);
  auto const up = shardtype::call(op::RaggedDot<D>{}, where, rows, w.up, sizes);
  return Gated<std::remove_cvref_t<decltype(gate)>, std::remove_cvref_t<decltype(up)>>{gate, up};
}
template <class D, class Rows, class Sizes, class G, class U, class Act>
constexpr auto hidden_of(Rows const& rows, Sizes const& sizes, Gated<G, U> const& w, Act const& act,
                         std::source_location const& where) {
  auto const made = detail::both_products<D>(rows(), sizes, w, where);
  if constexpr (GivesTensor<Act, std::remove_cvref_t<decltype(made.gate)>>) {
    return (act(made.gate) * made.up).tensor();
  } else {
    return checking::Poisoned(checking::refused<rules::Code::D19_argument_of_moe, false, Act>{});
  }
}
/// The second product of hidden features.
template <class F, class D, class Features, class H, class Sizes, class W2>
constexpr auto second_product(H const& hidden, Sizes const& sizes, W2 const& w_out,
                              std::source_location const& where) {
  return Features::template scattered<D>(
      shardtype::call(op::RaggedDot<F>{}, where, hidden, w_out, sizes), where);
}
/// Rows through their experts. Rows `[row@X, D@Y]` are gathered over Y here, and sums scattered.
template <class D, class F, class Features, class Rows, class Sizes, class W1, class W2, class Act>
constexpr auto experts_of(Rows const& rows, Sizes const& sizes, W1 const& w_in, W2 const& w_out,
                          Act const& act, std::source_location const& where) {
  auto const all = [&] { return Features::whole(rows(), where); };
  return detail::second_product<F, D, Features>(detail::hidden_of<D>(all, sizes, w_in, act, where),
                                                sizes, w_out, where);
}

template <class A, class R, class W1, class W2, class Form, class Act>
constexpr auto mixture(A const& x, R const& routes, W1 const& w_in, W2 const& w_out,
                       [[maybe_unused]] Form const& form, Act const& act,
                       std::source_location const& where) {
  using ExpertDim = AxesOf<dim_at<gate_of<W1>, 0>>;
  using E = typename ExpertDim::label;
  using S = label_at<A, 0>;
  using D = label_at<A, 1>;
  using F = hidden_label<gate_of<W1>, D>;
  using Features = AxesOf<dim_at<A, 1>>;
  std::int64_t const experts = detail::experts_in(w_in);
  auto const& ids = routes.experts;
  // of features that are split each rank has a part of the weights' gradient
  auto const weights = Features::whole(routes.weights, where);
  if constexpr (ExpertDim::split && std::is_same_v<Form, nn::Gathered>) {
    auto const all = ExpertDim::whole(ids, where);
    auto const counts =
        shardtype::sum<Ranks>(shardtype::call(op::ExpertCounts<E>{experts}, where, all), where);
    auto const sizes = shardtype::reshard<typename ExpertDim::template dim<E>>(counts, where);
    auto const places = shardtype::call(op::OwnExpertPlaces{}, where, all, sizes);
    std::int64_t const most = detail::most_rows(sizes, where);
    auto const rows = [&] {
      return shardtype::call(op::SpreadRows<ExpertRows>{most}, where, ExpertDim::whole(x, where),
                             places);
    };
    return ExpertDim::template scattered<S>(
        shardtype::call(op::CombineRows{}, where,
                        detail::experts_of<D, F, Features>(rows, sizes, w_in, w_out, act, where),
                        places, ExpertDim::whole(weights, where)),
        where);
  } else {
    std::int64_t limit = no_limit;
    std::int64_t capacity = -1;
    if constexpr (std::is_same_v<Form, Capacity>) limit = capacity = form.rows;
    auto const places = shardtype::call(op::ExpertPlaces{experts, limit}, where, ids);
    auto const sent = shardtype::call(op::ExpertCounts<E>{experts, limit}, where, ids);
    if constexpr (!ExpertDim::split) {
      auto const rows = [&] {
        return shardtype::call(op::SpreadRows<SentRows>{}, where, x, places);
      };
      return shardtype::call(
          op::CombineRows{}, where,
          detail::experts_of<D, F, Features>(rows, sent, w_in, w_out, act, where), places, weights);
    } else {
      auto const received =
          shardtype::reshard<Dim<Ranks>, typename ExpertDim::template dim<E>>(sent, where);
      auto const sizes = shardtype::sum<Ranks>(received, where);
      std::int64_t most = -1;
      if constexpr (!std::is_same_v<Form, Capacity>) most = detail::most_rows(sizes, where);
      std::int64_t each = -1;
      auto const rows = [&] {
        auto const leaving = shardtype::call(op::SpreadRows<SentRows>{}, where, x, places);
        if constexpr (!shardtype::detail::is_poison<decltype(leaving)>)
          each = detail::rows_each(leaving, detail::ranks_of(leaving));
        return shardtype::call(op::ExchangeRows<false>{most, capacity}, where, leaving, sent,
                               received);
      };
      auto const made = [&] {
        auto const there = detail::experts_of<D, F, Features>(rows, sizes, w_in, w_out, act, where);
        return shardtype::call(op::ExchangeRows<true>{each}, where, there, sent, received);
      };
      return shardtype::call(op::CombineRows{}, where, made(), places, weights);
    }
  }
}

/// moe of arguments that it understands.
template <class... Out, class A, class R, class W1, class W2, class Form, class Act>
constexpr auto moe_as(core::Argument<A> const& x, R const& routes, W1 const& w_in, W2 const& w_out,
                      Form const& form, Act const& act, checking::CallSite where) {
  using Rows = std::remove_cvref_t<decltype(detail::as_tokens(x.self(), where))>;
  using Gate = gate_of<W1>;
  using Up = typename FirstWeights<W1>::up;
  if constexpr (checking::any_poisoned<A, Gate, Up, W2, Rows>) {
    return checking::Poisoned{};
  } else if constexpr (core::is_lazy<A> || core::is_lazy<Gate> || core::is_lazy<Up> ||
                       core::is_lazy<W2>) {
    return checking::Poisoned(
        checking::refused<rules::Code::L01_not_recorded, false, tensor_of<A>>{});
  } else if constexpr (!detail::fits<Rows, Gate, Up, W2>()) {
    return checking::Poisoned(
        checking::refused<rules::Code::D18_rows_and_groups, false, autodiff::tensor_of<A>,
                          autodiff::tensor_of<Gate>, autodiff::tensor_of<W2>>{});
  } else if constexpr (sizeof...(Out) > 0) {
    return shardtype::reshard<Out...>(detail::moe_as(x, routes, w_in, w_out, form, act, where),
                                      where);
  } else if constexpr (autodiff::tensor_of<A>::spec.rank == 3) {
    auto const ids = detail::as_tokens(routes.experts, where);
    auto const weights = detail::as_tokens(routes.weights, where);
    using Merged =
        Routes<std::remove_cvref_t<decltype(ids)>, std::remove_cvref_t<decltype(weights)>>;
    return shardtype::split_dim<detail::AllTokens, detail::dim_at<A, 0>, detail::dim_at<A, 1>>(
        detail::mixture(detail::as_tokens(x.self(), where), Merged{ids, weights}, w_in, w_out, form,
                        act, where),
        {x.self().extents()[0], x.self().extents()[1]}, where);
  } else {
    return detail::mixture(x.self(), routes, w_in, w_out, form, act, where);
  }
}

}  // namespace detail

namespace api {

/// A mixture of experts: of each token of x the sum over its choices of weight times act(x w_in[e])
/// w_out[e]. `x[S@X, D]`, `routes` of `router`, `w_in[E@X, D, F]`, `w_out[E@X, F, D]` -> `[S@X,
/// D]`. E, the first dim of the weights, may be uneven, and so may S. Of `x[B@X, S, D]` and its
/// routes the result is `[B@X, S, D]`.
///
///     auto y = nn::moe(x, routes, w_in, w_out);                                  // Ragged, silu
///     auto z = nn::moe(x, routes, w_in, w_out, nn::Capacity{64}, nn::Gelu{});
///     auto v = nn::moe<Dim<S, X>, Dim<D>>(x, routes, w_in, w_out);     // F split: [E@X, D, F@Y]
///     auto u = nn::moe(x, routes, nn::Gated{gate, up}, down, nn::Gelu{});  // Ragged
///     auto t = nn::moe(x, routes, model.experts);                       // of a GatedMlp, silu
///
/// On each rank the rows of its experts lie one behind the other and are multiplied by
/// `ragged_dot`; nothing of shape [S, D, F] or [E, S, D] exists. Communication by form, of S tokens
/// and k choices on p ranks:
///
/// | form | forward | bytes of a rank, of T |
/// |---|---|---|
/// | E whole, `w_in[E, D, F]` | nothing | 0 |
/// | `Ragged` | all_to_all of counts, all_reduce of a number, all_to_all of rows there and back | 2
/// k S D / p | | `Gathered` | all_gathers of x and routes, all_reduce of a number, reduce_scatter |
/// 2 S D (p - 1) / p | | `Capacity{c}` | as Ragged, without the all_reduce | at most as Ragged |
///
/// Backward: the rows go the same ways, once each. Blocks of rows are as long as those of the rank
/// with most rows, which all ranks agree on. Plans count as many rows on each rank as it has tokens
/// times choices (Ragged), or a p-th of all (Gathered): even loads.
///
/// If F is split, `w_in[E@X, D, F@Y]`, `w_out[E@X, F@Y, D]`, the result is a sum `{U:Y}`: name it,
/// `moe<Dim<S, X>, Dim<D>>(...)` (one all_reduce) or `moe<Dim<S, X>, Dim<D, Y>>(...)` (one
/// reduce_scatter). Use x (and the router's weights, by the x that they come from) as `{R:Y}` for
/// gradients, else X01; weights that are not split over X as
/// `{R:X}`. Of `x[S@X, D@Y]` the result is `[S@X, D@Y]`: rows travel over X as parts, are gathered
/// over Y at their experts (all_gather) and summed there (reduce_scatter), both again backward, and
/// the weights' gradient is one all_reduce over Y; only weights with F@Y fit. Refused: as
/// ragged_dot (D18 where tokens and experts are not split over the same axes, or features and
/// hidden features); D19 an argument that is neither form nor function, or these in another order;
/// L01 in automatic mode. Errors: E40 sequences that are split unevenly; E41 a negative capacity;
/// as ragged_dot. Ids outside of the experts have no part, and are E50 under
/// SHARDTYPE_CHECK=values.
template <class... Out, class A, detail::RoutesLike R, class W1, class W2, class Form = Ragged,
          class Act = detail::DefaultFunction>
  requires(!detail::GatedMembers<W1>)
constexpr auto moe(core::Argument<A> const& x, R const& routes, W1 const& w_in, W2 const& w_out,
                   Form const& form = {}, Act const& act = {}, checking::CallSite where = {}) {
  if constexpr (checking::any_poisoned<A, R>) {
    return checking::Poisoned{};
  } else if constexpr (std::is_same_v<Act, detail::DefaultFunction> && detail::is_function<Form>) {
    return api::moe<Out...>(x, routes, w_in, w_out, Ragged{}, form, where);
  } else if constexpr (!detail::is_form<Form>) {
    return checking::Poisoned(checking::refused<rules::Code::D19_argument_of_moe, false, Form>{});
  } else if constexpr (!detail::is_function<Act>) {
    return checking::Poisoned(checking::refused<rules::Code::D19_argument_of_moe, false, Act>{});
  } else {
    return detail::moe_as<Out...>(x, routes, w_in, w_out, form, act, where);
  }
}
/// moe of gated experts, the members `gate`, `up` and `down` of `p` (`GatedMlp`), `[E@X, D, F]` and
/// `[E@X, F, D]`.
template <class... Out, class A, detail::RoutesLike R, detail::GatedMembers P, class Form = Ragged,
          class Act = detail::DefaultFunction>
constexpr auto moe(core::Argument<A> const& x, R const& routes, P const& p, Form const& form = {},
                   Act const& act = {}, checking::CallSite where = {}) {
  using G = std::remove_cvref_t<decltype(p.gate)>;
  using U = std::remove_cvref_t<decltype(p.up)>;
  return api::moe<Out...>(x, routes, Gated<G, U>{p.gate, p.up}, p.down, form, act, where);
}

}  // namespace api

}  // namespace shardtype::nn
