#pragma once
/// Functions whose gradient is given by hand.

#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/record.hpp>
#include <shardtype/autodiff/recorded_vjp.hpp>
#include <shardtype/autodiff/structure.hpp>
#include <shardtype/autodiff/value_and_grad.hpp>

namespace shardtype {

/// Stands for the cotangent of an argument through which no gradient flows, in what the backward
/// function of custom_vjp gives.
inline constexpr autodiff::NoGradient no_gradient{};

namespace autodiff {

template <class A>
inline constexpr bool is_no_gradient = std::is_same_v<A, NoGradient>;

/// Whether a cotangent has the element type and the dims' labels, in order, of the one expected.
template <class Got, class Want>
constexpr bool same_dims() {
  if constexpr (!is_tensor<Got> || !is_tensor<Want>) {
    return false;
  } else {
    return std::is_same_v<element_t<Got>, element_t<Want>> &&
           shardtype::detail::same_memory<Got, Want> &&
           std::is_same_v<labels_of_t<Got>, labels_of_t<Want>>;
  }
}

/// The refusal of a cotangent of type `C` for an argument of type `A`, wrapped `Top` times in a
/// function's arguments; void if it is accepted.
template <int Top, class C, class A>
constexpr auto judge_cotangent() {
  if constexpr (structure_level<A> != Top || is_no_gradient<C>) {
    return Type<void>{};
  } else if constexpr (structure_level<C> >= Top) {
    return Type<refused<Code::X05_captured, false, typename ShownLoss<C>::type>>{};
  } else if constexpr (!is_structure<A>) {
    using Want = cotangent_t<tensor_of<A>>;
    if constexpr (is_structure<C>) {
      return Type<refused<Code::X06_other_cotangent, false, C, Want>>{};
    } else if constexpr (!autodiff::same_dims<tensor_of<C>, Want>()) {
      return Type<refused<Code::X06_other_cotangent, false, tensor_of<C>, Want>>{};
    } else {
      using J = shardtype::detail::Finishes<Want, tensor_of<C>, false>;
      if constexpr (J::verdict) {
        return Type<void>{};
      } else if constexpr (J::S::template spec<0>.state(J::verdict.axis) != AxisState::replicated) {
        // no sum or slice that a cast could say
        return Type<refused<Code::X06_other_cotangent, false, tensor_of<C>, Want>>{};
      } else {
        return Type<refusal<J, tensor_of<C>, tensor_of<A>>>{};
      }
    }
  } else {
    using Want = typename Parameters<lowered_t<Top, A>>::gradient;
    if constexpr (std::is_same_v<C, Want>) {
      return Type<void>{};
    } else {
      return Type<refused<Code::X06_other_cotangent, false, C, Want>>{};
    }
  }
}
/// The first refusal among these, or void.
template <class R, class... Rest>
constexpr auto first_refusal(Type<R> r, Rest... rest) {
  if constexpr (std::is_void_v<R> && sizeof...(Rest) > 0) {
    return autodiff::first_refusal(rest...);
  } else {
    return r;
  }
}

/// Where the cotangents of an argument go: of one value its slot, without the value.
template <int Top, class A>
struct Destination {
  A values;
  constexpr explicit Destination(A const& a) : values(a) {}
  template <class C>
  constexpr void add(C const& cts) const {
    if constexpr (!is_no_gradient<C>)
      autodiff::each_value(
          []<class V, class X>(V const& to, X const& ct) {
            if constexpr (level<V> == Top && !is_no_gradient<X>)
              if (to.slot() != nullptr) to.slot()->add(ct);
          },
          values, cts);
  }
};
template <int Top, class A>
  requires(!is_structure<A>)
struct Destination<Top, A> {
  SlotBase* slot;
  constexpr explicit Destination(A const& a) : slot(autodiff::slot_of<Top>(a)) {}
  template <class C>
  constexpr void add([[maybe_unused]] C const& ct) const {
    if constexpr (level<A> == Top && !is_no_gradient<C>) {
      if (slot == nullptr) return;
      using P = typename A::inner;
      static_cast<Slot<P>*>(slot)->add(autodiff::finished<cotangent_t<tensor_of<P>>, false>(ct));
    }
  }
};

/// A function on the tape whose cotangents `backward` gives.
template <class Backward, int Top, class Out, class Saved, class... As>
struct RecordedByHand final : Entry {
  Results<Out> results;
  Backward backward;
  Saved saved;
  Kept<Destination<Top, As>...> to;

