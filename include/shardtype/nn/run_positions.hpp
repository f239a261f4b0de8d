#pragma once
/// Runs the operations of types_positions.hpp.

#include <cstddef>
#include <cstdint>

#include <shardtype/execute/call.hpp>
#include <shardtype/execute/lookup.hpp>
#include <shardtype/nn/kernels_positions.hpp>
#include <shardtype/nn/run_norm.hpp>
#include <shardtype/nn/types_positions.hpp>

namespace shardtype {

namespace nn::detail {

/// Positions along `S` of the rows of a block; `begin`: of its first row.
template <class S, class A>
kernels::RowPosition row_position(A const& a, std::int64_t begin) {
  constexpr int d = dim_of<A, S>;
  shardtype::kernels::Layout const block = shardtype::detail::block_layout(a.rows());
  return {block.stride[d], block.extent[d], begin};
}

}  // namespace nn::detail

namespace execute {

template <class S, class F>
struct Run<op::Rotary<S, F>> : Filled<Run<op::Rotary<S, F>>> {
  template <class Out, class A>
  static void fill(op::Rotary<S, F> const& op, Out& out, A const& x) {
    using T = typename A::element;
    using C = shardtype::detail::computed_t<T>;
    if (x.local_size() == 0) return;
    typename A::execution_space const exec{};
    auto const shape = nn::detail::row_shape<F>(x);
    Rows const& rows = x.rows()[static_cast<std::size_t>(dim_of<A, S>)];
    Buffer const table = x.mesh().state().pool().template take<typename A::memory_space>(
        static_cast<std::size_t>(rows.size() * shape.length) * sizeof(C));
    C* const angles = static_cast<C*>(table.data());
    nn::kernels::each_row(
        "shardtype::rotary", exec, rows.size(),
        nn::kernels::RotaryAngles<C>{angles, rows, op.first, shape.length / 2, op.base});
    nn::kernels::each_row(
        "shardtype::rotary", exec, shape.rows,
        nn::kernels::RotaryRows<T>{shape, nn::detail::row_position<S>(x, 0),
                                   nn::detail::written(out), execute::data_of(x), angles, op.back});
    exec.fence();
  }
};
template <class S, class K>
struct Run<op::CausalMask<S, K>> : Filled<Run<op::CausalMask<S, K>>> {
  template <class Out, class A>
  static void fill(op::CausalMask<S, K> const& op, Out& out, A const& x) {
    using T = typename A::element;
    if (x.local_size() == 0) return;
    auto const begin = [&](int d) { return x.rows()[static_cast<std::size_t>(d)].range().begin; };
    auto const shape = nn::detail::row_shape<K>(x);
    nn::detail::run_rows<A>(
        "shardtype::causal_mask", shape.rows,
        nn::kernels::CausalRows<T>{shape, nn::detail::row_position<S>(x, begin(dim_of<A, S>)),
                                   nn::detail::written(out), execute::data_of(x),
                                   begin(dim_of<A, K>), op.first});
  }
};
}  // namespace execute

}  // namespace shardtype
