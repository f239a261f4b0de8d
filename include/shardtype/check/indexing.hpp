#pragma once
/// Lookups, scatters and sorting, on types.

#include <cstdint>
#include <string_view>
#include <type_traits>

#include <shardtype/check/along.hpp>
#include <shardtype/check/shape.hpp>
#include <shardtype/check/window.hpp>
#include <shardtype/plan/indexing_plan.hpp>

namespace shardtype {

/// What a sort gives: values, their positions (std::int64_t), or some of the first.
enum class Sorts : std::int8_t { values, places, first };
enum class Order : std::int8_t { ascending, descending };

namespace op {

/// The rows of a table that ids name; with `Out`, the result is named.
template <class V, class... Out>
struct Take {
  using operation = Take;
  static constexpr std::string_view name = "take";
};
/// `n` rows of zeros to which updates are added where ids say.
template <class V, class... Out>
struct ScatterAdd {
  using operation = ScatterAdd;
  static constexpr std::string_view name = "scatter_add";
  std::int64_t n = detail::static_extents<V>()[0];
};
/// Rows of `n` elements of type `T`, 1 at the id.
template <class V, class T, class... Out>
struct OneHot {
  using operation = OneHot;
  static constexpr std::string_view name = "one_hot";
  std::int64_t n = detail::static_extents<V>()[0];
};
/// `Into`: the index of the ids in J's place; without it, J.
template <class J, class... Into>
struct TakeAlong {
  using operation = TakeAlong;
  static constexpr std::string_view name = "take_along";
};
template <class I, class... Into>
struct DynamicUpdate {
  using operation = DynamicUpdate;
  static constexpr std::string_view name = "dynamic_update";
};
/// A sort along I; `Result` is the index of the `first`.
template <Sorts what, class I, class... Result>
struct SortAlong {
  using operation = SortAlong;
  static constexpr std::string_view name = what == Sorts::values   ? "sort"
                                           : what == Sorts::places ? "argsort"
                                                                   : "top_k";
  Order order = Order::ascending;
  std::int64_t k = 0;
};
template <class I>
using Sort = SortAlong<Sorts::values, I>;
template <class I>
using ArgSort = SortAlong<Sorts::places, I>;
template <class I, class... Result>
using TopK = SortAlong<Sorts::first, I, Result...>;

}  // namespace op

namespace detail {

template <class T>
inline constexpr bool is_id = std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>;

/// The second index, or where there is none the first.
template <class J, class... Into>
struct IntoOf : Only<Pack<J>> {};
template <class J, class K, class... More>
struct IntoOf<J, K, More...> : Only<Pack<K>> {};
template <class... Is>
using into_t = typename IntoOf<Is...>::type;

/// What `Ids` must be next to `A`, beyond its sharding.
template <class A, class Ids>
constexpr Verdict id_operands() {
  if (!is_id<element_t<Ids>>) return refuse(Code::I01_not_integers);
  if (!same_memory<A, Ids>) return refuse(Code::C10_element_types_differ);
  return {};
}
/// The kind of reduction that joins a found element with the zeros of ranks that do not have it.
template <class T>
inline constexpr ReduceKind joining = std::is_same_v<T, bool> ? ReduceKind::max : ReduceKind::sum;

/// The result of an operation that is local, and its plan, of no collectives.
template <class Rule, class T, class Like, bool ok = bool(Rule::verdict)>
struct LocalResult : Rule {
  static constexpr bool communicates = false;
  struct Holder {
    static constexpr Spec value = Rule::verdict.result;
  };
  using result = tensor_from_spec<typename Rule::S, Holder, T, Like>;
  static constexpr Plan make_plan(Sizing const& z, Machine const& = {}) {
    Plan out;
    out.sizing = z;
    out.push_operand(Rule::S::template spec<0>);
    if constexpr (Rule::operands == 2) out.push_operand(Rule::S::template spec<1>);
    out.result = Rule::verdict.result;
    return out;
  }
};
template <class Rule, class T, class Like>
struct LocalResult<Rule, T, Like, false> : Rule {};

template <class V, class A, class Ids>
struct StrictGather {
  using S = Scope<A, Ids, Bare<V>>;
  static constexpr int operands = 2;
  static constexpr Verdict decide() {
    if (Verdict v = rules::lawful(S::names, S::readings, 3); !v) return v;
    if (Verdict v = id_operands<A, Ids>(); !v) return v;
    return in_manual_mode<S, 2>(rules::gather(S::template spec<0>, S::template spec<1>,
                                              S::template spec<2>.dims[0].label,
                                              joining<element_t<A>>));
  }
  static constexpr Verdict verdict = decide();
};

template <class A, class Ids>
constexpr Verdict updates_and_ids() {
  if (std::is_same_v<element_t<A>, bool>) return refuse(Code::C11_not_numbers);
  return id_operands<A, Ids>();
}
template <class V, class A, class Ids>
struct StrictScatter {
  using S = Scope<A, Ids, Bare<V>>;
  static constexpr int operands = 2;
  static constexpr Verdict decide() {
    if (Verdict v = rules::lawful(S::names, S::readings, 3); !v) return v;
    if (Verdict v = updates_and_ids<A, Ids>(); !v) return v;
    return in_manual_mode<S, 2>(rules::scatter_add(S::template spec<0>, S::template spec<1>,
                                                   S::template spec<2>.dims[0].label));
  }
  static constexpr Verdict verdict = decide();
};

template <class V, class Ids>
struct StrictOneHot {
  using S = Scope<Ids, Bare<V>>;
  static constexpr int operands = 1;
  static constexpr Verdict decide() {
    if (Verdict v = rules::lawful(S::names, S::readings, 2); !v) return v;
    if (Verdict v = id_operands<Ids, Ids>(); !v) return v;
    return in_manual_mode<S, 1>(
        rules::one_hot(S::template spec<0>, S::template spec<1>.dims[0].label));
  }
  static constexpr Verdict verdict = decide();
};

template <class J, class K, class A, class Ids>
struct TakeAlong {
  using S = Scope<A, Ids, Bare<J>, Bare<K>>;
  static constexpr int operands = 2;
  static constexpr Verdict decide() {
    if (Verdict v = rules::lawful(S::names, S::readings, 4); !v) return v;
    if (Verdict v = id_operands<A, Ids>(); !v) return v;
    return in_manual_mode<S, 2>(rules::take_along(S::template spec<0>, S::template spec<1>,
                                                  S::template spec<2>.dims[0].label,
                                                  S::template spec<3>.dims[0].label));
  }
  static constexpr Verdict verdict = decide();
};

template <class I, class K, class A, class B>
struct DynamicUpdate {
  using S = Scope<A, B, Bare<I>, Bare<K>>;
  static constexpr int operands = 2;
  static constexpr Verdict decide() {
    if (Verdict v = rules::lawful(S::names, S::readings, 4); !v) return v;
    if (!same_element<A, B>) return refuse(Code::C10_element_types_differ);
    return in_manual_mode<S, 2>(rules::dynamic_update(S::template spec<0>, S::template spec<1>,
                                                      S::template spec<2>.dims[0].label,
                                                      S::template spec<3>.dims[0].label));
  }
  static constexpr Verdict verdict = decide();
};

template <Sorts what, class A, class I, class... Result>
struct Sorting {
  using S = Scope<A, Bare<I>, Bare<Result...>>;
  static constexpr int operands = 1;
  static constexpr Verdict decide() {
    if (Verdict v = rules::lawful(S::names, S::readings, 3); !v) return v;
    if (!is_ordered<element_t<A>>) return refuse(Code::I11_no_order);
    Spec const a = S::template spec<0>;
    return in_manual_mode<S, 1>(rules::sorted(
        {&a, 1, S::template spec<1>, S::template spec<2>, S::names.extents(), S::names.sizes()},
        what == Sorts::first));
  }
  static constexpr Verdict verdict = decide();
};

/// A named result by way of `Way`s: tensor types of the operands resharded (`first`, `ids`) and of what
/// they give (`met`).
template <class S, class W, class A, class Ids, class Out, bool ok = bool(W::value.verdict)>
struct NamedWay {
  struct First {
    static constexpr Spec value = W::value.first;
  };
  struct OfIds {
    static constexpr Spec value = W::value.ids;
  };
  struct Met {
    static constexpr Spec value = W::value.met;
  };
  using first = tensor_from_spec<S, First, element_t<A>, A>;
  using ids = tensor_from_spec<S, OfIds, element_t<Ids>, Ids>;
  using met = tensor_from_spec<S, Met, element_t<Out>, A>;
};
template <class S, class W, class A, class Ids, class Out>
struct NamedWay<S, W, A, Ids, Out, false> {};

/// Named: the rule's answer for the way that is always there, and the ways.
template <class V, class A, class Ids, class Out>
struct NamedGather {
  using S = Scope<A, Ids, Out, Bare<V>>;
  static constexpr bool communicates = true;
  static constexpr planning::Way decide() {
    planning::Way out;
    if (is_local<A> || is_local<Ids>) return {refuse(Code::V14_named_result), {}, {}, {}};
    if (out.verdict = rules::lawful(S::names, S::readings, 4); !out.verdict) return out;
    if (out.verdict = id_operands<A, Ids>(); !out.verdict) return out;
    if (!same_element<A, Out>) return {refuse(Code::N05_element_type), {}, {}, {}};
    return planning::gather_way(S::template spec<0>, S::template spec<1>, S::template spec<2>,
                                S::template spec<3>.dims[0].label, joining<element_t<A>>);
  }
  struct W {
    static constexpr planning::Way value = decide();
  };
  static constexpr Verdict verdict = W::value.verdict;
  using result = Out;
  using way = NamedWay<S, W, A, Ids, Out>;
};

template <class V, class Ids, class Out>
struct NamedOneHot {
  using S = Scope<Ids, Out, Bare<V>>;
  static constexpr bool communicates = true;
  static constexpr planning::Way decide() {
    planning::Way out;
    if (is_local<Ids>) return {refuse(Code::V14_named_result), {}, {}, {}};
    if (out.verdict = rules::lawful(S::names, S::readings, 3); !out.verdict) return out;
    if (out.verdict = id_operands<Out, Ids>(); !out.verdict) return out;
    return planning::one_hot_way(S::template spec<0>, S::template spec<1>,
                                 S::template spec<2>.dims[0].label);
  }
  struct W {
    static constexpr planning::Way value = decide();
  };
  static constexpr Verdict verdict = W::value.verdict;
  using result = Out;
  using way = NamedWay<S, W, Ids, Ids, Out>;
};

template <class V, class A, class Ids, class Out>
struct NamedScatter {
  using S = Scope<A, Ids, Out, Bare<V>>;
  static constexpr bool communicates = true;
  static constexpr planning::Way decide(bool gathers) {
    planning::Way out;
    if (is_local<A> || is_local<Ids>) return {refuse(Code::V14_named_result), {}, {}, {}};
    if (out.verdict = rules::lawful(S::names, S::readings, 4); !out.verdict) return out;
    if (out.verdict = updates_and_ids<A, Ids>(); !out.verdict) return out;
    if (!same_element<A, Out>) return {refuse(Code::N05_element_type), {}, {}, {}};
    return planning::scatter_way(S::template spec<0>, S::template spec<1>, S::template spec<2>,
                                 S::template spec<3>.dims[0].label, gathers);
  }
  struct Adding {
    static constexpr planning::Way value = decide(false);
  };
  struct Gathering {
    static constexpr planning::Way value = decide(true);
  };
  static constexpr Verdict verdict = Adding::value.verdict;
  using result = Out;
  using way = NamedWay<S, Adding, A, Ids, Out>;
  using gathering = NamedWay<S, Gathering, A, Ids, Out>;
  /// Whether there are two ways.
  static constexpr bool can_gather =
      Gathering::value.verdict &&
      !(Gathering::value.first == Adding::value.first && Gathering::value.ids == Adding::value.ids);
  static constexpr bool gathers(Sizing const& z) {
    return planning::gathering_is_cheaper(Adding::value, Gathering::value, S::template spec<0>,
                                          S::template spec<1>, S::template spec<2>, z,
                                          static_cast<std::int64_t>(sizeof(element_t<Ids>)));
  }
};

template <class V, class A, class Ids, class... Out>
constexpr auto resolve_gather() {
  if constexpr (!is_tensor<A> || !is_tensor<Ids>) {
    return Type<NotATensor<A, Ids>>{};
  } else if constexpr (sizeof...(Out) == 0) {
    return Type<LocalResult<StrictGather<V, A, Ids>, element_t<A>, A>>{};
  } else {
    return Type<NamedGather<V, A, Ids, named_t<A, Out...>>>{};
  }
}
template <class V, class A, class Ids, class... Out>
constexpr auto resolve_scatter() {
  if constexpr (!is_tensor<A> || !is_tensor<Ids>) {
    return Type<NotATensor<A, Ids>>{};
  } else if constexpr (sizeof...(Out) == 0) {
    return Type<LocalResult<StrictScatter<V, A, Ids>, element_t<A>, A>>{};
  } else {
    return Type<NamedScatter<V, A, Ids, named_t<A, Out...>>>{};
  }
}
template <class V, class T, class Ids, class... Out>
constexpr auto resolve_one_hot() {
  if constexpr (!is_tensor<Ids>) {
    return Type<NotATensor<Ids>>{};
  } else if constexpr (sizeof...(Out) == 0) {
    return Type<LocalResult<StrictOneHot<V, Ids>, T, Ids>>{};
  } else {
    return Type<NamedOneHot<V, Ids, typename NamedAs<T, Ids, Out...>::type>>{};
  }
}
template <class Rule, class T, class A, class... Bs>
constexpr auto resolve_local() {
  if constexpr (is_tensor<A> && (is_tensor<Bs> && ...)) {
    return Type<LocalResult<Rule, typename T::type, A>>{};
  } else {
    return Type<NotATensor<A, Bs...>>{};
  }
}
template <Sorts what, class A>
using sorted_element =
    std::conditional_t<what == Sorts::places, Only<Pack<std::int64_t>>, ElementOf<A>>;

}  // namespace detail

template <class V, class... Out, class A, class Ids>
struct Resolve<op::Take<V, Out...>, A, Ids>
    : decltype(detail::resolve_gather<V, A, Ids, Out...>())::type {};
template <class V, class... Out, class A, class Ids>
struct Resolve<op::ScatterAdd<V, Out...>, A, Ids>
    : decltype(detail::resolve_scatter<V, A, Ids, Out...>())::type {};
template <class V, class T, class... Out, class Ids>
struct Resolve<op::OneHot<V, T, Out...>, Ids>
    : decltype(detail::resolve_one_hot<V, T, Ids, Out...>())::type {};
template <class J, class... Into, class A, class Ids>
struct Resolve<op::TakeAlong<J, Into...>, A, Ids>
    : decltype(detail::resolve_local<detail::TakeAlong<J, detail::into_t<J, Into...>, A, Ids>,
                                     detail::ElementOf<A>, A, Ids>())::type {};
template <class I, class... Into, class A, class B>
struct Resolve<op::DynamicUpdate<I, Into...>, A, B>
    : decltype(detail::resolve_local<detail::DynamicUpdate<I, detail::into_t<I, Into...>, A, B>,
                                     detail::ElementOf<A>, A, B>())::type {};
template <Sorts what, class I, class... Result, class A>
struct Resolve<op::SortAlong<what, I, Result...>, A>
    : decltype(detail::resolve_local<detail::Sorting<what, A, I, Result...>,
                                     detail::sorted_element<what, A>, A>())::type {};

}  // namespace shardtype
