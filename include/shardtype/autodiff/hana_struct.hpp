#pragma once
/// Structs that Boost.Hana knows (BOOST_HANA_DEFINE_STRUCT, BOOST_HANA_ADAPT_STRUCT) as parameters,
/// and Hana maps. Not part of shardtype.hpp: a program that has such structs includes it.
///
///     struct Model {
///       BOOST_HANA_DEFINE_STRUCT(Model, (W1, w1), (W2, w2), (Ids, places));
///     };
///     auto const [value, grad] = value_and_grad<0>([](auto const& model, auto const& x) {
///       return sum(square(matmul(x, hana::at_key(model, w1))));   // w1: BOOST_HANA_STRING("w1")
///     })(model, x);
///     grad[w1];   // of type cotangent_t<W1>
///
/// C++ cannot give a struct's members other types, so the function gets a hana::map from the
/// members' names to the values whose gradient is wanted, and the gradient is a hana::map from the
/// names to gradients. Members of integers are constants in the function, and absent from the
/// gradient. `hana::at_key(model, w1)` reads the struct itself as well.

#include <exception>
#include <type_traits>
#include <utility>

#include <boost/hana/accessors.hpp>
#include <boost/hana/at_key.hpp>
#include <boost/hana/contains.hpp>
#include <boost/hana/core/tag_of.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/fold_left.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/insert.hpp>
#include <boost/hana/keys.hpp>
#include <boost/hana/map.hpp>
#include <boost/hana/pair.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/string.hpp>
#include <boost/hana/unpack.hpp>

#include <shardtype/autodiff/structure.hpp>
#include <shardtype/autodiff/value_and_grad.hpp>

namespace shardtype::autodiff {

template <class P>
concept HanaStruct = boost::hana::Struct<P>::value;
template <class P>
concept HanaMap = std::is_same_v<boost::hana::tag_of_t<P>, boost::hana::map_tag>;

/// `f(key, value)` of every member of a struct or entry of a map.
template <class P, class F>
constexpr auto map_of_members(P& p, F const& f) {
  namespace hana = boost::hana;
  if constexpr (HanaStruct<std::remove_const_t<P>>) {
    return hana::unpack(hana::accessors<std::remove_const_t<P>>(), [&](auto const&... members) {
      return hana::make_map(hana::make_pair(hana::first(members), f(hana::second(members)(p)))...);
    });
  } else {
    return hana::unpack(p, [&](auto const&... entries) {
      return hana::make_map(hana::make_pair(hana::first(entries), f(hana::second(entries)))...);
    });
  }
}

/// The map with the gradient of one more member, if it has one.
struct WithGradientOf {
  template <class Map, class Entry>
  constexpr auto operator()(Map const& taken, Entry const& entry) const {
    using A = std::remove_cvref_t<decltype(boost::hana::second(entry))>;
    using P = Parameters<typename PlainOf<A>::type>;
    if constexpr (std::is_same_v<typename P::gradient, NoGradient>) {
      return taken;
    } else {
      return boost::hana::insert(
          taken,
          boost::hana::make_pair(boost::hana::first(entry), P::take(boost::hana::second(entry))));
    }
  }
};
template <class S>
struct ParametersByName {
  static constexpr auto lift(S const& s, Tape* tape) {
    return autodiff::map_of_members(
        s, [&]<class P>(P const& p) { return Parameters<P>::lift(p, tape); });
  }
  using active = decltype(lift(std::declval<S const&>(), nullptr));
  static constexpr auto take(active const& a) {
    return boost::hana::fold_left(a, boost::hana::make_map(), WithGradientOf{});
  }
  using gradient = decltype(take(std::declval<active const&>()));
};
template <HanaStruct S>
struct Parameters<S> : ParametersByName<S> {};
template <HanaMap M>
struct Parameters<M> : ParametersByName<M> {};

/// The types of members without gradients. It is never called; clang warns where a function of a
/// user's local types has no body.
struct PlainMember {
  template <class A>
  [[noreturn]] auto operator()(A const&) const -> typename PlainOf<A>::type {
    std::terminate();
  }
};
template <HanaMap M>
struct PlainOf<M> {
  using type = decltype(autodiff::map_of_members(std::declval<M const&>(), PlainMember{}));
};

template <int Top, HanaMap M>
struct Plain<Top, M> {
  static constexpr auto of(M const& m) {
    return autodiff::map_of_members(
        m, [](auto const& a) { return autodiff::without_gradient<Top>(a); });
  }
};

struct PackOfEntries {
  template <class... Es>
  constexpr auto operator()(Es const&...) const -> shardtype::detail::Pack<
      std::remove_cvref_t<decltype(boost::hana::second(std::declval<Es const&>()))>...> {
    return {};
  }
};
/// Entries are visited by name; one that another map lacks (an integer, in gradients) is left out.
template <class P>
struct ContainerByName {
  static constexpr bool exists = true;
  template <class F, class A, class... Bs>
  static constexpr void each(F const& f, A& a, Bs&... bs) {
    boost::hana::for_each(boost::hana::keys(a), [&]<class Key>(Key const& key) {
      if constexpr ((decltype(boost::hana::contains(std::declval<Bs const&>(),
                                                    std::declval<Key const&>()))::value &&
                     ...))
        f(key, boost::hana::at_key(a, key), boost::hana::at_key(bs, key)...);
    });
  }
  /// The types of a map's entries; none for a struct, whose values have no gradient.
  static auto members() {
    if constexpr (HanaStruct<P>) {
      return shardtype::detail::Pack<>{};
    } else {
      return decltype(boost::hana::unpack(std::declval<P const&>(), PackOfEntries{})){};
    }
  }
};
template <HanaStruct S>
struct Container<S> : ContainerByName<S> {};
template <HanaMap M>
struct Container<M> : ContainerByName<M> {};

}  // namespace shardtype::autodiff
