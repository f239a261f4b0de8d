#pragma once
/// Recording: operations on values whose gradient is wanted run, one level down, and get an entry
/// on the tape.

#include <cstddef>
#include <source_location>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/active.hpp>
#include <shardtype/autodiff/active_expression.hpp>
#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/core/error.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype::autodiff {

/// A value of the same type as `V`, of which only the type is looked at.
template <class V>
using typed = Abstract<tensor_of<V>, checking::TypesOnly>;
template <class V>
struct TypedOf {
  using type = typed<V>;
};
template <class T>
struct TypedOf<Number<T>> {
  using type = Number<T>;
};
template <class V>
  requires shardtype::detail::is_number<V>
struct TypedOf<V> {
  using type = V;
};
template <class... Vs>
struct TypedOf<std::tuple<Vs...>> {
  using type = std::tuple<typename TypedOf<Vs>::type...>;
};
template <class V>
using typed_t = typename TypedOf<V>::type;

/// Whether the Vjp runs the operation in its own way.
template <class Op, class... As>
concept RunsForward = requires(Op const& op, std::source_location const& where, As const&... as) {
  Vjp<Op>::forward(op, where, as...);
};
/// The result of the operation, and what its pulls read.
template <class Op, class... As>
constexpr auto run_forward(Op const& op, std::source_location const& where, As const&... as) {
  if constexpr (RunsForward<Op, As...>) {
    return Vjp<Op>::forward(op, where, as...);
  } else {
    auto const value = shardtype::call(op, where, as...);
    using V = std::remove_cvref_t<decltype(value)>;
    if constexpr (any_poisoned<V> || is_constant<Op> ||
                  !shardtype::detail::is_floating<element_t<tensor_of<V>>>) {
      return Forward<V, Kept<>>{value, {}};
    } else {
      using S = decltype(Vjp<Op>::template save<V, As...>(op, value, as...));
      return Forward<V, S>{value, Vjp<Op>::template save<V, As...>(op, value, as...)};
    }
  }
}
template <class Op, class V, class... As>
struct SavedOf {
  static constexpr auto decide() {
    if constexpr (RunsForward<Op, As...>) {
      using F = decltype(Vjp<Op>::forward(std::declval<Op const&>(),
                                          std::declval<std::source_location const&>(),
                                          std::declval<As const&>()...));
      return Type<decltype(F::saved)>{};
    } else {
      return Type<decltype(Vjp<Op>::template save<V, As...>(
          std::declval<Op const&>(), std::declval<V const&>(), std::declval<As const&>()...))>{};
    }
  }
  using type = typename decltype(decide())::type;
};
template <class Op, class V, class... As>
using saved_of = typename SavedOf<Op, V, As...>::type;
/// The cotangent from which the pulls begin. `first`: whether the first operand's is wanted.
template <class Op, class V, class... As, class S, class C>
constexpr decltype(auto) prepared(Op const& op, S const& saved, C const& ct,
                                  [[maybe_unused]] bool first = false) {
  if constexpr (requires { Vjp<Op>::template prepare<V, As...>(op, saved, ct, first); }) {
    return Vjp<Op>::template prepare<V, As...>(op, saved, ct, first);
  } else if constexpr (requires { Vjp<Op>::template prepare<V, As...>(op, saved, ct); }) {
    return Vjp<Op>::template prepare<V, As...>(op, saved, ct);
  } else {
    return (ct);
  }
}

/// The type of the cotangent of operand `K` that the Vjp's `pull` returns.
template <int K, class Op, class V, class... As>
struct PulledType {
  using Saved = saved_of<Op, V, As...>;
  using Begin = decltype(autodiff::prepared<Op, V, As...>(
      std::declval<Op const&>(), std::declval<Saved const&>(),
      std::declval<cotangent_value<entry_value<Op, V>> const&>()));
  using type = tensor_of<std::remove_cvref_t<decltype(Vjp<Op>::template pull<K, V, As...>(
      std::declval<Op const&>(), std::declval<Saved const&>(), std::declval<Begin>()))>>;
};

/// The verdict that a Vjp tells of operand `K`.
template <int K, class Op, class V, class... As>
struct ToldByVjp {
  using S = Scope<V, As...>;
  static constexpr Verdict verdict = Vjp<Op>::template judge<K, V, As...>();
};
/// No operand is refused.
struct AllAccepted {
  static constexpr Verdict verdict{};
};

