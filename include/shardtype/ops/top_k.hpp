#pragma once
/// The largest elements along one dim that is not split. Stable: equal elements keep their order. A NaN comes last,
/// in both orders.

#include <array>
#include <cstdint>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/sort.hpp>
#include <shardtype/execute/block_sorter.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

/// Result of `top_k`: the values and their positions. std::get and structured bindings treat it as
/// a tuple of two.
template <class Values, class Places>
struct TopK {
  Values values;
  Places places;

  template <std::size_t K>
  constexpr auto const& get() const& {
    static_assert(K < 2, "top_k gives two tensors: the values and the places");
    if constexpr (K == 0) {
      return values;
    } else {
      return places;
    }
  }
  template <std::size_t K>
  constexpr auto& get() & {
    if constexpr (K == 0) {
      return values;
    } else {
      return places;
    }
  }
  template <std::size_t K>
  constexpr auto&& get() && {
    return std::move(get<K>());
  }
};

namespace execute {
template <class I, class... Result>
struct Run<op::TopK<I, Result...>> {
  template <class R, class A>
  static auto run(op::TopK<I, Result...> const& op, std::source_location const&, A const& a) {
    using Values = typename R::result;
    using Places = tensor_from_spec<typename R::S, typename R::Holder, std::int64_t, Values>;
    auto const extents = result_extents<R>(op, a);
    TopK<Values, Places> out{shardtype::detail::uninitialized<Values>(a.mesh(), extents),
                             shardtype::detail::uninitialized<Places>(a.mesh(), extents)};
    if (a.local_size() > 0)
      block_sorter<I>(a, op.k, op::Order::descending)
          .first(static_cast<typename A::element*>(out.values.buffer().data()),
                 static_cast<std::int64_t*>(out.places.buffer().data()));
    return out;
  }
};
}  // namespace execute

namespace detail {
/// Both results; of tensors without data only the first comes from the plan.
template <class Out>
constexpr auto found(Out const& out) {
  if constexpr (std::is_base_of_v<checking::Poisoned, Out>) {
    return TopK<checking::Poisoned, checking::Poisoned>{};
  } else if constexpr (is_dry<Out>) {
    auto const places = beside<std::int64_t>(out);
    return TopK<Out, std::remove_const_t<decltype(places)>>{out, places};
  } else {
    return out;
  }
}
}  // namespace detail

/// The `k` largest elements along I in descending order, the first of equal ones, and their
/// positions: `a[I@X, J]` -> `auto [values, places] = top_k<J, K>(a, 3)` -> `[I@X, K]` each. K may
/// be left out if J has no static extent. Local. Of an expression of automatic mode: two expressions,
/// each of which sorts. Refused as sort; D02, D05, D07. Error E41: k
/// larger than the extent.
template <class I, class... Result, class A>
constexpr auto top_k(A const& a, std::int64_t k,
                     checking::CallSite where = std::source_location::current()) {
  return detail::found(call(op::TopK<I, Result...>{k}, where, a));
}

}  // namespace shardtype

template <class Values, class Places>
struct std::tuple_size<shardtype::TopK<Values, Places>> : std::integral_constant<std::size_t, 2> {};
template <class Values, class Places>
struct std::tuple_element<0, shardtype::TopK<Values, Places>> {
  using type = Values;
};
template <class Values, class Places>
struct std::tuple_element<1, shardtype::TopK<Values, Places>> {
  using type = Places;
};

namespace std {
template <size_t K, class Values, class Places>
constexpr auto const& get(shardtype::TopK<Values, Places> const& found) {
  return found.template get<K>();
}
template <size_t K, class Values, class Places>
constexpr auto& get(shardtype::TopK<Values, Places>& found) {
  return found.template get<K>();
}
template <size_t K, class Values, class Places>
constexpr auto&& get(shardtype::TopK<Values, Places>&& found) {
  return std::move(found).template get<K>();
}
}  // namespace std
