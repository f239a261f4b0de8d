#pragma once
/// Labels of tensor types.

#include <shardtype/autodiff/settle.hpp>
#include <shardtype/autodiff/tape.hpp>

namespace shardtype {

namespace nn::detail {

/// The tensor type that a value stands for; of an expression of automatic mode with no dim split.
template <class A>
constexpr auto operand_tensor() {
  if constexpr (core::is_lazy<A>) {
    return shardtype::Type<typename A::whole>{};
  } else {
    return shardtype::Type<autodiff::tensor_of<A>>{};
  }
}
template <class A>
using tensor_of = typename decltype(detail::operand_tensor<A>())::type;

/// The label of dim `d`.
template <class A, int d>
struct LabelAt;
template <class... Ls, int d>
struct LabelAt<shardtype::detail::Pack<Ls...>, d> {
  using type = autodiff::nth_t<d, Ls...>;
};
template <class A, int d>
using label_at = typename LabelAt<autodiff::labels_of_t<tensor_of<A>>, d>::type;

}  // namespace nn::detail

}  // namespace shardtype
