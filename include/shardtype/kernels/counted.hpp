#pragma once
/// Reducers with a count beside the result, which gradients need.

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/reducers.hpp>

namespace shardtype::kernels {

/// A result and a number of elements.
template <class V>
struct CountedValue {
  V value;
  std::int64_t count;

  KOKKOS_FUNCTION CountedValue(V const& v, std::int64_t n) : value(v), count(n) {}
  CountedValue() = default;
  KOKKOS_FUNCTION V get() const { return value; }
};
/// By its parts, because the size of a struct with a Kokkos::complex depends on Kokkos' alignment of
/// it.
template <class Real>
struct CountedValue<Kokkos::complex<Real>> {
  Real re, im;
  std::int64_t count;

  KOKKOS_FUNCTION CountedValue(Kokkos::complex<Real> const& v, std::int64_t n)
      : re(v.real()), im(v.imag()), count(n) {}
  CountedValue() = default;
  KOKKOS_FUNCTION Kokkos::complex<Real> get() const { return {re, im}; }
};

/// The largest (or least) element and the number of elements that equal it; NaN, if there is one,
/// and the number of these.
template <class T, bool Max>
struct CountedExtreme {
  using Element = T;
  using Part = CountedValue<T>;
  using Total = CountedValue<T>;
  using Result = T;
  using Places = PlaceReducer<T, Max>;
  KOKKOS_FUNCTION static Part load(T const& x) { return {x, 1}; }
  KOKKOS_FUNCTION static Part nothing() { return {extreme_value<T, !Max>(), 0}; }
  KOKKOS_FUNCTION static Total widen(Part const& a) { return a; }
  KOKKOS_FUNCTION static void join(Part& a, Part const& b) {
    if (b.count == 0) return;
    if (a.count == 0 || Places::better(b.value, a.value)) {
      a = b;
    } else if (Places::same(a.value, b.value)) {
      a.count += b.count;
    }
  }
  KOKKOS_FUNCTION static Result finish(Total const& a) { return a.value; }
};

/// The product of the elements that are not zero, and the number of those that are.
template <class T>
struct CountedProduct {
  using Element = T;
  using Part = CountedValue<wide_t<T>>;
  using Total = CountedValue<wide_t<T>>;
  using Result = T;
  KOKKOS_FUNCTION static Part load(T const& x) {
    shardtype::detail::computed_t<T> const value = x;
    if (value == shardtype::detail::computed_t<T>(0)) return {wide_t<T>(1), 1};
    return {detail::converted<wide_t<T>>(value), 0};
  }
  KOKKOS_FUNCTION static Part nothing() { return {wide_t<T>(1), 0}; }
  KOKKOS_FUNCTION static Total widen(Part const& a) { return a; }
  KOKKOS_FUNCTION static void join(Part& a, Part const& b) {
    a = Part(a.get() * b.get(), a.count + b.count);
  }
  KOKKOS_FUNCTION static Result finish(Total const& a) {
    return detail::converted<Result>(a.get());
  }
};

/// The count of a total of reducer `R`, as a real number.
template <class R>
struct CountOf : R {
  using Total = typename R::Total;
  using Result = shardtype::detail::real_of<typename R::Element>;
  KOKKOS_FUNCTION static Result finish(Total const& a) {
    return static_cast<Result>(static_cast<double>(a.count));
  }
};

}  // namespace shardtype::kernels
