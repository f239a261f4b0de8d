#pragma once
/// The gradients of long Fourier transforms, which are symmetric: the inverse transform of the
/// conjugate, conjugated.

#include <type_traits>

#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/fft/gradients.hpp>
#include <shardtype/fft/types_four_step.hpp>

namespace shardtype {

namespace autodiff {

/// The transform in the other direction, between the same dims.
template <bool Forward, class I, class K>
op::FourStep<!Forward, K, I> other_direction(shardtype::detail::Pack<I, K>);
template <bool Forward, class A, class B, class C>
std::conditional_t<Forward, op::FourStep<false, B, C, A>, op::FourStep<true, C, A, B>>
    other_direction(shardtype::detail::Pack<A, B, C>);

}  // namespace autodiff

namespace op {

/// The gradient makes as many exchanges as the forward pass. The transpose of an inverse from the
/// transposed order gives that order, of the same lengths.
template <bool Forward, class... Ls>
template <class G>
constexpr auto FourStep<Forward, Ls...>::pull(G const& g) const {
  decltype(autodiff::other_direction<Forward>(detail::Pack<Ls...>{})) back{
      autodiff::transposed(norm), length};
  auto const conjugate = [](auto const& a) { return api::conj(a).tensor(); };
  if constexpr (order == rules::FourStepOrder::transposed_operand) {
    back.rows = g.template rows<autodiff::nth_t<0, Ls...>>();
    return g.in_order(conjugate(g.call(back, conjugate(g.ct))));
  } else {
    return conjugate(g.call(back, conjugate(g.ct)));
  }
}

}  // namespace op

}  // namespace shardtype
