#pragma once
/// Reducers with further results, which gradients need.

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/norms.hpp>
#include <shardtype/kernels/reducers.hpp>
#include <shardtype/kernels/scaled.hpp>

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
/// By its parts, because the size of a struct with a Kokkos::complex depends on Kokkos' alignment
/// of it.
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
  KOKKOS_FUNCTION static Part nothing() { return {kernels::extreme_value<T, !Max>(), 0}; }
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

/// The largest element of a logsumexp, and the sum of exponentials relative to it.
template <class T>
struct LargestOfExponentials : LogSumExpReducer<T> {
  using Result = T;
  KOKKOS_FUNCTION static Result finish(typename LogSumExpReducer<T>::Sent const& a) {
    return static_cast<Result>(a.max);
  }
};
template <class T>
struct SumOfExponentials : LogSumExpReducer<T> {
  using Result = shardtype::detail::computed_t<T>;
  KOKKOS_FUNCTION static Result finish(typename LogSumExpReducer<T>::Sent const& a) {
    return static_cast<Result>(a.sum);
  }
};

/// A value by its parts, as CountedValue.
template <class V>
struct Stored {
  V value;
  KOKKOS_FUNCTION explicit Stored(V const& v) : value(v) {}
  Stored() = default;
  KOKKOS_FUNCTION V get() const { return value; }
};
template <class Real>
struct Stored<Kokkos::complex<Real>> {
  Real re, im;
  KOKKOS_FUNCTION explicit Stored(Kokkos::complex<Real> const& v) : re(v.real()), im(v.imag()) {}
  Stored() = default;
  KOKKOS_FUNCTION Kokkos::complex<Real> get() const { return {re, im}; }
};
/// A product, of type `P`, and the same in the parts of ScaledProduct.
template <class P, class W>
struct ProductTotal {
  Stored<P> product;
  Stored<W> m;
  std::int64_t scale;
};
/// The product, with parts that neither overflow nor underflow.
template <class T>
struct ProductInParts {
  using Element = T;
  using Plain = ProductReducer<T>;
  using Wide =
      std::conditional_t<shardtype::detail::is_complex<T>, Kokkos::complex<double>, double>;
  using Part = ProductTotal<typename Plain::Part, Wide>;
  using Total = ProductTotal<typename Plain::Total, Wide>;
  using Result = T;
  using Parts = ScaledProduct<Wide>;
  KOKKOS_FUNCTION static Part load(T const& x) {
    typename Plain::Part const plain = Plain::load(x);
    auto wide = detail::converted<Wide>(plain);
    auto const which = Parts::sorted(wide, Parts::negative(wide));
    return made<Part>(plain, Scaled<Wide>(wide),
                      which == Parts::others ? 0 : std::int64_t{1} << which);
  }
  KOKKOS_FUNCTION static Part nothing() {
    return made<Part>(Plain::nothing(), Scaled<Wide>(Wide(1)), 0);
  }
  KOKKOS_FUNCTION static Total widen(Part const& a) {
    return {Stored<typename Plain::Total>(Plain::widen(a.product.get())), a.m, a.scale};
  }
  template <class P>
  KOKKOS_FUNCTION static void join(ProductTotal<P, Wide>& a, ProductTotal<P, Wide> const& b) {
    P product = a.product.get();
    Plain::join(product, b.product.get());
    Scaled<Wide> const both(Wide(a.m.get() * b.m.get()));
    a = made<ProductTotal<P, Wide>>(product, both, Parts::joined(a.scale, b.scale));
  }
  KOKKOS_FUNCTION static Result finish(Total const& a) { return Plain::finish(a.product.get()); }

 private:
  template <class Made, class P>
  KOKKOS_FUNCTION static Made made(P const& product, Scaled<Wide> const& scaled,
                                   std::int64_t scale) {
    return {Stored<P>(product), Stored<Wide>(scaled.m), scale + scaled.exponent * Parts::classes};
  }
};
/// The number m of a product in parts, and the scale.
template <class T>
struct FactorOfProduct : ProductInParts<T> {
  using Result = shardtype::detail::computed_t<T>;
  KOKKOS_FUNCTION static Result finish(typename ProductInParts<T>::Total const& a) {
    return detail::converted<Result>(a.m.get());
  }
};
template <class T>
struct ScaleOfProduct : ProductInParts<T> {
  using Result = double;
  KOKKOS_FUNCTION static Result finish(typename ProductInParts<T>::Total const& a) {
    return static_cast<double>(a.scale);
  }
};

}  // namespace shardtype::kernels
