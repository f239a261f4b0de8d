#pragma once
/// Reducers of norms and of logarithms of sums of exponentials.

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/reducers.hpp>

namespace shardtype::kernels {

/// The square root of the sum of squares. Squares of float are computed and summed in double, where
/// they cannot overflow or underflow; squares of double overflow from 1.3e154 on.
template <class T>
struct NormReducer : Adding<wide_t<shardtype::detail::real_of<T>>> {
  using Element = T;
  using Wide = wide_t<shardtype::detail::real_of<T>>;
  using Result = shardtype::detail::real_of<T>;
  KOKKOS_FUNCTION static Wide load(T const& x) {
    if constexpr (shardtype::detail::is_complex<T>) {
      auto const re = static_cast<Wide>(x.real());
      auto const im = static_cast<Wide>(x.imag());
      return re * re + im * im;
    } else {
      return static_cast<Wide>(x) * static_cast<Wide>(x);
    }
  }
  KOKKOS_FUNCTION static Result finish(Wide const& a) { return static_cast<Result>(math::sqrt(a)); }
};

/// The sum of absolute values.
template <class T>
struct Norm1Reducer : Adding<shardtype::detail::computed_t<shardtype::detail::real_of<T>>,
                             shardtype::detail::real_of<T>> {
  using Element = T;
  KOKKOS_FUNCTION static shardtype::detail::computed_t<shardtype::detail::real_of<T>> load(
      T const& x) {
    return call(functions::Absolute{}, x);
  }
};

/// The largest absolute value; 0 for no elements.
template <class T>
struct NormInfReducer : ExtremeReducer<shardtype::detail::real_of<T>, true> {
  using Element = T;
  using Part = shardtype::detail::real_of<T>;
  KOKKOS_FUNCTION static Part load(T const& x) { return call(functions::Absolute{}, x); }
  KOKKOS_FUNCTION static Part nothing() { return Part{}; }
};

/// exp(max) * sum is a sum of exponentials, with the largest exponent taken out.
template <class T>
struct Peak {
  T max;
  T sum;
};
/// The logarithm of the sum of exponentials. The sum is relative to the largest element so far, so
/// that nothing overflows; one exponential per element. No elements give -inf, as log(0).
template <class T>
struct LogSumExpReducer {
  using Element = T;
  using Value = shardtype::detail::computed_t<T>;
  using Part = Peak<Value>;
  using Total = Peak<wide_t<T>>;
  using Result = T;
  KOKKOS_FUNCTION static Part load(T const& x) { return {x, Value(1)}; }
  KOKKOS_FUNCTION static Part nothing() { return {extreme_value<Value, false>(), Value(0)}; }
  KOKKOS_FUNCTION static Total widen(Part const& a) { return {a.max, a.sum}; }
  template <class U>
  KOKKOS_FUNCTION static void join(Peak<U>& a, Peak<U> const& b) {
    if (a.max == b.max) {  // also for infinities
      a.sum += b.sum;
    } else if (b.max > a.max) {
      a.sum = b.sum + a.sum * math::exp(a.max - b.max);
      a.max = b.max;
    } else {  // a NaN makes the sum NaN
      a.sum += b.sum * math::exp(b.max - a.max);
    }
  }
  KOKKOS_FUNCTION static Result finish(Total const& a) {
    return static_cast<Result>(a.max + math::log(a.sum));
  }
};

}  // namespace shardtype::kernels
