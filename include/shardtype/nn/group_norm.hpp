#pragma once
/// Groups of channels that are centred and scaled: group_norm.

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/autodiff/custom_vjp.hpp>
#include <shardtype/autodiff/finish.hpp>
#include <shardtype/nn/labels.hpp>
#include <shardtype/nn/norm.hpp>
#include <shardtype/ops/collectives.hpp>
#include <shardtype/ops/elementwise.hpp>
#include <shardtype/ops/math.hpp>
#include <shardtype/ops/reductions.hpp>

namespace shardtype {

namespace nn {

/// A number of groups, as refusals print it.
template <std::int64_t n>
struct Groups {};

namespace detail {

/// Two means of each group. One dim, because one of two would be one more than the tensor has.
template <std::int64_t groups>
struct GroupMeansDim : Index<"means of groups", 2 * groups> {};

/// The rule of group_norm; `named`: its result has a name.
template <bool named, std::int64_t groups, class C, class... Ps>
struct GroupNormRule {
  using from = shardtype::detail::Bare<C, Ps...>;
  static constexpr rules::Verdict rule(rules::Question const& q) {
    if (rules::Verdict v = rules::has_all(q.a(), q.from); !v) return v;
    if (rules::Verdict v = rules::in_blocks(q.a(), q.from); !v) return v;
    std::int64_t const channels = q.extent(q.from, 0);
    if (channels != dynamic && channels % groups != 0)
      return rules::refuse(Code::D06_extents_contradict, q.along());
    if (rules::Verdict v = rules::refuse_any(Code::P04_not_linear, q.a().unreduced); !v) return v;
    for (int d = 0; !named && d < q.from.rank; ++d)
      if (AxisList const axes = rules::axes_on(q.a(), q.from.dims[d].label); axes.size > 0)
        return rules::refuse(Code::S03_split, q.from.dims[d].label, -1, axes[0]);
    return rules::accept(q.a());
  }
  template <class A>
  static constexpr Code elements() {
    return detail::real_elements<A>();
  }
};

}  // namespace detail
}  // namespace nn

namespace checking {

template <bool legal, std::int64_t n, class... YourTypes>
struct refused<Code::D06_extents_contradict, legal, nn::Groups<n>, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype D06] group_norm divides the channels into equal groups, and this "
                "number of groups does not divide them: group_norm<8, C, H, W>(x) takes 8, 16, 24 "
                "channels and so on. Name one that does: 1 is a layer norm over all channels, the "
                "number of channels an instance norm.");
};

}  // namespace checking

namespace op {

/// The means of groups of channels C, of the means of a and b of each channel.
template <std::int64_t groups, class C>
struct GroupMeans {
  using operation = GroupMeans;
  using from = shardtype::detail::Bare<C>;
  using to = Mentions<Dim<nn::detail::GroupMeansDim<groups>>>;
  static constexpr std::string_view name = "group_means";
  static constexpr Verdict rule(rules::Question const& q) {
    Verdict v = rules::alike(q);
    if (!v) return v;
    Labels kept;
    for (int d = 0; d < v.result.rank; ++d)
      if (v.result.dims[d].label != q.along()) kept.push(v.result.dims[d].label);
    v = rules::reduction(v.result, kept, rules::ReductionKind::sum);
    if (v) v.result.add(q.to.dims[0].label);
    return v;
  }
  constexpr void extents(ResultExtents const& c) const {
    c.out[c.result.rank - 1] = 2 * groups;  // of blocks the type's extents do not count
    std::int64_t fits = groups;
    while (c.extent() % fits != 0) --fits;
    if (fits != groups)
      ResultExtents::fail("index " + c.name() + " has extent " + std::to_string(c.extent()) +
                          ", which " + std::to_string(groups) +
                          " groups of group_norm do not divide; " + std::to_string(fits) + " do");
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return {mul_sat(2, c.elements(0)), 0, false};
  }
  template <class Out, class A>
  void fill(Out& out, A const& a, A const& b) const;
};

/// The two means of the group of each channel, as two results. Operands: the means of all groups,
/// and a tensor `like` with a number for each channel. `Scale`: the means are those of x and x^2,
/// and the second result is 1 / deviation.
template <bool Scale, std::int64_t groups, class C>
struct GroupSpread {
  using operation = GroupSpread;
  using from = Mentions<Dim<nn::detail::GroupMeansDim<groups>>>;
  using to = shardtype::detail::Bare<C>;
  static constexpr std::string_view name = Scale ? "group_scale" : "group_spread";
  double eps = 0;
  static constexpr Verdicts<2> rule(rules::Question const& q) {
    Verdict const v = one(q);
    return {v, v};
  }
  template <class A, class B>
  using element = Elements<element_t<A>, element_t<A>>;

