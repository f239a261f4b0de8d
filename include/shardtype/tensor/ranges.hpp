#pragma once
/// Ranges of numbers and identity matrices. None of them communicates; their plan is that of
/// op::Create.

#include <cmath>
#include <cstdint>
#include <type_traits>

#include <shardtype/check/functions.hpp>
#include <shardtype/check/misused.hpp>
#include <shardtype/kernels/ranges.hpp>
#include <shardtype/tensor/generated.hpp>

namespace shardtype {

namespace detail {

/// The refusal if `A` is not a tensor of `Rank` dims (whose elements are ordered, if they step), or
/// void.
template <class A, std::size_t Rank, bool Steps>
constexpr auto judge_range() {
  if constexpr (A::rank != Rank) {
    return Type<refused<Code::D16_dims_of_range, false, A>>{};
  } else if constexpr (Steps && is_complex<typename A::element>) {
    return Type<refused<Code::S04_no_order, false, A>>{};
  } else {
    return Type<void>{};
  }
}
template <class A, std::size_t Rank, bool Steps>
using range_judged_t = typename decltype(detail::judge_range<A, Rank, Steps>())::type;

/// Number of values from `start` by `step` before `stop`. Error E20 for a step of 0, or a NaN.
template <class T>
std::int64_t count_range(T start, T stop, T step) {
  if constexpr (std::is_integral_v<T>) {
    auto const from = static_cast<std::int64_t>(start);
    auto const to = static_cast<std::int64_t>(stop);
    auto const by = static_cast<std::int64_t>(step);
    if (by == 0) throw Error("E20", "arange was given a step of 0", FailedOn::every_rank);
    if (by > 0 ? to <= from : to >= from) return 0;
    // the distance is unsigned: it may exceed the largest integer
    std::uint64_t const apart =
        by > 0 ? static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from)
               : static_cast<std::uint64_t>(from) - static_cast<std::uint64_t>(to);
    std::uint64_t const each =
        by > 0 ? static_cast<std::uint64_t>(by) : std::uint64_t{0} - static_cast<std::uint64_t>(by);
    std::uint64_t const n = (apart - 1) / each + 1;
    return n > static_cast<std::uint64_t>(max_elements) ? max_elements + 1
                                                        : static_cast<std::int64_t>(n);
  } else {
    double const n = std::ceil((static_cast<double>(stop) - static_cast<double>(start)) /
                               static_cast<double>(step));
    if (step == T(0) || std::isnan(n))
      throw Error("E20", "arange was given a step of 0, or a number that is none",
                  FailedOn::every_rank);
    if (n <= 0) return 0;
    return n > static_cast<double>(max_elements) ? max_elements + 1 : static_cast<std::int64_t>(n);
  }
}

}  // namespace detail

namespace api {

/// The numbers start, start + step, ... before `stop`: `arange<float, Dim<I, X>>(mesh, 0, 10, 2)`
/// -> `f32[I@X]` of 0, 2, 4, 6, 8. They determine the extent. Communicates nothing. Refused: D16
/// other than one dim, S04 complex elements, M01. Errors: E20 a step of 0, an extent that does not
/// fit the index. As jnp.arange.
template <class... Parts, class... Xs>
auto arange(runtime::MeshOf<Xs...> const& mesh, detail::created_element<Parts...> start,
            detail::created_element<Parts...> stop,
            detail::created_element<Parts...> step = detail::created_element<Parts...>(1)) {
  using A = detail::created_t<Parts...>;
  using T = typename A::element;
  using Judged = detail::range_judged_t<A, 1, true>;
  if constexpr (!std::is_void_v<Judged>) {
    return checking::Poisoned(Judged{});
  } else {
    using Wide = kernels::wide_t<T>;
    return detail::generated<A>(
        mesh, {detail::count_range(start, stop, step)},
        kernels::Stepped<T>{static_cast<Wide>(start), static_cast<Wide>(step)});
  }
}
/// The numbers 0, 1, ... before `stop`.
template <class... Parts, class... Xs>
auto arange(runtime::MeshOf<Xs...> const& mesh, detail::created_element<Parts...> stop) {
  using T = detail::created_element<Parts...>;
  return api::arange<Parts...>(mesh, T(0), stop, T(1));
}

/// Evenly spaced numbers from `start` to `stop` inclusive, as many as the extent: `linspace<float,
/// Dim<I, X>>(mesh, {5}, 0, 1)` -> `f32[I@X]` of 0, 0.25, 0.5, 0.75, 1. With extent 1 only `start`.
/// The extent may be left out if the label has a static one. Communicates nothing. Refused: D16
/// other than one dim, S04 complex elements, M01. Error E20. As jnp.linspace.
template <class... Parts, class... Xs>
auto linspace(runtime::MeshOf<Xs...> const& mesh, detail::created_extents<Parts...> const& extents,
              detail::created_element<Parts...> start, detail::created_element<Parts...> stop) {
  using A = detail::created_t<Parts...>;
  using T = typename A::element;
  using Judged = detail::range_judged_t<A, 1, true>;
  if constexpr (!std::is_void_v<Judged>) {
    return checking::Poisoned(Judged{});
  } else {
    auto const from = static_cast<double>(start);
    double const gaps = static_cast<double>(extents[0] > 1 ? extents[0] - 1 : 1);
    return detail::generated<A>(
        mesh, extents,
        kernels::Spaced<T>{from, (static_cast<double>(stop) - from) / gaps, stop, extents[0]});
  }
}
template <class... Parts, class... Xs>
auto linspace(runtime::MeshOf<Xs...> const& mesh, detail::created_element<Parts...> start,
              detail::created_element<Parts...> stop) {
  return api::linspace<Parts...>(mesh, detail::label_extents<Parts...>(), start, stop);
}

/// A matrix with ones on a diagonal and zeros elsewhere: `eye<float, Dim<I, X>, Dim<J, Y>>(mesh,
/// {4, 6})` -> `f32[I@X, J@Y]`; rows and columns are two indices. Diagonal k begins at row 0 and
/// column k. Extents may be left out if the labels have static ones. Communicates nothing. Refused:
/// D16 other than two dims, M01. Error E20. As jnp.eye.
template <class... Parts, class... Xs>
auto eye(runtime::MeshOf<Xs...> const& mesh,
         detail::created_extents<Parts...> const& extents = detail::label_extents<Parts...>(),
         std::int64_t diagonal = 0) {
  using A = detail::created_t<Parts...>;
  using Judged = detail::range_judged_t<A, 2, false>;
  if constexpr (!std::is_void_v<Judged>) {
    return checking::Poisoned(Judged{});
  } else {
    return detail::generated<A>(mesh, extents,
                                kernels::OnDiagonal<typename A::element>{extents[1], diagonal});
  }
}

// Everyday mistakes (check/misused.hpp).
SHARDTYPE_NOT_CREATED(arange)
SHARDTYPE_NOT_CREATED(linspace)
SHARDTYPE_NOT_CREATED(eye)

}  // namespace api

}  // namespace shardtype
