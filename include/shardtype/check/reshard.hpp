#pragma once
/// Reshards and the named collectives, on types. Their objects are in ops/collectives.hpp.

#include <cstdint>
#include <type_traits>

#include <shardtype/check/call.hpp>
#include <shardtype/check/functions.hpp>
#include <shardtype/check/resolve.hpp>
#include <shardtype/plan/named_plan.hpp>
#include <shardtype/plan/reshard_code.hpp>
#include <shardtype/plan/reshard_plan.hpp>
#include <shardtype/rules/manual.hpp>
#include <shardtype/rules/reshard.hpp>

namespace shardtype::checking {

/// The state of the result of a collective that makes all blocks equal: invariant (of a Tensor:
/// replicated), unless the call names another, as in `all_gather<X>(w, to_reduced)` and, of Locals
/// only, `all_gather<X, I>(a, to_varying)`.
struct ToVarying {};
struct ToReduced {};

/// The axes and labels that a collective names, in the order of the call, as numbers of its scope.
struct NamedNumbers {
  int const* axes = nullptr;
  int axis_count = 0;
  int const* labels = nullptr;
  int label_count = 0;

  constexpr bool are(int axis, int label) const {
    return axis_count == axis && label_count == label;
  }
  /// A rule of one axis, applied axis by axis; the planner fuses the axes if one collective is
  /// cheaper.
  constexpr Verdict each_axis(Spec const& s, Verdict (*rule)(Spec, int)) const {
    if (label_count > 0) return refuse(Code::T05_not_an_axis);
    Verdict v = accept(s);
    for (int k = 0; k < axis_count && v; ++k) v = rule(v.result, axes[k]);
    return v;
  }
};

}  // namespace shardtype::checking