  template <class Out, class A, class Like>
  void fill(Out& first, Out& second, A const& means, Like const& like) const;

 private:
  /// `like` without what is unreduced there, and with what is of the means.
  static constexpr Verdict one(rules::Question const& q) {
    if (Verdict v = rules::unsplit(q, Code::D03_along_split); !v) return v;
    if (Scale)
      if (Verdict v = rules::refuse_any(Code::P04_not_linear, q.a().unreduced); !v) return v;
    Spec out = q.operands[1];
    int at = 0;
    for (int d = 0; d < out.rank; ++d)
      if (out.dims[d].label != q.to.dims[0].label)
        if (at >= q.a().rank || !(q.a().dims[at++] == out.dims[d]))
          return rules::refuse(Code::D12_dims_differ, out.dims[d].label);
    if (at + 1 != q.a().rank || out.rank != q.a().rank)
      return rules::refuse(Code::D12_dims_differ, q.along());
    out.unreduced = q.a().unreduced;
    out.kind = q.a().kind;
    out.reduced = (out.reduced | q.a().reduced) - out.mentioned();
    return rules::accept(out);
  }
};

}  // namespace op

namespace nn::kernels {

/// The channels that a block has of a row, in groups of `channels`; `first` is the number of its
/// first.
struct GroupRows {
  RowShape shape;
  std::int64_t groups, channels, first;
  /// Where the means of the group of the block's channel `k` are.
  KOKKOS_FUNCTION std::int64_t means(std::int64_t row, std::int64_t k) const {
    return 2 * (row * groups + (first + k) / channels);
  }
};
template <class W>
struct GroupMeansRows {
  GroupRows rows;
  W* out;
  W const* a;
  W const* b;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    for (std::int64_t k = 0; k < 2 * rows.groups; ++k) out[2 * rows.groups * row + k] = W{};
    W const count = static_cast<W>(rows.channels);
    for (std::int64_t k = 0; k < rows.shape.length; ++k) {
      std::int64_t const from = rows.shape.begin(row) + k * rows.shape.inner;
      std::int64_t const to = rows.means(row, k);
      out[to] += a[from] / count;
      out[to + 1] += b[from] / count;
    }
  }
};
template <bool Scale, class W>
struct GroupSpreadRows {
  GroupRows rows;
  W* first;
  W* second;
  W const* means;
  W eps;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    for (std::int64_t k = 0; k < rows.shape.length; ++k) {
      std::int64_t const to = rows.shape.begin(row) + k * rows.shape.inner;
      W const* const from = means + rows.means(row, k);
      first[to] = from[0];
      second[to] = from[1];
      if constexpr (Scale) {
        W const var = from[1] - from[0] * from[0];
        // less than 0 by rounding alone; NaN stays
        second[to] = W(1) / shardtype::kernels::math::sqrt((var < W(0) ? W(0) : var) + eps);
      }
    }
  }
};

}  // namespace nn::kernels

namespace nn::detail {

template <std::int64_t groups, class C, class A>
kernels::GroupRows group_rows(A const& a) {
  constexpr auto c = static_cast<std::size_t>(execute::dim_of<A, C>);
  return {detail::row_shape<C>(a), groups, a.extents()[c] / groups, a.rows()[c].range().begin};
}

}  // namespace nn::detail

