#pragma once
/// The cotangent of one operand of an elementwise expression, as an operation: one kernel.

#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/expression.hpp>
#include <shardtype/check/operation.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/execute/fused.hpp>
#include <shardtype/rules/cotangent.hpp>

namespace shardtype {

namespace autodiff {

/// The cotangents of the operands `Ks` of the expression `E`, of that of the result and of the
/// operands `Numbers` (E::inputs: the result), as a function whose text is computed by one kernel.
template <class E, class Numbers, int... Ks>
struct PullbackFunction {
  E expression;
};

/// The element type of an expression's operand.
template <int K, class E>
struct ElementOfInput;
template <int K, class T>
struct ElementOfInput<K, Input<K, T>> {
  using type = T;
};
template <int K, class F, class T, class... Args>
struct ElementOfInput<K, Applied<F, T, Args...>>
    : ElementOfInput<K, typename Path<K, Applied<F, T, Args...>>::Next> {};

/// The cotangent of operand `K` of the elementwise expression `E`, of the result's cotangent and of
/// what it reads of the operands and the result; it has the result's dims.
template <class E, int K>
struct Pullback {
  using operation = Pullback;
  static constexpr std::string_view name = "map";
  static constexpr bool recorded = false;
  E expression;

  static constexpr Verdict rule(rules::Question const& q) {
    return [&]<int... N>(std::integer_sequence<int, N...>) {
      return autodiff::pulled<K>(E{}, typename autodiff::Reads<K, E>::Numbers{},
                                 autodiff::Sharded(rules::accept(q.operands[0])),
                                 autodiff::Sharded(rules::accept(q.operands[N + 1]))...)
          .verdict;
    }(std::make_integer_sequence<int, autodiff::Reads<K, E>::Numbers::size()>{});
  }
  template <class... As>
  static constexpr Code elements() {
    return Code::ok;
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return {core::mul_sat(c.result_elements(), E::functions), 0, false};
  }
  template <class R, class... As>
  typename R::result run(std::source_location const& where, As const&... as) const;
};

template <class Op>
inline constexpr bool is_pullback = false;
template <class E, int K>
inline constexpr bool is_pullback<Pullback<E, K>> = true;

/// The operand repeated along new dims, so that it has the dims `Dims`, of `n` rows each, in their
/// order. The transpose of a sum.
template <class... Dims>
struct Spread {
  using operation = Spread;
  using gradient = checking::Pulls;
  using to = Mentions<Dims...>;
  static constexpr std::string_view name = "spread";
  static constexpr bool recorded = false;
  std::array<std::int64_t, sizeof...(Dims)> n{};
  static constexpr Verdict rule(rules::Question const& q) { return rules::spread(q.a(), q.to); }
  constexpr void extents(ResultExtents const& c) const {
    for (std::size_t d = 0; d < sizeof...(Dims); ++d) c.out[d] = n[d];
  }
  constexpr auto pull(auto const& g) const { return g.unbroadcast(); }
  template <class R, class A>
  typename R::result run(std::source_location const& where, A const& a) const;
};

}  // namespace autodiff

namespace detail {

template <class E, int K, class A, class... Bs>
struct ElementOfResult<autodiff::Pullback<E, K>, A, Bs...> {
  using type = typename autodiff::ElementOfInput<K, E>::type;
};
template <class E, int K, class A>
struct ElementOfResult<autodiff::Pullback<E, K>, A> {
  using type = typename autodiff::ElementOfInput<K, E>::type;
};
template <class E, int K, class A, class B>
struct ElementOfResult<autodiff::Pullback<E, K>, A, B> {
  using type = typename autodiff::ElementOfInput<K, E>::type;
};

}  // namespace detail

namespace detail {

/// The kernel's expression of a pullback, from the functions by which derivatives are written.
template <class E, class Numbers, int... Ks, class U, class... Parts, int First, class T>
struct Lowered<FusedPart<autodiff::PullbackFunction<E, Numbers, Ks...>, U, Parts...>, First, T> {
  using Given = FusedPart<autodiff::PullbackFunction<E, Numbers, Ks...>, U, Parts...>;
  using types = decltype((kernels::Elements<>{} + ... + typename Lowered<Parts, 0, T>::types{}));
  using Order = std::make_integer_sequence<int, static_cast<int>(sizeof...(Parts))>;

  template <int K, int... N>
  static auto one(Given const& f, std::integer_sequence<int, N...>) {
    return autodiff::pulled<K>(
               f.function.expression, Numbers{},
               part(Lowered<Parts, First + detail::slots_before<Parts...>(N), T>::make(
                   static_cast<core::KeptAt<N, Parts> const&>(f.args).value))...)
        .expression;
  }
  static auto make(Given const& f) {
    if constexpr (sizeof...(Ks) == 1) {
      return one<Ks...>(f, Order{});
    } else {
      return kernels::Several<decltype(one<Ks>(f, Order{}))...>{{one<Ks>(f, Order{})}...};
    }
  }

 private:
  template <class L>
  static autodiff::Part<L> part(L const& l) {
    return autodiff::Part<L>(l);
  }
};

}  // namespace detail

namespace autodiff {

template <class E, int K>
template <class R, class... As>
typename R::result Pullback<E, K>::run(std::source_location const&, As const&... as) const {
  using F = PullbackFunction<E, typename autodiff::Reads<K, E>::Numbers, K>;
  return shardtype::detail::run_function<typename R::result>(F{expression}, as...);
}
template <class... Dims>
template <class R, class A>
typename R::result Spread<Dims...>::run(std::source_location const&, A const& a) const {
  namespace sd = shardtype::detail;
  using Out = typename R::result;
  Out out = sd::uninitialized<Out>(a.mesh(), n);
  using E = sd::FusedArgument<A>;
  sd::FusedParts<typename E::part> const e(static_cast<typename E::base const&>(a));
  sd::run_fused_into(out, {e.operands, &e, sd::compute_of<Out, typename E::part>,
                           sd::DimsOfOperands<Out, typename E::tensors>::at});
  return out;
}

}  // namespace autodiff

}  // namespace shardtype
