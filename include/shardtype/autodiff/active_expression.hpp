#pragma once
/// Elementwise expressions of values whose gradient is wanted: computed by one kernel when they are
/// first used, and recorded as one operation.

#include <algorithm>
#include <new>
#include <numeric>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/active.hpp>
#include <shardtype/autodiff/recorded_expression.hpp>
#include <shardtype/core/error.hpp>
#include <shardtype/runtime/small_blocks.hpp>

namespace shardtype::autodiff {

/// The tape of the operands with these slots; null if all are constants. Error E73: an operand of
/// another differentiation.
constexpr Tape* one_tape(std::string_view operation, SlotBase const* const* slots, int n) {
  Tape* tape = nullptr;
  for (int k = 0; k < n; ++k) {
    if (slots[k] == nullptr) continue;
    if (tape != nullptr && slots[k]->tape != tape)
      throw_other_differentiation(
          "operand " + std::to_string(k + 1) + " of " + std::string(operation),
          "the operands before it");
    tape = slots[k]->tape;
  }
  return tape;
}
/// The tree of an argument of an expression, whose first operand has the number `First`.
template <int First, class A>
struct TreeOf {
  using type = Input<First, element_t<tensor_of<A>>>;
  static constexpr type make(A const&) { return {}; }
};
template <int First, class N>
struct TreeOf<First, Number<N>> {
  using type = Constant<N, N>;
  static constexpr type make(Number<N> const& n) { return {n.value}; }
};

/// The number of operands of an argument.
template <class A>
inline constexpr int operands_in = 1;
template <class N>
inline constexpr int operands_in<Number<N>> = 0;
template <class F, class... Args>
inline constexpr int operands_in<ActiveExpression<F, Args...>> = (operands_in<Args> + ... + 0);
/// The number of operands of the arguments before argument `k`.
template <class... Args>
constexpr int operands_before(int k) {
  int const each[] = {operands_in<Args>..., 0};
  return std::accumulate(each, each + k, 0);
}

template <int First, class F, class... Args>
struct TreeOf<First, ActiveExpression<F, Args...>> {
  using E = ActiveExpression<F, Args...>;
  template <int K>
  using Argument = TreeOf<First + autodiff::operands_before<Args...>(K), nth_t<K, Args...>>;
  template <int... K>
  static auto applied(std::integer_sequence<int, K...>)
      -> Applied<F, element_t<typename E::tensor_type>, typename Argument<K>::type...>;
  using Order = std::make_integer_sequence<int, static_cast<int>(sizeof...(Args))>;
  using type = decltype(applied(Order{}));

  static constexpr type make(E const& e) {
    return [&]<int... K>(std::integer_sequence<int, K...>) {
      return type{e.function(), {{Argument<K>::make(e.template argument<K>())}...}};
    }(Order{});
  }
};

/// The operand number `I` of an expression.
template <int I, int First = 0, class A>
constexpr auto const& operand_at(A const& a) {
  if constexpr (requires { typename A::function_type; }) {
    constexpr int k = A::argument_with(I - First);
    return autodiff::operand_at<I, First + A::first_of(k)>(a.template argument<k>());
  } else {
    return a;
  }
}
template <int I, class E>
using operand_at_t =
    std::remove_cvref_t<decltype(autodiff::operand_at<I>(std::declval<E const&>()))>;

/// An argument one level down, and an expression of them.
template <int Top, class A>
constexpr auto stripped(A const& a) {
  if constexpr (requires { typename A::function_type; }) {
    return [&]<int... K>(std::integer_sequence<int, K...>) {
      return shardtype::detail::fuse(a.function(),
                                     autodiff::stripped<Top>(a.template argument<K>())...);
    }(typename A::Order{});
  } else if constexpr (operands_in<A> == 0) {
    return a.value;  // of a Number
  } else {
    return autodiff::peeled<Top>(a);
  }
}

/// The value, one level down, of the first argument of level `Top`.
template <int Top, class A, class... Rest>
constexpr auto first_inner() {
  if constexpr (level<A> != Top) {
    return autodiff::first_inner<Top, Rest...>();
  } else if constexpr (requires { typename A::function_type; }) {
    return Type<typename A::Value>{};
  } else {
    return Type<typename A::inner>{};
  }
}

/// An elementwise function of values whose gradient is wanted, constants and numbers: the result of
/// operators on them. Computed and recorded at the first use, as one operation with all functions
/// of which it is made.
template <class F, class... Args>
class ActiveExpression : public ActiveNode, public core::Argument<ActiveExpression<F, Args...>> {
 public:
  using function_type = F;
  using Order = std::make_integer_sequence<int, static_cast<int>(sizeof...(Args))>;
  static constexpr int top = autodiff::top_level<Args...>();
  using R = Resolve<op::Map<F>, tensor_of<Args>...>;
  using tensor_type = typename R::result;
  using element = element_t<tensor_type>;
  static constexpr std::size_t rank =
      static_cast<std::size_t>(Scope<tensor_type>::template spec<0>.rank);
  /// The result one level down, and the result.
  using Value = typename ValueLike<typename decltype(autodiff::first_inner<top, Args...>())::type,
                                   tensor_type>::type;
  using Result = Active<Value>;

