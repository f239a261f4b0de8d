#pragma once
/// Parameters: tensors, and vectors, arrays, tuples and structs of them.

#include <array>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/autodiff/active.hpp>

namespace shardtype {

namespace autodiff {

/// A structure of tensors: `active`, the structure of values whose gradient is wanted, and
/// `gradient`, that of their gradients, with the functions between them.
template <class P>
struct Parameters;

/// In the place of the gradient of a tensor of integers.
struct NoGradient {};

template <class V>
inline constexpr bool is_differentiable = shardtype::detail::is_floating<element_t<tensor_of<V>>>;

/// One tensor.
template <class V, bool differentiable = is_differentiable<V>>
struct OneParameter {
  using active = Active<V>;
  using gradient = cotangent_value<V>;
  /// Without a tape: a constant.
  static constexpr active lift(V const& v, Tape* tape) {
    if (tape == nullptr) return active(v);
    auto* const leaf = autodiff::make_small<Leaf<V>>(tape);
    tape->push_leaf(leaf);
    return active(v, &leaf->slot);
  }
  static constexpr gradient take(active const& a) {
    if (a.slot()->any()) return a.slot()->taken();
    return filled<gradient>(a.value(), 0);
  }
};
/// A tensor of integers or truths: a constant.
template <class V>
struct OneParameter<V, false> {
  using active = V;
  using gradient = NoGradient;
  static constexpr active lift(V const& v, Tape*) { return v; }
  static constexpr gradient take(active const&) { return {}; }
};

template <class T, class... Parts>
struct Parameters<Tensor<T, Parts...>> : OneParameter<Tensor<T, Parts...>> {};
template <class T, class... Parts>
struct Parameters<Local<T, Parts...>> : OneParameter<Local<T, Parts...>> {};
template <class A, class Notes>
struct Parameters<Dry<A, Notes>> : OneParameter<Dry<A, Notes>> {};
template <class V>
struct Parameters<Active<V>> : OneParameter<Active<V>> {};

template <class P>
struct Parameters<std::vector<P>> {
  using active = std::vector<typename Parameters<P>::active>;
  using gradient = std::vector<typename Parameters<P>::gradient>;
  static active lift(std::vector<P> const& v, Tape* tape) {
    active out;
    for (P const& p : v) out.push_back(Parameters<P>::lift(p, tape));
    return out;
  }
  static gradient take(active const& a) {
    gradient out;
    for (auto const& p : a) out.push_back(Parameters<P>::take(p));
    return out;
  }
};
template <class P, std::size_t N>
struct Parameters<std::array<P, N>> {
  using active = std::array<typename Parameters<P>::active, N>;
  using gradient = std::array<typename Parameters<P>::gradient, N>;
  static constexpr active lift(std::array<P, N> const& v, Tape* tape) {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return active{Parameters<P>::lift(v[K], tape)...};
    }(std::make_index_sequence<N>{});
  }
  static constexpr gradient take(active const& a) {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return gradient{Parameters<P>::take(a[K])...};
    }(std::make_index_sequence<N>{});
  }
};
template <template <class...> class Tuple, class... Ps>
struct TupleOfParameters {
  using active = Tuple<typename Parameters<Ps>::active...>;
  using gradient = Tuple<typename Parameters<Ps>::gradient...>;
  static constexpr active lift(Tuple<Ps...> const& v, Tape* tape) {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return active{Parameters<Ps>::lift(std::get<K>(v), tape)...};
    }(std::index_sequence_for<Ps...>{});
  }
  static constexpr gradient take(active const& a) {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return gradient{Parameters<Ps>::take(std::get<K>(a))...};
    }(std::index_sequence_for<Ps...>{});
  }
};
template <class... Ps>
struct Parameters<std::tuple<Ps...>> : TupleOfParameters<std::tuple, Ps...> {};
template <class A, class B>
struct Parameters<std::pair<A, B>> : TupleOfParameters<std::pair, A, B> {};

}  // namespace autodiff

/// How a struct of parameters holds its members: a template of a template,
///
///     template <template <class> class As>
///     struct Mlp { As<W1> w1; std::vector<As<W2>> layers; };
///
/// is `Mlp<value_t>` with tensors, `Mlp<active_t>` in a function that is differentiated, and
/// `Mlp<gradient_t>` with their gradients.
template <class V>
using value_t = V;
template <class P>
using active_t = typename autodiff::Parameters<P>::active;
template <class P>
using gradient_t = typename autodiff::Parameters<P>::gradient;

