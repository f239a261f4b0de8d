#pragma once
/// A function's value together with the function that takes cotangents back.

#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/custom_vjp.hpp>
#include <shardtype/autodiff/structure.hpp>
#include <shardtype/autodiff/value_and_grad.hpp>

namespace shardtype {

/// Result of vjp: the value of a function, and its pullback.
template <class V, class P>
struct ValueAndPullback {
  V value;
  P pullback;
};

namespace autodiff {

template <class Numbers, class Made, class... Ps>
class PullbackOf;
/// The pullback of a function at one point, of arguments `Ps`, with respect to those numbered `Ks`.
/// It holds what the function's operations saved. Called on an lvalue it keeps that, and can be
/// called again; `std::move(pullback)(ct)` frees it as it goes. It can be moved, not copied.
template <int... Ks, class Made, class... Ps>
class PullbackOf<std::integer_sequence<int, Ks...>, Made, Ps...> {
 public:
  template <class F>
  constexpr PullbackOf(F const& function, Ps const&... ps) : state_(new State(function, ps...)) {}
  PullbackOf(PullbackOf const&) = delete;
  PullbackOf& operator=(PullbackOf const&) = delete;
  constexpr PullbackOf(PullbackOf&& other) noexcept
      : state_(std::exchange(other.state_, nullptr)) {}
  constexpr ~PullbackOf() { delete state_; }

  /// The cotangents of the arguments from that of the value: of one argument itself, of several a
  /// tuple. `ct` has the value's type with Unreduced and Reduced swapped (cotangent_t); of a
  /// structure it is one of these (gradient_t). Refused: X06. Error E73: the value belongs to an
  /// outer differentiation. Error E75: the pullback was moved from.
  template <class C>
  constexpr auto operator()(C const& ct) const& {
    return run<false>(ct);
  }
  template <class C>
  constexpr auto operator()(C const& ct) && {
    return run<true>(ct);
  }

 private:
  static constexpr int top = structure_level<Made>;
  using Order = std::make_integer_sequence<int, static_cast<int>(sizeof...(Ps))>;
  template <class>
  struct Lifts;
  template <int... J>
  struct Lifts<std::integer_sequence<int, J...>> {
    using Args = KeptIn<std::integer_sequence<int, J...>,
                        typename Lifted<autodiff::wanted<Ks...>(J), Ps>::type...>;
    static constexpr Args make(Tape* tape, Ps const&... ps) {
      return Args{{Lifted<autodiff::wanted<Ks...>(J), Ps>::make(ps, tape)}...};
    }
    template <class F>
    static constexpr Made call(F const& f, Args const& args) {
      return autodiff::computed(f(autodiff::kept<J>(args)...));
    }
  };
  using Args = typename Lifts<Order>::Args;
  struct State {
    Tape tape;
    Args args;
    Made made;
    template <class F>
    constexpr State(F const& function, Ps const&... ps)
        : args(Lifts<Order>::make(&tape, ps...)), made(Lifts<Order>::call(function, args)) {}
  };

  template <bool last, class C>
  constexpr auto run(C const& given) const {
    auto const ct = autodiff::computed(given);
    using Ct = std::remove_cvref_t<decltype(ct)>;
    using Refusal = typename decltype(judge_seed<top, Ct, Made>())::type;
    if constexpr (any_poisoned<Ct>) {
      return Poisoned{};
    } else if constexpr (!std::is_void_v<Refusal>) {
      return Poisoned(Refusal{});
    } else {
      if (state_ == nullptr)
        throw Error("E75", "a pullback is called that was moved from", FailedOn::every_rank);
      autodiff::each_value(
          [&]<class A, class X>(A const& a, X const& x) {
            if constexpr (level<A> == top && level<A> > 0) {
              if (a.slot() == nullptr) return;
              if (a.slot()->tape != &state_->tape)
                throw Error("E73",
                            "the value of vjp's function belongs to another differentiation than "
                            "its arguments; what it uses of an outer one is passed to it as an "
                            "argument",
                            FailedOn::every_rank);
              a.slot()->add(x);
            }
          },
          state_->made, ct);
      if constexpr (last) {
        state_->tape.backward();
      } else {
        state_->tape.pull_all();
      }
      return autodiff::gradients_of<Ks...>(shardtype::detail::Pack<Ps...>{}, state_->args);
    }
  }
  /// The refusal of a cotangent of type `C` for a value of type `A`; void if it is accepted.
  template <int Top, class C, class A>
  static constexpr auto judge_seed() {
    using Want = typename Parameters<lowered_t<Top, A>>::gradient;
    if constexpr (!is_structure<A>) {
      if constexpr (is_structure<C>) {
        return Type<refused<Code::X06_other_cotangent, false, C, tensor_of<Want>>>{};
      } else if constexpr (!std::is_same_v<tensor_of<C>, tensor_of<Want>>) {
        return Type<refused<Code::X06_other_cotangent, false, tensor_of<C>, tensor_of<Want>>>{};
      } else {
        return Type<void>{};
      }
    } else if constexpr (std::is_same_v<C, Want>) {
      return Type<void>{};
    } else {
      return Type<refused<Code::X06_other_cotangent, false, C, Want>>{};
    }
  }

 public:
  /// The value, without its gradient.
  constexpr auto value() const { return autodiff::without_gradient<top>(state_->made); }

 private:
  State* state_ = nullptr;
};

/// `vjp` with respect to the arguments numbered `Ks`.
template <int... Ks, class F, class... Ps>
constexpr auto vjp_of(std::integer_sequence<int, Ks...> numbers, F const& f, Ps const&... ps) {
  return [&]<int... J>(std::integer_sequence<int, J...>) {
    using Made = computed_t<decltype(f(
        std::declval<typename Lifted<autodiff::wanted<Ks...>(J), Ps>::type const&>()...))>;
    if constexpr (shardtype::detail::is_poison<Made> || any_poisoned<Ps...>) {
      return ValueAndPullback<Poisoned, Poisoned>{};
    } else {
      using P = PullbackOf<decltype(numbers), Made, Ps...>;
      P pullback(f, ps...);
      auto value = pullback.value();
      return ValueAndPullback<decltype(value), P>{std::move(value), std::move(pullback)};
    }
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Ps))>{});
}

}  // namespace autodiff

namespace api {

/// The value of `f` and a function from a cotangent of it to those of the arguments:
///
///     auto [y, pullback] = vjp(f, a, b);          // y = f(a, b), of any dims
///     auto [da, db] = pullback(ct);               // ct: cotangent_t of y's type
///
/// `vjp<0>(f, a, b)` with respect to argument 0 alone; without numbers, to all. `f`, its arguments
/// and refusals are as for value_and_grad, except that the value needs not be a loss: it is a
/// tensor, or a structure of them. The pullback can be called any number of times: it keeps what
/// the forward pass saved until it is destroyed; `std::move(pullback)(ct)` is called once and frees
/// it as it goes. Backward, the operations communicate as in value_and_grad, once for each call.
/// Refused: X06 a cotangent of another type; X01, X02, X03. Errors E73, E75. JAX: jax.vjp.
template <int... Ks, class F, class... As>
  requires(sizeof...(As) > 0)
constexpr auto vjp(F const& f, As const&... as) {
  constexpr auto count = static_cast<int>(sizeof...(As));
  return autodiff::vjp_of(autodiff::NumbersOrAll<count, Ks...>{}, f, autodiff::argument_of(as)...);
}

}  // namespace api

}  // namespace shardtype
