#pragma once
/// Shape operations along one dim that is not split. None of them communicates; along a split dim
/// they are refused (D03, D04; B03 where it is dealt out in turns). An operation that changes an extent
/// takes a new label for it, `slice<I, Head>`, and must where the label settles the extent (D05). They
/// keep what a tensor is unreduced or reduced over.

#include <cstdint>
#include <string>

#include <shardtype/ops/shape_run.hpp>

namespace shardtype {

namespace detail {

/// The type of a pad value for `A`; any, where A is no tensor.
template <class A>
struct ElementOr {
  using type = double;
};
template <class A>
  requires(is_tensor<A>)
struct ElementOr<A> {
  using type = element_t<A>;
};
template <class A>
using element_or_t = typename ElementOr<A>::type;

inline void set_extent(ops::ShapeCall const& c, std::int64_t n) { c.out[c.dim()] = n; }

inline void check_amount(ops::ShapeCall const& c, char const* what, std::int64_t n) {
  if (n < 0)
    c.fail("index " + c.name(c.dim()) + ": " + what + " is " + std::to_string(n) +
           "; it is not negative");
}

template <class Op, class A, class V>
auto padded(A const& a, std::int64_t before, std::int64_t after, V value) {
  return ops::run_shape<Op>(
      [&](ops::ShapeCall const& c) {
        check_amount(c, "the pad before it", before);
        check_amount(c, "the pad after it", after);
        set_extent(c, c.sum(c.sum(before, c.extent()), after));
      },
      [&](auto const& run) { return run.pad(before, value); }, a);
}

/// Concatenation needs equal extents elsewhere; E23 and E24 as for every operation.
template <class A, class B>
void check_beside(A const& a, B const& b, int along, Names const& names) {
  check_one_mesh(a.mesh(), b.mesh());
  for (int d = 0; d < A::spec.rank; ++d) {
    auto const k = static_cast<std::size_t>(d);
    if (d == along || a.extents()[k] == b.extents()[k]) continue;
    throw Error("E24",
                "index " + std::string(names.label_name[A::spec.dims[d].label]) + " has extent " +
                    std::to_string(b.extents()[k]) + " in one operand, elsewhere " +
                    std::to_string(a.extents()[k]),
                FailedOn::every_rank);
  }
}

/// What concat and stack ask their operands; functions, so that one that is no tensor is not asked.
template <class A>
std::int64_t extent_at(A const& a, int d) {
  return a.extents()[static_cast<std::size_t>(d)];
}
template <class A, class Run>
void const* memory_of_operand(A const& a, Run const& /*its type defers the call*/) {
  return a.buffer().data();
}

}  // namespace detail

/// Rows begin, begin + step, ... below end: `A[I@X, J]` -> `slice<J, Head>(a, 0, 10)` -> `A[I@X,
/// Head]`. Shares memory when it keeps all, else copies. Refused: D01, D02, D03, D05, D07. Error E41:
/// not 0 <= begin <= end <= extent, or a step below 1.
template <class I, class... Result, class A>
auto slice(A const& a, std::int64_t begin, std::int64_t end, std::int64_t step = 1) {
  return ops::run_shape<detail::Along<rules::Shape::slice, I, Result...>>(
      [&](ops::ShapeCall const& c) {
        if (begin < 0 || end < begin || end > c.extent() || step < 1)
          c.fail("index " + c.name(c.dim()) + " has extent " + std::to_string(c.extent()) +
                 "; there is no slice from " + std::to_string(begin) + " to " +
                 std::to_string(end) + " in steps of " + std::to_string(step));
        detail::set_extent(c, ceil_div(end - begin, step));
      },
      [&](auto const& run) { return run.slice(begin, step); }, a);
}

/// `before` and `after` rows of zeros around dim I: `A[I@X, J]{U:Y}` -> `pad<J>(a, 1, 1)`. Refused:
/// D01, D02, D03, D05, D07. Error E41: a negative amount. As jnp.pad.
template <class I, class... Result, class A>
auto pad(A const& a, std::int64_t before, std::int64_t after) {
  return detail::padded<detail::Along<rules::Shape::pad_zero, I, Result...>>(
      a, before, after, detail::element_or_t<A>{});
}
/// The same with another value. A tensor that owes a sum is refused (D11): every summand would have
/// the value. One that owes a maximum or minimum is not: every candidate has it.
template <class I, class... Result, class A>
auto pad(A const& a, std::int64_t before, std::int64_t after, detail::element_or_t<A> value) {
  return detail::padded<detail::Along<rules::Shape::pad_value, I, Result...>>(a, before, after,
                                                                              value);
}

/// Each row `times` times in a row, as np.repeat. Copies. Refused: D01, D02, D03, D05, D07. Error E41:
/// a negative number.
template <class I, class... Result, class A>
auto repeat(A const& a, std::int64_t times) {
  return ops::run_shape<detail::Along<rules::Shape::repeat, I, Result...>>(
      [&](ops::ShapeCall const& c) {
        detail::check_amount(c, "the number of repeats", times);
        detail::set_extent(c, c.product(c.extent(), times));
      },
      [&](auto const& run) { return run.repeat(times); }, a);
}

/// All rows `times` times, as np.tile. Copies. Refusals and errors as repeat.
template <class I, class... Result, class A>
auto tile(A const& a, std::int64_t times) {
  return ops::run_shape<detail::Along<rules::Shape::tile, I, Result...>>(
      [&](ops::ShapeCall const& c) {
        detail::check_amount(c, "the number of tiles", times);
        detail::set_extent(c, c.product(c.extent(), times));
      },
      [&](auto const& run) { return run.tile(times); }, a);
}

/// The rows in reverse order. Copies. Refused: D01, D03.
template <class I, class A>
auto flip(A const& a) {
  return ops::run_shape<detail::Along<rules::Shape::flip, I>>(
      [](ops::ShapeCall const&) {}, [](auto const& run) { return run.flip(); }, a);
}

/// Row i of the result is row (i - n) mod extent. Copies. Refused: D01, D04 along a split dim, where
/// `shift<I>(a, n, Edge::wrap)` does it. As jnp.roll.
template <class I, class A>
auto roll(A const& a, std::int64_t n) {
  return ops::run_shape<detail::Along<rules::Shape::roll, I>>(
      [](ops::ShapeCall const&) {}, [&](auto const& run) { return run.roll(n); }, a);
}

/// One behind the other along I: `A[I@X, J]`, `B[I@X, J]` -> `concat<J>(a, b)` -> `[I@X, J]`. The
/// operands are split alike and unreduced alike; one that is reduced makes the result reduced.
/// Copies. Refused: C10, D01, D02, D03, D05, D06, D07, D12, D13. Errors: E23, E24, E41.
template <class I, class... Result, class A, class... Bs>
auto concat(A const& a, Bs const&... bs) {
  return ops::run_shape<detail::Along<rules::Shape::concat, I, Result...>>(
      [&](auto const& c) {
        (detail::check_beside(a, bs, c.dim(), c.names), ...);
        std::int64_t n = c.extent();
        ((n = c.sum(n, detail::extent_at(bs, c.dim()))), ...);
        detail::set_extent(c, n);
      },
      [&](auto const& run) {
        int const d = run.call.dim();
        void const* const blocks[] = {run.data, detail::memory_of_operand(bs, run)...};
        std::int64_t const rows[] = {run.call.extent(), detail::extent_at(bs, d)...};
        return run.join(blocks, rows, 1 + static_cast<int>(sizeof...(Bs)), d);
      },
      a, bs...);
}

/// One beside the other along a new dim before the others: `A[I@X]`, `B[I@X]` -> `stack<K>(a, b)` ->
/// `[K, I@X]`. As concat. Refused: C10, D02, D06, D12, D13, T07. Errors: E23, E24.
template <class K, class A, class... Bs>
auto stack(A const& a, Bs const&... bs) {
  return ops::run_shape<detail::Stack<K>>(
      [&](auto const& c) {
        (detail::check_beside(a, bs, -1, c.names), ...);
        c.out[0] = 1 + static_cast<std::int64_t>(sizeof...(Bs));
      },
      [&](auto const& run) {
        void const* const blocks[] = {run.data, detail::memory_of_operand(bs, run)...};
        std::int64_t const rows[] = {1, (static_cast<void>(bs), std::int64_t{1})...};
        return run.join(blocks, rows, 1 + static_cast<int>(sizeof...(Bs)), 0);
      },
      a, bs...);
}

}  // namespace shardtype