namespace shardtype {

inline constexpr checking::ToVarying to_varying{};
inline constexpr checking::ToReduced to_reduced{};

namespace detail {

/// Whether `T` names the state of a collective's result.
template <class T>
inline constexpr bool names_state_of = std::is_same_v<T, shardtype::checking::ToVarying> ||
                                       std::is_same_v<T, shardtype::checking::ToReduced>;
template <class T>
inline constexpr bool is_kind =
    std::is_same_v<T, Max> || std::is_same_v<T, Min> || std::is_same_v<T, Mean>;

template <class... Ls, class... Xs>
Mentions<Dim<Ls>..., Reduced<Xs...>> mentioned(Pack<Ls...>, Pack<Xs...>);

/// The template arguments of a collective, by kind.
template <class... Named>
struct NamedParts {
  template <class T>
  static constexpr auto axis() {
    if constexpr (MeshAxis<T>) {
      return Pack<T>{};
    } else {
      return Pack<>{};
    }
  }
  template <class T>
  static constexpr auto label() {
    if constexpr (IndexLabel<T>) {
      return Pack<T>{};
    } else {
      return Pack<>{};
    }
  }
  static constexpr std::size_t count = sizeof...(Named);
  using Axes = decltype((Pack<>{} | ... | axis<Named>()));
  using Labels = decltype((Pack<>{} | ... | label<Named>()));
  using Mentioned = decltype(detail::mentioned(Labels{}, Axes{}));
  /// Checks the order: kind first, if any; then axes; then indices; then the state of the result.
  static constexpr bool in_order() {
    int const place[] = {(is_kind<Named>          ? 0
                          : MeshAxis<Named>       ? 1
                          : IndexLabel<Named>     ? 2
                          : names_state_of<Named> ? 3
                                                  : -1)...,
                         4};
    for (std::size_t k = 0; k < sizeof...(Named); ++k)
      if (place[k] < 0 || place[k] > place[k + 1] || (place[k] == 0 && k > 0)) return false;
    return true;
  }
  static constexpr bool mean = (std::is_same_v<Named, Mean> || ...);
  static constexpr bool names_kind = (is_kind<Named> || ...);
  static constexpr ReduceKind kind = (std::is_same_v<Named, Max> || ...)   ? ReduceKind::max
                                     : (std::is_same_v<Named, Min> || ...) ? ReduceKind::min
                                                                           : ReduceKind::sum;
  static constexpr std::size_t states = (0 + ... + (names_state_of<Named> ? 1 : 0));
  /// The state named by the call, or `otherwise`.
  static constexpr AxisState state(AxisState otherwise) {
    if ((std::is_same_v<Named, shardtype::checking::ToVarying> || ...)) return AxisState::varying;
    if ((std::is_same_v<Named, shardtype::checking::ToReduced> || ...)) return AxisState::reduced;
    return otherwise;
  }
};
/// The NamedParts of an operation.
template <class Op>
struct NamedIn;
template <template <class...> class Op, class... Named>
struct NamedIn<Op<Named...>> {
  using type = NamedParts<Named...>;
};
template <class Op>
using parts_t = typename NamedIn<Op>::type;

template <class S, class... Xs>
inline constexpr int axis_numbers[] = {S::names.find_axis(identity<Xs>)..., -1};
template <class S, class... Ls>
inline constexpr int label_numbers[] = {S::names.find_label(identity<Ls>)..., -1};
/// The numbers in scope `S` of what a collective names.
template <class S, class Axes, class Labels>
inline constexpr NamedNumbers named_numbers{};
template <class S, class... Xs, class... Ls>
inline constexpr NamedNumbers named_numbers<S, Pack<Xs...>, Pack<Ls...>>{
    axis_numbers<S, Xs...>, sizeof...(Xs), label_numbers<S, Ls...>, sizeof...(Ls)};

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
    if (Verdict v = rules::lawful(S::names, S::parsed, 2); !v) return v;
    if (!same_element<A, Out>) return refuse(Code::N05_element_type);
    return rules::reshard(S::template spec<0>, S::template spec<1>);
  }
  static constexpr Verdict verdict = decide();
  using result = Out;
  static constexpr std::uint64_t from_number = planning::number_of(S::template spec<0>);
  static constexpr std::uint64_t to_number = planning::number_of(S::template spec<1>);
  static constexpr Plan make_plan(Sizing const& z, Machine const& m = {}) {
    return planning::reshard_plan(rules::strict_part(S::template spec<0>),
                                  rules::strict_part(S::template spec<1>), z, m);
  }
};
/// The type `Out` of a reshard of an `A`, which varies over the same manual axes.
template <class A, class Out>
struct AlongManual {
  using S = Scope<A, Out>;
  static constexpr Spec decide() {
    Spec s = S::template spec<1>;
    s.varying = s.varying | S::template spec<0>.varying;
    return s;
  }
  static constexpr Spec value = decide();
  using type = tensor_from_spec<S, AlongManual, element_t<Out>, Out>;
};

/// Whether the call that `R` resolves plans one all_reduce for all sizes.
template <class R>
concept OneAllReduce = requires { requires R::one_all_reduce; };

/// Whether an operation is a collective or cast of tensors, which its `moved` judges.
template <class Op>
concept MovesTensors = requires(Spec const& s, NamedNumbers const& n) { Op::moved(s, n); };

/// Whether a collective of tensors names a state that it may not name: it may name `to_reduced`
/// only, as the last name, and only if it has `names_state`.
template <class Op>
inline constexpr bool misnames_state =
    parts_t<Op>::states > 0 &&
    !(requires { requires Op::names_state; } && parts_t<Op>::in_order() &&
      parts_t<Op>::state(AxisState::replicated) == AxisState::reduced);

