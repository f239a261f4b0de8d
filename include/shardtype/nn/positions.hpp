#pragma once
/// Functions of positions: rotary embeddings and causal masks.

#include <cstdint>

#include <shardtype/nn/run_positions.hpp>

namespace shardtype {

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
