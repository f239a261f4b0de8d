#pragma once
/// Reshards and the named collectives, on types.

#include <string_view>

#include <shardtype/check/resolve.hpp>
#include <shardtype/plan/named_plan.hpp>
#include <shardtype/plan/reshard_code.hpp>
#include <shardtype/plan/reshard_plan.hpp>
#include <shardtype/rules/reshard.hpp>

namespace shardtype::checking {

/// The state of the result of a collective that makes all blocks equal: invariant (of a Tensor:
/// replicated), unless the call names another, as in `all_gather<X>(w, to_reduced)` and, of Locals
/// only, `all_gather<X, I>(a, to_varying)`.
struct ToVarying {};
struct ToReduced {};

}  // namespace shardtype::checking

namespace shardtype {

inline constexpr checking::ToVarying to_varying{};
inline constexpr checking::ToReduced to_reduced{};

namespace op {

/// Another sharding of the same value, named by dims and attributes or by a Tensor type.
template <class... Out>
struct Reshard {
  using operation = Reshard;
  static constexpr std::string_view name = "reshard";
};
/// The same value as a parameter of a computation: in that sharding, or, if only `Reduced<Xs...>`
/// is named, whole along these axes and reduced over them.
template <class... Out>
struct UsedAs {
  using operation = UsedAs;
  static constexpr std::string_view name = "used_as";
};
/// Gathers the blocks of the groups along `Xs`, which may end in checking::ToReduced. Of Locals:
/// `Xs` are axes, then the index to gather along, then checking::ToVarying or checking::ToReduced
/// to choose the state of the result.
template <class... Xs>
struct AllGather {
  using operation = AllGather;
  static constexpr std::string_view name = "all_gather";
};
/// The reduction over `Xs`, on all ranks. Of Locals: with `Max`, `Min` or `Mean` first likewise.
template <class... Xs>
struct AllReduce {
  using operation = AllReduce;
  static constexpr std::string_view name = "all_reduce";
};
/// The reduction over an axis, of which each rank keeps its piece along an index. Of Locals: over
/// axes, with `Max`, `Min` or `Mean` first likewise.
template <class... XI>
struct ReduceScatter {
  using operation = ReduceScatter;
  static constexpr std::string_view name = "reduce_scatter";
};
/// Moves an axis from one index to another. Of Locals: over axes, cut along the first index, joined
/// along the second.
template <class... XFromTo>
struct AllToAll {
  using operation = AllToAll;
  static constexpr std::string_view name = "all_to_all";
};
/// The same value as an unreduced sum over `Xs`.
template <class... Xs>
struct ToPartial {
  using operation = ToPartial;
  static constexpr std::string_view name = "to_partial";
};
/// Reduced over `Xs` instead of replicated.
template <class... Xs>
struct ToReduced {
  using operation = ToReduced;
  static constexpr std::string_view name = "reduced";
};

}  // namespace op

namespace detail {

/// All reshards between the shardings with these numbers, for all names of labels and axes.
template <std::uint64_t From, std::uint64_t To>
struct AlikeReshards {
  static constexpr Spec from = planning::spec_from(From);
  static constexpr Spec to = planning::spec_from(To);
  static constexpr Plan make_plan(Sizing const& z, Machine const& m = {}) {
    return planning::reshard_plan(from, to, z, m);
  }
};

template <class A, class Out>
struct Resharding {
  using S = Scope<A, Out>;
  static constexpr bool communicates = true;
  static consteval Verdict decide() {
    if (is_local<A>) return refuse(Code::V14_named_result);
    if (Verdict v = rules::lawful(S::names, S::readings, 2); !v) return v;
    if (!same_element<A, Out>) return refuse(Code::N05_element_type);
    return rules::reshard(S::template spec<0>, S::template spec<1>);
  }
  static constexpr Verdict verdict = decide();
  using result = Out;
  static constexpr std::uint64_t from_number = planning::number_of(S::template spec<0>);
  static constexpr std::uint64_t to_number = planning::number_of(S::template spec<1>);
  static constexpr Plan make_plan(Sizing const& z, Machine const& m = {}) {
    return planning::reshard_plan(S::template spec<0>, S::template spec<1>, z, m);
  }
};

/// A named collective: the rule applies it axis by axis; the planner fuses the axes if one
/// collective is cheaper.
template <class A, class Self, class... Parts>
struct Collectively {
  using S = Scope<A, Mentions<Parts...>>;
  static consteval Verdict decide() {
    if (S::names.overflow) return refuse(Code::T07_too_many);
    if (Verdict v = rules::well_formed(S::readings[0]); !v) return v;
    if (S::readings[1].malformed == Malformed::not_a_label ||
        S::readings[1].malformed == Malformed::not_an_axis)
      return refuse(Code::T05_not_an_axis);
    if (Verdict v = rules::well_named(S::names); !v) return v;
    return Self::rule(S::template spec<0>);
  }
};
/// What plans one all_reduce for all sizes.
template <class R>
concept OneAllReduce = requires { requires R::one_all_reduce; };
template <class A, class Self, class S, bool ok = bool(Self::verdict)>
struct CollectiveResult : Self {
  static constexpr bool communicates = true;
  struct Holder {
    static constexpr Spec value = Self::verdict.result;
  };
  using result = tensor_from_spec<S, Holder, element_t<A>, A>;
  static constexpr std::uint64_t from_number =
      requires { Self::sends_nothing; } ? 0 : planning::number_of(S::template spec<0>);
  static constexpr std::uint64_t to_number = planning::number_of(Holder::value);
  static constexpr Plan make_plan(Sizing const& z, Machine const& m = {}) {
    if constexpr (requires { Self::sends_nothing; }) {
      return planning::partial_plan(S::template spec<0>, Holder::value, z);
    } else if constexpr (OneAllReduce<Self>) {
      return planning::all_reduce_plan(S::template spec<0>, Holder::value, z);
    } else {
      return planning::reshard_plan(S::template spec<0>, Holder::value, z, m);
    }
  }
};
template <class A, class Self, class S>
struct CollectiveResult<A, Self, S, false> : Self {};

template <AxisState to, class A, class... Xs>
struct GatheringTo : Collectively<A, GatheringTo<to, A, Xs...>, Reduced<Xs...>> {
  using Base = Collectively<A, GatheringTo<to, A, Xs...>, Reduced<Xs...>>;
  static constexpr Verdict rule(Spec const& s) {
    Verdict v = accept(s);
    ((v ? void(v = rules::all_gather(v.result, Base::S::names.find_axis(identity<Xs>), to))
        : void()),
     ...);
    return v;
  }
  static constexpr Verdict verdict = Base::decide();
};
template <class A, class... Xs>
using Gathering = GatheringTo<AxisState::replicated, A, Xs...>;
template <class A, class... Xs>
using GatheringReduced = GatheringTo<AxisState::reduced, A, Xs...>;
template <class A, class... Xs>
struct Using : Collectively<A, Using<A, Xs...>, Reduced<Xs...>> {
  using Base = Collectively<A, Using<A, Xs...>, Reduced<Xs...>>;
  static constexpr Verdict rule(Spec const& s) {
    return rules::used_as(s, Base::S::template spec<1>.reduced);
  }
  static constexpr Verdict verdict = Base::decide();
};
template <class A, class... Xs>
struct Reducing : Collectively<A, Reducing<A, Xs...>, Reduced<Xs...>> {
  using Base = Collectively<A, Reducing<A, Xs...>, Reduced<Xs...>>;
  static constexpr bool one_all_reduce = sizeof...(Xs) == 1;
  static constexpr Verdict rule(Spec const& s) {
    Verdict v = accept(s);
    ((v ? void(v = rules::all_reduce(v.result, Base::S::names.find_axis(identity<Xs>))) : void()),
     ...);
    return v;
  }
  static constexpr Verdict verdict = Base::decide();
};
template <class A, class... Xs>
struct Owing : Collectively<A, Owing<A, Xs...>, Reduced<Xs...>> {
  static constexpr bool sends_nothing = true;
  using Base = Collectively<A, Owing<A, Xs...>, Reduced<Xs...>>;
  static constexpr Verdict rule(Spec const& s) {
    AxisList over;
    int twice = -1;
    int const given[] = {Base::S::names.find_axis(identity<Xs>)...};
    for (int const x : given) {
      if (over.contains(x)) {
        twice = x;
      } else {
        over.push(x);
      }
    }
    return twice < 0 ? rules::to_partial(s, over)
                     : refuse(Code::K05_already_unreduced, -1, -1, twice);
  }
  static constexpr Verdict verdict = Base::decide();
};
template <class A, class... Xs>
struct Casting : Collectively<A, Casting<A, Xs...>, Reduced<Xs...>> {
  using Base = Collectively<A, Casting<A, Xs...>, Reduced<Xs...>>;
  static constexpr Verdict rule(Spec const& s) {
    Verdict v = accept(s);
    ((v ? void(v = rules::reduced(v.result, Base::S::names.find_axis(identity<Xs>))) : void()),
     ...);
    return v;
  }
  static constexpr Verdict verdict = Base::decide();
};
template <class A, class X, class I>
struct Scattering : Collectively<A, Scattering<A, X, I>, Dim<I, X>> {
  using Base = Collectively<A, Scattering<A, X, I>, Dim<I, X>>;
  static constexpr Verdict rule(Spec const& s) {
    return rules::reduce_scatter(s, Base::S::names.find_axis(identity<X>),
                                 Base::S::names.find_label(identity<I>));
  }
  static constexpr Verdict verdict = Base::decide();
};
template <class A, class X, class From, class To>
struct Exchanging : Collectively<A, Exchanging<A, X, From, To>, Dim<From, X>, Dim<To>> {
  using Base = Collectively<A, Exchanging<A, X, From, To>, Dim<From, X>, Dim<To>>;
  static constexpr Verdict rule(Spec const& s) {
    return rules::all_to_all(s, Base::S::names.find_axis(identity<X>),
                             Base::S::names.find_label(identity<From>),
                             Base::S::names.find_label(identity<To>));
  }
  static constexpr Verdict verdict = Base::decide();
};

/// Whether `T` names the state of a collective's result.
template <class T>
inline constexpr bool names_state_of = std::is_same_v<T, shardtype::checking::ToVarying> ||
                                       std::is_same_v<T, shardtype::checking::ToReduced>;

/// `Count`: the number of axes and indices it must name; 0: any number.
template <template <class...> class Rule, std::size_t Count, class A, class... Args>
constexpr auto resolve_collective() {
  if constexpr (!is_tensor<A>) {
    return Type<NotATensor<A>>{};
  } else if constexpr ((names_state_of<Args> || ...)) {
    return Type<Plainly<Code::V01_mixed>>{};
  } else if constexpr (sizeof...(Args) == 0) {
    return Type<Plainly<Code::K07_no_axis>>{};
  } else if constexpr (Count > 0 && Count != sizeof...(Args)) {
    return Type<Plainly<Code::T05_not_an_axis>>{};
  } else {
    using Ruled = Rule<A, Args...>;
    return Type<CollectiveResult<A, Ruled, typename Ruled::S>>{};
  }
}
template <class A, class... Out>
constexpr auto resolve_reshard() {
  if constexpr (!is_tensor<A>) {
    return Type<NotATensor<A>>{};
  } else {
    return Type<Resharding<A, named_t<A, Out...>>>{};
  }
}

/// `all_gather<Named...>(a)`: axes, then perhaps checking::ToReduced.
template <class A, class Axes, class... Named>
struct GatherOf;
template <class A, class... Xs>
struct GatherOf<A, Pack<Xs...>> {
  static constexpr auto resolve() { return resolve_collective<Gathering, 0, A, Xs...>(); }
};
template <class A, class... Xs>
struct GatherOf<A, Pack<Xs...>, shardtype::checking::ToReduced> {
  static constexpr auto resolve() { return resolve_collective<GatheringReduced, 0, A, Xs...>(); }
};
template <class A, class... Xs, class Next, class... Named>
struct GatherOf<A, Pack<Xs...>, Next, Named...> : GatherOf<A, Pack<Xs..., Next>, Named...> {};

/// `used_as<Reduced<Xs...>>(w)`, or a reshard.
template <class A, class... Out>
struct UseOf {
  static constexpr auto resolve() { return resolve_reshard<A, Out...>(); }
};
template <class A, class... Xs>
struct UseOf<A, Reduced<Xs...>> {
  static constexpr auto resolve() {
    if constexpr (is_local<A>) {
      return Type<Plainly<Code::V14_named_result>>{};
    } else {
      return resolve_collective<Using, 0, A, Xs...>();
    }
  }
};

}  // namespace detail

}  // namespace shardtype

