#pragma once
/// Functions that are computed again in the backward pass, in place of what they would save.

#include <type_traits>
#include <utility>

#include <shardtype/autodiff/record.hpp>
#include <shardtype/autodiff/structure.hpp>
#include <shardtype/autodiff/value_and_grad.hpp>

namespace shardtype {

namespace autodiff {

/// A function on the tape: its arguments are saved; its pull runs it again and takes its cotangents
/// back.
template <class F, int Top, class Out, class... As>
struct RunAgain final : Entry {
  Results<Out> results;
  F f;
  Kept<As...> args;

  constexpr RunAgain(Tape* tape, F const& of, Out const& out, As const&... as)
      : Entry{nullptr, &act_on<RunAgain>},
        results(tape, out),
        f(of),
        args{{autodiff::computed(as)}...} {}
  constexpr void pull() {
    if (!results.any()) return;
    [&]<int... K>(std::integer_sequence<int, K...>) {
      Tape again;
      Kept<As...> const lifted{{autodiff::on_tape<Top>(autodiff::kept<K>(args), &again)}...};
      results.template move_to<Top>(autodiff::computed(f(autodiff::kept<K>(lifted)...)));
      again.backward();
      (pass_on(autodiff::kept<K>(lifted), autodiff::kept<K>(args)), ...);
    }(std::make_integer_sequence<int, static_cast<int>(sizeof...(As))>{});
  }

 private:
  template <class A>
  static constexpr void pass_on(A const& from, A const& to) {
    autodiff::each_value(
        []<class V>(V const& got, V const& wanted) {
          if constexpr (level<V> == Top)
            if (got.slot() != nullptr) wanted.slot()->take_over(*got.slot());
        },
        from, to);
  }
};

/// The function that `remat(f)` returns.
template <class F>
struct Remat {
  F f;
  std::source_location where{};  ///< where it was made

  template <class... As>
  constexpr auto operator()(As const&... as) const {
    // f on the values that the backward pass gives it, first and by itself: what it refuses is one
    // message, with few functions above it
    // NOLINTNEXTLINE(bugprone-branch-clone): the second condition needs the first
    if constexpr (any_poisoned<As...>) {
      return Poisoned{};
    } else if constexpr ((has_under_way<As> || ...)) {
      auto const values = [&] { return autodiff::computed(f(as...)); };
      auto* const to = autodiff::recorder_in(as...);
      return to == nullptr ? values() : to->as_segment(values);
    } else if constexpr ((core::is_lazy<As> || ...)) {
      return f(as...);  // automatic mode computes nothing twice
    } else if constexpr (shardtype::detail::is_poison<decltype(std::declval<F const&>()(
                             std::declval<computed_t<As> const&>()...))>) {
      return Poisoned{};
    } else if constexpr (captures<computed_t<As>...>()) {
      return Poisoned(refused<Code::X05_captured, false,
                              typename ShownLoss<result<computed_t<As>...>>::type>{});
    } else if constexpr (highest_level<computed_t<As>...> == 0) {
      return autodiff::computed(f(as...));
    } else {
      return record(autodiff::computed(as)...);
    }
  }

 private:
  /// The result on values one level down.
  template <class... As>
  using result = computed_t<decltype(std::declval<F const&>()(
      std::declval<lowered_t<highest_level<As...>, As> const&>()...))>;
  /// Whether a gradient would flow that no argument carries.
  template <class... As>
  static constexpr bool captures() {
    constexpr int top = highest_level<As...>;
    return structure_level<result<As...>> > (top == 0 ? 0 : top - 1);
  }
  template <class... As>
  constexpr auto record(As const&... as) const {
    constexpr int top = highest_level<As...>;
    core::RunningCall const running("remat", where);
    // one level down by remat as well: gradients of gradients
    auto const out = (*this)(autodiff::without_gradient<top>(as)...);
    using Out = std::remove_cvref_t<decltype(out)>;
    if constexpr (!autodiff::has_gradients<Out>()) {
      return out;
    } else {
      Tape* const tape = autodiff::tape_of<top>("remat", as...);
      if (tape == nullptr) return Parameters<Out>::lift(out, nullptr);
      auto* const entry = autodiff::make_small<RunAgain<F, top, Out, As...>>(tape, f, out, as...);
      tape->push(entry);
      return entry->results.given(out);
    }
  }
};

}  // namespace autodiff

namespace api {

/// `f`, of which the tape saves the arguments alone: `remat(f)(a, w)` is f(a, w), and the backward
/// pass runs f again. It costs f's flops and communication twice, and saves what f's operations
/// would save until then. `f` takes and gives tensors, or vectors, arrays, tuples and structs of
/// them; all of it is run again, so a movement at its end, such as an all_reduce of its result,
/// belongs behind it. FSDP whose layers are rematerialised (ZeRO-3) holds one layer's gathered
/// weights at a time: two AllGathers and one ReduceScatter for each parameter.
///
/// In automatic mode the plan of both passes keeps what the backward pass reads, and under a memory
/// limit runs as few of these functions again as that demands.
///
/// Every value that carries a gradient is an argument. Refused: X05 one is captured; as f. Error
/// E73: arguments of two differentiations. JAX: jax.checkpoint (jax.remat).
template <class F>
constexpr auto remat(F f, std::source_location const& where = std::source_location::current()) {
  return autodiff::Remat<F>{std::move(f), where};
}

}  // namespace api

}  // namespace shardtype
