#pragma once
/// Long discrete Fourier transforms along one dim that is split: the four-step algorithm. Nothing
/// is gathered, and no other dim is needed. docs/fft.md has examples.

#include <array>
#include <cstdint>

#include <shardtype/check/call_site.hpp>
#include <shardtype/fft/four_step_gradients.hpp>
#include <shardtype/fft/run_four_step.hpp>
#include <shardtype/fft/types_four_step.hpp>
#include <shardtype/tensor/create.hpp>

namespace shardtype {

namespace checking {
struct FourStepHeader {};  // check/elsewhere.hpp
}  // namespace checking

namespace api {

/// The discrete Fourier transform along a split dim I of n rows, in the transposed order: `c64[I@X,
/// J]` -> `fft_four_step<I, K1, K2>(a)` -> `c64[K1@X, K2, J]`, where element (k1, k2) is frequency
/// k1 + n1 k2 and n = n1 n2; two all_to_all of the block. In the natural order at the price of a
/// third one: `fft_four_step<I, K>(a)` -> `c64[K@X, J]`. n1 and n2 are the factors with which the
/// busiest rank has the least work, or the static extents of K1 and K2. For an n without good
/// factors, such as a prime, n1 = n and n2 = 1, so that both orders are natural: Bluestein's
/// algorithm, five all_to_all of about eight blocks together, and six times the flops; with
/// `op::FftLength::composite` Error E41 names the nearest extents instead. Blocks have ceil(n / p)
/// rows, any n; several axes may split I; batch dims stay. `norm` as for fft. Unreduced sums stay
/// unreduced. Refused: D01, D02, D06, D07, B03, F01, F03; L01 in automatic mode. Errors: E41,
/// E74. Source: Bailey, FFTs in external or hierarchical memory, 1990; Bluestein 1970.
template <class I, class... Ks, class A>
constexpr auto fft_four_step(core::Argument<A> const& a, op::FftNorm norm = op::FftNorm::backward,
                             op::FftLength length = op::FftLength::any,
                             checking::CallSite where = {}) {
  return api::call(op::FftFourStep<I, Ks...>{norm, length}, where, a.self());
}

/// The inverse of fft_four_step, which takes either order to the natural one: `c64[K1@X, K2, J]` ->
/// `ifft_four_step<K1, K2, I>(f)` -> `c64[I@X, J]`, two all_to_all; `c64[K@X, J]` ->
/// `ifft_four_step<K, I>(f)` -> `c64[I@X, J]`, three. Divided by n unless `norm` says otherwise.
/// Refused: also F05, a split K2. Otherwise as fft_four_step.
template <class K, class... Ls, class A>
constexpr auto ifft_four_step(core::Argument<A> const& f, op::FftNorm norm = op::FftNorm::backward,
                              op::FftLength length = op::FftLength::any,
                              checking::CallSite where = {}) {
  return api::call(op::IfftFourStep<K, Ls...>{norm, length}, where, f.self());
}

/// The frequencies of fft_four_step in the transposed order, of n1 n2 rows that are `d` apart:
/// `fftfreq<float, Dim<K1, X>, Dim<K2>>(mesh, {n1, n2})` -> `f32[K1@X, K2]`; element (k1, k2) is k1
/// + n1 k2, less n for the upper half, divided by n d. `f.extents()` has n1 and n2. Otherwise as
/// fftfreq.
template <class... Parts, class... Xs>
auto fftfreq(runtime::MeshOf<Xs...> const& mesh, std::array<std::int64_t, 2> const& lengths,
             double d = 1) {
  return api::from_function<Parts...>(
      mesh, lengths,
      [n1 = lengths[0], n = lengths[0] * lengths[1], d](std::int64_t k1, std::int64_t k2) {
        std::int64_t const k = k1 + n1 * k2;
        return static_cast<double>(k < (n + 1) / 2 ? k : k - n) / (static_cast<double>(n) * d);
      });
}

}  // namespace api

}  // namespace shardtype
