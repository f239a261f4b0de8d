#pragma once
/// Objects of the operations that reorder, rename, add, split and merge dims.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <shardtype/check/elementwise.hpp>
#include <shardtype/check/operation.hpp>
#include <shardtype/rules/shape.hpp>

namespace shardtype {

namespace detail {

/// A label or a Dim, as a Dim.
template <class P>
struct DimOf {
  using type = Dim<P>;
  static constexpr bool bare = true;
};
template <class I, class... Xs>
struct DimOf<Dim<I, Xs...>> {
  using type = Dim<I, Xs...>;
  static constexpr bool bare = false;
};
template <class P>
using dim_of_t = typename DimOf<P>::type;

/// Old and new labels of pairs; an unpaired label has no new one.
template <class Old, class New, class... Rest>
struct Pairs {
  using from = Old;
  using to = New;
};
template <class... Old, class... New, class I, class K, class... Rest>
struct Pairs<Pack<Old...>, Pack<New...>, I, K, Rest...>
    : Pairs<Pack<Old..., I>, Pack<New..., K>, Rest...> {};
template <class... Old, class... New, class I>
struct Pairs<Pack<Old...>, Pack<New...>, I> : Pairs<Pack<Old..., I>, Pack<New...>> {};
template <class... Ls>
Bare<Ls...> bare_of(Pack<Ls...>);
template <class... Ls>
using Renaming = Pairs<Pack<>, Pack<>, Ls...>;

/// Static extents of labels or dims.
template <class... Ds>
constexpr std::array<std::int64_t, sizeof...(Ds)> static_extents() {
  return {Scope<Mentions<dim_of_t<Ds>>>::names.label_extent[0]...};
}

/// Error E40 unless the blocks of one dim [outer * inner] and of two [outer, inner] are the same.
constexpr void check_lines_up(ResultExtents const& c, std::int64_t outer, std::int64_t inner,
                              AxisList const& major, AxisList const& minor) {
  if (rules::lines_up(outer, inner, major, minor, c.sizes)) return;
  std::string axes;
  AxisList const all = major.plus(minor);
  for (int k = 0; k < all.size; ++k)
    axes += (k == 0 ? "" : ",") + std::string(c.names.axis_name[all[k]]) + " = " +
            std::to_string(c.sizes[all[k]]);
  ResultExtents::fail("extents " + std::to_string(outer) + " x " + std::to_string(inner) +
                          " split over " + axes + ": a block would end inside a row of " +
                          std::to_string(inner) +
                          "; all_gather an axis first, or split over another number of ranks",
                      "E40");
}

/// Work of operations that share the operand's memory.
constexpr planning::Work shared_memory() { return {0, 0, true}; }
/// Work of operations that share it if the result has the operand's memory layout.
constexpr planning::Work rearrange(planning::CallSizing const& c) {
  return {
      0, 0,
      planning::rearranged(c.layout(0), c.operands[0], c.result_layout(), c.result).contiguous()};
}

}  // namespace detail

namespace op {

/// Reorders the dims.
template <class... Ls>
struct Transpose {
  using operation = Transpose;
  using to = detail::Bare<Ls...>;
  static constexpr std::string_view name = "transpose";
  static constexpr Verdict rule(rules::Question const& q) { return rules::transpose(q.a(), q.to); }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return detail::rearrange(c);
  }
};

/// Keeps the elements at or below a diagonal of I and J, or at or above it; the others become zero.
/// Diagonal k begins at row 0 and column k.
template <class I, class J, bool Upper>
struct Triangle {
  using operation = Triangle;
  using from = detail::Bare<I, J>;
  static constexpr std::string_view name = Upper ? "triu" : "tril";
  std::int64_t diagonal = 0;
  static constexpr Verdict rule(rules::Question const& q) { return rules::masked(q); }
};
template <class I, class J>
using Tril = Triangle<I, J, false>;
template <class I, class J>
using Triu = Triangle<I, J, true>;

/// A tensor like the operand whose every element is `value`.
template <class V>
struct FullLike {
  using operation = FullLike;
  static constexpr std::string_view name = "full_like";
  static constexpr bool has_named_form = false;  ///< full<T, Dim<...>...> has any sharding
  V value{};
  static constexpr Verdict rule(rules::Question const& q) { return rules::accept(q.a()); }
  template <class A>
  static constexpr Code elements() {
    return detail::number_fits<V, element_t<A>> ? Code::ok : Code::P10_number_does_not_fit;
  }
};

/// Renames dims, in pairs of an old and a new label.
template <class... Ls>
struct Relabel {
  using operation = Relabel;
  using from = decltype(detail::bare_of(typename detail::Renaming<Ls...>::from{}));
  using to = decltype(detail::bare_of(typename detail::Renaming<Ls...>::to{}));
  static constexpr std::string_view name = "relabel";
  static constexpr Verdict rule(rules::Question const& q) { return rules::relabel(q); }
  static constexpr void extents(ResultExtents const& c) {
    for (int d = 0; d < c.a().rank; ++d) c.out[d] = c.given[0][d];
  }
  static constexpr planning::Work work(planning::CallSizing const&) {
    return detail::shared_memory();
  }
};

/// Removes dims of extent 1.
template <class... Ls>
struct Squeeze {
  using operation = Squeeze;
  using from = detail::Bare<Ls...>;
  static constexpr std::string_view name = "squeeze";
  static constexpr Verdict rule(rules::Question const& q) { return rules::squeeze(q); }
  static constexpr void extents(ResultExtents const& c) {
    for (int d = 0; d < c.a().rank; ++d)
      if (c.result.find(c.a().dims[d].label) < 0 && c.given[0][d] != 1)
        ResultExtents::fail("index " + c.name(d) + " has extent " + std::to_string(c.given[0][d]) +
                            "; squeeze takes away dims of extent 1");
  }
  static constexpr planning::Work work(planning::CallSizing const&) {
    return detail::shared_memory();
  }
};

/// Adds dims of extent 1 before the others.
template <class... Ls>
struct Expand {
  using operation = Expand;
  using to = detail::Bare<Ls...>;
  static constexpr std::string_view name = "expand";
  static constexpr Verdict rule(rules::Question const& q) { return rules::broadcast(q, true); }
  static constexpr void extents(ResultExtents const& c) {
    for (int d = 0; d < c.result.rank - c.a().rank; ++d) c.out[d] = 1;
  }
  static constexpr planning::Work work(planning::CallSizing const&) {
    return detail::shared_memory();
  }
};

/// Adds dims, of `n` rows each, before the others, along which the value is repeated.
template <class... Dims>
struct Broadcast {
  using operation = Broadcast;
  using to = Mentions<detail::dim_of_t<Dims>...>;
  static constexpr std::string_view name = "broadcast";
  std::array<std::int64_t, sizeof...(Dims)> n = detail::static_extents<Dims...>();
  static constexpr Verdict rule(rules::Question const& q) { return rules::broadcast(q, false); }
  constexpr void extents(ResultExtents const& c) const {
    for (std::size_t d = 0; d < sizeof...(Dims); ++d) c.out[d] = n[d];
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return detail::rearrange(c);
  }
};

/// Splits dim I into two, of `n` rows each, the second running fastest.
template <class I, class First, class Second>
struct SplitDim {
  using operation = SplitDim;
  using from = detail::Bare<I>;
  using to = Mentions<detail::dim_of_t<First>, detail::dim_of_t<Second>>;
  static constexpr std::string_view name = "split_dim";
  std::array<std::int64_t, 2> n = detail::static_extents<First, Second>();
  static constexpr Verdict rule(rules::Question const& q) {
    return rules::split(q, detail::DimOf<First>::bare && detail::DimOf<Second>::bare);
  }
  constexpr void extents(ResultExtents const& c) const {
    int const d = c.dim();
    if (c.product(n[0], n[1]) != c.extent())
      ResultExtents::fail("index " + c.name(d) + " has extent " + std::to_string(c.extent()) +
                          "; it cannot be split into " + std::to_string(n[0]) + " x " +
                          std::to_string(n[1]));
    c.out[d] = n[0];
    c.out[d + 1] = n[1];
    detail::check_lines_up(c, n[0], n[1], c.result.dims[d].axes, c.result.dims[d + 1].axes);
  }
  static constexpr planning::Work work(planning::CallSizing const&) {
    return detail::shared_memory();
  }
};

/// Merges two neighbouring dims into one.
template <class First, class Second, class I>
struct MergeDims {
  using operation = MergeDims;
  using from = detail::Bare<First, Second>;
  using to = detail::Bare<I>;
  static constexpr std::string_view name = "merge_dims";
  static constexpr Verdict rule(rules::Question const& q) { return rules::merge(q); }
  static constexpr void extents(ResultExtents const& c) {
    int const d = c.dim();
    std::int64_t const outer = c.given[0][d];
    std::int64_t const inner = c.given[0][d + 1];
    c.set(c.product(outer, inner));
    detail::check_lines_up(c, outer, inner, c.a().dims[d].axes, c.a().dims[d + 1].axes);
  }
  static constexpr planning::Work work(planning::CallSizing const&) {
    return detail::shared_memory();
  }
};

}  // namespace op
}  // namespace shardtype
