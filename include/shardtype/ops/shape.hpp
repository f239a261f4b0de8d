#pragma once
/// Shape operations that reorder, rename, add, split and merge dims. None of them communicates. They
/// keep what a tensor is unreduced or reduced over. Where no element moves, the result shares the
/// operand's memory.

#include <array>
#include <cstdint>

#include <shardtype/ops/shape_run.hpp>

namespace shardtype {

namespace detail {

/// Static extents of labels or dims.
template <class... Ds>
constexpr std::array<std::int64_t, sizeof...(Ds)> static_extents() {
  return {Scope<Mentions<dim_of_t<Ds>>>::names.label_extent[0]...};
}
inline constexpr auto keep_extents = [](ops::ShapeCall const&) {};
inline constexpr auto share_memory = [](auto const& run) { return run.buffer; };

}  // namespace detail

/// The dims in another order: `A[I@X, J]{U:Y}` -> `transpose<J, I>` -> `A[J, I@X]{U:Y}`. Copies the
/// local block, if it moves. Refused: D01, D07, T02. As jnp.transpose.
template <class... Ls, class A>
auto transpose(A const& a) {
  return ops::run_shape<detail::Transpose<Ls...>>(
      detail::keep_extents, [](auto const& run) { return run.rearrange(); }, a);
}

/// Other labels for the same dims, in pairs: `A[I@X, J]` -> `relabel<I, K>` -> `A[K@X, J]`;
/// `relabel<I, J, J, I>` swaps names. Shares memory. Refused: D01, D02, D06, D07. Error E20: an
/// extent that does not fit the new label.
template <class... Pairs, class A>
auto relabel(A const& a) {
  return ops::run_shape<detail::Relabel<Pairs...>>(
      [](ops::ShapeCall const& c) {
        for (int d = 0; d < c.a.rank; ++d) c.out[d] = c.extents[d];
      },
      detail::share_memory, a);
}

/// Without dims of extent 1: `A[I@X, J]` -> `squeeze<J>` -> `A[I@X]`. Shares memory. Refused: D01,
/// D03 a split dim, D06. Error E41: another extent.
template <class... Ls, class A>
auto squeeze(A const& a) {
  return ops::run_shape<detail::Squeeze<Ls...>>(
      [](ops::ShapeCall const& c) {
        for (int d = 0; d < c.a.rank; ++d)
          if (c.result.find(c.a.dims[d].label) < 0 && c.extents[d] != 1)
            c.fail("index " + c.name(d) + " has extent " + std::to_string(c.extents[d]) +
                   "; squeeze takes away dims of extent 1");
      },
      detail::share_memory, a);
}

/// New dims of extent 1 before the others: `A[I@X]` -> `expand<K>` -> `A[K, I@X]`. Shares memory.
/// Refused: D02, D06, T07.
template <class... Ls, class A>
auto expand(A const& a) {
  return ops::run_shape<detail::Expand<Ls...>>(
      [](ops::ShapeCall const& c) {
        for (int d = 0; d < c.result.rank - c.a.rank; ++d) c.out[d] = 1;
      },
      detail::share_memory, a);
}

/// New dims before the others, along which the value repeats: `A[I@X]` -> `broadcast<Dim<K, Y>>(a,
/// {n})` -> `A[K@Y, I@X]`. A new dim may be split over axes along which `a` is replicated: each rank
/// makes its own part. Extents may be left out where the labels settle them. Copies. Refused: D02,
/// T01, T07. Error E20.
template <class... Dims, class A>
auto broadcast(A const& a, std::array<std::int64_t, sizeof...(Dims)> const& extents =
                               detail::static_extents<Dims...>()) {
  return ops::run_shape<detail::Broadcast<Dims...>>(
      [&](ops::ShapeCall const& c) {
        for (std::size_t d = 0; d < sizeof...(Dims); ++d) c.out[d] = extents[d];
      },
      [](auto const& run) { return run.rearrange(); }, a);
}

/// One dim as two, the second running fastest: `A[I@(X,Y)]` -> `split<I, Dim<J, X>, Dim<K, Y>>(a,
/// {nj, nk})` -> `A[J@X, K@Y]`. The axes of I go to the parts major to minor. With bare labels,
/// `split<I, J, K>`, J gets axes until its blocks have one row, where the types settle that, else
/// all. Legal where the blocks line up: ceil(nj nk / p) == ceil(nj / p) nk at each cut through J, and
/// one row of J at most where K is cut. Shares memory. Refused: D01, D02, D06, D09, D10, B03. Errors: E40
/// blocks that do not line up, E41 a product that is not I's extent. As jnp.reshape.
template <class I, class First, class Second, class A>
auto split(A const& a,
           std::array<std::int64_t, 2> const& extents = detail::static_extents<First, Second>()) {
  return ops::run_shape<detail::Split<I, First, Second>>(
      [&](ops::ShapeCall const& c) {
        int const d = c.dim();
        if (c.product(extents[0], extents[1]) != c.extent())
          c.fail("index " + c.name(d) + " has extent " + std::to_string(c.extent()) +
                 "; it cannot be split into " + std::to_string(extents[0]) + " x " +
                 std::to_string(extents[1]));
        c.out[d] = extents[0];
        c.out[d + 1] = extents[1];
        check_lines_up(c, extents[0], extents[1], c.result.dims[d].axes, c.result.dims[d + 1].axes);
      },
      detail::share_memory, a);
}

/// Two neighbouring dims as one: `A[J@X, K@Y]` -> `merge<J, K, I>` -> `A[I@(X,Y)]`. Legal where
/// `split` back would be. Shares memory. Refused: D01, D02, D06, D08, D09, B03. Error E40.
template <class First, class Second, class I, class A>
auto merge(A const& a) {
  return ops::run_shape<detail::Merge<First, Second, I>>(
      [](ops::ShapeCall const& c) {
        int const d = c.dim();
        c.out[d] = c.product(c.extents[d], c.extents[d + 1]);
        check_lines_up(c, c.extents[d], c.extents[d + 1], c.a.dims[d].axes, c.a.dims[d + 1].axes);
      },
      detail::share_memory, a);
}

}  // namespace shardtype
