#pragma once
/// Products of groups of rows, as operations.

#include <cstdint>
#include <string>
#include <string_view>

#include <shardtype/check/along.hpp>
#include <shardtype/check/call.hpp>
#include <shardtype/nn/types_norm.hpp>
#include <shardtype/ops/indexing.hpp>

namespace shardtype {

namespace rules {

/// `out` with the axes over which the factors `a` and `b` of a product are unreduced or reduced.
constexpr Verdict factor_states(Spec out, Spec const& a, Spec const& b) {
  for (int x = 0; x < max_axes; ++x) {
    if (a.unreduced.contains(x) && b.unreduced.contains(x))
      return refuse(Code::P04_not_linear, -1, -1, x);
    if (a.unreduced.contains(x) || b.unreduced.contains(x)) {
      Spec const& other = a.unreduced.contains(x) ? b : a;
      if (other.dim_of(x) >= 0 || out.dim_of(x) >= 0)
        return refuse(Code::P06_unreduced_and_split, -1, -1, x);
      out.unreduced.insert(x);
    } else if ((a.reduced.contains(x) || b.reduced.contains(x)) && out.dim_of(x) < 0 &&
               !out.unreduced.contains(x)) {
      out.reduced.insert(x);
    }
  }
  return accept(out);
}
/// Numbers of rows per group: `[E@X]`, split as the rows, or `[P@X, E]`, of all groups for each
/// rank of the rows' axes. Returns the axes that split the groups in `groups`.
constexpr Verdict group_sizes(Spec const& sizes, AxisList const& rows, int rows_label,
                              AxisList& groups) {
  if (sizes.rank != 1 && sizes.rank != 2) return refuse(Code::D18_rows_and_groups, rows_label);
  DimSpec const& e = sizes.dims[sizes.rank - 1];
  groups = e.axes;
  for (int x = 0; x < max_axes; ++x)
    if (sizes.unreduced.contains(x)) return refuse(Code::I02_ids_unreduced, -1, -1, x);
  if (rows.cyclic != 0) return refuse(Code::B03_through_cyclic, rows_label, -1, rows[0]);
  if (!(sizes.dims[0].axes == rows))
    return refuse(Code::D18_rows_and_groups, rows_label, sizes.dims[0].label,
                  rows.size > 0 ? rows[0] : sizes.dims[0].axes[0]);
  if (sizes.rank == 2 && e.axes.size > 0)
    return refuse(Code::D18_rows_and_groups, e.label, -1, e.axes[0]);
  return accept(sizes);
}
/// a[S@X, D], w[E@X, D, F] and sizes: [S@X, F], a sum over the axes that split D.
constexpr Verdict ragged_dot(Question const& q) {
  Spec const& a = q.a();
  Spec const& w = q.operands[1];
  Spec const& sizes = q.operands[2];
  int const along = q.along();
  if (a.find(along) < 0) return refuse(Code::D01_no_such_index, along);
  if (a.rank != 2 || a.dims[1].label != along) return refuse(Code::D18_rows_and_groups, along);
  if (w.rank != 3 || w.find(along) < 0) return refuse(Code::D18_rows_and_groups, along);
  AxisList groups;
  if (Verdict v = group_sizes(sizes, a.dims[0].axes, a.dims[0].label, groups); !v) return v;
  int const e = w.find(sizes.dims[sizes.rank - 1].label);
  if (e < 0 || !(w.dims[e].axes == groups) || w.find(a.dims[0].label) >= 0)
    return refuse(Code::D18_rows_and_groups, sizes.dims[sizes.rank - 1].label);
  AxisList const& inner = a.dims[1].axes;
  if (!(inner == w.dims[w.find(along)].axes)) return refuse(Code::D18_rows_and_groups, along);
  Spec out;
  out.add(a.dims[0].label, a.dims[0].axes);
  for (int d = 0; d < 3; ++d)
    if (w.dims[d].label != along && d != e) out.add(w.dims[d].label, w.dims[d].axes);
  for (DimSpec const& dim : {out.dims[1], a.dims[1]})
    if (dim.axes.cyclic != 0) return refuse(Code::B03_through_cyclic, dim.label, -1, dim.axes[0]);
  for (int k = 0; k < out.dims[1].axes.size; ++k)
    if (out.dims[0].axes.contains(out.dims[1].axes[k]))
      return refuse(Code::C04_axis_splits_two, -1, -1, out.dims[1].axes[k]);
  Verdict v = factor_states(out, a, w);
  if (!v) return v;
  for (int k = 0; k < inner.size; ++k) v.result.unreduced.insert(inner[k]);
  return v;
}
/// a[S@X, D], c[S@X, F] and sizes: for each group the product of its rows, with the dims of `from`,
/// E, D and F in any order. Over axes that split S but not E it is a sum.
constexpr Verdict ragged_outer(Question const& q) {
  Spec const& a = q.a();
  Spec const& c = q.operands[1];
  if (a.rank != 2 || c.rank != 2 || !(a.dims[0] == c.dims[0]))
    return refuse(Code::D18_rows_and_groups, a.dims[0].label);
  AxisList groups;
  if (Verdict v = group_sizes(q.operands[2], a.dims[0].axes, a.dims[0].label, groups); !v) return v;
  DimSpec const e = q.operands[2].dims[q.operands[2].rank - 1];
  Spec out;
  for (int d = 0; d < q.from.rank; ++d) {
    int const label = q.from.dims[d].label;
    DimSpec const* found = nullptr;
    for (DimSpec const* dim : {&a.dims[1], &c.dims[1], &e})
      if (dim->label == label) found = dim;
    if (found == nullptr) return refuse(Code::D18_rows_and_groups, label);
    out.add(label, found->axes);
  }
  for (int x = 0; x < max_axes; ++x)
    if (a.dims[1].axes.contains(x) && c.dims[1].axes.contains(x))
      return refuse(Code::C04_axis_splits_two, -1, -1, x);
  Verdict v = factor_states(out, a, c);
  if (!v) return v;
  for (int k = 0; k < a.dims[0].axes.size; ++k) {
    int const x = a.dims[0].axes[k];
    if (!groups.contains(x)) v.result.unreduced.insert(x), v.result.reduced.erase(x);
  }
  return v;
}

}  // namespace rules

namespace nn::detail {

/// Elements: numbers of one floating type, and integers.
template <class Ids, class A, class... Bs>
constexpr rules::Code grouped_elements() {
  if (rules::Code const c = detail::real_elements<A, Bs...>(); c != rules::Code::ok) return c;
  if (!shardtype::detail::is_id<checking::element_t<Ids>>) return rules::Code::I01_not_integers;
  return shardtype::detail::same_memory<A, Ids> ? rules::Code::ok
                                                : rules::Code::C10_element_types_differ;
}
/// Error E24 where an index has two extents among the operands.
constexpr void check_operands(ResultExtents const& c) {
  for (int k = 1; k < c.count; ++k)
    for (int d = 0; d < c.operand(k).rank; ++d)
      for (int other = 0; other < k; ++other) {
        int const e = c.operand(other).find(c.operand(k).dims[d].label);
        if (e >= 0 && c.given[k][d] != c.given[other][e])
          ResultExtents::fail(
              "index " + std::string(c.names.label_name[c.operand(k).dims[d].label]) +
                  " has extent " + std::to_string(c.given[k][d]) + " in one operand, and " +
                  std::to_string(c.given[other][e]) + " in another",
              "E24");
      }
}
}  // namespace nn::detail

namespace op {

/// Row s of the result is row s of `a` times the matrix of the group that the row is in.
template <class D>
struct RaggedDot {
  using operation = RaggedDot;
  using gradient = checking::PullsBySaved;
  using from = shardtype::detail::Bare<D>;
  static constexpr std::string_view name = "ragged_dot";
  static constexpr bool sums_parts = true;  ///< over features
  static constexpr bool operands_meet = true;
  static constexpr Verdict rule(rules::Question const& q) { return rules::ragged_dot(q); }
  template <class A, class W, class Ids>
  static constexpr Code elements() {
    return nn::detail::grouped_elements<Ids, A, W>();
  }
  constexpr void extents(ResultExtents const& c) const { nn::detail::check_operands(c); }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return {mul_sat(mul_sat(2, c.result_elements()), c.rows(0, 1)), 0, false};
  }
  template <class Out, class A, class W, class Ids>
  void fill(Out& out, A const& a, W const& w, Ids const& sizes) const;
  template <class V, class A, class W, class Ids>
  constexpr auto save(V const&, A const& a, W const& w, Ids const& sizes) const;
  template <class G>
  constexpr auto pull(G const& g) const;
};
/// The gradient of the matrices `[L0, L1, L2]`, of `a[S, D]`, `c[S, F]` and sizes.
template <class L0, class L1, class L2>
struct RaggedOuter {
  using operation = RaggedOuter;
  using gradient = checking::PullsBySaved;
  using from = shardtype::detail::Bare<L0, L1, L2>;
  static constexpr std::string_view name = "ragged_outer";
  static constexpr Verdict rule(rules::Question const& q) { return rules::ragged_outer(q); }
  template <class A, class C, class Ids>
  static constexpr Code elements() {
    return nn::detail::grouped_elements<Ids, A, C>();
  }
  constexpr void extents(ResultExtents const& c) const { nn::detail::check_operands(c); }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return {mul_sat(mul_sat(2, c.elements(0)), c.rows(1, 1)), 0, false};
  }
  template <class Out, class A, class C, class Ids>
  void fill(Out& out, A const& a, C const& c, Ids const& sizes) const;
  template <class V, class A, class C, class Ids>
  constexpr auto save(V const&, A const& a, C const& c, Ids const& sizes) const;
  template <class G>
  constexpr auto pull(G const& g) const;
};

}  // namespace op

}  // namespace shardtype
