#pragma once
/// Labels of tensor types.

#include <shardtype/autodiff/settle.hpp>
#include <shardtype/autodiff/tape.hpp>

namespace shardtype {

namespace nn::detail {

/// The label of dim `d`.
template <class A, int d>
struct LabelAt;
template <class... Ls, int d>
struct LabelAt<shardtype::detail::Pack<Ls...>, d> {
  using type = autodiff::nth_t<d, Ls...>;
};
template <class A, int d>
using label_at = typename LabelAt<autodiff::labels_of_t<autodiff::tensor_of<A>>, d>::type;

}  // namespace nn::detail

}  // namespace shardtype
