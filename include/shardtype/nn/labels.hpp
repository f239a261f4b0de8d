#pragma once
/// Labels of tensor types, and the ranks that hold rows.

#include <cstdint>

#include <shardtype/autodiff/finish.hpp>
#include <shardtype/autodiff/tape.hpp>
#include <shardtype/runtime/mesh.hpp>

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

/// The rows of each rank of a block of rows; -1 if that is not known.
template <class A>
constexpr std::int64_t rows_each(A const& rows, std::int64_t ranks) {
  return ranks > 0 && rows.extents()[0] >= 0 ? rows.extents()[0] / ranks : -1;
}
/// The ranks among which the rows of `A` are split; 0 if that is not known.
template <class A>
constexpr std::int64_t ranks_of(A const& rows) {
  using T = autodiff::tensor_of<A>;
  constexpr core::AxisList axes = T::spec.dims[0].axes;
  if constexpr (requires { rows.mesh(); }) {
    return runtime::map_axes(rows.mesh().state(), core::Scope<T>::names).sizes.product(axes);
  } else {
    core::Sizes const sizes = core::Scope<T>::names.sizes();
    for (int k = 0; k < axes.size; ++k)
      if (sizes[axes[k]] == shardtype::dynamic) return 0;
    return sizes.product(axes);
  }
}

}  // namespace nn::detail

}  // namespace shardtype
