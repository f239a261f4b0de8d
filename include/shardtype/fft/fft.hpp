#pragma once
/// Discrete Fourier transforms. Along whole dims they are local; named results move mesh axes
/// between dims by all_to_all, and gather nothing. docs/fft.md has examples.

// A user's global may have the name of a local variable of ours.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"

// The sentences first: then compilers print no path of includes before them.
// clang-format off
#include <shardtype/check/sentences/access.hpp>
#include <shardtype/check/sentences/automatic.hpp>
#include <shardtype/check/sentences/fourier.hpp>
#include <shardtype/check/sentences/gradients.hpp>
#include <shardtype/check/sentences/indexing.hpp>
#include <shardtype/check/sentences/linear_algebra.hpp>
#include <shardtype/check/sentences/manual.hpp>
#include <shardtype/check/sentences/moves.hpp>
#include <shardtype/check/sentences/networks.hpp>
#include <shardtype/check/sentences/pointwise.hpp>
#include <shardtype/check/sentences/products.hpp>
#include <shardtype/check/sentences/shapes.hpp>
#include <shardtype/check/sentences/training.hpp>
#include <shardtype/check/sentences/types.hpp>
// clang-format on

#include <cstdint>
#include <utility>

#include <shardtype/check/along.hpp>
#include <shardtype/check/call_site.hpp>
#include <shardtype/fft/gradients.hpp>
#include <shardtype/fft/run_stages.hpp>
#include <shardtype/fft/types_operations.hpp>

