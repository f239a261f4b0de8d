#pragma once
/// The gradients of long Fourier transforms, which are symmetric: the inverse transform of the
/// conjugate, conjugated.

#include <source_location>

#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/fft/gradients.hpp>
#include <shardtype/fft/types_four_step.hpp>

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
template <class K1, class K2, class I>
struct OtherDirection<op::FourStep<false, K1, K2, I>> {
  using type = op::FourStep<true, I, K1, K2>;
};

/// The gradient makes as many exchanges as the forward pass. The transpose of an inverse from the
/// transposed order gives that order, of the same lengths.
template <bool Forward, class... Ls>
struct Vjp<op::FourStep<Forward, Ls...>> : SavesExtents {
  using Op = op::FourStep<Forward, Ls...>;
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Op const& op, S const& saved, C const& ct) {
    using Back = typename OtherDirection<Op>::type;
    Back back{autodiff::transposed(op.norm), op.length};
    if constexpr (Op::order == rules::FourStepOrder::transposed_operand) {
      using A0 = tensor_of<A>;
      back.rows = autodiff::kept<0>(saved)[place_of<A0, nth_t<0, Ls...>>];
      return autodiff::in_order(
          api::conj(api::call(back, std::source_location::current(), api::conj(ct).tensor()))
              .tensor(),
          labels_of_t<A0>{});
    } else {
      return api::conj(api::call(back, std::source_location::current(), api::conj(ct).tensor()))
          .tensor();
    }
  }
};

}  // namespace shardtype::autodiff
