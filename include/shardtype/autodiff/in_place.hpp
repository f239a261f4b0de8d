#pragma once
/// `a += b` of values whose gradient is wanted.

#include <type_traits>
#include <utility>

#include <shardtype/autodiff/active_expression.hpp>

namespace shardtype {

namespace autodiff {

/// Lets `a` stand for `result`, of the same type. Nothing is written: what was computed from `a`
/// before keeps its value. Refused P13: a result of another type.
template <class V, class B, class Result>
constexpr Active<V>& stands_for(Active<V>& a, Result const& result) {
  if constexpr (any_poisoned<Result>) {
    return a;
  } else if constexpr (!std::is_same_v<Active<V>, std::remove_cvref_t<decltype(result.tensor())>>) {
    refused<Code::P13_in_place, false, tensor_of<Active<V>>, tensor_of<std::remove_cvref_t<B>>>{};
    return a;
  } else {
    a = result.tensor();
    return a;
  }
}

}  // namespace autodiff

// With rebinding, for loops: `total += sum(square(w))`.
template <class V, class B>
  requires(detail::are_operands<autodiff::Active<V>, B>)
constexpr autodiff::Active<V>& operator+=(autodiff::Active<V>& a, B&& b) {
  return autodiff::stands_for<V, B>(a, a + b);
}
template <class V, class B>
  requires(detail::are_operands<autodiff::Active<V>, B>)
constexpr autodiff::Active<V>& operator-=(autodiff::Active<V>& a, B&& b) {
  return autodiff::stands_for<V, B>(a, a - b);
}
template <class V, class B>
  requires(detail::are_operands<autodiff::Active<V>, B>)
constexpr autodiff::Active<V>& operator*=(autodiff::Active<V>& a, B&& b) {
  return autodiff::stands_for<V, B>(a, a * b);
}
template <class V, class B>
  requires(detail::are_operands<autodiff::Active<V>, B>)
constexpr autodiff::Active<V>& operator/=(autodiff::Active<V>& a, B&& b) {
  return autodiff::stands_for<V, B>(a, a / b);
}

}  // namespace shardtype
