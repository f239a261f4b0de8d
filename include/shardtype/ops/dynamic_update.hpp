#pragma once
/// Replaces a window along one dim whose start is a run-time value. Local, except for reading a
/// start that is a tensor without dims.

#include <cstdint>
#include <source_location>
#include <type_traits>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/indexing.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/kernels/pitched.hpp>
#include <shardtype/ops/dynamic_slice.hpp>
#include <shardtype/tensor/block_layout.hpp>

namespace shardtype {

namespace execute {
template <class I, class... Into>
struct Run<op::DynamicUpdate<I, Into...>> {
  using Op = op::DynamicUpdate<I, Into...>;
  template <class R, class A, class B, class... Start>
  static typename R::result run(Op op, std::source_location const& where, A const& a,
                                B const& update, Start const&... start) {
    using Out = typename R::result;
    constexpr auto d = static_cast<std::size_t>(R::along);
    auto const extents = result_extents<R>(op, a, update, start...);
    ((op.start = StartOf<Start>::read(start, where)), ...);
    op.start = clamped(op.start, update.extents()[d], a.extents()[d]);
    Out out = shardtype::detail::uninitialized<Out>(a.mesh(), extents);
    if (a.mesh().here()) fill(op, out, a, update);
    return out;
  }
  template <class Out, class A, class B>
  static void fill(Op const& op, Out& out, A const& a, B const& update) {
    using T = typename A::element;
    constexpr int at = A::spec.find(Scope<A>::names.find_label(identity<I>));
    typename A::execution_space const exec{};
    auto* const to = static_cast<T*>(out.buffer().data());
    Around const whole(detail::block_layout(a.rows()), at);
    Around const part(detail::block_layout(update.rows()), at);
    auto const place = [&](T const* from, std::int64_t pitch, std::int64_t row, std::int64_t rows) {
      kernels::copy_pitched(exec, from, pitch, to + row * whole.inner, whole.n * whole.inner,
                            whole.outer, rows * whole.inner);
    };
    auto const* const old = static_cast<T const*>(a.buffer().data());
    std::int64_t const end = op.start + part.n;
    place(old, whole.n * whole.inner, 0, op.start);
    place(static_cast<T const*>(update.buffer().data()), part.n * part.inner, op.start, part.n);
    place(old + end * whole.inner, whole.n * whole.inner, end, whole.n - end);
    exec.fence();
  }
};
}  // namespace execute

/// A copy of `a` with the rows of `update` from `start` on along I: `a[I@X, J]`, `b[I@X, Head]` ->
/// `dynamic_update<J, Head>(a, b, start)` -> `[I@X, J]`; without a second index, the update's dim
/// is J too. The other dims of update and tensor have the same sharding and the same unreduced
/// axes; if one operand is reduced, so is the result. The start as in `dynamic_slice`. Communicates
/// nothing else. Refused: C10, D01, D03, D12, D13; of the start A01, A02, I01, P06, V01. Errors:
/// E23, E24, E41 an update longer than the extent.
template <class I, class... Into, class A, class B, class Start>
constexpr auto dynamic_update(A const& a, B const& update, Start const& start,
                              checking::CallSite where = std::source_location::current()) {
  if constexpr (std::is_integral_v<Start>) {
    return call(op::DynamicUpdate<I, Into...>{static_cast<std::int64_t>(start)}, where, a, update);
  } else {
    return call(op::DynamicUpdate<I, Into...>{}, where, a, update, start);
  }
}

}  // namespace shardtype
