#pragma once
/// Use and Overlapped: how layers use their parameters, and how their products communicate.

#include <source_location>
#include <type_traits>

#include <shardtype/autodiff/active.hpp>
#include <shardtype/nn/labels.hpp>
#include <shardtype/ops/collectives.hpp>
#include <shardtype/ops/products.hpp>

namespace shardtype {

namespace rules {

/// The sharding of the product of `x` and the weights `w` of a layer: the dims that only `w` has
/// keep their axes, the dims that only `x` has keep the others. `[B@X, S@Y, D]` and `[D, F@Y]` give
/// `[B@X, S, F@Y]`.
constexpr Spec layer_features(Spec const& x, Spec const& w) {
  Spec out;
  AxisSet taken;
  for (int d = 0; d < w.rank; ++d)
    for (int k = 0; k < w.dims[d].axes.size && x.find(w.dims[d].label) < 0; ++k)
      taken.insert(w.dims[d].axes[k]);
  for (int d = 0; d < x.rank; ++d) {
    if (w.find(x.dims[d].label) >= 0) continue;
    AxisList axes = x.dims[d].axes;
    for (int x_axis = 0; x_axis < max_axes; ++x_axis)
      if (taken.contains(x_axis) && axes.contains(x_axis)) axes = axes.without(x_axis);
    out.add(x.dims[d].label, axes);
  }
  for (int d = 0; d < w.rank; ++d)
    if (x.find(w.dims[d].label) < 0) out.add(w.dims[d].label, w.dims[d].axes);
  return out;
}
/// A parameter `w` as each rank uses it for its part of `x`: whole along those axes of `over` that
/// split a dim of `x` which `w` lacks, and reduced over them, so that its gradient is a sum.
constexpr Spec used_beside(Spec const& w, Spec const& x, AxisSet over) {
  Spec out = w;
  for (int d = 0; d < x.rank; ++d)
    for (int k = 0; k < x.dims[d].axes.size && w.find(x.dims[d].label) < 0; ++k) {
      int const axis = x.dims[d].axes[k];
      if (!over.contains(axis)) continue;
      for (int own = 0; own < out.rank; ++own)
        if (out.dims[own].axes.contains(axis))
          out.dims[own].axes = out.dims[own].axes.without(axis);
      out.reduced.insert(axis);
    }
  return out;
}
/// The number of dims that `x` and `w` have in common.
constexpr int shared_dims(Spec const& x, Spec const& w) {
  int shared = 0;
  for (int d = 0; d < x.rank; ++d) shared += w.find(x.dims[d].label) >= 0 ? 1 : 0;
  return shared;
}
/// The dims of `x` alone.
constexpr Spec dims_alone(Spec const& x) {
  Spec out;
  for (int d = 0; d < x.rank; ++d) out.add(x.dims[d].label, x.dims[d].axes);
  return out;
}

}  // namespace rules

namespace nn::detail {

template <class A, class W>
struct LayerFeatures {
  using X = autodiff::tensor_of<A>;
  using S = core::Scope<X, autodiff::tensor_of<W>>;
  static constexpr Spec value = rules::layer_features(S::template spec<0>, S::template spec<1>);
  using type = core::tensor_from_spec<S, LayerFeatures, typename X::element, X>;
};
/// The Tensor type of `x w`, where x is gathered along the axes that split the features of w.
template <class A, class W>
using layer_features = typename LayerFeatures<A, W>::type;

/// All axes that split x, in a list of axes: what Overlap alone meant.
struct AllThatSplit {};
template <class S, class... Xs>
constexpr core::AxisSet axes_of(S const&, Reduced<Xs...> const&) {
  core::AxisSet out;
  for (int const axis : {S::names.find_axis(core::identity<Xs>)..., -1})
    if (axis >= 0) out.insert(axis);
  return out;
}
template <class S>
constexpr core::AxisSet axes_of(S const&, AllThatSplit const&) {
  core::AxisSet out;
  for (int axis = 0; axis < core::max_axes; ++axis) out.insert(axis);
  return out;
}

template <class W, class A, class Sums>
struct UsedBeside {
  using P = autodiff::tensor_of<W>;
  using S = core::Scope<P, autodiff::tensor_of<A>>;
  static constexpr Spec value =
      rules::used_beside(S::template spec<0>, S::template spec<1>, detail::axes_of(S{}, Sums{}));
  using type = core::tensor_from_spec<S, UsedBeside, typename P::element, P>;
};

template <class A>
struct DimsAlone {
  using X = autodiff::tensor_of<A>;
  using S = core::Scope<X>;
  static constexpr Spec value = rules::dims_alone(S::template spec<0>);
  using type = core::tensor_from_spec<S, DimsAlone, typename X::element, X>;
};

/// Number of dims that x and w share. If it is 0, einsum would compute all products of their
/// elements, and matmul refuses (C01).
template <class A, class W>
inline constexpr int shared_dims = [] {
  // without an alias, because g++ warns where a user's type has its name
  return rules::shared_dims(core::Scope<tensor_of<A>, tensor_of<W>>::template spec<0>,
                            core::Scope<tensor_of<A>, tensor_of<W>>::template spec<1>);
}();

template <class... As>
inline constexpr bool any_refused = checking::any_poisoned<std::remove_cvref_t<As>...>;

/// The strict product with the dims of the pack.
template <class... Ls, class A, class B>
constexpr auto product_along(shardtype::detail::Pack<Ls...>, A const& a, B const& b,
                             std::source_location const& where) {
  return shardtype::einsum<Ls...>(a, b, where);
}

}  // namespace nn::detail

namespace nn {

/// Tells a layer how to use its parameters in strict products: `Use<Reduced<X>>` stands for
/// `used_as<Reduced<X>>(w)` of each parameter, whose gradient is summed over X (one all_reduce
/// backward each), `Use<>` for `w` itself. Communicates what used_as does; a product that needs x
/// from other ranks is refused, as by matmul.
template <class... Attributes>
struct Use {
  template <class W>
  constexpr auto operator()(W const& w) const {
    if constexpr (sizeof...(Attributes) == 0) {
      return w;
    } else {
      return shardtype::used_as<Attributes...>(w);
    }
  }
  /// The parameter `w` as it is used for a value of type `A`.
  template <class A, class W>
  constexpr auto beside(W const& w, std::source_location const&) const {
    return (*this)(w);
  }
  /// x w, w being used first: compilers choose the order of arguments, and plans another one than
  /// runs.
  template <class A, class W>
  constexpr auto into(A const& x, W const& w, std::source_location const& where) const {
    auto const used = (*this)(w);
    return shardtype::matmul(x, used, where);
  }
  /// hidden w, in the dims of `Like` or in `Out`.
  template <class Like, class... Out, class A, class W>
  constexpr auto back(A const& hidden, W const& w, std::source_location const& where) const {
    auto const used = (*this)(w);
    if constexpr (sizeof...(Out) > 0) {
      return shardtype::einsum<Out...>(hidden, used, where);
    } else if constexpr (detail::shared_dims<A, W> > 1) {
      using Dims = autodiff::labels_of_t<detail::tensor_of<Like>>;
      return detail::product_along(Dims{}, hidden, used, where);
    } else {
      return shardtype::matmul(hidden, used, where);
    }
  }
};

/// Tells a layer to overlap its products with their communication: x is gathered along the axes
/// that split the features of the weights, and sums are scattered, while the products run, as
/// `overlap` says. The gradients of parameters are summed over the axes of `Sums`, a Reduced: each
/// parameter is used as `{R:..}` over those of them that split x in dims that the parameter lacks
/// (one all_reduce backward each), and is whole along them (an all_gather if it is split).
///
///     auto y = nn::mlp(x, model.mlp, nn::Overlapped<Reduced<X, Y>>{Overlap::ring});
///     // without gradient, or X01 says what it costs
///     auto z = nn::mlp(x, model.mlp, nn::Overlapped{Overlap::ring});
template <class Sums = Reduced<>>
struct Overlapped {
  Overlap overlap = Overlap::automatic;

