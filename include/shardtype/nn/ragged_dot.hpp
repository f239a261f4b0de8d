#pragma once
/// Products of groups of rows, each with a matrix of its own.

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/check/along.hpp>
#include <shardtype/check/call.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/execute/lookup.hpp>
#include <shardtype/kernels/product.hpp>
#include <shardtype/nn/norm.hpp>
#include <shardtype/ops/indexing.hpp>
#include <shardtype/runtime/copy_bytes.hpp>

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
/// Numbers of rows per group: `[E@X]`, split as the rows, or `[P@X, E]`, of all groups for each rank of the rows' axes.
/// Returns the axes that split the groups in `groups`.
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
/// a[S@X, D], c[S@X, F] and sizes: for each group the product of its rows, with the dims of `from`, E, D and F in any
/// order. Over axes that split S but not E it is a sum.
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

/// Elements: numbers of one floating type, and integers last.
template <class A, class B, class Ids>
constexpr rules::Code grouped_elements() {
  if (rules::Code const c = real_elements<A, B>(); c != rules::Code::ok) return c;
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
/// The block of a tensor of integers, on the host.
template <class A>
std::vector<std::int64_t> on_host(A const& a) {
  using T = typename A::element;
  std::int64_t n = 1;
  for (std::size_t d = 0; d < A::rank; ++d) n *= a.rows()[d].size();
  std::vector<T> own(static_cast<std::size_t>(n));
  if (n > 0)
    runtime::copy_bytes<Kokkos::HostSpace, typename A::memory_space>(own.data(), a.buffer().data(),
                                                                     own.size() * sizeof(T));
  return {own.begin(), own.end()};
}
/// The block with a number for each label: in the order of its dims, `labels`.
template <class T, class A>
shardtype::kernels::Labelled<T> numbered(A const& a, std::int8_t const (&labels)[A::rank]) {
  shardtype::kernels::Labelled<T> out;
  out.layout = shardtype::detail::block_layout(a.rows());
  for (std::size_t d = 0; d < A::rank; ++d) out.label[d] = labels[d];
  out.data = execute::data_of(a);
  return out;
}
/// Rows `n` of dim `d` from `begin` on; `drop`: without the dim, of one row.
template <class T>
shardtype::kernels::Labelled<T> part(shardtype::kernels::Labelled<T> x, int d, std::int64_t begin,
                                     std::int64_t n, bool drop = false) {
  x.data += begin * x.layout.stride[d];
  x.layout.extent[d] = n;
  if (!drop) return x;
  for (int k = d; k + 1 < x.layout.rank; ++k) {
    x.layout.extent[k] = x.layout.extent[k + 1];
    x.layout.stride[k] = x.layout.stride[k + 1];
    x.label[k] = x.label[k + 1];
  }
  --x.layout.rank;
  return x;
}
/// Calls `each(group, first row, rows)` for the groups of a block of `rows` rows. Error E41: sizes below 0, or more
/// rows than there are.
template <class Each>
void each_group(std::vector<std::int64_t> const& sizes, std::int64_t rows, Each const& each) {
  std::int64_t at = 0;
  for (std::size_t g = 0; g < sizes.size(); ++g) {
    std::int64_t const n = sizes[g];
    if (n < 0 || n > rows - at)
      throw Error("E41", "group " + std::to_string(g) + " of ragged_dot has " + std::to_string(n) +
                             " rows from row " + std::to_string(at) + " on, of a block of " +
                             std::to_string(rows) + " rows");
    each(static_cast<std::int64_t>(g), at, n);
    at += n;
  }
  each(-1, at, rows - at);
}

// numbers of the labels in the local products
inline constexpr std::int8_t row_number = 0, group_number = 1, inner_number = 2, outer_number = 3;

}  // namespace nn::detail

