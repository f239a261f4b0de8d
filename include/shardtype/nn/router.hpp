#pragma once
/// Routers of tokens to experts: the choice of experts, the weights of their results, and the
/// losses that keep the experts' loads equal.

#include <cstdint>
#include <source_location>
#include <type_traits>

#include <shardtype/check/call_site.hpp>
#include <shardtype/nn/experts.hpp>
#include <shardtype/nn/labels.hpp>
#include <shardtype/ops/dims.hpp>
#include <shardtype/ops/elementwise.hpp>
#include <shardtype/ops/math.hpp>
#include <shardtype/ops/reductions.hpp>
#include <shardtype/ops/sorting.hpp>

namespace shardtype::nn {

/// The index of the experts that a token is sent to, unless a router is given another.
struct Choice : Index<"choice"> {};

/// Where each token goes: `experts i64[S@X, K]`, the best first, and `weights [S@X, K]` of their
/// results.
template <class Experts, class Weights>
struct Routes {
  Experts experts;
  Weights weights;
};

}  // namespace shardtype::nn

template <class Experts, class Weights>
inline constexpr bool shardtype::detail::is_poisoned<shardtype::nn::Routes<Experts, Weights>> =
    is_poisoned<Experts> || is_poisoned<Weights>;

namespace shardtype::nn {

/// The meaning of the weights. `of_all`: shares of all experts (softmax over all; those of the
/// chosen add up to at most 1). `of_chosen`: shares of the chosen experts alone, which are these
/// divided by their sum.
enum class RouterWeights : std::uint8_t { of_chosen, of_all };

namespace detail {

/// The result of a router, or the value that stands for it after an error.
template <class R>
concept RoutesLike = checking::any_poisoned<R> || requires(R const& r) { r.experts, r.weights; };

struct AllTokens : Index<"token"> {};

template <class R>
concept IsRoutes = requires(R const& r) { r.experts, r.weights; };
/// L01, of logits whose extents are read.
template <class A>
constexpr auto refused_expression() {
  return checking::Poisoned(
      checking::refused<rules::Code::L01_not_recorded, false, tensor_of<A>>{});
}

/// `[B@X, S, D]` as `[token@X, D]`, which is the same memory; `[S@X, D]` as it is.
template <class A>
constexpr auto as_tokens(A const& a, [[maybe_unused]] std::source_location const& where) {
  // NOLINTNEXTLINE(bugprone-branch-clone): the second condition needs the first
  if constexpr (shardtype::detail::is_poison<A>) {
    return a;
  } else if constexpr (detail::tensor_of<A>::spec.rank == 3) {
    return shardtype::merge_dims<label_at<A, 0>, label_at<A, 1>, AllTokens>(a, where);
  } else {
    return a;
  }
}

/// Numbers of rows per expert, of all tokens: `[E]`.
template <class E, class Ids>
constexpr auto expert_load(Ids const& ids, std::int64_t experts,
                           std::source_location const& where) {
  auto const own =
      shardtype::call(op::ExpertCounts<E>{experts}, where, detail::as_tokens(ids, where));
  return shardtype::sum<Tensor<std::int64_t, Dim<E>>>(own, where);
}

}  // namespace detail

namespace api {

/// The `k` experts of each token, from logits `[S@X, E]` or `[B@X, S, E]`: those with the largest
/// logits, of equal ones the first, so all ranks and runs decide alike. The weights are softmax
/// over the chosen logits, or with `RouterWeights::of_all` the chosen shares of softmax over all
/// experts.
///
///     auto routes = nn::router<E>(matmul(x, w), 2);
///     auto y = nn::moe<Dim<S, X>, Dim<D>>(x, routes, w_in, w_out);
///
/// Gradients go through the weights; the choice itself has none, as everywhere, and with k = 1 the
/// weight of the chosen alone is always 1: take `of_all` there. K, the index of choices, is
/// `nn::Choice` or the second argument. Local. Refused: as top_k and softmax (D01, D03 experts
/// split, I10, I11). Error E41: k larger than the number of experts. Sources: Shazeer et al.,
/// "Outrageously large neural networks", 2017; Fedus et al., "Switch transformers", 2021.
template <class E, class K = Choice, RouterWeights W = RouterWeights::of_chosen, class A>
constexpr auto router(core::Argument<A> const& logits, std::int64_t k,
                      checking::CallSite where = {}) {
  if constexpr (W == RouterWeights::of_all) {
    auto const found = shardtype::top_k<E, K>(shardtype::softmax<E>(logits, where), k, where);
    return Routes<std::remove_cvref_t<decltype(found.places)>,
                  std::remove_cvref_t<decltype(found.values)>>{found.places, found.values};
  } else {
    auto const found = shardtype::top_k<E, K>(logits, k, where);
    auto const weights = shardtype::softmax<K>(found.values, where);
    return Routes<std::remove_cvref_t<decltype(found.places)>,
                  std::remove_cvref_t<decltype(weights)>>{found.places, weights};
  }
}

/// Number of rows that each expert gets, of all tokens and choices: `i64[E]` on all ranks.
/// Communicates an all_reduce of the numbers.
template <class E, detail::RoutesLike R>
constexpr auto expert_load(R const& routes, std::int64_t experts, checking::CallSite where = {}) {
  if constexpr (!detail::IsRoutes<R>) {
    return checking::Poisoned{};  // reported where it was refused
  } else {
    return detail::expert_load<E>(routes.experts, experts, where);
  }
}
/// Number of rows that are dropped where each rank may send an expert `capacity` rows: `i64[]` on
/// all ranks. Communicates an all_reduce of a number. Error E41 a negative capacity.
template <class E, detail::RoutesLike R>
constexpr auto dropped_rows(R const& routes, std::int64_t experts, std::int64_t capacity,
                            checking::CallSite where = {}) {
  if constexpr (!detail::IsRoutes<R>) {
    return checking::Poisoned{};  // reported where it was refused
  } else if constexpr (core::is_lazy<std::remove_cvref_t<decltype(routes.experts)>>) {
    return detail::refused_expression<std::remove_cvref_t<decltype(routes.experts)>>();
  } else {
    auto const ids = detail::as_tokens(routes.experts, where);
    auto const all = shardtype::call(op::ExpertCounts<E>{experts}, where, ids);
    auto const kept = shardtype::call(op::ExpertCounts<E>{experts, capacity}, where, ids);
    return shardtype::sum<Tensor<std::int64_t>>(all - kept, where);
  }
}

/// The loss of uneven loads, experts times the sum over experts of (share of the rows that go
/// there) times (mean share in softmax of the logits): 1 if both are even. Of logits `[S@X, E]` ->
/// `[]`; the loads are constants, gradients go through the softmax. Communicates two all_reduces
/// forward, of a number per expert each, nothing backward. Of no tokens 0. Refused as softmax and
/// sum. Sources: Fedus et al., 2021, equation 4; Lepikhin et al., "GShard", 2020.
template <class E, class A, detail::RoutesLike R>
constexpr auto load_balance_loss(core::Argument<A> const& logits, R const& routes,
                                 checking::CallSite where = {}) {
  if constexpr (checking::any_poisoned<A> || !detail::IsRoutes<R>) {
    return checking::Poisoned{};  // reported where it was refused
  } else if constexpr (core::is_lazy<A>) {
    return detail::refused_expression<A>();
  } else {
    using T = checking::element_t<detail::tensor_of<A>>;
    auto const x = detail::as_tokens(logits.self(), where);
    std::int64_t const experts = x.extents()[1];
    auto const at_least_one = [](std::int64_t n) { return static_cast<double>(n > 0 ? n : 1); };
    double const tokens = at_least_one(x.extents()[0]);
    double const rows = tokens * at_least_one(routes.experts.extents().back());
    auto const load = shardtype::cast<T>(detail::expert_load<E>(routes.experts, experts, where));
    auto const share = shardtype::sum<Tensor<T, Dim<E>>>(shardtype::softmax<E>(x, where), where);
    return (shardtype::sum<E>(share * load) *
            static_cast<T>(static_cast<double>(experts) / (tokens * rows)))
        .tensor();
  }
}
/// The mean square of the logarithm of each token's sum of exponentials, which keeps logits small:
/// `[S@X, E]` -> `[]`. Communicates one all_reduce of a number forward, nothing backward. Of no
/// tokens 0. Source: Zoph et al., "ST-MoE", 2022, equation 5.
template <class E, class A>
constexpr auto z_loss(core::Argument<A> const& logits, checking::CallSite where = {}) {
  if constexpr (checking::any_poisoned<A>) {
    return checking::Poisoned{};
  } else if constexpr (core::is_lazy<A>) {
    return detail::refused_expression<A>();
  } else {
    using T = checking::element_t<detail::tensor_of<A>>;
    auto const x = detail::as_tokens(logits.self(), where);
    std::int64_t const n = x.extents()[0];
    return (shardtype::sum<Tensor<T>>(shardtype::square(shardtype::logsumexp<E>(x, where)), where) *
            static_cast<T>(1.0 / static_cast<double>(n > 0 ? n : 1)))
        .tensor();
  }
}

}  // namespace api

}  // namespace shardtype::nn
