#pragma once
/// Windows along one dim that begin where a value says. None communicates, but for reading that value
/// where it is a tensor without dims: then as `item` does, a broadcast of one number.

#include <algorithm>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>

#include <shardtype/check/indexing.hpp>
#include <shardtype/ops/slice.hpp>
#include <shardtype/ops/to_host.hpp>
#include <shardtype/tensor/create.hpp>

namespace shardtype {

namespace detail {

/// Whether a start within an `A` can be read: an integer, or a tensor of integers without dims. One that is
/// a block has overloads of its own (manual/dynamic.hpp).
template <class P, class A, bool number = std::is_integral_v<P>>
struct Start {
  using S = Scope<>;
  static constexpr Verdict verdict{};
};
template <class P, class A>
struct Start<P, A, false> : NotAnItem<P> {
  static constexpr Verdict decide() {
    if (is_tensor<P> && is_local<P> != is_local<A>) return refuse(Code::V01_mixed);
    if (Verdict v = NotAnItem<P>::verdict; !v) return v;
    if constexpr (is_tensor<P>) {
      if (!is_id<element_t<P>>) return refuse(Code::I01_not_integers);
    }
    return {};
  }
  static constexpr Verdict verdict = decide();
};

/// The start of a window of `size` rows within `extent`, moved so that the window fits.
template <class P>
std::int64_t read_start(P const& start, MeshRef const& mesh, std::source_location const& where) {
  if constexpr (std::is_integral_v<P>) {
    return static_cast<std::int64_t>(start);
  } else {
    check_one_mesh(mesh, start.mesh());
    return mesh.here() ? static_cast<std::int64_t>(item(start, where)) : 0;
  }
}
inline std::int64_t clamped(std::int64_t start, std::int64_t size, std::int64_t extent) {
  return std::clamp<std::int64_t>(start, 0, extent - size);
}
[[noreturn]] inline void fail_window(std::string_view label, std::int64_t extent,
                                     std::int64_t size) {
  throw Error("E41",
              "index " + std::string(label) + " has extent " + std::to_string(extent) +
                  "; there is no window of " + std::to_string(size) + " rows in it",
              FailedOn::every_rank);
}

/// The dim of label I; 0 where the operation will be refused for having none.
template <class A, class I>
inline constexpr int dim_or_0 = [] {
  int const d = A::spec.find(Scope<A>::names.find_label(identity<I>));
  return d < 0 ? 0 : d;
}();
/// Error E24 unless `b` has a's extents, but along dim `along`.
template <class A, class B>
void check_extents_beside(A const& a, B const& b, int along) {
  check_one_mesh(a.mesh(), b.mesh());
  for (int d = 0; d < A::spec.rank; ++d) {
    auto const k = static_cast<std::size_t>(d);
    if (d == along || a.extents()[k] == b.extents()[k]) continue;
    throw Error("E24",
                "index " + std::string(Scope<A>::names.label_name[A::spec.dims[d].label]) +
                    " has extent " + std::to_string(b.extents()[k]) +
                    " in one operand, elsewhere " + std::to_string(a.extents()[k]),
                FailedOn::every_rank);
  }
}

/// A copy of `a` with `update` in place of the rows from `start` on along dim `at`.
template <class Out, class A, class B>
Out updated(A const& a, B const& update, int at, std::int64_t start) {
  using T = typename A::element;
  Out out = uninitialized<Out>(a.mesh(), a.extents());
  if (!a.mesh().here()) return out;
  typename A::execution_space const exec{};
  auto* const to = static_cast<T*>(out.buffer().data());
  execute::Around const whole(block_layout(a.rows()), at);
  execute::Around const part(block_layout(update.rows()), at);
  auto const place = [&](T const* from, std::int64_t pitch, std::int64_t row, std::int64_t rows) {
    kernels::copy_pitched(exec, from, pitch, to + row * whole.inner, whole.n * whole.inner,
                          whole.outer, rows * whole.inner);
  };
  auto const* const old = static_cast<T const*>(a.buffer().data());
  std::int64_t const end = start + part.n;
  place(old, whole.n * whole.inner, 0, start);
  place(static_cast<T const*>(update.buffer().data()), part.n * part.inner, start, part.n);
  place(old + end * whole.inner, whole.n * whole.inner, end, whole.n - end);
  exec.fence();
  return out;
}

}  // namespace detail

/// `size` rows from `start` on along I: `a[I@X, J]` -> `dynamic_slice<J, Head>(a, start, 10)` ->
/// `[I@X, Head]`. The start is an integer that all ranks have alike, or a tensor of integers without dims,
/// read as by `item`. It is moved so that the rows are there, as in jax.lax.dynamic_slice; a negative one
/// counts as 0. Otherwise as `slice`. Refused: D01, D02, D03, D05, D07; of the start A01, A02, I01, V01.
/// Errors: E23, E41 a negative size, or one beyond the extent.
template <class I, class... Result, class A, class Start>
auto dynamic_slice(A const& a, Start const& start, std::int64_t size,
                   std::source_location where = std::source_location::current()) {
  if constexpr (any_poisoned<A, Start>) {
    return Poisoned{};
  } else if constexpr (is_lazy<A>) {
    return Poisoned(refused<Code::L01_not_recorded, false, A>{});
  } else {
    using Begin = detail::Start<operand_t<Start>, operand_t<A>>;
    if constexpr (!Begin::verdict) {
      return Poisoned(refusal<Begin, operand_t<Start>>{});
    } else {
      auto const d = static_cast<std::size_t>(detail::dim_or_0<operand_t<A>, I>);
      std::int64_t const extent = a.extents()[d];
      if (size < 0 || size > extent) detail::fail_window(I::name, extent, size);
      std::int64_t const begin =
          detail::clamped(detail::read_start(operand(start), a.mesh(), where), size, extent);
      return call(op::Slice<I, Result...>{begin, begin + size}, where, a);
    }
  }
}

/// A copy of `a` with the rows of `update` from `start` on along I: `a[I@X, J]`, `b[I@X, Head]` ->
/// `dynamic_update<J, Head>(a, b, start)` -> `[I@X, J]`; without a second index, the update calls its rows
/// J too. Update and tensor have the same dims otherwise, split and unreduced alike; one that is reduced
/// makes the result reduced. The start as in `dynamic_slice`. Communicates nothing else. Refused: C10, D01,
/// D03, D12, D13; of the start A01, A02, I01, V01. Errors: E23, E24, E41 an update longer than the extent.
template <class I, class... Into, class A, class B, class Start>
auto dynamic_update(A const& a, B const& update, Start const& start,
                    std::source_location where = std::source_location::current()) {
  if constexpr (any_poisoned<A, B, Start>) {
    return Poisoned{};
  } else {
    using R = Resolve<op::DynamicUpdate<I, Into...>, operand_t<A>, operand_t<B>>;
    using Begin = detail::Start<operand_t<Start>, operand_t<A>>;
    if constexpr (!R::verdict) {
      return Poisoned(refusal<R, operand_t<A>, operand_t<B>>{});
    } else if constexpr (!Begin::verdict) {
      return Poisoned(refusal<Begin, operand_t<Start>>{});
    } else {
      using Whole = operand_t<A>;
      constexpr int at = Whole::spec.find(Scope<Whole>::names.find_label(identity<I>));
      constexpr auto d = static_cast<std::size_t>(at);
      detail::check_extents_beside(operand(a), operand(update), at);
      std::int64_t const extent = a.extents()[d];
      std::int64_t const size = update.extents()[d];
      if (size > extent) detail::fail_window(I::name, extent, size);
      return detail::updated<typename R::result>(
          operand(a), operand(update), at,
          detail::clamped(detail::read_start(operand(start), a.mesh(), where), size, extent));
    }
  }
}

}  // namespace shardtype
