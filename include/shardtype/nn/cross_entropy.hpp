#pragma once
/// Cross entropy of logits and classes by number, without a one_hot of the classes.

#include <cstdint>
#include <source_location>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/custom_vjp.hpp>
#include <shardtype/check/along.hpp>
#include <shardtype/check/call.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/execute/lookup.hpp>
#include <shardtype/nn/kernels_cross_entropy.hpp>
#include <shardtype/nn/norm.hpp>
#include <shardtype/ops/elementwise.hpp>
#include <shardtype/ops/indexing.hpp>
#include <shardtype/ops/math.hpp>
#include <shardtype/ops/reductions.hpp>

namespace shardtype {

namespace rules {

/// The rows of `logits`, without the classes `V`, if those of `targets` are split alike.
constexpr Verdict class_rows(Spec const& logits, Spec const& targets, int v) {
  Spec rows = logits;
  rows.rank = 0;
  for (int d = 0; d < logits.rank; ++d)
    if (logits.dims[d].label != v) rows.add(logits.dims[d].label, logits.dims[d].axes);
  for (int d = 0; d < rows.rank || d < targets.rank; ++d)
    if (d >= rows.rank || d >= targets.rank || !(rows.dims[d] == targets.dims[d]))
      return refuse(Code::D12_dims_differ,
                    d < rows.rank ? rows.dims[d].label : targets.dims[d].label);
  for (int x = 0; x < max_axes; ++x)
    if (logits.unreduced.contains(x) || targets.unreduced.contains(x))
      return refuse(Code::P04_not_linear, -1, -1, x);
  for (int x = 0; x < max_axes; ++x)
    if (targets.reduced.contains(x) && logits.dim_of(x) < 0) rows.reduced.insert(x);
  return accept(rows);
}

}  // namespace rules

namespace nn {

/// Options of cross_entropy: the target whose row has no loss, and how much of the target distribution is spread
/// evenly over all classes, from 0 to 1 (label smoothing).
using CrossEntropy = kernels::CrossEntropySettings;

namespace detail {

struct RankDim : Index<"part"> {};
struct NumberDim : Index<"number", kernels::row_numbers> {};
struct ResultDim : Index<"loss and sum", 2> {};

/// Requirements on logits and targets.
template <class A, class Ids>
constexpr rules::Code class_operands() {
  using T = checking::element_t<A>;
  if (!shardtype::detail::is_real_floating<T>) return rules::Code::P12_not_floating;
  if (!shardtype::detail::is_id<checking::element_t<Ids>>) return rules::Code::I01_not_integers;
  return shardtype::detail::same_memory<A, Ids> ? rules::Code::ok
                                                : rules::Code::C10_element_types_differ;
}

}  // namespace detail
}  // namespace nn

namespace op {

/// The numbers of ranks about each row of logits, of logits and targets. `Split`: of split classes too.
template <class V, bool Split>
struct CrossEntropyNumbers {
  using operation = CrossEntropyNumbers;
  using from = shardtype::detail::Bare<V>;
  using to = Mentions<Dim<nn::detail::RankDim>, Dim<nn::detail::NumberDim>>;
  static constexpr std::string_view name = "cross_entropy";
  double smoothing = 0;
  static constexpr Verdict rule(rules::Question const& q) {
    if (Verdict v = rules::has_all(q.a(), q.from); !v) return v;
    if (Verdict v = rules::in_blocks(q.a(), q.from); !v) return v;
    AxisList const axes = q.a().dims[q.a().find(q.along())].axes;
    if (!Split && axes.size > 0) return rules::refuse(Code::S03_split, q.along(), -1, axes[0]);
    Verdict v = rules::class_rows(q.a(), q.operands[1], q.along());
    if (!v) return v;
    v.result.add(q.to.dims[0].label, axes);
    v.result.add(q.to.dims[1].label);
    return v;
  }
  template <class A, class Ids>
  static constexpr Code elements() {
    return nn::detail::class_operands<A, Ids>();
  }
  template <class A, class Ids>
  using element = shardtype::detail::computed_t<element_t<A>>;
  constexpr void extents(ResultExtents const& c) const {
    if (!(smoothing >= 0 && smoothing <= 1))
      ResultExtents::fail("the smoothing of cross_entropy is from 0 to 1", "E30");
    shardtype::detail::check_shared_extents(c, "targets");
    int const d = c.result.rank - 2;
    c.out[d] = c.sizes.product(c.result.dims[d].axes);
    c.out[d + 1] = nn::kernels::row_numbers;
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return {mul_sat(4, c.elements(0)), 0, false};
  }
};

/// The loss of each row and the logarithm of its sum of exponentials, of the numbers of all ranks and the targets.
struct CrossEntropyJoin {
  using operation = CrossEntropyJoin;
  using from = Mentions<Dim<nn::detail::RankDim>, Dim<nn::detail::NumberDim>>;
  using to = Mentions<Dim<nn::detail::ResultDim>>;
  static constexpr std::string_view name = "cross_entropy_join";
  nn::CrossEntropy options{};
  static constexpr Verdict rule(rules::Question const& q) {
    if (Verdict v = rules::unsplit(q, Code::D03_along_split); !v) return v;
    Spec numbers = q.a();
    numbers.rank = static_cast<std::int8_t>(numbers.rank - 1);
    Verdict v = rules::class_rows(numbers, q.operands[1], q.along());
    if (v) v.result.add(q.to.dims[0].label);
    return v;
  }
  template <class A, class Ids>
  static constexpr Code elements() {
    return nn::detail::class_operands<A, Ids>();
  }
  constexpr void extents(ResultExtents const& c) const { c.out[c.result.rank - 1] = 2; }
};

/// The cotangent of the logits, of logits, targets, the logarithms of the sums, and the cotangent of the losses, of
/// which it is linear.
template <class V>
struct CrossEntropyBack {
  using operation = CrossEntropyBack;
  using from = shardtype::detail::Bare<V>;
  static constexpr std::string_view name = "cross_entropy_back";
  nn::CrossEntropy options{};
  static constexpr Verdict rule(rules::Question const& q) {
    if (Verdict v = rules::has_all(q.a(), q.from); !v) return v;
    if (Verdict v = rules::in_blocks(q.a(), q.from); !v) return v;
    Spec ct = q.operands[3];
    AxisSet const pending = ct.unreduced;
    ct.unreduced = {};
    for (int k : {1, 2, 3})
      if (Verdict v = rules::class_rows(q.a(), k == 3 ? ct : q.operands[k], q.along()); !v)
        return v;
    Spec out = q.a();
    for (int x = 0; x < max_axes; ++x) {
      if (!pending.contains(x)) continue;
      if (out.dim_of(x) >= 0) return rules::refuse(Code::P06_unreduced_and_split, -1, -1, x);
      out.unreduced.insert(x);
      out.reduced.erase(x);
    }
    return rules::accept(out);
  }
  template <class A, class Ids, class B, class C>
  static constexpr Code elements() {
    return nn::detail::class_operands<A, Ids>();
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return {mul_sat(3, c.elements(0)), 0, false};
  }
};

}  // namespace op

namespace execute {

template <class V, bool Split>
struct Run<op::CrossEntropyNumbers<V, Split>> : Filled<Run<op::CrossEntropyNumbers<V, Split>>> {
  template <class Out, class A, class Ids>
  static void fill(op::CrossEntropyNumbers<V, Split> const&, Out& out, A const& logits,
                   Ids const& targets) {
    using Exec = typename A::execution_space;
    using Work = nn::kernels::CrossEntropyNumbers<nn::kernels::on_host<Exec>, typename A::element,
                                                  typename Ids::element>;
    constexpr auto at = static_cast<std::size_t>(dim_of<A, V>);
    Exec const exec{};
    auto const shape = nn::detail::row_shape<V>(logits);
    nn::kernels::each_row(
        "shardtype::cross_entropy", exec, shape.rows,
        Work{shape, static_cast<typename Work::C*>(out.buffer().data()), data_of(logits),
             data_of(targets), logits.rows()[at].range().begin, logits.extents()[at]});
    exec.fence();
  }
};
template <>
struct Run<op::CrossEntropyJoin> : Filled<Run<op::CrossEntropyJoin>> {
  template <class Out, class A, class Ids>
  static void fill(op::CrossEntropyJoin const& op, Out& out, A const& numbers, Ids const& targets) {
    using C = typename A::element;
    typename A::execution_space const exec{};
    nn::kernels::each_row("shardtype::cross_entropy_join", exec, targets.local_size(),
                          nn::kernels::CrossEntropyJoin<C, typename Ids::element>{
                              static_cast<C*>(out.buffer().data()), data_of(numbers),
                              data_of(targets), numbers.extents()[A::rank - 2], op.options});
    exec.fence();
  }
};
template <class V>
struct Run<op::CrossEntropyBack<V>> : Filled<Run<op::CrossEntropyBack<V>>> {
  template <class Out, class A, class Ids, class L, class C>
  static void fill(op::CrossEntropyBack<V> const& op, Out& out, A const& logits, Ids const& targets,
                   L const& sums, C const& ct) {
    using Exec = typename A::execution_space;
    using Work = nn::kernels::CrossEntropyBack<nn::kernels::on_host<Exec>, typename A::element,
                                               typename Ids::element>;
    constexpr auto at = static_cast<std::size_t>(dim_of<A, V>);
    Exec const exec{};
    auto const shape = nn::detail::row_shape<V>(logits);
    nn::kernels::each_row("shardtype::cross_entropy_back", exec, shape.rows,
                          Work{shape, static_cast<typename A::element*>(out.buffer().data()),
                               data_of(logits), data_of(targets), data_of(sums), data_of(ct),
                               logits.rows()[at].range().begin, logits.extents()[at], op.options});
    exec.fence();
  }
};

}  // namespace execute

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

/// The losses and the logarithms of the sums of exponentials, [.., 2].
template <class V, bool Split, class A, class Ids>
constexpr auto losses_and_sums(CrossEntropy const& options, std::source_location const& where,
                               A const& logits, Ids const& targets) {
  auto const own =
      call(op::CrossEntropyNumbers<V, Split>{options.smoothing}, where, logits, targets);
  using Own = std::remove_cvref_t<decltype(own)>;
  if constexpr (Split && !shardtype::detail::is_poison<Own>) {
    using All = typename GatheredNumbers<autodiff::tensor_of<Own>>::type;
    return call(op::CrossEntropyJoin{options}, where, reshard<All>(own), targets);
  } else {
    return call(op::CrossEntropyJoin{options}, where, own, targets);
  }
}
/// Number `k` of each row, in the sharding `Result` if that is named.
template <class... Result, class Two>
constexpr auto part_of(std::source_location const& where, Two const& two, std::int64_t k) {
  if constexpr (sizeof...(Result) == 0) {
    return call(op::AtRow<ResultDim>{k}, where, two);
  } else {
    auto const part = call(op::AtRow<ResultDim>{k}, where, two);
    if constexpr (shardtype::detail::is_poison<decltype(part)>) {
      return checking::Poisoned{};
    } else {
      return reshard<Result...>(part);
    }
  }
}

template <class V, bool Split, class... Out>
struct CrossEntropyValue {
  CrossEntropy options;
  std::source_location where;
  template <class A, class Ids>
  constexpr auto operator()(A const& logits, Ids const& targets) const {
    return detail::part_of<Out...>(
        where, detail::losses_and_sums<V, Split>(options, where, logits, targets), 0);
  }
};
template <class V, bool Split, class... Out>
struct CrossEntropyForward {
  CrossEntropy options;
  std::source_location where;
  template <class A, class Ids>
  constexpr auto operator()(A const& logits, Ids const& targets) const {
    auto const both = detail::losses_and_sums<V, Split>(options, where, logits, targets);
    return std::pair(detail::part_of<Out...>(where, both, 0),
                     std::tuple(logits, targets, detail::part_of(where, both, 1)));
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
    auto const rows = autodiff::settled<Rows, true>(ct);
    return std::tuple(call(op::CrossEntropyBack<V>{options}, where, logits, targets, sums, rows),
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
template <class V, bool Split, class... Out, class A, class Ids>
constexpr auto cross_entropy_as(CrossEntropy const& options, std::source_location const& where,
                                A const& logits, Ids const& targets) {
  using Numbers = op::CrossEntropyNumbers<V, Split>;
  if constexpr (refuses<Numbers, autodiff::tensor_of<A>, autodiff::tensor_of<Ids>>) {
    // here, so that the message has few functions above it
    return call(Numbers{options.smoothing}, where, logits, targets);
  } else {
    return custom_vjp(CrossEntropyValue<V, Split, Out...>{options, where},
                      CrossEntropyForward<V, Split, Out...>{options, where},
                      CrossEntropyPull<V, Split, Out...>{options, where}, where)(logits, targets);
  }
}
/// Whether a mesh axis splits the classes.
template <class V, class A>
inline constexpr bool splits = [] {
  using Logits = autodiff::tensor_of<A>;
  constexpr int d = execute::dim_of<Logits, V>;
  return d >= 0 && Logits::spec.dims[d < 0 ? 0 : d].axes.size > 0;
}();

}  // namespace detail

namespace api {

/// The cross entropy of each row of logits along the classes V and the class that `targets` numbers: logsumexp<V>(x) -
/// x[target]. `x[B@X, S, V]`, `targets i64[B@X, S]` -> `[B@X, S]`, of float or double (float for bfloat16 logits). A row
/// whose target is `options.ignored` has loss 0 and no gradient; any other target outside of 0 to the number of classes
/// less 1 gives NaN. With `smoothing` s the target distribution is (1 - s) at the target, plus s / classes everywhere.
///
///     auto losses = nn::cross_entropy<V>(logits, ids, {.ignored = -1, .smoothing = 0.1});
///
/// Where V is split, the result is named after V: `x[B@X, S, V@Y]` -> `cross_entropy<V, Dim<B, X>, Dim<S>>(x, ids)`:
/// one all_gather of five numbers for each row and rank; logits are not sent. Forward and backward read the logits
/// once each; the gradient, softmax - target distribution, is the only array with classes that is made. Backward
/// communicates nothing.
/// Refused: D01, S03 strict over split classes, D12 targets with other dims or splits than the rows, P04, P12, I01, B03.
/// Error E24 extents, E30 smoothing. As optax.losses.softmax_cross_entropy_with_integer_labels,
/// torch.nn.functional.cross_entropy(reduction="none"). Source of the exchange: Shoeybi et al., "Megatron-LM", 2019.
template <class V, class... Out, class A, class Ids>
constexpr auto cross_entropy(core::Argument<A> const& logits, Ids const& targets,
                             CrossEntropy const& options = {},
                             checking::CallSite where = std::source_location::current()) {
  return detail::cross_entropy_as<V, (sizeof...(Out) > 0), Out...>(options, where, logits.self(),
                                                                   targets);
}

/// The mean of cross_entropy over all rows that are not ignored, 0 if all are: `x[B@X, S, V@Y]` ->
/// `mean_cross_entropy<V, Tensor<float>>(x, ids)` -> `[]`. Communicates as cross_entropy, and one all_reduce each for
/// the sum of losses and the number of rows, where rows are split.
template <class V, class Out, class A, class Ids>
constexpr auto mean_cross_entropy(core::Argument<A> const& logits, Ids const& targets,
                                  CrossEntropy const& options = {},
                                  checking::CallSite where = std::source_location::current()) {
  static_assert(Out::rank == 0,
                "the mean has no dims: mean_cross_entropy<V, Tensor<float>>(x, ids)");
  if constexpr (shardtype::detail::is_poison<A> || shardtype::detail::is_poison<Ids>) {
    return checking::Poisoned{};  // reported where it was refused
  } else {
    using T = typename Out::element;
    auto const losses =
        detail::cross_entropy_as<V, detail::splits<V, A>>(options, where, logits.self(), targets);
    auto const rows = sum<Out>(cast<T>(targets != options.ignored));
    return (sum<Out>(losses) / max(rows, T(1))).tensor();
  }
}

}  // namespace api

}  // namespace nn

}  // namespace shardtype
