#pragma once
/// Frequencies of Fourier transforms, and the order with the frequency zero in the middle.

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <shardtype/check/call_site.hpp>
#include <shardtype/fft/types_operations.hpp>
#include <shardtype/ops/windows.hpp>
#include <shardtype/tensor/create.hpp>

namespace shardtype {

namespace checking {
struct FrequenciesHeader {};  // check/elsewhere.hpp
}  // namespace checking

namespace api {

/// The frequencies of the rows of a transform of `n` rows that are `d` apart, in the order of fft:
/// `fftfreq<float, Dim<I, X>>(mesh, n)` -> `f32[I@X]` of 0, 1, ..., -2, -1, divided by n d.
/// Communicates nothing. Refusals and errors as `full`. As jnp.fft.fftfreq.
template <class... Parts, class... Xs>
auto fftfreq(runtime::MeshOf<Xs...> const& mesh, std::int64_t n, double d = 1) {
  return api::from_function<Parts...>(mesh, {n}, [n, d](std::int64_t k) {
    return static_cast<double>(k < (n + 1) / 2 ? k : k - n) / (static_cast<double>(n) * d);
  });
}

/// The frequencies of the rows of rfft of `n` real rows: 0, 1, ..., n / 2, divided by n d.
/// `rfftfreq<float, Dim<F, X>>(mesh, n)` -> `f32[F@X]` of extent n / 2 + 1. Otherwise as fftfreq.
/// As jnp.fft.rfftfreq.
template <class... Parts, class... Xs>
auto rfftfreq(runtime::MeshOf<Xs...> const& mesh, std::int64_t n, double d = 1) {
  return api::from_function<Parts...>(mesh, {rules::half_rows(n)}, [n, d](std::int64_t k) {
    return static_cast<double>(k) / (static_cast<double>(n) * d);
  });
}

}  // namespace api

namespace detail {

/// Shifts the rows of I by half of their number, rounded up or down.
template <class I, class A>
constexpr auto shifted_by_half(A const& a, bool up, checking::CallSite const& where) {
  if constexpr (requires { a.template extent<I>(); }) {
    std::int64_t const n = a.template extent<I>();
    return api::call(op::Shift<I>{up ? n - n / 2 : n / 2, op::Edge::wrap}, where, a);
  } else {
    return api::call(op::Shift<I>{}, where, a);
  }
}

}  // namespace detail

namespace api {

/// Moves the frequency zero of the dim I to the middle: `A[I@X, J]` -> `fftshift<I>(a)` -> `A[I@X,
/// J]`. Along a split dim it sends as `shift`, else nothing. Refused: D01, B03. As
/// jnp.fft.fftshift.
template <class I, class A>
constexpr auto fftshift(core::Argument<A> const& a, checking::CallSite where = {}) {
  return detail::shifted_by_half<I>(a.self(), false, where);
}

/// The inverse of fftshift. As jnp.fft.ifftshift.
template <class I, class A>
constexpr auto ifftshift(core::Argument<A> const& a, checking::CallSite where = {}) {
  return detail::shifted_by_half<I>(a.self(), true, where);
}

}  // namespace api

}  // namespace shardtype