namespace op {

template <std::int64_t groups, class C>
template <class Out, class A>
void GroupMeans<groups, C>::fill(Out& out, A const& a, A const& b) const {
  auto const rows = nn::detail::group_rows<groups, C>(a);
  nn::detail::run_rows<A>(
      "shardtype::group_means", rows.shape.rows,
      nn::kernels::GroupMeansRows<typename A::element>{rows, execute::written(out),
                                                       execute::data_of(a), execute::data_of(b)});
}
template <bool Scale, std::int64_t groups, class C>
template <class Out, class A, class Like>
void GroupSpread<Scale, groups, C>::fill(Out& first, Out& second, A const& means,
                                         Like const& like) const {
  using W = typename A::element;
  auto const rows = nn::detail::group_rows<groups, C>(like);
  nn::detail::run_rows<A>("shardtype::group_spread", rows.shape.rows,
                          nn::kernels::GroupSpreadRows<Scale, W>{
                              rows, execute::written(first), execute::written(second),
                              execute::data_of(means), static_cast<W>(eps)});
}

}  // namespace op

namespace nn::detail {

/// A mean of each channel, unreduced over the axes that split the positions.
template <class... Ps, class A>
constexpr auto channel_mean(A&& a) {
  if constexpr (sizeof...(Ps) == 0) {
    return autodiff::computed(a);
  } else {
    return shardtype::mean<Ps...>(std::forward<A>(a));  // an expression is not computed first
  }
}
/// The two results of `GroupSpread` for each channel, from the means of x and of x y over its
/// group. In automatic mode the plan joins the ranks' means.
template <bool Scale, std::int64_t groups, class C, class... Ps, class A, class B>
constexpr auto of_groups(double eps, std::source_location const& where, A const& x, B const& y) {
  auto const first = detail::channel_mean<Ps...>(shardtype::cast<double>(x));
  auto const own = shardtype::call(
      op::GroupMeans<groups, C>{}, where, first,
      detail::channel_mean<Ps...>(shardtype::cast<double>(x) * shardtype::cast<double>(y)));
  op::GroupSpread<Scale, groups, C> const spread{eps};
  using Own = std::remove_cvref_t<decltype(own)>;
  if constexpr (core::is_lazy<Own>) {
    return shardtype::call(spread, where, own, first);
  } else {
    // an unreduced cotangent stays so
    using Axes = typename autodiff::Casts<autodiff::tensor_of<Own>, autodiff::tensor_of<A>,
                                          AxisState::unreduced>::Axes;
    auto const joined = autodiff::cast_over<op::AllReduce>(own, Axes{});
    return shardtype::call(spread, where, joined, first);
  }
}

template <std::int64_t groups, class C, class... Ps>
struct GroupNormForward {
  double eps;
  std::source_location where;
  template <class A>
  constexpr auto operator()(A const& x) const {
    auto const [mean, scale] = detail::of_groups<true, groups, C, Ps...>(eps, where, x, x);
    using E = checking::element_t<detail::tensor_of<A>>;
    auto const normal =
        autodiff::computed(shardtype::cast<E>((shardtype::cast<double>(x) - mean) * scale));
    return std::pair(normal, std::tuple(normal, scale));
  }
};
template <std::int64_t groups, class C, class... Ps>
struct GroupNormValue {
  GroupNormForward<groups, C, Ps...> forward;
  template <class A>
  constexpr auto operator()(A const& x) const {
    return forward(autodiff::computed(x)).first;
  }
};
/// With the result n: (ct - mean(ct) - n mean(ct n)) / deviation.
template <std::int64_t groups, class C, class... Ps>
struct GroupNormPull {
  std::source_location where;
  template <class Saved, class Ct>
  constexpr auto operator()(Saved const& saved, Ct const& given) const {
    auto const& [normal, scale] = saved;
    using N = autodiff::tensor_of<std::remove_cvref_t<decltype(normal)>>;
    auto const ct = autodiff::finished<cotangent_t<N>, true>(given);
    auto const [less, share] = detail::of_groups<false, groups, C, Ps...>(0, where, ct, normal);
    return shardtype::cast<checking::element_t<N>>(
        (shardtype::cast<double>(ct) - less - shardtype::cast<double>(normal) * share) * scale);
  }
};

/// The refusal of a tensor of type `X`, or void. A type, which group_norm constructs, because
/// compilers print every function between the user's line and the refusal.
template <std::int64_t groups, class C, class X, class... Ps, class... Out>
constexpr auto judge_groups(shardtype::detail::Pack<Ps...>, shardtype::detail::Pack<Out...>) {
  using Divides = checking::refused<rules::Code::D06_extents_contradict, false, Groups<groups>, X>;
  if constexpr (groups < 1) {
    return shardtype::Type<Divides>{};
  } else {
    using R = shardtype::detail::RuleOf<GroupNormRule<(sizeof...(Out) > 0), groups, C, Ps...>, X>;
    if constexpr (R::verdict) {
      return shardtype::Type<void>{};
    } else if constexpr (R::verdict.code == rules::Code::D06_extents_contradict) {
      return shardtype::Type<Divides>{};
    } else {
      return shardtype::Type<checking::refusal<R, X>>{};
    }
  }
}
/// Along the positions `Ps`; in the sharding `Out` if that is named.
template <std::int64_t groups, class C, class... Ps, class... Out, class A>
constexpr auto group_norm_of(shardtype::detail::Pack<Ps...>, shardtype::detail::Pack<Out...>,
                             double eps, std::source_location const& where, A const& x) {
  GroupNormForward<groups, C, Ps...> const forward{eps, where};
  GroupNormValue<groups, C, Ps...> const value{forward};
  GroupNormPull<groups, C, Ps...> const pull{where};
  auto const normal = shardtype::custom_vjp(value, forward, pull, where)(x);
  if constexpr (sizeof...(Out) == 0 || shardtype::detail::is_poison<decltype(normal)>) {
    return normal;
  } else {
    return shardtype::reshard<Out...>(normal, where);
  }
}

}  // namespace nn::detail

