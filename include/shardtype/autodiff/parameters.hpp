#pragma once
/// Parameters: tensors, and vectors, arrays, tuples and structs of them.

#include <type_traits>

#include <shardtype/autodiff/active.hpp>
#include <shardtype/autodiff/container.hpp>

namespace shardtype {

namespace autodiff {

/// A structure of tensors: `active`, the structure of values whose gradient is wanted, and
/// `gradient`, that of their gradients, with the functions between them. Of any other type: not
/// known (X10).
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
template <class A, class Recorder>
struct Parameters<Abstract<A, Recorder>> : OneParameter<Abstract<A, Recorder>> {};
template <class V>
struct Parameters<Active<V>> : OneParameter<Active<V>> {};

}  // namespace autodiff

// Mlp<value_t> (members.hpp) is Mlp<active_t> in a function that is differentiated, Mlp<gradient_t>
// with gradients.
template <class P>
using active_t = typename autodiff::Parameters<P>::active;
template <class P>
using gradient_t = typename autodiff::Parameters<P>::gradient;

namespace autodiff {

/// A structure of parameters, of the forms `A` and `G` with values whose gradient is wanted and
/// with gradients.
template <class S, class A, class G>
struct StructureOfParameters {
  using active = A;
  using gradient = G;
  static constexpr active lift(S const& s, Tape* tape) {
    return Container<S>::template build<active>(
        [&]<class P>(Type<P>, auto const&, P const& p) { return Parameters<P>::lift(p, tape); }, s);
  }
  static constexpr gradient take(active const& a) {
    return Container<S>::template build<gradient>(
        []<class P>(Type<P>, auto const&, auto const& p) { return Parameters<P>::take(p); }, a);
  }
};
template <StdContainer C>
struct Parameters<C> : StructureOfParameters<C, typename Container<C>::template with<active_t>,
                                             typename Container<C>::template with<gradient_t>> {
  template <class... Ps>
  static constexpr bool all_known(shardtype::detail::Pack<Ps...>) {
    return (is_known<Ps> && ...);
  }
  static constexpr bool known = all_known(members_t<C>{});
};
/// A struct that is a template of how it holds its members.
template <template <template <class> class> class M>
struct Parameters<M<value_t>> : StructureOfParameters<M<value_t>, M<active_t>, M<gradient_t>> {};

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
template <StdContainer C>
struct PlainOf<C> {
  using type = typename Container<C>::template with<plain_of>;
};
template <template <template <class> class> class M>
struct PlainOf<M<active_t>> {
  using type = M<value_t>;
};

}  // namespace autodiff

}  // namespace shardtype
