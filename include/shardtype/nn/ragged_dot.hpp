#pragma once
/// Products of groups of rows, each with a matrix of its own.

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <type_traits>
#include <vector>

#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/execute/fused.hpp>
#include <shardtype/execute/lookup.hpp>
#include <shardtype/kernels/product.hpp>
#include <shardtype/nn/labels.hpp>
#include <shardtype/nn/norm.hpp>
#include <shardtype/nn/types_ragged_dot.hpp>
#include <shardtype/runtime/copy_bytes.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype {

namespace nn::detail {

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
/// Calls `each(group, first row, rows)` for the groups of a block of `rows` rows. Error E41: sizes
/// below 0, or more rows than there are.
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

template <class D>
template <class Out, class A, class W, class Ids>
void RaggedDot<D>::fill(Out& out, A const& a, W const& w, Ids const& sizes) const {
  using T = typename A::element;
  using namespace nn::detail;
  typename A::execution_space const& exec = runtime::instance<typename A::execution_space>();
  kernels::Product<T, typename A::execution_space> product(exec, a.mesh().state().pool());
  constexpr int inner = execute::dim_of<W, D>;
  constexpr int groups = shardtype::detail::dims_in<Ids, W>()[Ids::rank - 1];
  std::int8_t of_w[3] = {outer_number, outer_number, outer_number};
  of_w[inner] = inner_number;
  of_w[groups] = group_number;
  auto const left = nn::detail::numbered<T>(a, {row_number, inner_number});
  auto const right = nn::detail::numbered<T>(w, of_w);
  auto const made = nn::detail::numbered<T>(out, {row_number, outer_number});
  auto* const data = execute::written(out);
  std::int64_t const length = made.layout.extent[1];
  nn::detail::each_group(nn::detail::on_host(sizes), made.layout.extent[0],
                         [&](std::int64_t g, std::int64_t at, std::int64_t n) {
                           if (n == 0 || length == 0) return;
                           if (g < 0) {
                             kernels::fill(exec, data + at * length, n * length, T{});
                           } else {
                             product.write(nn::detail::part(left, 0, at, n),
                                           nn::detail::part(right, groups, g, 1, true),
                                           nn::detail::part(made, 0, 0, n), data + at * length,
                                           false);
                           }
                         });
  runtime::fence(exec);
}
template <class L0, class L1, class L2>
template <class Out, class A, class C, class Ids>
void RaggedOuter<L0, L1, L2>::fill(Out& out, A const& a, C const& c, Ids const& sizes) const {
  using T = typename A::element;
  using namespace nn::detail;
  typename A::execution_space const& exec = runtime::instance<typename A::execution_space>();
  kernels::Product<T, typename A::execution_space> product(exec, a.mesh().state().pool());
  constexpr int inner = shardtype::detail::dims_in<A, Out>()[1];
  constexpr int groups = shardtype::detail::dims_in<Ids, Out>()[Ids::rank - 1];
  std::int8_t of_out[3] = {outer_number, outer_number, outer_number};
  of_out[inner] = inner_number;
  of_out[groups] = group_number;
  auto const left = nn::detail::numbered<T>(a, {row_number, inner_number});
  auto const right = nn::detail::numbered<T>(c, {row_number, outer_number});
  auto const made = nn::detail::numbered<T>(out, of_out);
  auto* const data = execute::written(out);
  // a group without rows is a product of no terms, which the kernel makes zeros
  nn::detail::each_group(nn::detail::on_host(sizes), left.layout.extent[0],
                         [&](std::int64_t g, std::int64_t at, std::int64_t n) {
                           if (g < 0 || made.layout.elements() == 0) return;
                           auto const to = nn::detail::part(made, groups, g, 1, true);
                           product.write(nn::detail::part(left, 0, at, n),
                                         nn::detail::part(right, 0, at, n), to,
                                         data + (to.data - made.data), false);
                         });
  runtime::fence(exec);
}

}  // namespace op

namespace nn::detail {

template <class G, class... Ls>
constexpr auto ragged_outer(G const& g, shardtype::detail::Pack<Ls...>) {
  return g.call(op::RaggedOuter<Ls...>{}, g.template kept<0>(), g.ct, g.template kept<2>());
}

}  // namespace nn::detail

namespace op {

template <class D>
template <class V, class A, class W, class Ids>
constexpr auto RaggedDot<D>::save(V const&, A const& a, W const& w, Ids const& sizes) const {
  return autodiff::keep(a, w, sizes);
}
template <class D>
template <class G>
constexpr auto RaggedDot<D>::pull(G const& g) const {
  if constexpr (G::operand == 0) {
    return g.call(RaggedDot<nn::detail::label_at<typename G::value, 1>>{}, g.ct,
                  g.template kept<1>(), g.template kept<2>());
  } else {
    return nn::detail::ragged_outer(g, autodiff::labels_of_t<typename G::type>{});
  }
}

template <class L0, class L1, class L2>
template <class V, class A, class C, class Ids>
constexpr auto RaggedOuter<L0, L1, L2>::save(V const&, A const& a, C const& c,
                                             Ids const& sizes) const {
  return autodiff::keep(a, c, sizes);
}

/// The cotangent is a matrix for each group, and each row of one factor meets it in place of the
/// other.
template <class L0, class L1, class L2>
template <class G>
constexpr auto RaggedOuter<L0, L1, L2>::pull(G const& g) const {
  using Other = std::conditional_t<G::operand == 0, typename G::template operand_type<1>,
                                   typename G::template operand_type<0>>;
  return g.call(op::RaggedDot<nn::detail::label_at<Other, 1>>{}, g.template kept<1 - G::operand>(),
                g.ct, g.template kept<2>());
}

}  // namespace op

namespace nn::api {

/// Groups of rows, each times a matrix of its own: the first sizes[0] rows of `a` times w[0], the
/// next sizes[1] times w[1], and so on; rows behind the last group give zeros. `a[S, D]`, `w[E, D,
/// F]`, `sizes i64[E]` -> `[S, F]`, of float, double or bfloat16. Each group is one product on the
/// memory of the operands: nothing of shape [S, D, F] or [E, S, D] exists, and dims of w may have
/// any order. Blocks of a `shard_map` as well.
///
///     auto h = nn::ragged_dot<D>(rows, w, sizes);
///
/// Split over ranks, the rows of a block belong to the experts of the same rank: `a[S@X, D]`,
/// `w[E@X, D, F]`, `sizes[E@X]` -> `[S@X, F]`; or each rank has all experts: `a[S@X, D]`, `w[E, D,
/// F]`, `sizes[P@X, E]`, with one row of sizes for each rank. F may be split, and so may D in both
/// operands, which gives a sum `{U:Y}`.
///
/// Communicates nothing, in either direction: the gradient of a is ragged_dot<F>(ct, w, sizes),
/// that of w the product of each group's rows. Refused: D01 no dim D, D18 dims or splits that do
/// not fit together, I01, I02, C04, P04, P06, P12, C10, B03. Errors: E24 extents, E41 sizes with
/// more rows than a block. Sizes are read on the host. As jax.lax.ragged_dot.
template <class D, class A, class W, class Ids>
constexpr auto ragged_dot(core::Argument<A> const& a, W const& w, Ids const& sizes,
                          checking::CallSite where = {}) {
  return shardtype::call(op::RaggedDot<D>{}, where, a.self(), w, sizes);
}

}  // namespace nn::api

}  // namespace shardtype
