#pragma once
/// Outer and Kronecker products, traces, matrices with a given diagonal, and coordinates of a grid.

#include <string_view>
#include <tuple>
#include <type_traits>

#include <shardtype/check/call.hpp>
#include <shardtype/check/labels_of.hpp>
#include <shardtype/check/misused.hpp>
#include <shardtype/ops/dims.hpp>
#include <shardtype/ops/products.hpp>
#include <shardtype/ops/reductions.hpp>

namespace shardtype {

namespace detail {

/// Merges pairs of neighbouring dims, (I, K) into P and so on.
template <class Is, class Ks, class Ps>
struct PairsMerged;
template <>
struct PairsMerged<Pack<>, Pack<>, Pack<>> {
  template <class A>
  static constexpr auto of(A const& a, checking::CallSite) {
    return a;
  }
};
template <class I, class... Is, class K, class... Ks, class P, class... Ps>
struct PairsMerged<Pack<I, Is...>, Pack<K, Ks...>, Pack<P, Ps...>> {
  template <class A>
  static constexpr auto of(A const& a, checking::CallSite where) {
    return PairsMerged<Pack<Is...>, Pack<Ks...>, Pack<Ps...>>::of(
        api::merge_dims<I, K, P>(a, where), where);
  }
};
/// The labels of pairs, one after the other.
template <class Is, class Ks>
struct Alternating {
  using type = Pack<>;
};
template <class I, class... Is, class K, class... Ks>
struct Alternating<Pack<I, Is...>, Pack<K, Ks...>> {
  using type = decltype(Pack<I, K>{} | typename Alternating<Pack<Is...>, Pack<Ks...>>::type{});
};
template <class A, class B, class... Ls>
constexpr auto product_of(A const& a, B const& b, Pack<Ls...>, checking::CallSite where) {
  return api::einsum<Ls...>(a, b, where);
}

}  // namespace detail

namespace op {

/// The matrix with dims I and J, J last, whose diagonal is the operand along I.
template <class I, class J>
struct Diag {
  using operation = Diag;
  using gradient = Pulls;
  using from = detail::Bare<I>;
  using to = detail::Bare<J>;
  static constexpr std::string_view name = "diag";
  static constexpr bool reads_places = true;
  static constexpr Verdict rule(rules::Question const& q) {
    if (Verdict v = rules::has_all(q.a(), q.from); !v) return v;
    if (Verdict v = rules::has_none(q.a(), q.to); !v) return v;
    if (Verdict v = rules::in_blocks(q.a(), q.from); !v) return v;
    if (q.a().rank + 1 > max_dims) return rules::refuse(Code::T07_too_many);
    return rules::accept(rules::with_dims(q.a(), q.a(), q.to));
  }
  static constexpr void extents(ResultExtents const& c) { c.out[c.a().rank] = c.extent(); }
  auto block(auto const& run) const { return run.on_diagonal(); }
  constexpr auto pull(auto const& g) const { return g.in_order(g.call(Diagonal<I, J>{}, g.ct)); }
};

}  // namespace op

namespace api {

/// The product of each element of `a` with each element of `b`: `a[I@X]`, `b[J@Y, K]` -> `outer(a,
/// b)` -> `[I@X, J@Y, K]`, the dims of `a` before those of `b`. Communicates nothing.
/// `outer<Dim<I, X>, Dim<J>, Dim<K>>(a, b)` names the result. It is `einsum<I, J, K>(a, b)`, with
/// its plan, gradient, refusals and errors. Refused as well: T02 an index that both have. As
/// np.multiply.outer, and np.outer of two vectors.
template <class... Out, class A, class B>
constexpr auto outer(core::Argument<A> const& a, B const& b, checking::CallSite where = {}) {
  if constexpr (sizeof...(Out) > 0) {
    return api::einsum<Out...>(a.self(), b, where);
  } else {
    return detail::product_of(
        a.self(), b, detail::labels_of_argument_t<A>{} | detail::labels_of_argument_t<B>{}, where);
  }
}

/// The Kronecker product: `a[I@X, J@Y]`, `b[K, L]` -> `kron<P, Q>(a, b)` -> `[P@X, Q@Y]`, the
/// blocks a[i, j] b. Operands have as many dims as indices are named, one or more, and no index in
/// common. It is `outer`, whose dims `merge_dims` merges in pairs, with their plans, gradients,
/// refusals and errors: a dim of `b` is split only where that of `a` has one row per block (D09,
/// E40). Refused as well: D07 another number of dims. Communicates nothing. As np.kron.
template <class... Ps, class A, class B>
constexpr auto kron(core::Argument<A> const& a, B const& b, checking::CallSite where = {}) {
  using Is = detail::labels_of_argument_t<A>;
  using Ks = detail::labels_of_argument_t<B>;
  if constexpr (detail::length(Is{}) == sizeof...(Ps) && detail::length(Ks{}) == sizeof...(Ps)) {
    return detail::PairsMerged<Is, Ks, detail::Pack<Ps...>>::of(
        detail::product_of(a.self(), b, typename detail::Alternating<Is, Ks>::type{}, where),
        where);
  } else if constexpr (std::is_base_of_v<checking::Poisoned, A> ||
                       std::is_base_of_v<checking::Poisoned, B>) {
    return checking::Poisoned{};
  } else {
    checking::refused<rules::Code::D07_names_incomplete, false, detail::argument_t<A>,
                      detail::argument_t<B>, Ps...>{};
    return checking::Poisoned{};
  }
}

/// The sum of the diagonal of I and J: `a[I@X, J, B]` -> `trace<I, J>(a)` -> `[B]{U:X}`, the sum
/// over I of `diagonal<I, J>(a)`. Communicates nothing. `trace<I, J, Dim<B>>(a)` names the result,
/// and reduces it; of a matrix `trace<I, J, Tensor<float>>(a)`. Refused and errors as `diagonal`
/// and `sum`. As np.trace.
template <class I, class J, class... Out, class A>
constexpr auto trace(core::Argument<A> const& a, checking::CallSite where = {}) {
  if constexpr (sizeof...(Out) > 0) {
    return api::sum<Out...>(api::diagonal<I, J>(a.self(), where), where);
  } else {
    return api::sum<I>(api::diagonal<I, J>(a.self(), where), where);
  }
}

/// The matrix of I and J with a given diagonal and zeros elsewhere: `a[B@Y, I@X]` -> `diag<I,
/// J>(a)`
/// -> `[B@Y, I@X, J]`, J as long as I, the transpose of `diagonal<I, J>`. Local; copies. Refused:
/// D01, D02, T07, B03 a block-cyclic I. As np.diag of a vector.
template <class I, class J, class A>
constexpr auto diag(core::Argument<A> const& a, checking::CallSite where = {}) {
  return api::call(op::Diag<I, J>{}, where, a.self());
}

/// The coordinates of a grid, each as a tensor of all dims: `u[I@X]`, `v[J]` -> `meshgrid(u, v)` ->
/// a std::tuple of two `[I@X, J]`, u's element along I and v's along J. Seldom needed: functions
/// broadcast over dims that they do not name. `meshgrid<Dim<I>, Dim<J, X>>(u, v)` names both
/// results. Communicates nothing, unless they are named. Refused as `outer`. As np.meshgrid with
/// indexing='ij'.
template <class... Out, class A, class B>
constexpr auto meshgrid(core::Argument<A> const& u, B const& v, checking::CallSite where = {}) {
  return std::tuple(api::outer<Out...>(u.self(), api::call(op::FullLike<int>{1}, where, v), where),
                    api::outer<Out...>(api::call(op::FullLike<int>{1}, where, u.self()), v, where));
}

// Everyday mistakes (check/misused.hpp).
SHARDTYPE_NOT_WITHOUT_INDEX(trace)
SHARDTYPE_NOT_WITHOUT_INDEX(diag)
SHARDTYPE_NOT_WITHOUT_INDEX(kron)

}  // namespace api

}  // namespace shardtype