  constexpr explicit ActiveExpression(F const& f, Args const&... args)
      : function_(f), state_(new_state(args...)) {}
  /// A copy stands for the same value, which is recorded once.
  constexpr ActiveExpression(ActiveExpression const& other)
      : function_(other.function_), state_(other.state_) {
    ++state_->holders;
  }
  ActiveExpression& operator=(ActiveExpression const&) = delete;
  constexpr ~ActiveExpression() {
    if (--state_->holders == 0) autodiff::drop_small(state_);
  }

  constexpr F const& function() const { return function_; }
  template <int K>
  constexpr auto const& argument() const {
    return autodiff::kept<K>(*state_->args);
  }
  /// The argument that has operand `I`, and the number of its first operand.
  static constexpr int argument_with(int i) {
    int k = 0;
    while (first_of(k + 1) <= i) ++k;
    return k;
  }
  static constexpr int first_of(int k) { return autodiff::operands_before<Args...>(k); }

  /// The result; computed and recorded once.
  constexpr Result const& tensor() const {
    if (state_->result == nullptr) {
      state_->result = autodiff::make_small<Result>(computed());
      if (state_->holders == 1) {  // else it may be a part of another expression
        autodiff::drop_small(state_->args);
        state_->args = nullptr;
      }
    }
    return *state_->result;
  }
  constexpr operator Result() const { return tensor(); }

  constexpr decltype(auto) extents() const { return tensor().extents(); }
  template <class I>
  constexpr std::int64_t extent() const {
    return tensor().template extent<I>();
  }
  decltype(auto) mesh() const
    requires requires(Value const& v) { v.mesh(); }
  {
    return tensor().mesh();
  }

 private:
  using Tree = TreeOf<0, ActiveExpression>;
  using E = typename Tree::type;

  constexpr Result computed() const {
    Value const value = autodiff::stripped<top>(*this).tensor();
    return [&]<int... I>(std::integer_sequence<int, I...> all) -> Result {
      SlotBase const* const slots[] = {autodiff::slot_of<top>(autodiff::operand_at<I>(*this))...};
      Tape* const tape = autodiff::one_tape("map", slots, E::inputs);
      if (tape == nullptr) return Result(value);
      using Record = RecordedExpression<E, top, Value, std::remove_cvref_t<decltype(all)>,
                                        operand_at_t<I, ActiveExpression>...>;
      auto* const entry = autodiff::make_small<Record>(tape, Tree::make(*this), value,
                                                       autodiff::operand_at<I>(*this)...);
      tape->push(entry);
      return Result(value, &entry->slot);
    }(std::make_integer_sequence<int, E::inputs>{});
  }

  /// The arguments, until the result is known. Not mutable members, which g++ 12 does not read in
  /// constant evaluation.
  struct State {
    Kept<Args...>* args = nullptr;
    Result* result = nullptr;
    int holders = 1;

    constexpr State() = default;
    State(State const&) = delete;
    State& operator=(State const&) = delete;
    constexpr ~State() {
      autodiff::drop_small(args);
      autodiff::drop_small(result);
    }
  };
  static constexpr State* new_state(Args const&... given) {
    State* const out = autodiff::make_small<State>();
    out->args = std::is_constant_evaluated() ? new Kept<Args...>{{given}...}
                                             : ::new (runtime::take_small(sizeof(Kept<Args...>)))
                                                   Kept<Args...>{{given}...};
    return out;
  }

  F function_;
  State* state_;
};

/// The value itself, with the expression it stands for computed.
template <class A>
constexpr decltype(auto) materialised(A const& a) {
  if constexpr (requires { typename A::function_type; }) {
    return a.tensor();
  } else {
    return (a);
  }
}
template <class A>
using materialised_t =
    std::remove_cvref_t<decltype(autodiff::materialised(std::declval<A const&>()))>;

/// An argument of an expression of level `Top`: constants are computed.
template <int Top, class A>
constexpr auto part_of(A const& a) {
  if constexpr (level<A> == Top || !requires { a.tensor(); }) {
    return a;
  } else {
    return std::remove_cvref_t<decltype(a.tensor())>(a.tensor());
  }
}

/// The verdict on the cotangents of the arguments of one elementwise function, by shardings.
template <class R, class F, int... Levels>
struct JudgedFunction {
  using S = typename R::S;
  template <int K, int... J>
  static constexpr Verdict one(std::integer_sequence<int, J...>) {
    Spec const ct = rules::cotangent(R::verdict.result);
    Sharded const got = Derivative<F>::template pull<K>(
        Sharded(rules::accept(ct)), Sharded(rules::accept(R::verdict.result)),
        Sharded(rules::accept(S::template spec<J>))...);
    if (!got.verdict) return got.verdict;
    Spec const a = S::template spec<K>;
    Verdict const sum = rules::in_manual_mode(
        rules::reduction(got.verdict.result, rules::labels_of(a), rules::ReductionKind::sum),
        got.verdict.result);
    if (!sum) return sum;
    return rules::finish(sum.result, rules::cotangent(a), false).verdict;
  }
  static constexpr int count = static_cast<int>(sizeof...(Levels));
  template <int... K>
  static constexpr Verdict decide(std::integer_sequence<int, K...> all) {
    int const levels[] = {Levels...};
    int const top = std::max({0, Levels...});
    if (!rules::has_cotangent(R::verdict.result)) return refuse(Code::X03_not_differentiable);
    Verdict out;
    ((out && levels[K] == top ? void(out = one<K>(all)) : void()), ...);
    return out;
  }
  static constexpr Verdict verdict =
      decide(std::make_integer_sequence<int, static_cast<int>(sizeof...(Levels))>{});
};

}  // namespace shardtype::autodiff
