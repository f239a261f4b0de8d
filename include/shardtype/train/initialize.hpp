#pragma once
/// Models with their first values.

#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/random/random.hpp>
#include <shardtype/runtime/step_name.hpp>
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
};

/// The size of an index `I` without a static extent, for `initialize`.
template <class I>
struct Extent {
  using index = I;
  std::int64_t size = 0;
};

namespace detail {

/// Makes a structure `P`; `accepts<Init>`: whether `Init` gives first values of each of its tensors.
template <class P>
struct Made {
  template <class Init>
  static constexpr bool accepts = false;
};
template <class T, class... Parts>
struct Made<Tensor<T, Parts...>> {
  using A = Tensor<T, Parts...>;
  using Labels = autodiff::labels_of_t<A>;
  template <class Init>
  static constexpr bool accepts =
      std::is_invocable_r_v<Initial, Init const&, std::string_view, Type<A>>;
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
template <class P, std::size_t N>
struct Made<std::array<P, N>> {
  template <class Init>
  static constexpr bool accepts = Made<P>::template accepts<Init>;
  template <class M, class Init, class... Es>
  static std::array<P, N> make(M const& mesh, RandomKey const& key, Init const& init,
                               std::string const& path, Es const&... extents) {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return std::array<P, N>{
          Made<P>::make(mesh, key, init, joined(path, std::to_string(K)), extents...)...};
    }(std::make_index_sequence<N>{});
  }
};
template <class... Ps>
struct Made<std::tuple<Ps...>> {
  template <class Init>
  static constexpr bool accepts = (Made<Ps>::template accepts<Init> && ...);
  template <class M, class Init, class... Es>
  static std::tuple<Ps...> make(M const& mesh, RandomKey const& key, Init const& init,
                                std::string const& path, Es const&... extents) {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return std::tuple<Ps...>{
          Made<Ps>::make(mesh, key, init, joined(path, std::to_string(K)), extents...)...};
    }(std::index_sequence_for<Ps...>{});
  }
};
template <template <template <class> class> class S>
struct Made<S<value_t>> {
  template <class... Ps>
  static Type<std::tuple<Ps...>> types(std::tuple<Ps&...> const&);
  using Members = decltype(types(autodiff::tied_members(std::declval<S<value_t>&>())));
  template <class Init, class... Ps>
  static constexpr bool all_accept(Type<std::tuple<Ps...>>) {
    return (Made<Ps>::template accepts<Init> && ...);
  }
  template <class Init>
  static constexpr bool accepts = all_accept<Init>(Members{});
  template <class M, class Init, class... Es>
  static S<value_t> make(M const& mesh, RandomKey const& key, Init const& init,
                         std::string const& path, Es const&... extents) {
    return [&]<class... Ps>(Type<std::tuple<Ps...>>) {
      return [&]<std::size_t... K>(std::index_sequence<K...>) {
        return S<value_t>{Made<Ps>::make(
            mesh, key, init, detail::joined(path, member_name<S<value_t>, K>), extents...)...};
      }(std::index_sequence_for<Ps...>{});
    }(Members{});
  }
};

}  // namespace detail

/// A model whose tensors are made one by one: `init(path, type)` gives the Initial of each. The key of a tensor is
/// folded by its path, so that its values do not depend on the other parameters, on shardings or on the number of
/// ranks. Communicates nothing. Refused: T15. Sizes of indices without a static extent follow: `initialize<Model>(mesh, key, init,
/// Extent<E>{8})`.
///
///     auto model = initialize<Model<value_t>>(mesh, RandomKey{1}, [](std::string_view path, auto type) {
///       if (path.ends_with("gain")) return Initial::ones();
///       return path.ends_with("bias") ? Initial::zeros() : Initial::normal(0.02);
///     });
template <class Model, class M, class Init, class... Is>
  requires std::is_base_of_v<runtime::MeshRef, M>
Model initialize(M const& mesh, RandomKey const& key, Init const& init,
                 Extent<Is> const&... extents) {
  if constexpr (detail::Made<Model>::template accepts<Init>) {
    return detail::Made<Model>::make(mesh, key, init, {}, extents...);
  } else {
    return checking::Poisoned(checking::refused<rules::Code::T15_not_initialized, false, Model>{});
  }
}

}  // namespace shardtype::train
