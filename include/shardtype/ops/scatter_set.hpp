#pragma once
/// Rows replaced where ids name them: a composition of a maximum by ids, which finds the update
/// that wins, a lookup and a sum by ids, with their plans and gradients.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <shardtype/check/call.hpp>
#include <shardtype/check/labels_of.hpp>
#include <shardtype/check/misused.hpp>
#include <shardtype/check/named.hpp>
#include <shardtype/check/poisoned.hpp>
#include <shardtype/ops/indexing.hpp>
#include <shardtype/ops/math.hpp>
#include <shardtype/ops/scatter.hpp>
#include <shardtype/ops/windows.hpp>

namespace shardtype {

namespace detail {

/// The number of rows of `a` along V: `n`, or what the tensor says.
template <class V, class A, class... Ls>
constexpr std::int64_t rows_or(A const& a, std::int64_t n, Pack<Ls...>) {
  if constexpr (requires { a.extents()[0]; }) {
    std::size_t d = 0;
    std::size_t at = sizeof...(Ls);
    ((std::is_same_v<Ls, V> ? static_cast<void>(at = d++) : static_cast<void>(++d)), ...);
    if (n == dynamic && at < sizeof...(Ls)) return a.extents()[at];
  }
  return n;
}

/// The number of each id, in the order of the dims: 0, 1, ...
template <class Ids, class... Ls>
constexpr auto numbers_of_ids(Ids const& ids, checking::CallSite where, Pack<Ls...>) {
  auto const ones = api::call(op::FullLike<int>{1}, where, ids);
  auto const along = [&]<class L>(Pack<L>) {
    return api::cumsum<L>(ones, op::Cumulate::exclusive, op::Direction::forward, where);
  };
  if constexpr (sizeof...(Ls) == 0) {
    return ones;
  } else if constexpr (sizeof...(Ls) == 1) {
    return (along(Pack<Ls>{}), ...);
  } else {
    std::size_t d = 0;
    auto number = api::call(op::FullLike<int>{0}, where, ids);
    ((number = number * ids.extents()[d] + along(Pack<Ls>{}), ++d), ...);
    return number;
  }
}

/// `Ids` where the updates `U` are.
template <class Ids, class U>
struct IdsOfUpdates {
  using S = Scope<Ids, U>;
  static constexpr Spec make() {
    Spec out = S::template spec<0>;
    Spec const& updates = S::template spec<1>;
    for (int e = 0; e < out.rank; ++e)
      if (int const d = updates.find(out.dims[e].label); d >= 0)
        out.dims[e].axes = updates.dims[d].axes;
    out.reduced = {};
    return out;
  }
  static constexpr Spec value = make();
  using type = tensor_from_spec<S, IdsOfUpdates, std::int64_t, Ids>;
};
/// The dim V of `A`, alone, with elements std::int64_t.
template <class V, class A>
struct NumberOfRow {
  using S = Scope<A>;
  static constexpr Spec make() {
    Spec const& a = S::template spec<0>;
    int const d = a.find(S::names.find_label(identity<V>));
    Spec out;
    if (d >= 0) out.add(a.dims[d].label, a.dims[d].axes);
    return out;
  }
  static constexpr Spec value = make();
  using type = tensor_from_spec<S, NumberOfRow, std::int64_t, A>;
};

}  // namespace detail

namespace api {

/// Replaces the rows of `a` that ids name: `a[V, D@Y]`, `updates[B, D@Y]`, `ids[B]` ->
/// `scatter_set<V>(a, updates, ids)` -> `[V, D@Y]`, a copy of `a` with these rows. Of equal ids the
/// last one wins, in the order of the ids' dims, as in NumPy's `a[ids] = updates`; so the result
/// does not depend on ranks or threads (JAX leaves it open). An update whose id is out of range is
/// left out. Ids of several dims have one update each. Communicates nothing: every rank has the ids
/// and the updates.
///
/// `scatter_set<V, Dim<V, X>, Dim<D>>(a, updates, ids)` names the result, for any sharding of the
/// three: ids are resharded as the updates, the number of the winner is reduced for each row and
/// looked up for each id, and the winners are added to rows of zeros, as by `scatter_add`.
///
/// The gradient of `a` is zero in the rows that are replaced; that of the updates is the cotangent
/// of its row for the winners, and zero for the others. In automatic mode, which records no
/// extents, `n` is the number of rows of `a`: `scatter_set<V>(a, updates, ids, n)`.
///
/// It is `scatter_max<V>` of the ids' numbers, `take<V>` and `scatter_add<V>`, with their plans and
/// refusals: C10, C11, D02, I01, I02, I08; I06 split ids, P05 updates or rows of V that are split:
/// name the result; N05, R01 to R04 for it. Errors: E20, E24, E50.
template <class V, class... Out, class A, class U, class Ids>
constexpr auto scatter_set(core::Argument<A> const& a, core::Argument<U> const& updates,
                           core::Argument<Ids> const& ids,
                           std::int64_t n = detail::static_extents<V>()[0],
                           checking::CallSite where = {}) {
  std::int64_t const rows = detail::rows_or<V>(a.self(), n, detail::labels_of_argument_t<A>{});
  using Ls = detail::labels_of_argument_t<Ids>;
  if constexpr (sizeof...(Out) == 0) {
    auto const number =
        detail::numbers_of_ids(api::cast<std::int64_t>(ids.self()).tensor(), where, Ls{});
    auto const last = api::scatter_max<V>(number, ids.self(), rows, where);
    auto const of_ids = api::take<V>(last, ids.self(), where);
    if constexpr (detail::is_poisoned<std::remove_cvref_t<decltype(of_ids)>>) {
      return checking::Poisoned{};
    } else {
      auto const wins = of_ids == number;
      auto const written = api::scatter_add<V>(api::where(wins, updates.self(), op::zero).tensor(),
                                               ids.self(), rows, where);
      return api::where(last >= 0, written, a.self()).tensor();
    }
  } else {
    using Like = detail::tensor_of_argument_t<A>;
    using Result = detail::named_as_t<checking::element_t<Like>, Like, Out...>;
    using Placed = typename detail::IdsOfUpdates<detail::tensor_of_argument_t<Ids>,
                                                 detail::tensor_of_argument_t<U>>::type;
    auto const of_updates =
        api::reshard<Placed>(api::cast<std::int64_t>(ids.self()).tensor(), where);
    auto const number = detail::numbers_of_ids(of_updates, where, Ls{});
    auto const last = api::scatter_max<V, typename detail::NumberOfRow<V, Result>::type>(
        number, of_updates, rows, where);
    auto const wins = api::take<V, Placed>(last, of_updates, where) == number;
    auto const written = api::scatter_add<V, Result>(
        api::where(wins, updates.self(), op::zero).tensor(), of_updates, rows, where);
    return api::where(last >= 0, written, api::reshard<Result>(a.self(), where)).tensor();
  }
}

// Everyday mistakes (check/misused.hpp).
SHARDTYPE_NOT_WITHOUT_INDEX(scatter_set)

}  // namespace api

}  // namespace shardtype
