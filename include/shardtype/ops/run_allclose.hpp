#pragma once
/// Whether two tensors are equal, or nearly equal, as a C++ bool.

#include <cstdint>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>

#include <shardtype/check/call_site.hpp>
#include <shardtype/ops/reductions.hpp>
#include <shardtype/ops/run_elementwise.hpp>
#include <shardtype/ops/run_to_host.hpp>

namespace shardtype {

namespace detail {

/// Whether `A` is a tensor, a Local or a number. A comparison refuses all others, and Locals (V01).
template <class A>
inline constexpr bool is_compared = is_tensor<A>;
template <class N>
inline constexpr bool is_compared<Number<N>> = true;

/// The verdict on a comparison of two operands, by the rule of the elementwise function `F`.
/// Refused in manual and automatic mode.
template <class F, class A, class B>
constexpr auto resolve_comparison() {
  if constexpr (!is_compared<A> || !is_compared<B>) {
    return Type<NotATensor<A, B>>{};
  } else if constexpr (detail::is_of_manual_mode<A>() || detail::is_of_manual_mode<B>()) {
    return Type<Plainly<Code::V01_mixed>>{};
  } else {
    return Type<Resolve<op::Map<F>, A, B>>{};
  }
}

/// The type of an operand. Numbers are converted; a Pending cannot be copied and is refused as it
/// is.
template <class A>
constexpr auto compared() {
  using Bare = std::remove_cvref_t<A>;
  if constexpr (std::is_class_v<Bare> && !is_complex<Bare>) {
    return Type<operand_t<Bare>>{};
  } else {
    return Type<held_t<A>>{};
  }
}

/// Whether `mine` is true on all ranks of a mesh. One byte is reduced over all ranks, so all ranks
/// get the same answer. Error E25 on ranks outside the mesh.
inline bool agreed(MeshState& mesh, bool mine, char const* name,
                   std::source_location const& where) {
  if (!mesh.here()) runtime::throw_outside(mesh, name);
  mesh.agreement().agree(name, where);
  mesh.whole().all_reduce(&mine, &mine, 1, ReduceKind::min);
  return mine;
}

/// Whether `f`, an elementwise function of two operands with bool results, is true for all
/// elements. If the blocks have the same layout, it is computed while each rank reduces its block.
template <class F, class A, class B>
bool holds_everywhere(F const& f, char const* name, std::source_location const& where, A&& a,
                      B&& b) {
  if constexpr (is_poisoned<std::remove_cvref_t<A>> || is_poisoned<std::remove_cvref_t<B>>) {
    return false;
  } else {
    using Left = typename decltype(detail::compared<A>())::type;
    using Right = typename decltype(detail::compared<B>())::type;
    using R = typename decltype(detail::resolve_comparison<F, Left, Right>())::type;
    using Judged = judged_t<R, Left, Right>;
    if constexpr (!accepts<Judged>) {
      static_cast<void>(Poisoned(Judged{}));
      return false;
    } else {
      core::RunningCall const running(name, where);
      auto const part =
          api::call(op::All<>{}, where,
                    execute::passed(detail::fuse(f, std::forward<A>(a), std::forward<B>(b))));
      bool const mine = !part.mesh().here() || detail::block_on_host(part).front() != 0;
      return detail::agreed(part.mesh().state(), mine, name, where);
    }
  }
}

/// The extents of an operand; an expression is not computed to get them.
template <class A>
auto known_extents(A const& a) {
  if constexpr (is_fused<A>) {
    return a.computed() ? a.tensor().extents() : detail::fused_extents<operand_t<A>>(a);
  } else {
    return a.extents();
  }
}
/// Whether two operands have the same extents along their common indices; true for numbers.
template <class A, class B>
bool same_extents([[maybe_unused]] A const& a, [[maybe_unused]] B const& b) {
  if constexpr (is_tensor<operand_t<A>> && is_tensor<operand_t<B>>) {
    using S = Scope<operand_t<A>, operand_t<B>>;
    constexpr Spec left = S::template spec<0>;
    constexpr Spec right = S::template spec<1>;
    auto const extents = detail::known_extents(a);
    auto const others = detail::known_extents(b);
    for (int d = 0; d < left.rank; ++d)
      if (int const e = right.find(left.dims[d].label); e >= 0)
        if (extents[static_cast<std::size_t>(d)] != others[static_cast<std::size_t>(e)])
          return false;
  }
  return true;
}
/// Whether all elements are equal, for array_equal.
template <class A, class B>
bool equal_everywhere(bool equal_nan, std::source_location const& where, A&& a, B&& b) {
  return detail::same_extents(a, b) &&
         detail::holds_everywhere(functions::Close{{}, 0, 0, equal_nan}, "array_equal", where,
                                  std::forward<A>(a), std::forward<B>(b));
}

}  // namespace detail

namespace api {

/// Whether |a - b| <= atol + rtol |b| for all elements, as a C++ bool that is the same on all
/// ranks. Collective: all ranks of the mesh call it. `A[I@X, J]`, `B[I@X, J]` -> true or false, for
/// any shardings of the dims; numbers and expressions are operands too. Each rank reduces its
/// block, and one byte is reduced over all ranks; no element is sent. An infinity is close only to
/// itself, a NaN to nothing, or with `equal_nan` to a NaN. True if there are no elements. Refused:
/// as `a == b`, including P04 of unreduced values; L01, V01. Errors: E23, E24, E25. As
/// jnp.allclose; `isclose` gives the answer for each element.
template <class A, detail::OperandType B>
bool allclose(core::Argument<A> const& a, B&& b, double rtol = 1e-5, double atol = 1e-8,
              bool equal_nan = false, checking::CallSite where = {}) {
  return detail::holds_everywhere(functions::Close{{}, rtol, atol, equal_nan}, "allclose", where,
                                  a.self(), std::forward<B>(b));
}
template <class A, detail::OperandType B>
bool allclose(core::Argument<A>&& a, B&& b, double rtol = 1e-5, double atol = 1e-8,
              bool equal_nan = false, checking::CallSite where = {}) {
  return detail::holds_everywhere(functions::Close{{}, rtol, atol, equal_nan}, "allclose", where,
                                  std::move(a).self(), std::forward<B>(b));
}
template <detail::NumberType A, class B>
bool allclose(A const& a, core::Argument<B> const& b, double rtol = 1e-5, double atol = 1e-8,
              bool equal_nan = false, checking::CallSite where = {}) {
  return detail::holds_everywhere(functions::Close{{}, rtol, atol, equal_nan}, "allclose", where, a,
                                  b.self());
}
template <detail::NumberType A, class B>
bool allclose(A const& a, core::Argument<B>&& b, double rtol = 1e-5, double atol = 1e-8,
              bool equal_nan = false, checking::CallSite where = {}) {
  return detail::holds_everywhere(functions::Close{{}, rtol, atol, equal_nan}, "allclose", where, a,
                                  std::move(b).self());
}

/// Whether all elements of `a` and `b` are equal, as a C++ bool that is the same on all ranks;
/// otherwise as allclose. False without communication if an index has different extents. As
/// jnp.array_equal, except that dims are matched by index, as in `a == b`: their order does not
/// matter, and an operand that lacks a dim is broadcast along it.
template <class A, detail::OperandType B>
bool array_equal(core::Argument<A> const& a, B&& b, bool equal_nan = false,
                 checking::CallSite where = {}) {
  return detail::equal_everywhere(equal_nan, where, a.self(), std::forward<B>(b));
}
template <class A, detail::OperandType B>
bool array_equal(core::Argument<A>&& a, B&& b, bool equal_nan = false,
                 checking::CallSite where = {}) {
  return detail::equal_everywhere(equal_nan, where, std::move(a).self(), std::forward<B>(b));
}
template <detail::NumberType A, class B>
bool array_equal(A const& a, core::Argument<B> const& b, bool equal_nan = false,
                 checking::CallSite where = {}) {
  return detail::equal_everywhere(equal_nan, where, a, b.self());
}
template <detail::NumberType A, class B>
bool array_equal(A const& a, core::Argument<B>&& b, bool equal_nan = false,
                 checking::CallSite where = {}) {
  return detail::equal_everywhere(equal_nan, where, a, std::move(b).self());
}

}  // namespace api

}  // namespace shardtype