  template <class A, class W>
  constexpr auto beside(W const& w, std::source_location const& where) const {
    if constexpr (core::is_lazy<A>) {
      return w;  // the planner chooses
    } else {
      using To = typename detail::UsedBeside<W, A, Sums>::type;
      if constexpr (std::is_same_v<To, autodiff::tensor_of<W>>) {
        return w;
      } else {
        return shardtype::used_as<To>(w, where);
      }
    }
  }
  template <class A, class W>
  constexpr auto into(A const& x, W const& w, std::source_location const& where) const {
    if constexpr (core::is_lazy<A> || detail::shared_dims<A, W> == 0) {
      return shardtype::matmul(x, w, where);
    } else {
      using To = detail::layer_features<A, W>;
      auto const used = beside<To>(w, where);
      return shardtype::einsum<To>(x, used, overlap, where);
    }
  }
  template <class Like, class... Out, class A, class W>
  constexpr auto back(A const& hidden, W const& w, std::source_location const& where) const {
    if constexpr (core::is_lazy<A> || detail::shared_dims<A, W> == 0) {
      return Use<>{}.template back<Like>(hidden, w, where);
    } else {
      auto const used = beside<A>(w, where);
      if constexpr (sizeof...(Out) > 0) {
        return shardtype::einsum<Out...>(hidden, used, overlap, where);
      } else {
        using To = typename detail::DimsAlone<Like>::type;
        return shardtype::einsum<To>(hidden, used, overlap, where);
      }
    }
  }
};

/// Use or Overlapped.
template <class H>
inline constexpr bool says_how = false;
template <class... Attributes>
inline constexpr bool says_how<Use<Attributes...>> = true;
template <class Sums>
inline constexpr bool says_how<Overlapped<Sums>> = true;
template <class H>
concept How = says_how<H>;
template <class H>
inline constexpr bool gathers = false;
template <class Sums>
inline constexpr bool gathers<Overlapped<Sums>> = true;

namespace detail {

/// Whether `linear` of these is `matmul` of them.
template <class A, class W, class H, class... Out>
inline constexpr bool plain_product = [] {
  if constexpr (gathers<H> && !core::is_lazy<A>) {
    return shared_dims<A, W> == 0;
  } else {
    return sizeof...(Out) == 0 && std::is_same_v<H, Use<>>;
  }
}();

}  // namespace detail

}  // namespace nn

}  // namespace shardtype
