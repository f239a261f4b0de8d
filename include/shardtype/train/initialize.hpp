#pragma once
/// Models with their first values.

#include <array>
#include <cmath>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>

#include <shardtype/random/random.hpp>
#include <shardtype/runtime/step_name.hpp>
#include <shardtype/train/settings.hpp>
#include <shardtype/train/structures.hpp>

namespace shardtype::train {

/// The first values of a parameter.
struct Initial {
  enum class Kind : std::uint8_t { constant, normal, uniform };
  Kind kind = Kind::constant;
  double value = 0;  ///< the constant, the standard deviation, or the bound of uniform numbers

  static constexpr Initial zeros() { return {}; }
  static constexpr Initial ones() { return {Kind::constant, 1}; }
  static constexpr Initial constant(double value) { return {Kind::constant, value}; }
  static constexpr Initial normal(double deviation) { return {Kind::normal, deviation}; }
  static constexpr Initial uniform(double bound) { return {Kind::uniform, bound}; }

  /// First values of weights by the numbers of features that go into a layer and come out of it. Of
  /// Glorot the variance is 2 / (in + out), for layers that keep the variance in both passes; of He
  /// it is 2 / in, for those behind which relu halves it. As torch.nn.init.xavier_normal_,
  /// xavier_uniform_, kaiming_normal_ and kaiming_uniform_. Error E85: a number below 1. Sources:
  /// Glorot, Bengio, "Understanding the difficulty of training deep feedforward neural networks",
  /// 2010; He et al., "Delving deep into rectifiers", 2015.
  static Initial glorot_normal(std::int64_t in, std::int64_t out) {
    return normal(std::sqrt(2 / (features(in) + features(out))));
  }
  static Initial glorot_uniform(std::int64_t in, std::int64_t out) {
    return uniform(std::sqrt(6 / (features(in) + features(out))));
  }
  static Initial he_normal(std::int64_t in) { return normal(std::sqrt(2 / features(in))); }
  static Initial he_uniform(std::int64_t in) { return uniform(std::sqrt(6 / features(in))); }

 private:
  static double features(std::int64_t n) {
    if (n < 1)
      detail::throw_setting("the number of features", static_cast<double>(n), "it is 1 or more");
    return static_cast<double>(n);
  }
};

/// The size of an index `I` without a static extent, for `initialize`.
template <class I>
struct Extent {
  using index = I;
  std::int64_t size = 0;
};

namespace detail {

/// Whether `Init` gives first values of each tensor of a structure `P`, whose number of tensors is
/// known.
template <class P, class Init>
constexpr bool gives_first_values() {
  bool out = true;
  autodiff::each_type<P>([&]<class A>(Type<A>) {
    if constexpr (is_tensor<A>) {
      out = out && std::is_invocable_r_v<Initial, Init const&, std::string_view, Type<A>>;
    } else {
      out = false;
    }
  });
  return out;
}

/// Makes a tensor.
template <class A>
struct Made {
  using T = typename A::element;
  using Labels = autodiff::labels_of_t<A>;
  template <class L, class... Es>
  static constexpr bool is_given = (std::is_same_v<L, typename Es::index> || ...);
  template <class... Es, class... Ls>
  static constexpr bool known(shardtype::detail::Pack<Ls...>) {
    [[maybe_unused]] int d = 0;
    return ((Scope<A>::names.extents()[d++] != dynamic || is_given<Ls, Es...>) && ...);
  }
  template <class L, class... Es>
  static std::int64_t size(int d, Es const&... es) {
    std::int64_t n = Scope<A>::names.extents()[d];
    ((n = std::is_same_v<L, typename Es::index> ? es.size : n), ...);
    return n;
  }
  template <class... Ls, class... Es>
  static std::array<std::int64_t, A::rank> sizes(shardtype::detail::Pack<Ls...>, Es const&... es) {
    [[maybe_unused]] int d = 0;
    return {size<Ls>(d++, es...)...};
  }
  template <class M, class Init, class... Es>
  static A make(M const& mesh, RandomKey const& key, Init const& init, std::string const& path,
                Es const&... extents) {
    static_assert(
        known<Es...>(Labels{}),
        "a parameter has a dim whose index has no static extent: give it one, as Index<\"D\", "
        "256>, or its size to initialize, as Extent<D>{256}, or make the "
        "model by hand");
    auto const n = sizes(Labels{}, extents...);
    Initial const first = init(std::string_view(path), Type<A>{});
    RandomKey const own = key.fold_in(runtime::StepHash().mix(path).value());
    if constexpr (is_trained<A>) {
      if (first.kind == Initial::Kind::normal)
        return api::normal<A>(mesh, n, own, T(0), T(first.value));
      if (first.kind == Initial::Kind::uniform)
        return api::uniform<A>(mesh, n, own, T(-first.value), T(first.value));
    } else if (first.kind != Initial::Kind::constant) {
      throw Error("E30",
                  path + " has elements of type " + shardtype::detail::element_name<T>() +
                      ": its first values are a constant",
                  FailedOn::every_rank);
    }
    return api::full<A>(mesh, n, T(first.value));
  }
};
/// A tensor, or a structure of them.
template <class P, class M, class Init, class... Es>
P make(M const& mesh, RandomKey const& key, Init const& init, std::string const& path,
       Es const&... extents) {
  if constexpr (autodiff::is_structure<P>) {
    return autodiff::Container<P>::template build<P>([&]<class Q>(Type<Q>, auto const& at) {
      return detail::make<Q>(mesh, key, init, detail::joined(path, detail::name_of(at)),
                             extents...);
    });
  } else {
    return Made<P>::make(mesh, key, init, path, extents...);
  }
}

}  // namespace detail

/// A model whose tensors are made one by one: `init(path, type)` gives the Initial of each. The key
/// of a tensor is folded by its path, so that its values do not depend on the other parameters, on
/// shardings or on the number of ranks. Communicates nothing. Refused: T15. Sizes of indices
/// without a static extent follow: `initialize<Model>(mesh, key, init, Extent<E>{8})`.
///
///     auto model = initialize<Model<value_t>>(
///         mesh, RandomKey{1}, [](std::string_view path, auto type) {
///           if (path.ends_with("gain")) return Initial::ones();
///           return path.ends_with("bias") ? Initial::zeros() : Initial::normal(0.02);
///         });
template <class Model, class M, class Init, class... Is>
  requires std::is_base_of_v<runtime::MeshRef, M>
Model initialize(M const& mesh, RandomKey const& key, Init const& init,
                 Extent<Is> const&... extents) {
  if constexpr (detail::gives_first_values<Model, Init>()) {
    return detail::make<Model>(mesh, key, init, {}, extents...);
  } else {
    return checking::Poisoned(checking::refused<rules::Code::T15_not_initialized, false, Model>{});
  }
}

}  // namespace shardtype::train