namespace op {

/// Row s of the result is row s of `a` times the matrix of the group that the row is in.
template <class D>
struct RaggedDot {
  using operation = RaggedDot;
  using from = shardtype::detail::Bare<D>;
  static constexpr std::string_view name = "ragged_dot";
  static constexpr Verdict rule(rules::Question const& q) { return rules::ragged_dot(q); }
  template <class A, class W, class Ids>
  static constexpr Code elements() {
    return nn::detail::grouped_elements<A, W, Ids>();
  }
  constexpr void extents(ResultExtents const& c) const { nn::detail::check_operands(c); }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return {mul_sat(mul_sat(2, c.result_elements()), c.rows(0, 1)), 0, false};
  }
};
/// The gradient of the matrices `[L0, L1, L2]`, of `a[S, D]`, `c[S, F]` and sizes.
template <class L0, class L1, class L2>
struct RaggedOuter {
  using operation = RaggedOuter;
  using from = shardtype::detail::Bare<L0, L1, L2>;
  static constexpr std::string_view name = "ragged_outer";
  static constexpr Verdict rule(rules::Question const& q) { return rules::ragged_outer(q); }
  template <class A, class C, class Ids>
  static constexpr Code elements() {
    return nn::detail::grouped_elements<A, C, Ids>();
  }
  constexpr void extents(ResultExtents const& c) const { nn::detail::check_operands(c); }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return {mul_sat(mul_sat(2, c.elements(0)), c.rows(1, 1)), 0, false};
  }
};

}  // namespace op

namespace execute {

template <class D>
struct Run<op::RaggedDot<D>> : Filled<Run<op::RaggedDot<D>>> {
  template <class Out, class A, class W, class Ids>
  static void fill(op::RaggedDot<D> const&, Out& out, A const& a, W const& w, Ids const& sizes) {
    using T = typename A::element;
    using namespace nn::detail;
    typename A::execution_space const exec{};
    kernels::Product<T, typename A::execution_space> product(exec, a.mesh().state().pool());
    constexpr int inner = dim_of<W, D>;
    constexpr int groups = dim_of<W, label_at<Ids, static_cast<int>(Ids::rank) - 1>>;
    std::int8_t of_w[3] = {outer_number, outer_number, outer_number};
    of_w[inner] = inner_number;
    of_w[groups] = group_number;
    auto const left = numbered<T>(a, {row_number, inner_number});
    auto const right = numbered<T>(w, of_w);
    auto const made = numbered<T>(out, {row_number, outer_number});
    auto* const data = static_cast<T*>(out.buffer().data());
    std::int64_t const length = made.layout.extent[1];
    each_group(on_host(sizes), made.layout.extent[0],
               [&](std::int64_t g, std::int64_t at, std::int64_t n) {
                 if (n == 0 || length == 0) return;
                 if (g < 0) {
                   kernels::fill(exec, data + at * length, n * length, T{});
                 } else {
                   product.write(part(left, 0, at, n), part(right, groups, g, 1, true),
                                 part(made, 0, 0, n), data + at * length, false);
                 }
               });
    exec.fence();
  }
};
template <class L0, class L1, class L2>
struct Run<op::RaggedOuter<L0, L1, L2>> : Filled<Run<op::RaggedOuter<L0, L1, L2>>> {
  template <class Out, class A, class C, class Ids>
  static void fill(op::RaggedOuter<L0, L1, L2> const&, Out& out, A const& a, C const& c,
                   Ids const& sizes) {
    using T = typename A::element;
    using namespace nn::detail;
    typename A::execution_space const exec{};
    kernels::Product<T, typename A::execution_space> product(exec, a.mesh().state().pool());
    constexpr int inner = dim_of<Out, label_at<A, 1>>;
    constexpr int groups = dim_of<Out, label_at<Ids, static_cast<int>(Ids::rank) - 1>>;
    std::int8_t of_out[3] = {outer_number, outer_number, outer_number};
    of_out[inner] = inner_number;
    of_out[groups] = group_number;
    auto const left = numbered<T>(a, {row_number, inner_number});
    auto const right = numbered<T>(c, {row_number, outer_number});
    auto const made = numbered<T>(out, of_out);
    auto* const data = static_cast<T*>(out.buffer().data());
    // a group without rows is a product of no terms, which the kernel makes zeros
    each_group(on_host(sizes), left.layout.extent[0],
               [&](std::int64_t g, std::int64_t at, std::int64_t n) {
                 if (g < 0 || made.layout.elements() == 0) return;
                 auto const to = part(made, groups, g, 1, true);
                 product.write(part(left, 0, at, n), part(right, 0, at, n), to,
                               data + (to.data - made.data), false);
               });
    exec.fence();
  }
};

}  // namespace execute

