#pragma once
/// Tensors with the type, extents and mesh of another.

#include <source_location>
#include <utility>

#include <shardtype/execute/call.hpp>
#include <shardtype/kernels/fill.hpp>
#include <shardtype/ops/dims.hpp>
#include <shardtype/ops/run_elementwise.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype {

namespace detail {

template <class Out, class V>
Out filled_with(V const& value, MeshRef const& mesh, extents_of<Out> const& extents) {
  using T = typename Out::element;
  Out out = detail::uninitialized<Out>(mesh, extents);
  if (!mesh.here()) return out;
  bool const mine = detail::holds_value<Out>(mesh);
  typename Out::execution_space const& exec = runtime::instance<typename Out::execution_space>();
  kernels::fill(exec, static_cast<T*>(out.buffer().data()), out.local_size(),
                mine ? kernels::detail::converted<T>(value) : T{});
  runtime::fence(exec);
  return out;
}

}  // namespace detail

namespace op {

template <class V>
template <class R, class A>
typename R::result FullLike<V>::run(std::source_location const&, A const& a) const {
  using Out = typename R::result;
  if constexpr (!execute::is_temporary<A>) {
    return detail::filled_with<Out>(value, a.mesh(), a.extents());
  } else {
    return detail::filled_with<Out>(value, a.expression.operands.mesh(),
                                    detail::fused_extents<Out>(a.expression));
  }
}

}  // namespace op

namespace api {

/// A tensor of the type, extents and mesh of `a` whose every element is `value`: `A[I@X, J]` ->
/// `full_like(a, 2)` -> `A[I@X, J]`; also for Locals. An unreduced result has this value once it is
/// reduced. A temporary expression `a` is not computed. Local. Refused: P10 a value that the
/// element type cannot represent. As jnp.full_like.
template <class A, detail::NumberType V>
constexpr auto full_like(core::Argument<A> const& a, V value, checking::CallSite where = {}) {
  return api::call(op::FullLike<V>{value}, where, execute::passed(a.self()));
}
template <class A, detail::NumberType V>
constexpr auto full_like(core::Argument<A>&& a, V value, checking::CallSite where = {}) {
  return api::call(op::FullLike<V>{value}, where, execute::passed(std::move(a).self()));
}
/// Like full_like, with zeros. As jnp.zeros_like.
template <class A>
constexpr auto zeros_like(core::Argument<A> const& a, checking::CallSite where = {}) {
  return api::call(op::FullLike<int>{0}, where, execute::passed(a.self()));
}
template <class A>
constexpr auto zeros_like(core::Argument<A>&& a, checking::CallSite where = {}) {
  return api::call(op::FullLike<int>{0}, where, execute::passed(std::move(a).self()));
}
/// Like full_like, with ones. As jnp.ones_like.
template <class A>
constexpr auto ones_like(core::Argument<A> const& a, checking::CallSite where = {}) {
  return api::call(op::FullLike<int>{1}, where, execute::passed(a.self()));
}
template <class A>
constexpr auto ones_like(core::Argument<A>&& a, checking::CallSite where = {}) {
  return api::call(op::FullLike<int>{1}, where, execute::passed(std::move(a).self()));
}

}  // namespace api

}  // namespace shardtype
