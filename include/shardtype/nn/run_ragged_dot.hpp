#pragma once
/// Runs the operations of types_ragged_dot.hpp.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <shardtype/execute/call.hpp>
#include <shardtype/execute/fused.hpp>
#include <shardtype/execute/lookup.hpp>
#include <shardtype/kernels/product.hpp>
#include <shardtype/nn/run_norm.hpp>
#include <shardtype/nn/types_ragged_dot.hpp>
#include <shardtype/runtime/copy_bytes.hpp>

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
    constexpr int groups = shardtype::detail::dims_in<Ids, W>()[Ids::rank - 1];
    std::int8_t of_w[3] = {outer_number, outer_number, outer_number};
    of_w[inner] = inner_number;
    of_w[groups] = group_number;
    auto const left = nn::detail::numbered<T>(a, {row_number, inner_number});
    auto const right = nn::detail::numbered<T>(w, of_w);
    auto const made = nn::detail::numbered<T>(out, {row_number, outer_number});
    auto* const data = static_cast<T*>(out.buffer().data());
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
    constexpr int inner = shardtype::detail::dims_in<A, Out>()[1];
    constexpr int groups = shardtype::detail::dims_in<Ids, Out>()[Ids::rank - 1];
    std::int8_t of_out[3] = {outer_number, outer_number, outer_number};
    of_out[inner] = inner_number;
    of_out[groups] = group_number;
    auto const left = nn::detail::numbered<T>(a, {row_number, inner_number});
    auto const right = nn::detail::numbered<T>(c, {row_number, outer_number});
    auto const made = nn::detail::numbered<T>(out, of_out);
    auto* const data = static_cast<T*>(out.buffer().data());
    // a group without rows is a product of no terms, which the kernel makes zeros
    nn::detail::each_group(nn::detail::on_host(sizes), left.layout.extent[0],
                           [&](std::int64_t g, std::int64_t at, std::int64_t n) {
                             if (g < 0 || made.layout.elements() == 0) return;
                             auto const to = nn::detail::part(made, groups, g, 1, true);
                             product.write(nn::detail::part(left, 0, at, n),
                                           nn::detail::part(right, 0, at, n), to,
                                           data + (to.data - made.data), false);
                           });
    exec.fence();
  }
};

}  // namespace execute

}  // namespace shardtype
