#pragma once
/// Tensors with the type, extents and mesh of another.

#include <source_location>
#include <utility>

#include <shardtype/execute/call.hpp>
#include <shardtype/kernels/fill.hpp>
#include <shardtype/ops/dims.hpp>
#include <shardtype/ops/run_elementwise.hpp>

namespace shardtype {

namespace execute {
template <class V>
struct Run<op::FullLike<V>> {
  template <class R, class A>
  static typename R::result run(op::FullLike<V> const& op, std::source_location const&,
                                A const& a) {
    if constexpr (!is_temporary<A>) {
      return filled<typename R::result>(op, a.mesh(), a.extents());
    } else {
      auto const extents = shardtype::detail::fused_extents<typename R::result>(a.expression);
      return filled<typename R::result>(op, a.expression.operands.mesh(), extents);
    }
  }

 private:
  template <class Out>
  static Out filled(op::FullLike<V> const& op, MeshRef const& mesh,
                    shardtype::detail::extents_of<Out> const& extents) {
    using T = typename Out::element;
    Out out = shardtype::detail::uninitialized<Out>(mesh, extents);
    if (!mesh.here()) return out;
    bool const mine = shardtype::detail::holds_value<Out>(mesh);
    typename Out::execution_space const exec{};
    kernels::fill(exec, static_cast<T*>(out.buffer().data()), out.local_size(),
                  mine ? kernels::detail::converted<T>(op.value) : T{});
    exec.fence();
    return out;
  }
};
}  // namespace execute

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