namespace shardtype::checking {

template <class... Out, class A>
struct Resolve<op::Reshard<Out...>, A> : decltype(detail::resolve_reshard<A, Out...>())::type {};
template <class... Out, class A>
struct Resolve<op::UsedAs<Out...>, A> : decltype(detail::UseOf<A, Out...>::resolve())::type{};
// Of Locals: check/block_move.hpp.
template <class... Xs, class A>
  requires(!is_local<A>)
struct Resolve<op::AllGather<Xs...>, A>
    : decltype(detail::GatherOf<A, detail::Pack<>, Xs...>::resolve())::type{};
template <class... Xs, class A>
struct Resolve<op::ToPartial<Xs...>, A>
    : decltype(detail::resolve_collective<detail::Owing, 0, A, Xs...>())::type {};
template <class... Xs, class A>
  requires(!is_local<A>)
struct Resolve<op::ToReduced<Xs...>, A>
    : decltype(detail::resolve_collective<detail::Casting, 0, A, Xs...>())::type {};
template <class... Xs, class A>
  requires(!is_local<A>)
struct Resolve<op::AllReduce<Xs...>, A>
    : decltype(detail::resolve_collective<detail::Reducing, 0, A, Xs...>())::type {};
template <class... XI, class A>
  requires(!is_local<A>)
struct Resolve<op::ReduceScatter<XI...>, A>
    : decltype(detail::resolve_collective<detail::Scattering, 2, A, XI...>())::type {};
template <class... XFromTo, class A>
  requires(!is_local<A>)
struct Resolve<op::AllToAll<XFromTo...>, A>
    : decltype(detail::resolve_collective<detail::Exchanging, 3, A, XFromTo...>())::type {};

}  // namespace shardtype::checking

namespace shardtype {

/// Whether `reshard<To>(a)` compiles for a tensor of type `From`.
template <class From, class To>
concept Reshardable = bool(checking::Resolve<op::Reshard<To>, From>::verdict);

}  // namespace shardtype
