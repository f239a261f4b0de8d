#pragma once
/// The gradients of long Fourier transforms, which are symmetric: the inverse transform of the
/// conjugate, conjugated.

#include <source_location>

#include <shardtype/check/four_step.hpp>
#include <shardtype/fft/gradients.hpp>

namespace shardtype::autodiff {

/// The transform in the other direction, between the same dims.
template <class Op>
struct OtherDirection;
template <bool Forward, class I, class K>
struct OtherDirection<op::FourStep<Forward, I, K>> {
  using type = op::FourStep<!Forward, K, I>;
};
template <class I, class K1, class K2>
struct OtherDirection<op::FourStep<true, I, K1, K2>> {
  using type = op::FourStep<false, K1, K2, I>;
};

/// As many exchanges as forward. An inverse transform from the transposed order has none: forward,
/// the lengths of that order would be chosen again.
template <bool Forward, class... Ls>
  requires(op::FourStep<Forward, Ls...>::order != rules::FourStepOrder::transposed_operand)
struct Vjp<op::FourStep<Forward, Ls...>> : SavesNothing {
  using Op = op::FourStep<Forward, Ls...>;
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Op const& op, S const&, C const& ct) {
    using Back = typename OtherDirection<Op>::type;
    return conj(call(Back{transposed(op.norm), op.length}, std::source_location::current(),
                     conj(ct).tensor()))
        .tensor();
  }
};

}  // namespace shardtype::autodiff