namespace autodiff {

/// Converts to any member.
struct AnyMember {
  template <class T>
  constexpr operator T() const;
};
template <class S, std::size_t... K>
constexpr bool takes_members(std::index_sequence<K...>) {
  return requires { S{((void)K, AnyMember{})...}; };
}
/// The number of members of an aggregate, at most 12.
template <class S, std::size_t N = 12>
constexpr std::size_t members() {
  if constexpr (takes_members<S>(std::make_index_sequence<N>{})) {
    return N;
  } else {
    return members<S, N - 1>();
  }
}
/// Calls `f` with the members of a struct.
template <class S, class F>
constexpr auto with_members(S& s, F const& f) {
  constexpr std::size_t n = members<std::remove_const_t<S>>();
  // clang-format off
  if constexpr (n == 1) { auto& [a] = s; return f(a); }
  else if constexpr (n == 2) { auto& [a, b] = s; return f(a, b); }
  else if constexpr (n == 3) { auto& [a, b, c] = s; return f(a, b, c); }
  else if constexpr (n == 4) { auto& [a, b, c, d] = s; return f(a, b, c, d); }
  else if constexpr (n == 5) { auto& [a, b, c, d, e] = s; return f(a, b, c, d, e); }
  else if constexpr (n == 6) { auto& [a, b, c, d, e, g] = s; return f(a, b, c, d, e, g); }
  else if constexpr (n == 7) { auto& [a, b, c, d, e, g, h] = s; return f(a, b, c, d, e, g, h); }
  else if constexpr (n == 8) { auto& [a, b, c, d, e, g, h, i] = s; return f(a, b, c, d, e, g, h, i); }
  else if constexpr (n == 9) { auto& [a, b, c, d, e, g, h, i, j] = s; return f(a, b, c, d, e, g, h, i, j); }
  else if constexpr (n == 10) { auto& [a, b, c, d, e, g, h, i, j, k] = s; return f(a, b, c, d, e, g, h, i, j, k); }
  else if constexpr (n == 11) { auto& [a, b, c, d, e, g, h, i, j, k, l] = s; return f(a, b, c, d, e, g, h, i, j, k, l); }
  else { auto& [a, b, c, d, e, g, h, i, j, k, l, m] = s; return f(a, b, c, d, e, g, h, i, j, k, l, m); }
  // clang-format on
}
/// The structure of plain values that a structure of values whose gradient is wanted came from.
template <class A>
struct PlainOf {
  using type = A;
};
template <class V>
struct PlainOf<Active<V>> {
  using type = V;
};
template <class A>
struct PlainOf<std::vector<A>> {
  using type = std::vector<typename PlainOf<A>::type>;
};
template <class A, std::size_t N>
struct PlainOf<std::array<A, N>> {
  using type = std::array<typename PlainOf<A>::type, N>;
};
template <class... As>
struct PlainOf<std::tuple<As...>> {
  using type = std::tuple<typename PlainOf<As>::type...>;
};
template <class A, class B>
struct PlainOf<std::pair<A, B>> {
  using type = std::pair<typename PlainOf<A>::type, typename PlainOf<B>::type>;
};
template <template <template <class> class> class M>
struct PlainOf<M<active_t>> {
  using type = M<value_t>;
};

/// A struct of values `S`, as one whose gradient is wanted, and that of its gradients.
template <class S, class A, class G>
struct StructOfParameters {
  using active = A;
  using gradient = G;
  static constexpr active lift(S const& s, Tape* tape) {
    return autodiff::with_members(
        s, [&]<class... Ps>(Ps const&... p) { return active{Parameters<Ps>::lift(p, tape)...}; });
  }
  static constexpr gradient take(active const& a) {
    return autodiff::with_members(a, []<class... As>(As const&... p) {
      return gradient{Parameters<typename PlainOf<As>::type>::take(p)...};
    });
  }
};
/// A struct that is a template of how it holds its members.
template <template <template <class> class> class M>
struct Parameters<M<value_t>> : StructOfParameters<M<value_t>, M<active_t>, M<gradient_t>> {};

}  // namespace autodiff

}  // namespace shardtype
