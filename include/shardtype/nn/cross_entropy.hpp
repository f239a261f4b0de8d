#pragma once
/// Cross entropy of logits and classes by number, without a one_hot of the classes.

#include <cstdint>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/custom_vjp.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/execute/lookup.hpp>
#include <shardtype/nn/kernels_cross_entropy.hpp>
#include <shardtype/nn/norm.hpp>
#include <shardtype/nn/types_cross_entropy.hpp>
#include <shardtype/ops/elementwise.hpp>
#include <shardtype/ops/math.hpp>
#include <shardtype/ops/reductions.hpp>

namespace shardtype {

namespace op {

template <class V, bool Split>
template <class Out, class A, class Ids>
void CrossEntropyNumbers<V, Split>::fill(Out& out, A const& logits, Ids const& targets) const {
  using Exec = typename A::execution_space;
  using Body = nn::kernels::CrossEntropyNumbers<nn::kernels::on_host<Exec>, typename A::element,
                                                typename Ids::element>;
  constexpr auto at = static_cast<std::size_t>(execute::dim_of<A, V>);
  auto const shape = nn::detail::row_shape<V>(logits);
  nn::detail::run_rows<A>(
      "shardtype::cross_entropy", shape.rows,
      Body{shape, execute::written(out), execute::data_of(logits), execute::data_of(targets),
           logits.rows()[at].range().begin, logits.extents()[at]});
}
template <class Out, class A, class Ids>
void CrossEntropyJoin::fill(Out& losses, Out& sums, A const& numbers, Ids const& targets) const {
  using C = typename A::element;
  nn::detail::run_rows<A>(
      "shardtype::cross_entropy_join", targets.local_size(),
      nn::kernels::CrossEntropyJoin<C, typename Ids::element>{
          execute::written(losses), execute::written(sums), execute::data_of(numbers),
          execute::data_of(targets), numbers.extents()[A::rank - 2], options});
}
template <class V>
template <class Out, class A, class Ids>
void CrossEntropyLosses<V>::fill(Out& out, A const& logits, Ids const& targets) const {
  using Exec = typename A::execution_space;
  using Body = nn::kernels::ClassLossesHere<nn::kernels::on_host<Exec>, typename A::element,
                                            typename Ids::element>;
  auto const shape = nn::detail::row_shape<V>(logits);
  nn::detail::run_rows<A>(
      "shardtype::cross_entropy", shape.rows,
      Body{{{shape, nullptr, execute::data_of(logits), execute::data_of(targets), 0, shape.length},
            nullptr,
            options.smoothing},
           execute::written(out),
           options.ignored});
}
template <class V>
template <class T, class Space, class Places, class A, class Ids>
auto CrossEntropyLosses<V>::totals(execute::JoinedRows<T, Space> const& rows, Places const& at,
                                   A const& logits, Ids const& targets) const {
  using Exec = typename Space::execution_space;
  using Body = nn::kernels::FindClassTotals<nn::kernels::on_host<Exec>, T, typename Ids::element>;
  using Total = nn::ClassTotal<typename Body::C>;
  constexpr int d = execute::dim_of<A, V>;
  runtime::Buffer out = rows.template take<Total>(rows.count());
  auto const shape = nn::detail::row_shape<V>(logits);
  nn::detail::run_rows<A>("shardtype::cross_entropy", shape.rows,
                          Body{{shape, nullptr, execute::data_of(logits), execute::data_of(targets),
                                at.rows[d].range().begin, at.extents[d]},
                               static_cast<Total*>(out.data()),
                               options.smoothing});
  return out;
}
template <class V>
template <class T, class Space, class A, class Ids>
auto CrossEntropyLosses<V>::joined(execute::JoinedRows<T, Space> const& rows, A const&,
                                   Ids const& targets) const {
  using C = shardtype::detail::computed_t<T>;
  runtime::Buffer out = rows.template take<C>(rows.count());
  nn::detail::run_rows<A>(
      "shardtype::cross_entropy_join", rows.count(),
      nn::kernels::ClassLosses<C, typename Ids::element>{
          static_cast<C*>(out.data()), static_cast<nn::ClassTotal<C> const*>(rows.totals.data()),
          execute::data_of(targets), options.ignored});
  return out;
}
template <class V>
template <class Out, class A, class Ids, class L, class C>
void CrossEntropyBack<V>::fill(Out& out, A const& logits, Ids const& targets, L const& sums,
                               C const& ct) const {
  using Exec = typename A::execution_space;
  using Body = nn::kernels::CrossEntropyBack<nn::kernels::on_host<Exec>, typename A::element,
                                             typename Ids::element>;
  constexpr auto at = static_cast<std::size_t>(execute::dim_of<A, V>);
  auto const shape = nn::detail::row_shape<V>(logits);
  nn::detail::run_rows<A>(
      "shardtype::cross_entropy_back", shape.rows,
      Body{shape, execute::written(out), execute::data_of(logits), execute::data_of(targets),
           execute::data_of(sums), execute::data_of(ct), logits.rows()[at].range().begin,
           logits.extents()[at], options});
}

}  // namespace op

namespace nn {

namespace detail {

/// A dim without its split, if it is that of the ranks.
template <class Part>
struct Gathered {
  using type = Part;
};
template <class... Xs>
struct Gathered<Dim<RankDim, Xs...>> {
  using type = Dim<RankDim>;
};
template <class A>
struct GatheredNumbers;
template <class T, class... Parts>
struct GatheredNumbers<Tensor<T, Parts...>> {
  using type = Tensor<T, typename Gathered<Parts>::type...>;
};

/// The losses and the logarithms of the sums of exponentials.
template <class V, bool Split, class A, class Ids>
constexpr auto losses_and_sums(CrossEntropy const& options, std::source_location const& where,
                               A const& logits, Ids const& targets) {
  auto const own =
      shardtype::call(op::CrossEntropyNumbers<V, Split>{options.smoothing}, where, logits, targets);
  using Own = std::remove_cvref_t<decltype(own)>;
  if constexpr (Split && !shardtype::detail::is_poison<Own>) {
    using All = typename GatheredNumbers<autodiff::tensor_of<Own>>::type;
    return shardtype::call(op::CrossEntropyJoin{options}, where, shardtype::reshard<All>(own),
                           targets);
  } else {
    return shardtype::call(op::CrossEntropyJoin{options}, where, own, targets);
  }
}
/// The losses, in the sharding `Out` if that is named.
template <class... Out, class Both>
constexpr auto losses_as(Both const& both) {
  if constexpr (shardtype::detail::is_poison<Both>) {
    return checking::Poisoned{};
  } else if constexpr (sizeof...(Out) == 0) {
    return std::get<0>(both);
  } else {
    return shardtype::reshard<Out...>(std::get<0>(both));
  }
}

template <class V, bool Split, class... Out>
struct CrossEntropyValue {
  CrossEntropy options;
  std::source_location where;
  template <class A, class Ids>
  constexpr auto operator()(A const& logits, Ids const& targets) const {
    return detail::losses_as<Out...>(
        detail::losses_and_sums<V, Split>(options, where, logits, targets));
  }
};
template <class V, bool Split, class... Out>
struct CrossEntropyForward {
  CrossEntropy options;
  std::source_location where;
  template <class A, class Ids>
  constexpr auto operator()(A const& logits, Ids const& targets) const {
    auto const both = detail::losses_and_sums<V, Split>(options, where, logits, targets);
    return std::pair(detail::losses_as<Out...>(both),
                     std::tuple(logits, targets, std::get<1>(both)));
  }
};
template <class V, bool Split, class... Out>
struct CrossEntropyPull {
  CrossEntropy options;
  std::source_location where;
  template <class Saved, class C>
  constexpr auto operator()(Saved const& saved, C const& ct) const {
    auto const& [logits, targets, sums] = saved;
    using Rows = cotangent_t<autodiff::tensor_of<std::remove_cvref_t<decltype(sums)>>>;
    auto const rows = autodiff::finished<Rows, true>(ct);
    return std::tuple(
        shardtype::call(op::CrossEntropyBack<V>{options}, where, logits, targets, sums, rows),
        no_gradient);
  }
};

/// Whether `Op` refuses tensors of these types.
template <class Op, class A, class B>
inline constexpr bool refuses = [] {
  if constexpr (is_tensor<A> && is_tensor<B>) {
    return !checking::Resolve<Op, A, B>::verdict;
  } else {
    return false;
  }
}();
/// Whether `Ids` have the dim of the classes, as a one_hot has.
template <class V, class Ids>
inline constexpr bool has_classes = [] {
  if constexpr (is_tensor<autodiff::tensor_of<Ids>>) {
    return execute::dim_of<autodiff::tensor_of<Ids>, V> >= 0;
  } else {
    return false;
  }
}();
template <class V, bool Split, class... Out, class A, class Ids>
constexpr auto cross_entropy_as(CrossEntropy const& options, std::source_location const& where,
                                A const& logits, Ids const& targets) {
  using Numbers = op::CrossEntropyNumbers<V, Split>;
  if constexpr (core::is_lazy<A> || core::is_lazy<Ids>) {
    // the planner chooses whether ranks share the classes of a row
    auto const losses = shardtype::call(op::CrossEntropyLosses<V>{options}, where, logits, targets);
    if constexpr (sizeof...(Out) == 0) {
      return losses;
    } else {
      return shardtype::reshard<Out...>(losses);
    }
  } else if constexpr (has_classes<V, Ids>) {
    return checking::Poisoned(
        checking::refused<rules::Code::D22_one_hot_targets, false, autodiff::tensor_of<A>,
                          autodiff::tensor_of<Ids>>{});
  } else if constexpr (refuses<Numbers, autodiff::tensor_of<A>, autodiff::tensor_of<Ids>>) {
    // here, so that the message has few functions above it
    return shardtype::call(Numbers{options.smoothing}, where, logits, targets);
  } else {
    return shardtype::custom_vjp(CrossEntropyValue<V, Split, Out...>{options, where},
                                 CrossEntropyForward<V, Split, Out...>{options, where},
                                 CrossEntropyPull<V, Split, Out...>{options, where},
                                 where)(logits, targets);
  }
}
/// Whether a mesh axis splits the classes.
template <class V, class A>
inline constexpr bool splits = [] {
  using Logits = autodiff::tensor_of<A>;
  if constexpr (core::is_lazy<Logits>) {
    return false;
  } else {
    constexpr int d = execute::dim_of<Logits, V>;
    return d >= 0 && Logits::spec.dims[d < 0 ? 0 : d].axes.size > 0;
  }
}();

}  // namespace detail

}  // namespace nn

namespace op {

template <class V>
template <class A, class Ids>
constexpr auto CrossEntropyLosses<V>::forward(std::source_location const& where, A const& logits,
                                              Ids const& targets) const {
  auto const both = nn::detail::losses_and_sums<V, false>(options, where, logits, targets);
  return autodiff::Forward{std::get<0>(both), autodiff::keep(logits, targets, std::get<1>(both))};
}
template <class V>
template <class G>
constexpr auto CrossEntropyLosses<V>::pull(G const& g) const {
  return g.call(CrossEntropyBack<V>{options}, g.template kept<0>(), g.template kept<1>(),
                g.template kept<2>(), g.ct);
}

}  // namespace op

namespace nn {

namespace api {

/// The cross entropy of each row of logits along the classes V and the class that `targets`
/// numbers: logsumexp<V>(x) - x[target]. `x[B@X, S, V]`, `targets i64[B@X, S]` -> `[B@X, S]`, of
/// float or double (float for bfloat16 logits). A row whose target is `options.ignored` has loss 0
/// and no gradient; any other target outside of 0 to the number of classes less 1 gives NaN. With
/// `smoothing` s the target distribution is (1 - s) at the target, plus s / classes everywhere.
///
///     auto losses = nn::cross_entropy<V>(logits, ids, {.ignored = -1, .smoothing = 0.1});
///
/// Where V is split, the result is named after V: `x[B@X, S, V@Y]` -> `cross_entropy<V, Dim<B, X>,
/// Dim<S>>(x, ids)`: one all_gather of five numbers for each row and rank; logits are not sent.
/// Forward and backward read the logits once each; the gradient, softmax - target distribution, is
/// the only array with classes that is made. Backward communicates nothing. Refused: D01, S03
/// strict over split classes, D12 targets with other dims or splits than the rows, P04, P12, I01,
/// B03. Error E24 extents, E30 smoothing. As
/// optax.losses.softmax_cross_entropy_with_integer_labels,
/// torch.nn.functional.cross_entropy(reduction="none"). Source of the exchange: Shoeybi et al.,
/// "Megatron-LM", 2019.
template <class V, class... Out, class A, class Ids>
constexpr auto cross_entropy(core::Argument<A> const& logits, Ids const& targets,
                             CrossEntropy const& options = {}, checking::CallSite where = {}) {
  return detail::cross_entropy_as<V, (sizeof...(Out) > 0), Out...>(options, where, logits.self(),
                                                                   targets);
}

/// The mean of cross_entropy over all rows that are not ignored, 0 if all are: `x[B@X, S, V@Y]` ->
/// `mean_cross_entropy<V, Tensor<float>>(x, ids)` -> `[]`. Communicates as cross_entropy, and one
/// all_reduce each for the sum of losses and the number of rows, where rows are split.
template <class V, class Out, class A, class Ids>
constexpr auto mean_cross_entropy(core::Argument<A> const& logits, Ids const& targets,
                                  CrossEntropy const& options = {}, checking::CallSite where = {}) {
  static_assert(Out::rank == 0,
                "the mean has no dims: mean_cross_entropy<V, Tensor<float>>(x, ids)");
  if constexpr (shardtype::detail::is_poison<A> || shardtype::detail::is_poison<Ids>) {
    return checking::Poisoned{};  // reported where it was refused
  } else {
    using T = typename Out::element;
    auto const losses =
        detail::cross_entropy_as<V, detail::splits<V, A>>(options, where, logits.self(), targets);
    auto const rows = shardtype::sum<Out>(shardtype::cast<T>(targets != options.ignored));
    auto const mean = shardtype::sum<Out>(losses) / shardtype::max(rows, T(1));
    if constexpr (core::is_lazy<std::remove_cvref_t<decltype(mean)>>) {
      return mean;
    } else {
      return mean.tensor();
    }
  }
}

}  // namespace api

}  // namespace nn

}  // namespace shardtype