template <class Op, class A>
struct CollectiveRule {
  using Parts = parts_t<Op>;
  using S = Scope<A, typename Parts::Mentioned>;
  static constexpr bool one_all_reduce = requires { requires Op::one_all_reduce; };
  static consteval Verdict decide() {
    if (S::names.overflow) return refuse(Code::T07_too_many);
    if (Verdict v = rules::well_formed(S::parsed[0]); !v) return v;
    if (Parts::names_kind || !Parts::in_order()) return refuse(Code::T05_not_an_axis);
    if (Verdict v = rules::well_named(S::names); !v) return v;
    return Op::moved(S::template spec<0>,
                     named_numbers<S, typename Parts::Axes, typename Parts::Labels>);
  }
  static constexpr Verdict verdict = decide();
};
template <class Rule, class Op, class A>
struct CollectiveResult : Rule {
  using S = typename Rule::S;
  static constexpr bool communicates = true;
  static constexpr bool sends = !requires { Op::sends_nothing; };
  static constexpr auto const& value = Rule::verdict.result;
  using result = accepted_t<Rule, element_t<A>, A>;
  static constexpr std::uint64_t from_number = sends ? planning::number_of(S::template spec<0>) : 0;
  static constexpr std::uint64_t to_number = planning::number_of(value);
  static constexpr Plan make_plan(Sizing const& z, Machine const& m = {}) {
    Spec const from = rules::strict_part(S::template spec<0>);
    Spec const to = rules::strict_part(value);
    if constexpr (!sends) {
      return planning::partial_plan(from, to, z);
    } else if constexpr (Rule::one_all_reduce) {
      return planning::all_reduce_plan(from, to, z);
    } else {
      return planning::reshard_plan(from, to, z, m);
    }
  }
};

template <class Op, class A>
constexpr auto resolve_collective() {
  using Parts = parts_t<Op>;
  if constexpr (misnames_state<Op>) {
    return Type<Plainly<Code::V01_mixed>>{};
  } else if constexpr (Parts::count == Parts::states) {
    return Type<Plainly<Code::K07_no_axis>>{};
  } else {
    return Type<resolved_t<CollectiveResult, CollectiveRule<Op, A>, Op, A>>{};
  }
}
/// Whether an operation is a reshard, to the type that its `destination` names.
template <class Op>
concept Reshards = requires { typename Op::destination; };
/// Whether an operation consists of the steps of its plan, which change the sharding of its
/// operand.
template <class Op>
concept ChangesSharding = Reshards<Op> || MovesTensors<Op>;
template <class A, class... Out>
constexpr auto reshard_to(Pack<Out...>) {
  if constexpr (!is_local<A> && detail::is_of_manual_mode<A>()) {
    return Type<Resharding<A, typename AlongManual<A, named_t<A, Out...>>::type>>{};
  } else {
    return Type<Resharding<A, named_t<A, Out...>>>{};
  }
}

/// Whether an operation moves blocks of manual mode (check/block_move.hpp).
template <class Op>
concept MovesBlocks = requires { Op::blocks::how; };

/// Whether a Tensor varies over an axis of `Xs`, which then is manual.
template <class A, class... Xs>
constexpr bool varies_over(Pack<Xs...>) {
  using S = Scope<A>;
  return ((S::names.find_axis(identity<Xs>) >= 0 &&
           S::parsed[0].spec.varying.contains(S::names.find_axis(identity<Xs>))) ||
          ...);
}
/// Whether `Op` on a Tensor of type `A` moves blocks along manual axes: A varies over one of its
/// axes, or the operation exists in manual mode alone and begins with equal blocks.
template <class Op, class A>
inline constexpr bool moves_along_manual = false;
template <MovesBlocks Op, class A>
  requires(is_tensor<A> && !is_local<A>)
inline constexpr bool moves_along_manual<Op, A> = [] {
  if constexpr (MovesTensors<Op>) {
    return detail::varies_over<A>(typename parts_t<Op>::Axes{});
  } else {
    constexpr bool from_equal =
        Op::blocks::how == rules::Movement::shard ||
        (Op::blocks::how == rules::Movement::cast && Op::blocks::to == AxisState::varying);
    return from_equal || detail::is_of_manual_mode<A>();
  }
}();

}  // namespace detail

}  // namespace shardtype

namespace shardtype::checking {

template <detail::Reshards Op, class A>
  requires is_tensor<A>
struct Resolve<Op, A> : decltype(detail::reshard_to<A>(typename Op::destination{}))::type {};
template <detail::MovesTensors Op, class A>
  requires(is_tensor<A> && (!is_local<A> || !detail::MovesBlocks<Op>) &&
           !detail::moves_along_manual<Op, A>)
struct Resolve<Op, A> : decltype(detail::resolve_collective<Op, A>())::type {};

}  // namespace shardtype::checking