/// The verdict on the cotangent of operand `K` of `Op`, of operand types `As` and result `V`.
template <int K, class Op, class V, class... As>
struct JudgedOperand {
  using A = nth_t<K, As...>;
  static constexpr auto decide() {
    if constexpr (!shardtype::detail::has_cotangent<entry_value<Op, V>> ||
                  !shardtype::detail::has_cotangent<A>) {
      return shardtype::detail::Plainly<Code::X03_not_differentiable>{};
    } else if constexpr (requires { Vjp<Op>::template judge<K, V, As...>(); }) {
      return ToldByVjp<K, Op, V, As...>{};
    } else if constexpr (requires { requires Vjp<Op>::judged_by_types; }) {
      return typename Vjp<Op>::template Judged<K, V, As...>::type{};
    } else {
      using Got = typename PulledType<K, Op, typed_t<V>, typed_t<As>...>::type;
      return shardtype::detail::Finishes<cotangent_t<A>, Got, Vjp<Op>::communicates>{};
    }
  }
  using type = decltype(decide());
};
template <int Top, int K, class Op, class V, class... As>
struct JudgedFrom;
/// The first operand of level `Top` whose cotangent is refused: `verdict` and its scope.
template <int Top, class Op, class V, class... As>
using Judged = typename JudgedFrom<Top, 0, Op, V, As...>::type;

template <int Top, int K, class Op, class V, class... As>
struct JudgedFrom {
  static constexpr auto decide() {
    if constexpr (K == static_cast<int>(sizeof...(As))) {
      return AllAccepted{};
    } else if constexpr (level<nth_t<K, As...>> != Top) {
      return typename JudgedFrom<Top, K + 1, Op, V, As...>::type{};
    } else {
      using J = typename JudgedOperand<K, Op, tensor_of<V>, tensor_of<As>...>::type;
      if constexpr (J::verdict) {
        return typename JudgedFrom<Top, K + 1, Op, V, As...>::type{};
      } else {
        return J{};
      }
    }
  }
  using type = decltype(decide());
};

/// An operation on the tape.
template <class Op, int Top, class V, class... As>
struct Recorded final : Entry {
  using Saved = saved_of<Op, V, peeled_t<Top, As>...>;
  Slot<entry_value<Op, V>> slot;
  Op op;
  Saved saved;
  SlotBase* to[sizeof...(As)];

  constexpr Recorded(Tape* tape, Op const& o, Saved const& s, As const&... as)
      : Entry{nullptr, &act_on<Recorded>},
        slot(tape),
        op(o),
        saved(s),
        to{autodiff::slot_of<Top>(as)...} {}
  constexpr void pull() {
    if (slot.ct == nullptr) return;
    auto const given = slot.taken();
    autodiff::agree_on_pull(Op::name, autodiff::wanted_bits(to, static_cast<int>(sizeof...(As))),
                            given);
    auto const& ct =
        autodiff::prepared<Op, V, peeled_t<Top, As>...>(op, saved, given, to[0] != nullptr);
    pull_from<0>(ct);
  }

 private:
  /// Into the operands from number `K` on.
  template <int K, class C>
  constexpr void pull_from(C const& ct) {
    using A = nth_t<K, As...>;
    if constexpr (level<A> == Top) {
      using P = peeled_t<Top, A>;
      if (to[K] != nullptr) pull_into<K>(*static_cast<Slot<P>*>(to[K]), ct);
    }
    if constexpr (K + 1 < static_cast<int>(sizeof...(As))) pull_from<K + 1>(ct);
  }
  /// Into operand `K`, of which the slot is `to`.
  template <int K, class P, class C>
  constexpr void pull_into(Slot<P>& operand, C const& ct) {
    if constexpr (spreads<P, C>()) {
      if (operand.takes_spread && !operand.any()) {
        operand.spread =
            autodiff::make_small<UnwrittenSpread>(autodiff::unwritten_spread<cotangent_t<P>>(
                Vjp<Op>::template repeated<V, P>(saved, ct), autodiff::kept<0>(saved)));
        return;
      }
    }
    autodiff::add_finished<Vjp<Op>::communicates>(
        operand, Vjp<Op>::template pull<K, V, peeled_t<Top, As>...>(op, saved, ct));
  }
  /// Whether the cotangent of an operand `P` is one of type `C` repeated, in its own sharding.
  template <class P, class C>
  static constexpr bool spreads() {
    if constexpr (!is_tensor<P> || !is_tensor<C> || sizeof...(As) != 1 ||
                  !requires(Saved const& s, C const& c) {
                    Vjp<Op>::template repeated<V, P>(s, c);
                  }) {
      return false;
    } else {
      return std::is_same_v<decltype(Vjp<Op>::template pull<0, V, P>(std::declval<Op const&>(),
                                                                     std::declval<Saved const&>(),
                                                                     std::declval<C const&>())),
                            cotangent_t<P>>;
    }
  }
};

}  // namespace shardtype::autodiff