  constexpr RecordedByHand(Tape* tape, Backward const& b, Out const& out, Saved const& s,
                           As const&... as)
      : Entry{nullptr, &act_on<RecordedByHand>},
        results(tape, out),
        backward(b),
        saved(s),
        to{{Destination<Top, As>(as)}...} {}
  constexpr void pull() {
    if (!results.any()) return;
    auto const given = results.taken();
    autodiff::each_value([](auto const& ct) { autodiff::agree_on_pull("custom_vjp", 0, ct); },
                         given);
    auto const cts = autodiff::computed(backward(saved, given));
    if constexpr (sizeof...(As) == 1) {
      autodiff::kept<0>(to).add(cts);
    } else {
      [&]<int... K>(std::integer_sequence<int, K...>) {
        (autodiff::kept<K>(to).add(std::get<static_cast<std::size_t>(K)>(cts)), ...);
      }(std::make_integer_sequence<int, static_cast<int>(sizeof...(As))>{});
    }
  }
};

/// The types that a backward function returns: one cotangent for each of `n` arguments.
template <class Cts, int n>
struct CotangentTypes {
  static constexpr bool fits = false;
};
template <class Cts>
struct CotangentTypes<Cts, 1> {
  static constexpr bool fits = true;
  template <int>
  using at = Cts;
};
template <class... Cs, int n>
  requires(n > 1 && sizeof...(Cs) == n)
struct CotangentTypes<std::tuple<Cs...>, n> {
  static constexpr bool fits = true;
  template <int K>
  using at = nth_t<K, Cs...>;
};
template <class A, class B>
struct CotangentTypes<std::pair<A, B>, 2> : CotangentTypes<std::tuple<A, B>, 2> {};

/// The types in a forward function's pair: its result, and the values that `backward` reads.
template <class R>
struct ForwardPair {
  static constexpr bool is_pair = any_poisoned<R>;
  static constexpr bool is_refused = any_poisoned<R>;
};
template <class V, class S>
struct ForwardPair<std::pair<V, S>> {
  static constexpr bool is_pair = true;
  static constexpr bool is_refused = shardtype::detail::holds_poison<V, S>;
  using Out = computed_t<V>;
  using Saved = computed_t<S>;
};

/// Whether the gradient of a value of `A` is wanted in a program of automatic mode.
template <class A>
inline constexpr bool varies_in_program =
    !std::is_void_v<typename decltype(autodiff::how_structure_varies<A>())::type>;
/// The function that `custom_vjp(f, forward, backward)` returns.
template <class F, class Fwd, class Bwd>
struct CustomVjp {
  F f;
  Fwd forward;
  Bwd backward;
  std::source_location where{};  ///< where it was made

  template <class... As>
  constexpr auto operator()(As const&... as) const {
    // The functions by themselves, first: what they refuse is one message, with few functions above
    // it.
    constexpr int top = highest_level<computed_t<As>...>;
    // NOLINTNEXTLINE(bugprone-branch-clone): the second condition needs the first
    if constexpr (any_poisoned<As...>) {
      return Poisoned{};
    } else if constexpr ((varies_in_program<As> || ...)) {
      using Refusal = typename decltype(refused_in_program<InProgram<As...>, As...>())::type;
      if constexpr (std::is_void_v<Refusal>) {
        return in_program<InProgram<As...>>(
            std::make_integer_sequence<int, static_cast<int>(sizeof...(As))>{}, as...);
      } else {
        return Poisoned(Refusal{});
      }
    } else if constexpr ((has_under_way<As> || ...) || (core::is_lazy<As> || ...)) {
      return f(as...);  // no gradient is wanted
    } else if constexpr (shardtype::detail::is_poison<
                             result_of<F, lowered_t<top, computed_t<As>>...>>) {
      return Poisoned{};
    } else if constexpr (structure_level<Made<computed_t<As>...>> > (top == 0 ? 0 : top - 1)) {
      return Poisoned(
          refused<Code::X05_captured, false, typename ShownLoss<Made<computed_t<As>...>>::type>{});
    } else if constexpr (top == 0) {
      return autodiff::computed(f(as...));
    } else if constexpr (!Forwards<computed_t<As>...>::is_pair) {
      return Poisoned(
          refused<Code::X07_custom_vjp, false, typename ShownLoss<computed_t<As>>::type...>{});
    } else if constexpr (Forwards<computed_t<As>...>::is_refused) {
      return Poisoned{};
    } else if constexpr (structure_level<typename Forwards<computed_t<As>...>::Out> >= top) {
      return Poisoned(
          refused<Code::X05_captured, false,
                  typename ShownLoss<typename Forwards<computed_t<As>...>::Out>::type>{});
    } else if constexpr (!same_result<Made<computed_t<As>...>,
                                      typename Forwards<computed_t<As>...>::Out>()) {
      return Poisoned(
          refused<Code::X07_custom_vjp, false, typename ShownLoss<computed_t<As>>::type...>{});
    } else if constexpr (shardtype::detail::is_poison<Cotangents<Forwards<computed_t<As>...>>>) {
      return Poisoned{};
    } else {
      using Refusal =
          typename decltype(judge<top, Cotangents<Forwards<computed_t<As>...>>, computed_t<As>...>(
              std::make_integer_sequence<int, static_cast<int>(sizeof...(As))>{}))::type;
      if constexpr (std::is_void_v<Refusal>) {
        return record(autodiff::computed(as)...);
      } else {
        return Poisoned(Refusal{});
      }
    }
  }

