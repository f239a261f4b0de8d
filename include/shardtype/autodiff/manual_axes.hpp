#pragma once
/// The gradient of shard_map over some axes: cotangents enter manual mode where values leave it.

#include <cstddef>
#include <source_location>
#include <utility>

#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/check/manual_axes.hpp>

namespace shardtype::autodiff {

template <class... Xs>
struct Vjp<op::EnterManual<Xs...>> : SavesNothing {
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(op::EnterManual<Xs...> const&, S const&, C const& ct) {
    return api::call(op::LeaveManual<cotangent_t<tensor_of<A>>>{}, std::source_location::current(),
                     ct);
  }
};

/// The axes that split a dim of a `V` and none of the `A` that it comes from, sorted by name.
template <class A, class V>
struct AxesLeft {
  using S = Scope<A, V>;
  static constexpr AxisSet decide() {
    AxisSet out;
    for (int x = 0; x < max_axes; ++x)
      if (S::template spec<1>.dim_of(x) >= 0 && S::template spec<0>.dim_of(x) < 0) out.insert(x);
    return out;
  }
  struct Over {
    static constexpr AxisList value = shardtype::detail::sorted_by_name(decide(), S::names);
  };
  using Axes = decltype(autodiff::axes_in<S, Over>(
      std::make_index_sequence<static_cast<std::size_t>(Over::value.size)>{}));
};
template <class... Xs>
constexpr op::EnterManual<Xs...> entering_over(shardtype::detail::Pack<Xs...>) {
  return {};
}

template <class Out>
struct Vjp<op::LeaveManual<Out>> : SavesNothing {
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(op::LeaveManual<Out> const&, S const&, C const& ct) {
    using Axes = typename AxesLeft<tensor_of<A>, Out>::Axes;
    if constexpr (std::is_same_v<Axes, shardtype::detail::Pack<>>) {
      return ct;
    } else {
      return api::call(autodiff::entering_over(Axes{}), std::source_location::current(), ct);
    }
  }
};

}  // namespace shardtype::autodiff