namespace shardtype::execute {

/// `call` for values whose gradient is wanted. What is refused is told as a type, which the front
/// door constructs, because compilers print every function between the user's line and the refusal.
template <class... Operands>
struct Continue<Above::active, Operands...> {
  using Where = std::source_location;

  template <class A>
  using tensor_of = autodiff::tensor_of<A>;

 private:
  static constexpr int top = autodiff::top_level<Operands...>();

  /// Whether a result of these elements has no gradient.
  template <class Op, class Result>
  static constexpr bool is_flat_result =
      !detail::is_floating<element_t<Result>> || autodiff::is_constant<Op>;
  /// The refusal of the first result from number `K` on whose gradient is refused.
  template <class Op, class R, std::size_t K = 0>
  static constexpr auto refuse_results() {
    using Entry = autodiff::ResultOf<Op, K>;
    if constexpr (K == R::count || autodiff::is_constant<Op>) {
      return Type<void>{};
    } else if constexpr (is_flat_result<Entry, std::tuple_element_t<K, typename R::results>>) {
      return refuse_results<Op, R, K + 1>();
    } else {
      using Refusal = decltype(refuse_entry<Entry, typename R::results, Op>());
      if constexpr (std::is_same_v<Refusal, Type<void>>) {
        return refuse_results<Op, R, K + 1>();
      } else {
        return Refusal{};
      }
    }
  }
  /// The refusal of an entry on the tape with results `V`; `Said`: the operation that it names.
  template <class Op, class V, class Said>
  static constexpr auto refuse_entry() {
    if constexpr (!autodiff::Vjp<Op>::exists || (top > 1 && autodiff::first_order<Op>)) {
      return Type<refused<Code::X03_not_differentiable, false, Said, tensor_of<Operands>...>>{};
    } else {
      using J = autodiff::Judged<top, Op, V, Operands...>;
      if constexpr (J::verdict) {
        return Type<void>{};
      } else {
        return Type<refusal<J, Said, tensor_of<Operands>...>>{};
      }
    }
  }

  template <class Op>
  static constexpr auto refuse_call() {
    using R = Resolve<Op, tensor_of<Operands>...>;
    if constexpr (requires { typename R::sentence; }) {
      return Type<typename R::sentence>{};
    } else if constexpr (!R::verdict) {
      return Type<refusal<R, tensor_of<Operands>...>>{};
    } else if constexpr (detail::HasResults<Op>) {
      return refuse_results<Op, R>();
    } else if constexpr (!detail::is_floating<element_t<typename R::result>> ||
                         autodiff::is_pullback<Op> || autodiff::is_constant<Op>) {
      return Type<void>{};
    } else if constexpr (requires { typename R::pair; }) {
      return Type<void>{};  // each product is judged in its call
    } else {
      return refuse_entry<Op, typename R::result, Op>();
    }
  }
  /// Whether an elementwise function gives constants.
  template <class F, class R>
  static constexpr bool is_flat = !detail::is_floating<element_t<typename R::result>> ||
                                  std::is_base_of_v<autodiff::Flat, autodiff::Derivative<F>>;
  template <class F>
  static constexpr auto refuse_function() {
    using R = Resolve<op::Map<F>, tensor_of<Operands>...>;
    if constexpr (!R::verdict) {
      return Type<refusal<R, tensor_of<Operands>...>>{};
    } else if constexpr (is_flat<F, R>) {
      return Type<void>{};
    } else if constexpr (!autodiff::Derivative<F>::exists) {
      return Type<refused<Code::X03_not_differentiable, false, F, tensor_of<Operands>...>>{};
    } else {
      using J = autodiff::JudgedFunction<R, F, autodiff::level<Operands>...>;
      if constexpr (J::verdict) {
        return Type<void>{};
      } else {
        return Type<refusal<J, F, tensor_of<Operands>...>>{};
      }
    }
  }

 public:
  template <class Op>
  using refusal_of = typename decltype(refuse_call<Op>())::type;
  template <class F>
  using refusal_of_function = typename decltype(refuse_function<F>())::type;