namespace shardtype {

namespace checking {
struct FftHeader {};  // check/elsewhere.hpp
}  // namespace checking

namespace detail {

/// The transform of one dim I, with a new label or without.
template <rules::FourierKind Kind, class I, class... To>
constexpr auto one_transform(Pack<I, To...>) {
  return op::Fourier<Kind, Bare<I>, To...>{};
}
/// The transform of several dims.
template <rules::FourierKind Kind, class... Is>
constexpr auto transform_of(Pack<Is...>) {
  if constexpr (rules::is_real(Kind)) {
    return typename RealTransform<Kind, Pack<>, Is...>::type{};
  } else {
    return op::Fourier<Kind, Bare<Is...>>{};
  }
}
template <class Op, class A>
constexpr auto call_transform(Op const& op, checking::CallSite const& where, A const& a, Pack<>) {
  return api::call(op, where, a);
}
template <class Op, class A, class... Out>
constexpr auto call_transform(Op const& op, checking::CallSite const& where, A const& a,
                              Pack<Out...>) {
  return api::call(op::Named<Op, Out...>{op}, where, a);
}

/// Calls the transform that `Names` mean: labels, then the dims of a named result.
template <rules::FourierKind Kind, class... Names, class A>
constexpr auto fourier_one(A const& a, op::FftNorm norm, std::int64_t n,
                           checking::CallSite const& where) {
  using First = LabelsFirst<Names...>;
  auto op = detail::one_transform<Kind>(typename First::labels{});
  op.norm = norm;
  op.n = n;
  return detail::call_transform(op, where, a, typename First::result{});
}

/// The transforms of several dims one after another, as automatic mode records them, so that the
/// planner may bring the dims together one by one.
template <rules::FourierKind Kind, class I, class... Js, class... Out, class A>
constexpr auto chained(A const& a, op::FftNorm norm, std::int64_t n,
                       checking::CallSite const& where, Pack<I, Js...>, Pack<Out...> named) {
  constexpr auto others = Kind == rules::FourierKind::real_to_complex ? rules::FourierKind::forward
                          : Kind == rules::FourierKind::complex_to_real
                              ? rules::FourierKind::inverse
                              : Kind;
  if constexpr (!rules::is_real(Kind)) {
    if constexpr (sizeof...(Js) == 0) {
      return detail::fourier_one<Kind, I, Out...>(a, norm, n, where);
    } else {
      return detail::chained<Kind>(detail::fourier_one<Kind, I>(a, norm, 0, where), norm, n, where,
                                   Pack<Js...>{}, named);
    }
  } else if constexpr (sizeof...(Js) == 1) {
    return detail::fourier_one<Kind, I, Js..., Out...>(a, norm, n, where);
  } else if constexpr (Kind == rules::FourierKind::real_to_complex) {
    return detail::fourier_one<others, I, Out...>(
        detail::chained<Kind>(a, norm, n, where, Pack<Js...>{}, Pack<>{}), norm, 0, where);
  } else {
    return detail::chained<Kind>(detail::fourier_one<others, I>(a, norm, 0, where), norm, n, where,
                                 Pack<Js...>{}, named);
  }
}
template <rules::FourierKind Kind, class... Names, class A>
constexpr auto fourier_several(A const& a, op::FftNorm norm, std::int64_t n,
                               checking::CallSite const& where) {
  using First = LabelsFirst<Names...>;
  if constexpr (core::is_lazy<A>) {
    return detail::chained<Kind>(a, norm, n, where, typename First::labels{},
                                 typename First::result{});
  } else {
    auto op = detail::transform_of<Kind>(typename First::labels{});
    op.norm = norm;
    op.n = n;
    return detail::call_transform(op, where, a, typename First::result{});
  }
}

}  // namespace detail

namespace api {

/// The discrete Fourier transform along I, sum over j of a_j exp(-2 pi i j k / n): `c64[I, J@X]` ->
/// `fft<I>(a)` -> `c64[I, J@X]`, local. `fft<I, F>(a)` names the dim F in the result. Over a split
/// dim, the dims of the result are named: `c64[I@X, J]` -> `fft<I, Dim<I>, Dim<J, X>>(a)` ->
/// `c64[I, J@X]`, one all_to_all of the block; for `Dim<I, X>, Dim<J>` a second one. `norm` says
/// whether this transform, its inverse or both are divided. Unreduced sums stay unreduced. Refused:
/// D01, D02, D06, D07, B03, F01, F02, F03; named N05, R01 to R03, V14, F04 (no other
/// dim). Errors: E41, E74 no library. Its gradient is a transform that exchanges as much. As
/// jnp.fft.fft.
template <class I, class... Names, class A>
constexpr auto fft(core::Argument<A> const& a, op::FftNorm norm = op::FftNorm::backward,
                   checking::CallSite where = {}) {
  return detail::fourier_one<rules::FourierKind::forward, I, Names...>(a.self(), norm, 0, where);
}

/// The inverse of fft, in the same forms; divided by n unless `norm` says otherwise. As
/// jnp.fft.ifft.
template <class I, class... Names, class A>
constexpr auto ifft(core::Argument<A> const& a, op::FftNorm norm = op::FftNorm::backward,
                    checking::CallSite where = {}) {
  return detail::fourier_one<rules::FourierKind::inverse, I, Names...>(a.self(), norm, 0, where);
}

/// fft of real numbers; the result has the rows 0 ... n / 2, the others are their conjugates:
/// `f32[I, J@X]` -> `rfft<I, F>(a)` -> `c64[F, J@X]`. F may be left out, in the strict form, if I
/// has no static extent. Otherwise as fft; D05. Error E41: no rows. As jnp.fft.rfft.
template <class I, class... Names, class A>
constexpr auto rfft(core::Argument<A> const& a, op::FftNorm norm = op::FftNorm::backward,
                    checking::CallSite where = {}) {
  return detail::fourier_one<rules::FourierKind::real_to_complex, I, Names...>(a.self(), norm, 0,
                                                                               where);
}

/// The inverse of rfft: `c64[F, J@X]` -> `irfft<F, I>(a, n)` -> `f32[I, J@X]`. `n` is the number of
/// real rows; without it, the static extent of I, or 2 (m - 1) for m rows of F. Otherwise as rfft.
/// Error E41: n / 2 + 1 is not the extent of F. As jnp.fft.irfft.
template <class F, class... Names, class A>
constexpr auto irfft(core::Argument<A> const& a, std::int64_t n = 0,
                     op::FftNorm norm = op::FftNorm::backward, checking::CallSite where = {}) {
  return detail::fourier_one<rules::FourierKind::complex_to_real, F, Names...>(a.self(), norm, n,
                                                                               where);
}

/// fft along several dims: `c64[I, J, K@X]` -> `fftn<I, J>(a)`, local. With a named result each dim
/// is transformed while it is whole, and in between mesh axes move to other dims: slabs `c64[I@X,
/// J, K]` -> `fftn<I, J, K, Dim<I>, Dim<J, X>, Dim<K>>(a)`, one all_to_all; pencils `c64[I@X, J@Y,
/// K]`
/// -> `fftn<I, J, K, Dim<I>, Dim<J, X>, Dim<K, Y>>(a)`, two. The original order costs as many
/// again, and ifftn from the new order is as cheap. Otherwise as fft. As jnp.fft.fftn.
template <class... Names, class A>
constexpr auto fftn(core::Argument<A> const& a, op::FftNorm norm = op::FftNorm::backward,
                    checking::CallSite where = {}) {
  return detail::fourier_several<rules::FourierKind::forward, Names...>(a.self(), norm, 0, where);
}

/// The inverse of fftn, in the same forms. As jnp.fft.ifftn.
template <class... Names, class A>
constexpr auto ifftn(core::Argument<A> const& a, op::FftNorm norm = op::FftNorm::backward,
                     checking::CallSite where = {}) {
  return detail::fourier_several<rules::FourierKind::inverse, Names...>(a.self(), norm, 0, where);
}

/// rfft along the last of several dims, then fft along the others: `f32[I, J, K@X]` -> `rfftn<I, J,
/// F>(a)` -> `c64[I, F, K@X]`. The last label is that of the halved dim in the result. Otherwise as
/// fftn. As jnp.fft.rfftn.
template <class... Names, class A>
constexpr auto rfftn(core::Argument<A> const& a, op::FftNorm norm = op::FftNorm::backward,
                     checking::CallSite where = {}) {
  return detail::fourier_several<rules::FourierKind::real_to_complex, Names...>(a.self(), norm, 0,
                                                                                where);
}

/// The inverse of rfftn: `c64[I, F, K@X]` -> `irfftn<I, F, J>(a, n)` -> `f32[I, J, K@X]`; `n` as
/// for irfft. As jnp.fft.irfftn.
template <class... Names, class A>
constexpr auto irfftn(core::Argument<A> const& a, std::int64_t n = 0,
                      op::FftNorm norm = op::FftNorm::backward, checking::CallSite where = {}) {
  return detail::fourier_several<rules::FourierKind::complex_to_real, Names...>(a.self(), norm, n,
                                                                                where);
}

}  // namespace api

}  // namespace shardtype

#pragma GCC diagnostic pop