namespace autodiff {

template <class D>
struct Vjp<op::RaggedDot<D>> : Differentiable {
  template <class V, class A, class W, class Ids>
  static constexpr auto save(op::RaggedDot<D> const&, V const&, A const& a, W const& w,
                             Ids const& sizes) {
    return keep(a, w, sizes);
  }
  template <int K, class V, class A, class W, class Ids, class S, class C>
  static constexpr auto pull(op::RaggedDot<D> const&, S const& saved, C const& ct) {
    auto const where = std::source_location::current();
    using Labels = labels_of_t<tensor_of<W>>;
    if constexpr (K == 0) {
      return call(op::RaggedDot<nn::detail::label_at<V, 1>>{}, where, ct, kept<1>(saved),
                  kept<2>(saved));
    } else {
      return outer(where, kept<0>(saved), ct, kept<2>(saved), Labels{});
    }
  }

 private:
  template <class A, class C, class Ids, class... Ls>
  static constexpr auto outer(std::source_location const& where, A const& a, C const& ct,
                              Ids const& sizes, shardtype::detail::Pack<Ls...>) {
    return call(op::RaggedOuter<Ls...>{}, where, a, ct, sizes);
  }
};
template <class L0, class L1, class L2>
struct Vjp<op::RaggedOuter<L0, L1, L2>> : Differentiable {
  using Op = op::RaggedOuter<L0, L1, L2>;
  template <class V, class A, class C, class Ids>
  static constexpr auto save(Op const&, V const&, A const& a, C const& c, Ids const& sizes) {
    return keep(a, c, sizes);
  }
  /// The cotangent is a matrix for each group, and each row of one factor meets it in place of the other.
  template <int K, class V, class A, class B, class Ids, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& ct) {
    auto const where = std::source_location::current();
    using Other = std::conditional_t<K == 0, B, A>;
    return call(op::RaggedDot<nn::detail::label_at<Other, 1>>{}, where, kept<1 - K>(saved), ct,
                kept<2>(saved));
  }
};

}  // namespace autodiff

namespace nn::api {

/// Groups of rows, each times a matrix of its own: the first sizes[0] rows of `a` times w[0], the next sizes[1] times
/// w[1], and so on; rows behind the last group give zeros. `a[S, D]`, `w[E, D, F]`, `sizes i64[E]` -> `[S, F]`, of
/// float, double or bfloat16. Each group is one product on the memory of the operands: nothing of shape [S, D, F] or
/// [E, S, D] exists, and dims of w may have any order. Blocks of a `shard_map` as well.
///
///     auto h = nn::ragged_dot<D>(rows, w, sizes);
///
/// Split over ranks, the rows of a block belong to the experts of the same rank: `a[S@X, D]`, `w[E@X, D, F]`,
/// `sizes[E@X]` -> `[S@X, F]`; or each rank has all experts: `a[S@X, D]`, `w[E, D, F]`, `sizes[P@X, E]`, with one row
/// of sizes for each rank. F may be split, and so may D in both operands, which gives a sum `{U:Y}`.
///
/// Communicates nothing, in either direction: the gradient of a is ragged_dot<F>(ct, w, sizes), that of w the product
/// of each group's rows. Refused: D01 no dim D, D18 dims or splits that do not fit together, I01, I02, C04, P04, P06,
/// P12, C10, B03. Errors: E24 extents, E41 sizes with more rows than a block. Sizes are read on the host. As
/// jax.lax.ragged_dot.
template <class D, class A, class W, class Ids>
constexpr auto ragged_dot(core::Argument<A> const& a, W const& w, Ids const& sizes,
                          checking::CallSite where = std::source_location::current()) {
  return call(op::RaggedDot<D>{}, where, a.self(), w, sizes);
}

}  // namespace nn::api

}  // namespace shardtype