  /// Elementwise functions: parts of an expression.
  template <class F>
  static constexpr auto fuse(F const& f, Operands const&... args) {
    using R = Resolve<op::Map<F>, tensor_of<Operands>...>;
    if constexpr (is_flat<F, R>) {
      return detail::fuse(f, autodiff::stripped<top>(autodiff::part_of<top>(args))...);
    } else {
      return autodiff::ActiveExpression<F, decltype(autodiff::part_of<top>(args))...>(
          f, autodiff::part_of<top>(args)...);
    }
  }
  template <class Op, class... As>
  static constexpr auto call(Op const& op, Where const& where, As const&... as) {
    core::RunningCall const running(Op::name, where);
    if constexpr (!(std::is_same_v<As, autodiff::materialised_t<As>> && ...)) {
      return call(op, where, autodiff::materialised(as)...);
    } else if constexpr (requires { typename Resolve<Op, tensor_of<As>...>::pair; }) {
      return call_pairs(op, where, as...);
    } else if constexpr (requires { autodiff::Vjp<Op>::instead(op, where, as...); }) {
      return autodiff::Vjp<Op>::instead(op, where, as...);
    } else if constexpr (detail::HasResults<Op>) {
      auto const all = shardtype::call(op, where, autodiff::peeled<top>(as)...);
      return record_results(op, all, std::make_index_sequence<std::tuple_size_v<decltype(all)>>{},
                            as...);
    } else {
      auto const ran = autodiff::run_forward(op, where, autodiff::peeled<top>(as)...);
      auto const& value = ran.value;
      using V = std::remove_cvref_t<decltype(value)>;
      if constexpr (any_poisoned<V>) {
        return Poisoned{};
      } else if constexpr (!detail::is_floating<element_t<tensor_of<V>>> ||
                           autodiff::is_constant<Op>) {
        return value;
      } else {
        return record<V>(op, value, ran.saved, as...);
      }
    }
  }
  /// In the gradient of a gradient: runs the derivative's own text, whose operations are recorded.
  template <class E, int K, class C, class... Xs>
  static constexpr auto call(autodiff::Pullback<E, K> const& op, Where const&, C const& ct,
                             Xs const&... xs) {
    return autodiff::pulled<K>(op.expression, typename autodiff::Reads<K, E>::Numbers{}, ct, xs...)
        .tensor();
  }

 private:
  /// The value of an entry on the tape; `V`: the results of its operation.
  template <class V, class Op, class Value, class S, class... As>
  static constexpr autodiff::Active<Value> record(Op const& op, Value const& value, S const& saved,
                                                  As const&... as) {
    autodiff::SlotBase const* const slots[] = {autodiff::slot_of<top>(as)...};
    autodiff::Tape* const tape =
        autodiff::one_tape(Op::name, slots, static_cast<int>(sizeof...(As)));
    if (tape == nullptr) return autodiff::Active<Value>(value);
    auto* const entry =
        autodiff::make_small<autodiff::Recorded<Op, top, V, As...>>(tape, op, saved, as...);
    tape->push(entry);
    return autodiff::Active<Value>(value, &entry->slot);
  }
  /// Each result that has a gradient is an entry on the tape.
  template <class Op, class V, std::size_t... K, class... As>
  static constexpr auto record_results(Op const& op, V const& all, std::index_sequence<K...>,
                                       As const&... as) {
    using Results = std::tuple<decltype(record_result<K>(op, all, as...))...>;
    return Results{record_result<K>(op, all, as...)...};
  }
  template <std::size_t K, class Op, class V, class... As>
  static constexpr auto record_result(Op const& op, V const& all, As const&... as) {
    using Entry = autodiff::ResultOf<Op, K>;
    auto const& value = std::get<K>(all);
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (autodiff::is_constant<Op> || is_flat_result<Entry, tensor_of<Value>>) {
      return value;
    } else {
      Entry const entry{op};
      return record<V>(entry, value,
                       autodiff::Vjp<Entry>::template save<V, autodiff::peeled_t<top, As>...>(
                           entry, all, autodiff::peeled<top>(as)...),
                       as...);
    }
  }
  /// A product of several operands, as products of two.
  template <class Op, class A, class B, class... Rest>
  static constexpr auto call_pairs(Op const& op, Where const& where, A const& a, B const& b,
                                   Rest const&... rest) {
    using R = Resolve<Op, tensor_of<A>, tensor_of<B>, tensor_of<Rest>...>;
    return shardtype::call(op, where, shardtype::call(typename R::pair_operation{}, where, a, b),
                           rest...);
  }
};

}  // namespace shardtype::execute
