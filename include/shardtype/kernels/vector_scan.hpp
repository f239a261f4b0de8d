#pragma once
/// Host: running values within a vector, and the extreme of some elements.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include <shardtype/kernels/vector.hpp>

namespace shardtype::kernels::detail {

/// Whether a value joined to itself is itself.
template <class R>
inline constexpr bool is_idempotent = requires { R::idempotent; };

template <class R, class V>
void join_lanes(V& a, V const& b) {
  if constexpr (requires { R::join_lanes(a, b); }) {
    R::join_lanes(a, b);
  } else {
    R::join(a, b);
  }
}

/// Whether one instruction joins some of the lanes; clang 19 makes better code of another form.
template <class V>
inline constexpr bool joins_some =
#ifdef __clang__
    false;
#else
    sizeof(V) == 64;
#endif

/// Running values within a vector; `Join` has `join_lanes`, or `join`.
template <class Join, class V, class Lanes>
struct VectorScan;
template <class Join, class V, int... L>
struct VectorScan<Join, V, std::integer_sequence<int, L...>> {
  static constexpr int lanes = static_cast<int>(sizeof...(L));

  /// Moves the lanes up by one; the first one comes from `fill`.
  static V up(V const& x, V const& fill) {
#ifdef __CUDACC__  // nvcc expands no pack in a built-in function
    V out = fill;
    for (int l = 1; l < lanes; ++l) out[l] = x[l - 1];
    return out;
#else
    return __builtin_shufflevector(fill, x, (L < 1 ? L : lanes + L - 1)...);
#endif
  }
  /// The last lane in all of them.
  static V last(V const& x) {
#ifdef __CUDACC__
    return V{} + x[lanes - 1];
#else
    return __builtin_shufflevector(x, x, (L * 0 + lanes - 1)...);
#endif
  }
  /// Joins the last value of the lower half of each 2 `By` lanes to those of the upper half.
  template <int By = 1>
  static void scan(V& x, V const& nothing) {
    if constexpr (By < lanes) {
#ifdef __CUDACC__
      V before = x;
      for (int l = 0; l < lanes; ++l) before[l] = x[(l & By) != 0 ? l / By * By - 1 : l];
#else
      V before = __builtin_shufflevector(x, x, ((L & By) != 0 ? L / By * By - 1 : L)...);
#endif
      if constexpr (is_idempotent<Join>) {
        detail::join_lanes<Join>(before, x);
        x = before;
      } else {
        decltype(x == x) const upper = {((L & By) != 0 ? -1 : 0)...};
        if constexpr (joins_some<V>) {
          detail::join_lanes<Join>(before, x);
          x = upper ? before : x;
        } else {
          before = upper ? before : nothing;
          detail::join_lanes<Join>(before, x);
          x = before;
        }
      }
      scan<2 * By>(x, nothing);
    }
  }
};

/// The largest, or least, of some elements, or NaN; `R` is a reducer that finds it.
template <class R, class T>
T extreme_of(T const* x, std::int64_t n) {
  using V = vector_of<T>;
  using Quick = typename R::WithoutNan;
  constexpr std::int64_t lanes = vector_lanes<T>;
  constexpr int count = 4;
  V const nothing = V{} + R::nothing();
  V best[static_cast<std::size_t>(count)] = {nothing, nothing, nothing, nothing};
  V met = nothing;  // the last NaN in each lane
  auto const take = [&](V& b, T const* from) {
    V v;
    std::memcpy(&v, from, sizeof(V));
    met = v == v ? met : v;
    Quick::join_lanes(b, v);
  };
  std::int64_t k = 0;
  for (; k + count * lanes <= n; k += count * lanes)
    for (int c = 0; c < count; ++c) take(best[c], x + k + c * lanes);
  for (; k + lanes <= n; k += lanes) take(best[0], x + k);
  Quick::join_lanes(best[0], best[1]);
  Quick::join_lanes(best[2], best[3]);
  Quick::join_lanes(best[0], best[2]);
  R::join_lanes(best[0], met);
  VectorScan<R, V, std::make_integer_sequence<int, static_cast<int>(lanes)>>::scan(best[0],
                                                                                   nothing);
  T out = best[0][static_cast<int>(lanes) - 1];
  for (; k < n; ++k) R::join(out, x[k]);
  return out;
}

}  // namespace shardtype::kernels::detail
