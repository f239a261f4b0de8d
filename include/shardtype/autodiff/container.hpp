#pragma once
/// Containers of values: how they are taken apart and made again.

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/core/reading.hpp>

namespace shardtype::autodiff {

/// A container `C` of members `Ps`: `with<Of>` is the same with the types `Of<Ps>`; `map<Of>(s, f)` is one of
/// `f(Type<P>{}, member)` for each member of `s`, a container of the same form.
template <class C>
struct Container {
  static constexpr bool exists = false;
};
template <class P>
struct Container<std::vector<P>> {
  static constexpr bool exists = true;
  using members = shardtype::detail::Pack<P>;
  template <template <class> class Of>
  using with = std::vector<Of<P>>;
  template <template <class> class Of, class S, class F>
  static constexpr with<Of> map(S const& s, F const& f) {
    with<Of> out;
    for (auto const& member : s) out.push_back(f(Type<P>{}, member));
    return out;
  }
};
template <class P, std::size_t N>
struct Container<std::array<P, N>> {
  static constexpr bool exists = true;
  using members = shardtype::detail::Pack<P>;
  template <template <class> class Of>
  using with = std::array<Of<P>, N>;
  template <template <class> class Of, class S, class F>
  static constexpr with<Of> map(S const& s, F const& f) {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return with<Of>{f(Type<P>{}, s[K])...};
    }(std::make_index_sequence<N>{});
  }
};
template <template <class...> class Tuple, class... Ps>
struct TupleContainer {
  static constexpr bool exists = true;
  using members = shardtype::detail::Pack<Ps...>;
  template <template <class> class Of>
  using with = Tuple<Of<Ps>...>;
  template <template <class> class Of, class S, class F>
  static constexpr with<Of> map(S const& s, F const& f) {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return with<Of>{f(Type<Ps>{}, std::get<K>(s))...};
    }(std::index_sequence_for<Ps...>{});
  }
};
template <class... Ps>
struct Container<std::tuple<Ps...>> : TupleContainer<std::tuple, Ps...> {};
template <class A, class B>
struct Container<std::pair<A, B>> : TupleContainer<std::pair, A, B> {};

}  // namespace shardtype::autodiff
