#pragma once
/// Operations that reorder, rename, add, split and merge dims: objects and functions.

#include <array>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>

#include <shardtype/check/along.hpp>
#include <shardtype/check/call.hpp>
#include <shardtype/check/elementwise.hpp>
#include <shardtype/check/misused.hpp>
#include <shardtype/rules/shape.hpp>

namespace shardtype {

namespace op {
template <class... Ls>
struct Relabel;
}  // namespace op

namespace detail {

/// A label or a Dim, as a Dim.
template <class P>
struct DimOf {
  using type = Dim<P>;
  using label = P;
  static constexpr bool bare = true;
};
template <class I, class... Xs>
struct DimOf<Dim<I, Xs...>> {
  using type = Dim<I, Xs...>;
  using label = I;
  static constexpr bool bare = false;
};
template <class P>
using dim_of_t = typename DimOf<P>::type;
/// The label of a label or a Dim.
template <class D>
using label_of_t = typename DimOf<D>::label;

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
/// Pairs the other way round.
template <class Done, class... Pairs>
struct Reversed {
  using type = Done;
};
template <class... Done, class Old, class New, class... Rest>
struct Reversed<Pack<Done...>, Old, New, Rest...> : Reversed<Pack<Done..., New, Old>, Rest...> {};
template <class... Ls>
constexpr op::Relabel<Ls...> relabel_by(Pack<Ls...>) {
  return {};
}

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

/// Work of operations that share it if the result has the operand's memory layout.
constexpr planning::Work rearrange(planning::CallSizing const& c) {
  return {
      0, 0,
      planning::rearranged(c.layout(0), c.operands[0], c.result_layout(), c.result).contiguous()};
}

}  // namespace detail

namespace op {

template <class... Ls>
struct Expand;
template <class... Dims>
struct Broadcast;
template <class First, class Second, class I>
struct MergeDims;

/// Reorders the dims.
template <class... Ls>
struct Transpose {
  using operation = Transpose;
  using gradient = Pulls;
  using to = detail::Bare<Ls...>;
  static constexpr std::string_view name = "transpose";
  static constexpr Verdict rule(rules::Question const& q) { return rules::transpose(q.a(), q.to); }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return detail::rearrange(c);
  }
  auto block(auto const& run) const { return run.rearrange(); }
  constexpr auto pull(auto const& g) const { return g.in_order(g.ct); }
};

/// Keeps the elements at or below a diagonal of I and J, or at or above it; the others become zero.
/// Diagonal k begins at row 0 and column k.
template <class I, class J, bool Upper>
struct Triangle {
  using operation = Triangle;
  using from = detail::Bare<I, J>;
  static constexpr std::string_view name = Upper ? "triu" : "tril";
  static constexpr bool reads_places = true;
  std::int64_t diagonal = 0;
  static constexpr Verdict rule(rules::Question const& q) { return rules::masked(q); }
  auto block(auto const& run) const {
    return run.triangle(run.call.from().dims[0].label, run.call.from().dims[1].label, diagonal,
                        Upper);
  }
  constexpr Triangle transposed() const { return *this; }
};
template <class I, class J>
using Tril = Triangle<I, J, false>;
template <class I, class J>
using Triu = Triangle<I, J, true>;

/// The diagonal of I and J: row i of dim I is the element at index i along both; J goes.
template <class I, class J>
struct Diagonal {
  using operation = Diagonal;
  using gradient = PullsByExtents;
  using from = detail::Bare<I, J>;
  static constexpr std::string_view name = "diagonal";
  static constexpr bool sums_parts = true;  ///< a rank has zeros for elements that it lacks
  static constexpr bool reads_places = true;
  /// Ranks that do not hold an element have zero for it: over the axes of J the result is
  /// unreduced.
  static constexpr Verdict rule(rules::Question const& q) {
    if (Verdict v = rules::has_all(q.a(), q.from); !v) return v;
    if (Verdict v = rules::in_blocks(q.a(), q.from); !v) return v;
    Spec out = q.a();
    out.rank = 0;
    for (int d = 0; d < q.a().rank; ++d) {
      auto const& [label, axes] = q.a().dims[d];
      if (label != q.from.dims[1].label) {
        out.add(label, axes);
        continue;
      }
      if (axes.size > 0 && !q.a().unreduced.empty() && q.a().kind != detail::joining(q))
        return rules::refuse(Code::I07_other_kind, label, -1, axes[0]);
      out.unreduced = out.unreduced | axes.set();
      if (axes.size > 0) out.kind = detail::joining(q);
    }
    return rules::accept(out);
  }
  static constexpr void extents(ResultExtents const& c) {
    c.carry();
    int const j = c.a().find(c.from().dims[1].label);
    if (c.extent() > c.given[0][j])
      ResultExtents::fail("index " + c.name() + " has extent " + std::to_string(c.extent()) +
                          ", more than the " + std::to_string(c.given[0][j]) + " of index " +
                          c.name(j) + "; write the longer index of a diagonal last");
  }
  /// Where J is split, what the rank holds is copied on its own first.
  static constexpr planning::Work work(planning::CallSizing const& c) {
    bool const all = c.result.unreduced == c.operands[0].unreduced;
    return {0, all ? 0 : mul_sat(c.result_elements(), c.element_bytes(0)), false};
  }
  auto block(auto const& run) const {
    return run.diagonal(run.call.from().dims[0].label, run.call.from().dims[1].label);
  }
  /// Zeros beside the diagonal.
  template <class G>
  constexpr auto pull(G const& g) const {
    return g.in_order(
        g.call(Triangle<I, J, true>{},
               g.call(Triangle<I, J, false>{},
                      g(Broadcast<typename G::template dim<J>>{{g.template rows<J>()}}))));
  }
};

/// A tensor like the operand whose every element is `value`.
template <class V>
struct FullLike {
  using operation = FullLike;
  using gradient = Constant;
  static constexpr std::string_view name = "full_like";
  static constexpr bool has_named_form = false;  ///< full<T, Dim<...>...> has any sharding
  V value{};
  static constexpr Verdict rule(rules::Question const& q) { return rules::accept(q.a()); }
  template <class A>
  static constexpr Code elements() {
    return detail::number_fits<V, element_t<A>> ? Code::ok : Code::P10_number_does_not_fit;
  }
  template <class R, class A>
  typename R::result run(std::source_location const& where, A const& a) const;
};

/// Renames dims, in pairs of an old and a new label.
template <class... Ls>
struct Relabel {
  using operation = Relabel;
  static constexpr bool shares_memory = true;
  using from = decltype(detail::bare_of(typename detail::Renaming<Ls...>::from{}));
  using to = decltype(detail::bare_of(typename detail::Renaming<Ls...>::to{}));
  static constexpr std::string_view name = "relabel";
  static constexpr Verdict rule(rules::Question const& q) { return rules::relabel(q); }
  static constexpr void extents(ResultExtents const& c) {
    for (int d = 0; d < c.a().rank; ++d) c.out[d] = c.given[0][d];
  }
  static constexpr auto transposed() {
    return detail::relabel_by(typename detail::Reversed<detail::Pack<>, Ls...>::type{});
  }
};

/// Removes dims of extent 1.
template <class... Ls>
struct Squeeze {
  using operation = Squeeze;
  static constexpr bool shares_memory = true;
  using gradient = Pulls;
  using from = detail::Bare<Ls...>;
  static constexpr std::string_view name = "squeeze";
  static constexpr Verdict rule(rules::Question const& q) { return rules::squeeze(q); }
  static constexpr void extents(ResultExtents const& c) {
    for (int d = 0; d < c.a().rank; ++d)
      if (c.result.find(c.a().dims[d].label) < 0 && c.given[0][d] != 1)
        ResultExtents::fail("index " + c.name(d) + " has extent " + std::to_string(c.given[0][d]) +
                            "; squeeze takes away dims of extent 1");
  }
  constexpr auto pull(auto const& g) const { return g.in_order(g(Expand<Ls...>{})); }
};

/// Adds dims of extent 1 before the others.
template <class... Ls>
struct Expand {
  using operation = Expand;
  static constexpr bool shares_memory = true;
  using to = detail::Bare<Ls...>;
  static constexpr std::string_view name = "expand";
  static constexpr Verdict rule(rules::Question const& q) { return rules::broadcast(q, true); }
  static constexpr void extents(ResultExtents const& c) {
    for (int d = 0; d < c.result.rank - c.a().rank; ++d) c.out[d] = 1;
  }
  constexpr Squeeze<Ls...> transposed() const { return {}; }
};

/// Adds dims, of `n` rows each, before the others, along which the value is repeated.
template <class... Dims>
struct Broadcast {
  using operation = Broadcast;
  using gradient = Pulls;
  using to = Mentions<detail::dim_of_t<Dims>...>;
  static constexpr std::string_view name = "broadcast";
  static constexpr bool makes_parts = true;
  static constexpr bool reads_places = true;  ///< how many rows a rank makes
  std::array<std::int64_t, sizeof...(Dims)> n = detail::static_extents<Dims...>();
  static constexpr Verdict rule(rules::Question const& q) { return rules::broadcast(q, false); }
  constexpr void extents(ResultExtents const& c) const {
    for (std::size_t d = 0; d < sizeof...(Dims); ++d) c.out[d] = n[d];
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return detail::rearrange(c);
  }
  auto block(auto const& run) const { return run.rearrange(); }
  constexpr auto pull(auto const& g) const { return g.unbroadcast(); }
};

/// Splits dim I into two, of `n` rows each, the second running fastest.
template <class I, class First, class Second>
struct SplitDim {
  using operation = SplitDim;
  static constexpr bool shares_memory = true;
  using from = detail::Bare<I>;
  using to = Mentions<detail::dim_of_t<First>, detail::dim_of_t<Second>>;
  static constexpr std::string_view name = "split_dim";
  using aligned = detail::Pack<I, detail::label_of_t<First>>;
  using tail = detail::label_of_t<Second>;
  static constexpr bool reads_places = true;  ///< how many rows a rank has
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
  constexpr auto transposed() const {
    return MergeDims<detail::label_of_t<First>, detail::label_of_t<Second>, I>{};
  }
};

/// Merges two neighbouring dims into one.
template <class First, class Second, class I>
struct MergeDims {
  using operation = MergeDims;
  static constexpr bool shares_memory = true;
  using gradient = PullsByExtents;
  using from = detail::Bare<First, Second>;
  using to = detail::Bare<I>;
  static constexpr std::string_view name = "merge_dims";
  using aligned = detail::Pack<First, I>;
  using tail = Second;
  static constexpr bool reads_places = true;  ///< how many rows a rank has
  static constexpr Verdict rule(rules::Question const& q) { return rules::merge(q); }
  static constexpr void extents(ResultExtents const& c) {
    int const d = c.dim();
    std::int64_t const outer = c.given[0][d];
    std::int64_t const inner = c.given[0][d + 1];
    c.set(c.product(outer, inner));
    detail::check_lines_up(c, outer, inner, c.a().dims[d].axes, c.a().dims[d + 1].axes);
  }
  template <class G>
  constexpr auto pull(G const& g) const {
    return g(SplitDim<I, typename G::template dim<First>, typename G::template dim<Second>>{
        {g.template rows<First>(), g.template rows<Second>()}});
  }
};

}  // namespace op
namespace api {

/// Reorders the dims: `A[I@X, J]{U:Y}` -> `transpose<J, I>` -> `A[J, I@X]{U:Y}`. Local; copies the
/// block if its elements move. Refused: D01, D07, T02. As jnp.transpose.
template <class... Ls, class A>
constexpr auto transpose(core::Argument<A> const& a, checking::CallSite where = {}) {
  return api::call(op::Transpose<Ls...>{}, where, a.self());
}

/// Renames dims, in pairs: `A[I@X, J]` -> `relabel<I, K>` -> `A[K@X, J]`; `relabel<I, J, J, I>`
/// swaps names. Local; shares memory. Refused: D01, D02, D06, D07. Error E20: an extent that does
/// not fit the new label.
template <class... Pairs, class A>
constexpr auto relabel(core::Argument<A> const& a, checking::CallSite where = {}) {
  return api::call(op::Relabel<Pairs...>{}, where, a.self());
}

/// Removes dims of extent 1: `A[I@X, J]` -> `squeeze<J>` -> `A[I@X]`. Local; shares memory.
/// Refused: D01, D03 a split dim, D06. Error E41: another extent.
template <class... Ls, class A>
constexpr auto squeeze(core::Argument<A> const& a, checking::CallSite where = {}) {
  return api::call(op::Squeeze<Ls...>{}, where, a.self());
}

/// Adds dims of extent 1 before the others: `A[I@X]` -> `expand<K>` -> `A[K, I@X]`. Local; shares
/// memory. Refused: D02, D06, T07.
template <class... Ls, class A>
constexpr auto expand(core::Argument<A> const& a, checking::CallSite where = {}) {
  return api::call(op::Expand<Ls...>{}, where, a.self());
}

/// Adds dims before the others, along which the value is repeated: `A[I@X]` -> `broadcast<Dim<K,
/// Y>>(a, {n})` -> `A[K@Y, I@X]`. A new dim may be split over axes along which `a` is replicated
/// or reduced: each rank creates its own part, `[I]{R:X}` -> `broadcast<Dim<K, X>>` -> `[K@X, I]`.
/// Extents may be left out where the labels have static ones. Local; copies. Refused: D02, T01,
/// T07. Error E20.
template <class... Dims, class A>
constexpr auto broadcast(
    core::Argument<A> const& a,
    std::array<std::int64_t, sizeof...(Dims)> const& extents = detail::static_extents<Dims...>(),
    checking::CallSite where = {}) {
  return api::call(op::Broadcast<Dims...>{extents}, where, a.self());
}

/// Splits one dim into two, the second running fastest: `A[I@(X,Y)]` -> `split_dim<I, Dim<J, X>,
/// Dim<K, Y>>(a, {nj, nk})` -> `A[J@X, K@Y]`. The axes of I are assigned to J and K from major to
/// minor. With bare labels, `split_dim<I, J, K>`, J gets axes until its blocks have one row, if the
/// types determine that, else all axes. Legal if the blocks line up: ceil(nj nk / p) == ceil(nj /
/// p) nk at each cut through J, and at most one row of J per block where K is cut. Local; shares
/// memory. Refused: D01, D02, D06, D09, D10, B03. Errors: E40 blocks that do not line up, E41 a
/// product that is not I's extent. As jnp.reshape.
template <class I, class First, class Second, class A>
constexpr auto split_dim(
    core::Argument<A> const& a,
    std::array<std::int64_t, 2> const& extents = detail::static_extents<First, Second>(),
    checking::CallSite where = {}) {
  return api::call(op::SplitDim<I, First, Second>{extents}, where, a.self());
}

/// Merges two neighbouring dims into one: `A[J@X, K@Y]` -> `merge_dims<J, K, I>` -> `A[I@(X,Y)]`.
/// Legal if the inverse `split_dim` is. Local; shares memory. Refused: D01, D02, D06, D08, D09,
/// B03. Error E40.
template <class First, class Second, class I, class A>
constexpr auto merge_dims(core::Argument<A> const& a, checking::CallSite where = {}) {
  return api::call(op::MergeDims<First, Second, I>{}, where, a.self());
}

/// The lower triangle: `A[I@X, J@Y]` -> `tril<I, J>(a)` -> `A[I@X, J@Y]` keeps the elements whose
/// index along J is at most their index along I plus `diagonal`; the others become zero. I and J
/// are rows and columns at any position among the dims, split, block-cyclic or not; other dims are
/// batch dims. Local. Refused: D01 an index that `a` lacks. As jnp.tril.
template <class I, class J, class A>
constexpr auto tril(core::Argument<A> const& a, std::int64_t diagonal = 0,
                    checking::CallSite where = {}) {
  return api::call(op::Tril<I, J>{diagonal}, where, a.self());
}

/// The upper triangle, as tril: keeps the elements whose index along J is at least their index
/// along I plus `diagonal`. As jnp.triu.
template <class I, class J, class A>
constexpr auto triu(core::Argument<A> const& a, std::int64_t diagonal = 0,
                    checking::CallSite where = {}) {
  return api::call(op::Triu<I, J>{diagonal}, where, a.self());
}

/// The diagonal of I and J, whose row i is the element at index i along both: `A[I@X, J, B]` ->
/// `diagonal<I, J>(a)` -> `[I@X, B]`. I has no more rows than J; they are at any position among the
/// dims. Local; copies. If J is split each rank has the elements that it holds, and zeros:
/// `A[I@X, J@Y]` -> `[I@X]{U:Y}`, nothing sent. Refused: D01, T02, B03, I07 along a split J of an
/// unreduced maximum or minimum. Error E41: more rows of I than of J. As jnp.diagonal.
template <class I, class J, class A>
constexpr auto diagonal(core::Argument<A> const& a, checking::CallSite where = {}) {
  return api::call(op::Diagonal<I, J>{}, where, a.self());
}

// Everyday mistakes (check/misused.hpp).
SHARDTYPE_NOT_BY_NUMBER(transpose)
SHARDTYPE_NOT_BY_NUMBER(relabel)
SHARDTYPE_NOT_BY_NUMBER(squeeze)
SHARDTYPE_NOT_BY_NUMBER(expand)
SHARDTYPE_NOT_WITHOUT_INDEX(split_dim)
SHARDTYPE_NOT_WITHOUT_INDEX(merge_dims)
SHARDTYPE_NOT_WITHOUT_INDEX(tril)
SHARDTYPE_NOT_WITHOUT_INDEX(triu)
SHARDTYPE_NOT_WITHOUT_INDEX(diagonal)
// Refused, D23: `split_dim<I, J>(a, {24})`. Of three and more parts: ops/reshape.hpp.
template <class I, class... Parts>
  requires(sizeof...(Parts) < 2)
constexpr auto split_dim(checking::Anything const&, checking::Anything const& = {}) {
  checking::refused<rules::Code::D23_two_parts, false, I, Parts...>{};
  return checking::Poisoned{};
}
template <class I, class... Parts>
  requires(sizeof...(Parts) < 2)
constexpr auto merge_dims(checking::Anything const&, checking::Anything const& = {}) {
  checking::refused<rules::Code::D23_two_parts, false, I, Parts...>{};
  return checking::Poisoned{};
}

}  // namespace api

}  // namespace shardtype
