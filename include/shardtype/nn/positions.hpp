#pragma once
/// Functions of positions: rotary embeddings and causal masks.

#include <cstddef>
#include <cstdint>

#include <shardtype/execute/call.hpp>
#include <shardtype/execute/lookup.hpp>
#include <shardtype/nn/kernels_positions.hpp>
#include <shardtype/nn/norm.hpp>
#include <shardtype/nn/types_positions.hpp>
#include <shardtype/runtime/instance.hpp>

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

namespace op {

template <class S, class F>
template <class Out, class A>
void Rotary<S, F>::fill(Out& out, A const& x) const {
  using T = typename A::element;
  using C = shardtype::detail::computed_t<T>;
  if (x.local_size() == 0) return;
  typename A::execution_space const& exec = runtime::instance<typename A::execution_space>();
  auto const shape = nn::detail::row_shape<F>(x);
  Rows const& rows = x.rows()[static_cast<std::size_t>(execute::dim_of<A, S>)];
  runtime::Buffer const table = x.mesh().state().pool().template take<typename A::memory_space>(
      static_cast<std::size_t>(rows.size() * shape.length) * sizeof(C));
  C* const angles = static_cast<C*>(table.data());
  std::int64_t const half = shape.length / 2;
  nn::kernels::each_element("shardtype::rotary", exec, {rows.size(), half, 1},
                            nn::kernels::RotaryAngles<C>{angles, rows, first, half, base});
  nn::kernels::each_element(
      "shardtype::rotary", exec, {shape.rows, half, shape.inner},
      nn::kernels::RotaryRows<T>{shape, nn::detail::row_position<S>(x, 0), execute::written(out),
                                 execute::data_of(x), angles, back});
  runtime::fence(exec);
}
template <class S, class K>
template <class Out, class A>
void CausalMask<S, K>::fill(Out& out, A const& x) const {
  using T = typename A::element;
  if (x.local_size() == 0) return;
  auto const begin = [&](int d) { return x.rows()[static_cast<std::size_t>(d)].range().begin; };
  auto const shape = nn::detail::row_shape<K>(x);
  nn::detail::run_rows<A>(
      "shardtype::causal_mask", shape.rows,
      nn::kernels::CausalRows<T>{
          shape, nn::detail::row_position<S>(x, begin(execute::dim_of<A, S>)),
          execute::written(out), execute::data_of(x), begin(execute::dim_of<A, K>), first});
}

}  // namespace op

namespace nn::api {

/// Rotary position embedding: features k and k + n/2 of F, of n, turned by the angle (first + s)
/// base^(-2 k / n) of the position s along S. `x[B@X, S@Z, H@Y, F]` -> the same; F is whole on each
/// rank, S may be split, also block-cyclically, both at any place. One kernel; the gradient turns
/// back. Communicates nothing. In manual mode positions are those of the block. Refused: D01, D03 F
/// split, P12. Error E41 an odd extent. Source: Su et al., "RoFormer", 2021; halves as in GPT-NeoX.
template <class S, class F, class A>
constexpr auto rotary(core::Argument<A> const& x, std::int64_t first = 0, double base = 10000,
                      checking::CallSite where = {}) {
  return shardtype::call(op::Rotary<S, F>{first, base}, where, x.self());
}

/// Scores with -inf where the key's position along K is larger than first plus the query's along S;
/// no mask is stored. `x[B@X, H@Y, S, K]` -> the same; S and K may be split. The gradient is
/// `tril<S, K>(ct, first)`. Communicates nothing. Refused: D01, B03, P04 an unreduced operand, P12.
template <class S, class K, class A>
constexpr auto causal_mask(core::Argument<A> const& x, std::int64_t first = 0,
                           checking::CallSite where = {}) {
  return shardtype::call(op::CausalMask<S, K>{first}, where, x.self());
}

}  // namespace nn::api

}  // namespace shardtype