 private:
  template <class G, class... As>
  using result_of =
      std::remove_cvref_t<decltype(std::declval<G const&>()(std::declval<As const&>()...))>;
  /// The types of the results of `f` and `forward` on arguments one level down.
  template <class... As>
  using Made = computed_t<result_of<F, lowered_t<highest_level<As...>, As>...>>;
  template <class... As>
  using Forwards = ForwardPair<result_of<Fwd, lowered_t<highest_level<As...>, As>...>>;
  /// The type that `backward` returns. It is not called (NoGradient) if the result has no gradient.
  template <class Pair, bool called>
  struct CotangentsOf {
    using type = NoGradient;
  };
  template <class Pair>
  struct CotangentsOf<Pair, true> {
    using type =
        result_of<Bwd, typename Pair::Saved, typename Results<typename Pair::Out>::Cotangent>;
  };
  template <class Pair>
  using Cotangents =
      typename CotangentsOf<Pair, autodiff::has_gradients<typename Pair::Out>()>::type;

  /// Whether forward's result stands for the same tensor as f's.
  template <class FromF, class Out>
  static constexpr bool same_result() {
    if constexpr (is_structure<FromF> != is_structure<Out>) {
      return false;
    } else if constexpr (!is_structure<FromF>) {
      return std::is_same_v<tensor_of<FromF>, tensor_of<Out>>;
    } else {
      return true;
    }
  }
  /// The refusal of the cotangents that `backward` gives, or void.
  template <int Top, class Cts, class... As, int... K>
  static constexpr auto judge(std::integer_sequence<int, K...>) {
    if constexpr (is_no_gradient<Cts>) {
      return Type<void>{};
    } else {
      using Each = CotangentTypes<computed_t<Cts>, static_cast<int>(sizeof...(As))>;
      if constexpr (!Each::fits) {
        return Type<refused<Code::X07_custom_vjp, false, typename ShownLoss<As>::type...>>{};
      } else {
        return autodiff::first_refusal(
            autodiff::judge_cotangent<Top, typename Each::template at<K>, As>()...);
      }
    }
  }
  /// Of values of a program of automatic mode: how a gradient flows through them, and the types
  /// that the functions give.
  template <class... As>
  struct InProgram {
    using Varies =
        typename decltype(autodiff::how_all_vary(shardtype::detail::Pack<As...>{}))::type;
    using R = std::remove_pointer_t<decltype(autodiff::recorder_in(std::declval<As const&>()...))>;
    using Forward = result_of<Fwd, constant_t<As>...>;
    using Pair = ForwardPair<Forward>;
    template <bool called, class Made>
    struct Backward {
      using type = Poisoned;
    };
    template <class Made>
    struct Backward<true, Made> {
      using type =
          result_of<Bwd, typename Made::second_type,
                    typename ByHandForm<R, Varies>::template stand_in<typename Made::first_type>>;
    };
    using Cts = typename Backward<Pair::is_pair && !Pair::is_refused, Forward>::type;
    using Each = CotangentTypes<Cts, static_cast<int>(sizeof...(As))>;
    template <int... K>
    static constexpr auto refused_cotangents(std::integer_sequence<int, K...>) {
      return autodiff::first_refusal(
          autodiff::refused_cotangent<typename Each::template at<K>, As>()...);
    }
  };
  template <class Types, class... As>
  static constexpr auto refused_in_program() {
    if constexpr (Types::Pair::is_refused) {
      return Type<Poisoned>{};
    } else if constexpr (!Types::Pair::is_pair) {
      return Type<refused<Code::X07_custom_vjp, false, typename ShownLoss<As>::type...>>{};
    } else if constexpr (shardtype::detail::is_poison<typename Types::Cts>) {
      return Type<Poisoned>{};
    } else if constexpr (!Types::Each::fits) {
      return Type<refused<Code::X07_custom_vjp, false, typename ShownLoss<As>::type...>>{};
    } else {
      return Types::refused_cotangents(
          std::make_integer_sequence<int, static_cast<int>(sizeof...(As))>{});
    }
  }
  /// Forward and backward are recorded.
  template <class Types, int... K, class... As>
  auto in_program(std::integer_sequence<int, K...>, As const&... as) const {
    RecordedVjp<typename Types::R, typename Types::Varies> by(*autodiff::recorder_in(as...));
    auto const both = forward(autodiff::as_constant(as)...);
    auto const out = by.results(both.first);
    auto const cts = backward(both.second, by.stand_ins(both.first));
    if constexpr (sizeof...(As) == 1) {
      (by.cotangent(as, cts), ...);
    } else {
      (by.cotangent(as, std::get<static_cast<std::size_t>(K)>(cts)), ...);
    }
    by.finish();
    return out;
  }
  template <class... As>
  constexpr auto record(As const&... as) const {
    constexpr int top = highest_level<As...>;
    core::RunningCall const running("custom_vjp", where);
    auto const both = forward(autodiff::without_gradient<top>(as)...);
    auto const out = autodiff::computed(both.first);
    auto const saved = autodiff::computed(both.second);
    using Out = std::remove_cvref_t<decltype(out)>;
    using Saved = std::remove_cvref_t<decltype(saved)>;
    if constexpr (!autodiff::has_gradients<Out>()) {
      return out;
    } else {
      Tape* const tape = autodiff::tape_of<top>("custom_vjp", as...);
      if (tape == nullptr) return Parameters<Out>::lift(out, nullptr);
      auto* const entry = autodiff::make_small<RecordedByHand<Bwd, top, Out, Saved, As...>>(
          tape, backward, out, saved, as...);
      tape->push(entry);
      return entry->results.given(out);
    }
  }
};

}  // namespace autodiff

namespace api {

/// `f` with a gradient of one's own: `custom_vjp(f, forward, backward)(a, b)` is f(a, b) where no
/// gradient is wanted. Where one is, `forward(a, b)` gives a std::pair of the same result and of
/// what `backward` reads, and `backward(saved, ct)` the cotangents of the arguments from that of
/// the result: of one argument itself, of several a std::tuple with one for each, `no_gradient`
/// where none flows. Arguments and results are tensors, or vectors, arrays, tuples and structs of
/// them; `saved` is anything that can be copied.
///
///     auto identity = [](auto x) { return x; };
///     auto clipped = custom_vjp(
///         identity, [](auto x) { return std::pair(x, std::tuple()); },
///         [](auto, auto ct) { return clip(ct, -1.0, 1.0); });
///
/// A cotangent has the type cotangent_t of its argument; one that a slice, a cast or zeros around a
/// block make it, which is free, is taken as well. `backward` is differentiated in gradients of
/// gradients. It communicates what its operations name, and plans list it. In automatic mode the
/// values of forward and backward are planned with those of the loss. Refused: X01 a cotangent that
/// is a sum where its argument is replicated, X02 one in blocks, X05 a captured value whose
/// gradient is wanted, X06 another type, X07 functions of another form. Error E73: arguments of two
/// differentiations. `check_grads` compares it with differences. JAX: jax.custom_vjp.
template <class F, class Forward, class Backward>
constexpr auto custom_vjp(F f, Forward forward, Backward backward,
                          std::source_location const& where = std::source_location::current()) {
  return autodiff::CustomVjp<F, Forward, Backward>{std::move(f), std::move(forward),
                                                   std::move(backward), where};
}

}  // namespace api

}  // namespace shardtype
