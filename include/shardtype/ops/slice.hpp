#pragma once
/// A range of rows of a dim.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>

#include <shardtype/check/along.hpp>
#include <shardtype/check/call_site.hpp>
#include <shardtype/check/indexing.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace execute {
template <class I, class... Result>
struct Run<op::Slice<I, Result...>> : LocalBlock<Run<op::Slice<I, Result...>>> {
  template <class Call>
  static Buffer block(op::Slice<I, Result...> const& op, Call const& run) {
    return run.slice(op.begin, op.step);
  }
  static constexpr bool makes_block = false;  // a named result may be split along I: `fill`
  /// Into a block that has all rows of the result; zeros where the operand's block has none.
  template <class Out, class A>
  static void fill(op::Slice<I, Result...> const& op, Out& out, A const& a) {
    using T = typename A::element;
    constexpr int d = A::spec.find(Scope<A>::names.find_label(identity<I>));
    constexpr auto at = static_cast<std::size_t>(d);
    Range const held = a.rows()[at].range();
    std::int64_t const n = out.rows()[at].size();
    // the first row of the result at or behind a row of the operand
    auto const row_from = [&](std::int64_t row) {
      return std::min(n, ceil_div(std::max(row - op.begin, std::int64_t{0}), op.step));
    };
    std::int64_t const first = row_from(held.begin);
    std::int64_t const last = row_from(held.end);
    Around const b(detail::block_layout(a.rows()), d);
    using Space = typename A::memory_space;
    typename Space::execution_space const exec{};
    auto* const to = static_cast<T*>(out.buffer().data());
    Buffer own;  // the rows that are held, where others stand around them
    T* rows = to;
    if (last - first < n) {
      kernels::fill(exec, to, out.local_size(), T{});
      auto const bytes = static_cast<std::size_t>(b.outer * (last - first) * b.inner) * sizeof(T);
      own = out.mesh().state().pool().template take<Space>(bytes);
      rows = static_cast<T*>(own.data());
    }
    std::int64_t const from = op.begin + first * op.step - held.begin;
    kernels::Layout const wanted = LocalRun<T, Space>::strided(
        {b.outer, last - first, b.inner}, {b.n * b.inner, op.step * b.inner, std::int64_t{1}});
    if (last > first)
      kernels::copy_packed(exec, static_cast<T const*>(a.buffer().data()) + from * b.inner, wanted,
                           rows);
    if (last > first && rows != to)
      kernels::copy_pitched(exec, static_cast<T const*>(rows), (last - first) * b.inner,
                            to + first * b.inner, n * b.inner, b.outer, (last - first) * b.inner);
    exec.fence();
  }
};
template <class I, class K, class Out, class... More>
struct Run<op::Slice<I, K, Out, More...>> {
  template <class R, class A>
  static auto run(op::Slice<I, K, Out, More...> const& op, std::source_location const& where,
                  A const& a) {
    return run_named<R, Run<op::Slice<I, K>>>(op.strict(), where, a);
  }
};
}  // namespace execute

/// Takes rows begin, begin + step, ... below end: `A[I@X, J]` -> `slice<J, Head>(a, 0, 10)` ->
/// `A[I@X, Head]`. Local; shares memory if all rows are kept, else copies. Refused: D01, D02, D03,
/// D05, D07. Error E41: not 0 <= begin <= end <= extent, or a step below 1.
///
/// Along a split dim, by a named result behind the new label: `A[I@X, J]` -> `slice<I, Head, Dim<Head>,
/// Dim<J, X>>(a, 0, 10)` -> `[Head, J@X]`. The rows are brought together and then sliced, here by an
/// all_to_all; or each rank slices its block into zeros and these are added up, which sends rows of
/// the result alone: what is predicted to be faster for the sizes. Refused: D01, D02, N05, V14, R01 to R04.
template <class I, class... Result, class A>
constexpr auto slice(A const& a, std::int64_t begin, std::int64_t end, std::int64_t step = 1,
                     checking::CallSite where = std::source_location::current()) {
  return call(op::Slice<I, Result...>{begin, end, step}, where, a);
}

}  // namespace shardtype
