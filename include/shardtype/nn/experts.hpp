#pragma once
/// Gradients of the operations of types_experts.hpp.

#include <cstdint>
#include <source_location>
#include <type_traits>

#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/nn/labels.hpp>
#include <shardtype/nn/run_experts.hpp>

namespace shardtype {

namespace autodiff {

/// Spreading and combining are each other's transposes; that of the weights is a product of rows.
template <class To>
struct Vjp<op::SpreadRows<To>> : Differentiable {
  template <class V, class A, class Ids, class... W>
  static constexpr auto save(op::SpreadRows<To> const&, V const&, A const& x, Ids const& places,
                             W const&... weights) {
    if constexpr (sizeof...(W) == 0) {
      return autodiff::keep(places);
    } else {
      return autodiff::keep(places, weights..., x);
    }
  }
  template <int K, class V, class... As, class S, class C>
  static constexpr auto pull(op::SpreadRows<To> const&, S const& saved, C const& ct) {
    auto const where = std::source_location::current();
    if constexpr (K == 2) {
      return api::call(op::RowDots{}, where, autodiff::kept<2>(saved), ct,
                       autodiff::kept<0>(saved));
    } else if constexpr (sizeof...(As) == 2) {
      return api::call(op::CombineRows{}, where, ct, autodiff::kept<0>(saved));
    } else {
      return api::call(op::CombineRows{}, where, ct, autodiff::kept<0>(saved),
                       autodiff::kept<1>(saved));
    }
  }
};
/// The rows of a block of rows `A`, by its label and its number on each rank.
template <class A, class C, class Ids, class... W>
constexpr auto spread_like(std::int64_t each, C const& ct, Ids const& places, W const&... weights) {
  return api::call(op::SpreadRows<nn::detail::label_at<A, 0>>{each},
                   std::source_location::current(), ct, places, weights...);
}
template <class A>
constexpr std::int64_t rows_each(A const& rows, std::int64_t ranks) {
  return ranks > 0 && rows.extents()[0] >= 0 ? rows.extents()[0] / ranks : -1;
}
/// The ranks among which the rows of `A` are split; 0 if that is not known.
template <class A>
constexpr std::int64_t ranks_of(A const& rows) {
  using T = tensor_of<A>;
  constexpr AxisList axes = T::spec.dims[0].axes;
  if constexpr (requires { rows.mesh(); }) {
    return runtime::map_axes(rows.mesh().state(), Scope<T>::names).sizes.product(axes);
  } else {
    core::Sizes const sizes = Scope<T>::names.sizes();
    for (int k = 0; k < axes.size; ++k)
      if (sizes[axes[k]] == dynamic) return 0;
    return sizes.product(axes);
  }
}
template <>
struct Vjp<op::CombineRows> : Differentiable {
  template <class V, class A, class Ids, class... W>
  static constexpr auto save(op::CombineRows const&, V const&, A const& rows, Ids const& places,
                             W const&... weights) {
    std::int64_t const each = autodiff::rows_each(rows, autodiff::ranks_of(rows));
    if constexpr (sizeof...(W) == 0) {
      return autodiff::keep(places, each);
    } else {
      return autodiff::keep(places, each, weights..., rows);
    }
  }
  template <int K, class V, class A, class Ids, class... W, class S, class C>
  static constexpr auto pull(op::CombineRows const&, S const& saved, C const& ct) {
    if constexpr (K == 2) {
      return api::call(op::RowDots{}, std::source_location::current(), ct, autodiff::kept<3>(saved),
                       autodiff::kept<0>(saved));
    } else if constexpr (sizeof...(W) == 0) {
      return autodiff::spread_like<A>(autodiff::kept<1>(saved), ct, autodiff::kept<0>(saved));
    } else {
      return autodiff::spread_like<A>(autodiff::kept<1>(saved), ct, autodiff::kept<0>(saved),
                                      autodiff::kept<2>(saved));
    }
  }
};
template <>
struct Vjp<op::RowDots> : Differentiable {
  template <class V, class A, class B, class Ids>
  static constexpr auto save(op::RowDots const&, V const&, A const& x, B const& rows,
                             Ids const& places) {
    return autodiff::keep(x, rows, places, autodiff::rows_each(rows, autodiff::ranks_of(rows)));
  }
  template <int K, class V, class A, class B, class Ids, class S, class C>
  static constexpr auto pull(op::RowDots const&, S const& saved, C const& ct) {
    if constexpr (K == 0) {
      return api::call(op::CombineRows{}, std::source_location::current(), autodiff::kept<1>(saved),
                       autodiff::kept<2>(saved), ct);
    } else {
      return autodiff::spread_like<B>(autodiff::kept<3>(saved), autodiff::kept<0>(saved),
                                      autodiff::kept<2>(saved), ct);
    }
  }
};
/// The rows go back to where they came from.
template <bool Back>
struct Vjp<op::ExchangeRows<Back>> : Differentiable {
  using Op = op::ExchangeRows<Back>;
  template <class V, class A, class B, class C>
  static constexpr auto save(Op const&, V const&, A const& rows, B const& sent, C const& received) {
    return autodiff::keep(sent, received, autodiff::rows_each(rows, autodiff::ranks_of(rows)));
  }
  template <int K, class V, class A, class B, class D, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& ct) {
    return api::call(op::ExchangeRows<!Back>{autodiff::kept<2>(saved)},
                     std::source_location::current(), ct, autodiff::kept<0>(saved),
                     autodiff::kept<1>(saved));
  }
};

}  // namespace autodiff

}  // namespace shardtype
