#pragma once
/// Parameters: tensors, and vectors, arrays, tuples and structs of them.

#include <array>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/autodiff/active.hpp>
#include <shardtype/autodiff/container.hpp>

namespace shardtype {

namespace autodiff {

/// A structure of tensors: `active`, the structure of values whose gradient is wanted, and
/// `gradient`, that of their gradients, with the functions between them. Of any other type: not known (X10).
template <class P>
struct Parameters {
  static constexpr bool known = false;
  using active = checking::Poisoned;
  using gradient = checking::Poisoned;
};

/// Whether gradients with respect to a `P` exist. A specialization of the user's need not say so.
template <class P>
inline constexpr bool is_known = [] {
  if constexpr (requires { Parameters<P>::known; }) {
    return Parameters<P>::known;
  } else {
    return true;
  }
}();

/// In the place of the gradient of a tensor of integers.
struct NoGradient {};

template <class V>
inline constexpr bool is_differentiable = shardtype::detail::is_floating<element_t<tensor_of<V>>>;

/// One tensor.
template <class V, bool differentiable = is_differentiable<V>>
struct OneParameter {
  static constexpr bool known = true;
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
    return autodiff::filled<gradient>(a.value(), 0);
  }
};
/// A tensor of integers or truths: a constant.
template <class V>
struct OneParameter<V, false> {
  static constexpr bool known = true;
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

/// A container of parameters.
template <class C>
struct ContainerOfParameters {
  template <class... Ps>
  static constexpr bool all_known(shardtype::detail::Pack<Ps...>) {
    return (is_known<Ps> && ...);
  }
  static constexpr bool known = all_known(typename Container<C>::members{});
  using active = typename Container<C>::template with<active_t>;
  using gradient = typename Container<C>::template with<gradient_t>;
  static constexpr active lift(C const& c, Tape* tape) {
    return Container<C>::template map<active_t>(
        c, [&]<class P>(Type<P>, P const& p) { return Parameters<P>::lift(p, tape); });
  }
  static constexpr gradient take(active const& a) {
    return Container<C>::template map<gradient_t>(
        a, []<class P>(Type<P>, active_t<P> const& p) { return Parameters<P>::take(p); });
  }
};
template <class P>
struct Parameters<std::vector<P>> : ContainerOfParameters<std::vector<P>> {};
template <class P, std::size_t N>
struct Parameters<std::array<P, N>> : ContainerOfParameters<std::array<P, N>> {};
template <class... Ps>
struct Parameters<std::tuple<Ps...>> : ContainerOfParameters<std::tuple<Ps...>> {};
template <class A, class B>
struct Parameters<std::pair<A, B>> : ContainerOfParameters<std::pair<A, B>> {};

/// Converts to any member.
struct AnyMember {
  template <class T>
  constexpr operator T() const;
};
template <class S, std::size_t... K>
constexpr bool takes_members(std::index_sequence<K...>) {
  return requires { S{((void)K, AnyMember{})...}; };
}
/// The number of members of an aggregate, at most 32. From above, because to make it of fewer values would ask
/// for the others' defaults, and a tensor's is refused (T14).
template <class S, std::size_t N = 33>
constexpr std::size_t members() {
  if constexpr (autodiff::takes_members<S>(std::make_index_sequence<N>{})) {
    return N;
  } else {
    return autodiff::members<S, N - 1>();
  }
}
/// The number of members of a struct. Of a template of how it holds its members, counted once for all.
template <class S>
inline constexpr std::size_t members_of = autodiff::members<S>();
template <template <template <class> class> class M, template <class> class As>
inline constexpr std::size_t members_of<M<As>> = autodiff::members<M<value_t>>();
/// Calls `f` with the members of a struct.
template <class S, class F>
constexpr auto with_members(S& s, F const& f) {
  constexpr std::size_t n = members_of<std::remove_const_t<S>>;
  static_assert(
      n <= 32,
      "a struct of parameters has at most 32 members: put some of them into a struct or a "
      "std::array of their own");
  // clang-format off
  if constexpr (n == 1) { auto& [m1] = s; return f(m1); }
  else if constexpr (n == 2) { auto& [m1, m2] = s; return f(m1, m2); }
  else if constexpr (n == 3) { auto& [m1, m2, m3] = s; return f(m1, m2, m3); }
  else if constexpr (n == 4) { auto& [m1, m2, m3, m4] = s; return f(m1, m2, m3, m4); }
  else if constexpr (n == 5) { auto& [m1, m2, m3, m4, m5] = s; return f(m1, m2, m3, m4, m5); }
  else if constexpr (n == 6) { auto& [m1, m2, m3, m4, m5, m6] = s; return f(m1, m2, m3, m4, m5, m6); }
  else if constexpr (n == 7) { auto& [m1, m2, m3, m4, m5, m6, m7] = s; return f(m1, m2, m3, m4, m5, m6, m7); }
  else if constexpr (n == 8) { auto& [m1, m2, m3, m4, m5, m6, m7, m8] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8); }
  else if constexpr (n == 9) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9); }
  else if constexpr (n == 10) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10); }
  else if constexpr (n == 11) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11); }
  else if constexpr (n == 12) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12); }
  else if constexpr (n == 13) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13); }
  else if constexpr (n == 14) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14); }
  else if constexpr (n == 15) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15); }
  else if constexpr (n == 16) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16); }
  else if constexpr (n == 17) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17); }
  else if constexpr (n == 18) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18); }
  else if constexpr (n == 19) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19); }
  else if constexpr (n == 20) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20); }
  else if constexpr (n == 21) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21); }
  else if constexpr (n == 22) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22); }
  else if constexpr (n == 23) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23); }
  else if constexpr (n == 24) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24); }
  else if constexpr (n == 25) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25); }
  else if constexpr (n == 26) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26); }
  else if constexpr (n == 27) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27); }
  else if constexpr (n == 28) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28); }
  else if constexpr (n == 29) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29); }
  else if constexpr (n == 30) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30); }
  else if constexpr (n == 31) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31); }
  else if constexpr (n == 32) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31, m32] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31, m32); }
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
using plain_of = typename PlainOf<A>::type;
template <class C>
  requires(Container<C>::exists)
struct PlainOf<C> {
  using type = typename Container<C>::template with<plain_of>;
};
template <template <template <class> class> class M>
struct PlainOf<M<active_t>> {
  using type = M<value_t>;
};

/// A struct of values `S`, as one whose gradient is wanted, and that of its gradients.
template <class S, class A, class G>
struct StructOfParameters {
  static constexpr bool known = true;
  using active = A;
  using gradient = G;
  static constexpr active lift(S const& s, Tape* tape) {
    return autodiff::with_members(
        s, [&]<class... Ps>(Ps const&... p) { return active{Parameters<Ps>::lift(p, tape)...}; });
  }
  static constexpr gradient take(active const& a) {
    return autodiff::with_members(a, []<class... As>(As const&... p) {
      return gradient{Parameters<plain_of<As>>::take(p)...};
    });
  }
};
/// A struct that is a template of how it holds its members.
template <template <template <class> class> class M>
struct Parameters<M<value_t>> : StructOfParameters<M<value_t>, M<active_t>, M<gradient_t>> {};

}  // namespace autodiff

}  // namespace shardtype