namespace nn::api {

/// The channels C of x in `groups` equal groups of neighbours; of each group, along the positions
/// that are named behind C, and for each element of the other dims, the mean is subtracted and the
/// rest divided by the deviation: (x - mean) / sqrt(var + eps). `x[B@X, C, H, W]` -> the same, of
/// float, double or bfloat16. One group is the layer norm over C and the positions, as many as
/// channels an instance norm.
///
///     auto const y = nn::group_norm<8, C, H, W>(x);
///
/// Where C or a position is split, the result is named behind them: `x[B@X, C, H@Y, W]` ->
/// `group_norm<8, C, H, W, Dim<B, X>, Dim<C>, Dim<H, Y>, Dim<W>>(x)`: one all_reduce over each axis
/// that splits them, of two doubles for each group and each element of the other dims, and backward
/// one of the same size. x is not sent. A group may lie on several ranks. Otherwise it communicates
/// nothing.
///
/// The means are those of x and x^2, in double: where the mean is k times the deviation, the
/// variance loses about 2 log10(k) of 16 digits. Refused: D01 no such dim, D06 `groups` that do not
/// divide the channels, S03 a split dim without a named result, B03, P04, P12; of a named result
/// R01 to R04, V14 in manual mode. Error: E41 channels, as D06. First derivatives only, X03.
/// Corresponds to torch.nn.functional.group_norm and flax.linen.GroupNorm. Source: Wu, He, "Group
/// normalization", ECCV 2018.
template <std::int64_t groups, class C, class... Names, class A>
constexpr auto group_norm(core::Argument<A> const& x, double eps = 1e-5,
                          checking::CallSite where = {}) {
  using Split = shardtype::detail::LabelsFirst<Names...>;
  if constexpr (shardtype::detail::is_poison<A>) {
    return checking::Poisoned{};  // reported where it was refused
  } else {
    typename Split::labels const positions{};
    typename Split::result const named{};
    using Refusal = typename decltype(detail::judge_groups<groups, C, detail::tensor_of<A>>(
        positions, named))::type;
    if constexpr (std::is_void_v<Refusal>) {
      return detail::group_norm_of<groups, C>(positions, named, eps, where, x.self());
    } else {
      return checking::Poisoned(Refusal{});
    }
  }
}
/// group_norm times `gain` plus `bias`, of each channel, an expression: `gain[C]`, `bias[C]`, split
/// as C or not. Their gradients are sums over all other dims: where these are split over X write
/// `used_as<Reduced<X>>(gain)`, or X01.
template <std::int64_t groups, class C, class... Names, class A, class Gain, class Bias>
  requires shardtype::detail::are_operands<Gain, Bias>
constexpr auto group_norm(core::Argument<A> const& x, Gain const& gain, Bias const& bias,
                          double eps = 1e-5, checking::CallSite where = {}) {
  return api::group_norm<groups, C, Names...>(x, eps, where) * gain + bias;
}

}  // namespace nn::api

}  // namespace shardtype
