#pragma once
/// One row of a dim.

#include <cstddef>
#include <cstdint>
#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/indexing.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace execute {
template <class I>
struct Run<op::At<I>> : Filled<Run<op::At<I>>> {
  template <class Out, class A>
  static void fill(op::At<I> const& op, Out& out, A const& a) {
    using T = typename A::element;
    using Space = typename A::memory_space;
    constexpr int d = A::spec.find(Scope<A>::names.find_label(identity<I>));
    Range const held = a.rows()[static_cast<std::size_t>(d)].range();
    Around const b(detail::block_layout(a.rows()), d);
    typename Space::execution_space const exec{};
    auto* const to = static_cast<T*>(out.buffer().data());
    if (held.begin <= op.k && op.k < held.end) {
      kernels::copy_packed(
          exec, static_cast<T const*>(a.buffer().data()) + (op.k - held.begin) * b.inner,
          LocalRun<T, Space>::strided({b.outer, b.inner}, {b.n * b.inner, std::int64_t{1}}), to);
    } else {
      kernels::fill(exec, to, out.local_size(), T{});
    }
    exec.fence();
  }
};
template <class I, class Out, class... More>
struct Run<op::At<I, Out, More...>> {
  template <class R, class A>
  static auto run(op::At<I, Out, More...> const& op, std::source_location const& where,
                  A const& a) {
    return run_named<R, Run<op::At<I>>>(op.strict(), where, a);
  }
};
}  // namespace execute

/// Row `k` of dim I, without that dim: `A[I, J@X]` -> `at<I>(a, 3)` -> `[J@X]`, a copy. Communicates
/// nothing: along a split dim the rank that has the row holds it and the others hold zeros, `A[I@X, J]`
/// -> `[J]{U:X}` (of bool a maximum), as `take` does. An unreduced `a` stays unreduced.
///
/// `at<I, Dim<J>>(a, 3)` names the result: `A[I@X, J]` -> `[J]`, one all_reduce of a row, or a
/// reduce_scatter where X splits a dim of the result; no other row is sent. A block-cyclic dim is gathered
/// first. Refused: D01, I07, B03 of strict ones along a block-cyclic dim; N05, V14, R01 to R04 for a named
/// result. Error E41: not 0 <= k < extent. As jax.lax.index_in_dim with keepdims=False.
template <class I, class... Out, class A>
constexpr auto at(A const& a, std::int64_t k,
                  checking::CallSite where = std::source_location::current()) {
  return call(op::At<I, Out...>{k}, where, a);
}

}  // namespace shardtype
