#pragma once
/// The parts of a tensor's type: dims and attributes.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <shardtype/core/namespaces.hpp>

namespace shardtype {

/// Dimension `I`, split over the mesh axes `Xs`, major to minor; printed `I`, `I@X`, `I@(X,Y)`.
///
/// Blocks nest: each axis cuts the block it is given into pieces of ceil(b / p) indices, so `Dim<I,
/// X, Y>` cuts over X first and each of the pieces over Y. The last pieces may be short or empty.
template <class I, class... Xs>
struct Dim {};

/// In a Dim, a mesh axis X that splits the indices block-cyclically with block size `Block`, like
/// ScaLAPACK's grids: for `Dim<I, Cyclic<X, 64>>` the rank with coordinate k along X holds the
/// indices i with i / 64 % px == k. Printed `I@X%64`. It is the dim's only axis (B01), and Block is
/// from 1 to 2^31 - 1 (B02).
///
///     Tensor<double, Dim<I, Cyclic<X, 64>>, Dim<J, Cyclic<Y, 64>>>   // f64[I@X%64, J@Y%64]
template <class X, std::int64_t Block>
struct Cyclic {};

/// Kinds of pending reduction of an `Unreduced` attribute. Sum is the default and is not spelled.
struct Max {};
struct Min {};
/// In manual mode `all_reduce<Mean, X>` is the mean; it is not a kind of pending reduction.
struct Mean {};

/// `Unreduced<X>`: a pending sum; each rank along X holds a summand of the value. `Unreduced<Max,
/// X>` and `Unreduced<Min, X>`: a pending maximum or minimum. Axes are listed in order of name.
/// Printed `{U:X}`, `{U_max:X}`.
template <class... KindThenAxes>
struct Unreduced {};

/// `Reduced<X>`: same bytes as replicated over X, but the cotangent stays unreduced over X. Axes
/// are listed in order of name. Printed `{R:X}`.
template <class... Xs>
struct Reduced {};

/// `Varying<X>`, of a Local: the ranks' blocks differ along X. Axes are listed in order of name.
/// Printed `{V:X}`.
template <class... Xs>
struct Varying {};

/// `Memory<Space>`: the Kokkos memory space of the local blocks. Without it: the memory space of
/// the default execution space.
template <class Space>
struct Memory {};

/// A distributed tensor of `T`; see tensor/tensor.hpp. Declared here so that types can be reasoned
/// about without MPI or Kokkos.
template <class T, class... Parts>
class Tensor;
/// One rank's block in manual mode; see manual/local.hpp.
template <class T, class... Parts>
class Local;
/// The future of a Tensor or a Local; see tensor/pending.hpp.
template <class T>
class Pending;

namespace detail {

template <class T>
inline constexpr bool is_pending = false;
template <class T>
inline constexpr bool is_pending<Pending<T>> = true;

}  // namespace detail

namespace core {

/// The base of every type `D` whose values functions of tensors take. The functions are overloaded
/// for `Argument<D> const&` and `Argument<D>&&`: a temporary is told from a variable, and the
/// conversion to a base makes a user's function of the same name, for `D const&` or for any type,
/// the better match.
template <class D>
struct Argument {
  constexpr D const& self() const& { return static_cast<D const&>(*this); }
  constexpr D&& self() && { return static_cast<D&&>(*this); }
};

/// Whether functions of tensors take a value of type `A`.
template <class A>
concept TakenByFunctions = requires(A const& a) { []<class D>(Argument<D> const&) {}(a); };

/// A parameter of type `T` of a function that is no template, which takes a conversion for the same
/// reason. It refers to the argument.
template <class T>
struct Taken {
  constexpr Taken(T const& v) : value(v) {}  // NOLINT(google-explicit-constructor)
  /// Converts a value to `T`; the result, `made`, lives as long as the call.
  template <class V>
    requires(std::is_class_v<V> && !std::is_base_of_v<T, V> && std::is_convertible_v<V const&, T>)
  constexpr Taken(V const& v, T&& made = T{})
      : value(made) {  // NOLINT(google-explicit-constructor)
    made = v;
  }
  constexpr operator T const&() const { return value; }  // NOLINT(google-explicit-constructor)
  T const& value;
};
/// Extents: an array of them, or the numbers in braces.
template <std::size_t Rank>
struct Taken<std::array<std::int64_t, Rank>> {
  constexpr Taken(std::array<std::int64_t, Rank> const& v)  // NOLINT(google-explicit-constructor)
      : value(v) {}
  template <std::integral... N>
    requires(sizeof...(N) == Rank)
  constexpr Taken(N... n)  // NOLINT(google-explicit-constructor)
      : value{static_cast<std::int64_t>(n)...} {}
  std::array<std::int64_t, Rank> value;
};

/// The base of every expression of automatic mode (lazy/expression.hpp).
struct LazyNode {};
/// Base of the gradients of functions.
struct GradientFunction {};
/// Whether `A` is an expression of automatic mode, whose operations are recorded.
template <class A>
inline constexpr bool is_lazy = std::derived_from<A, LazyNode>;

/// The base of every value whose operations are recorded for their gradients
/// (autodiff/active.hpp).
struct ActiveNode {};
/// Whether `A` is such a value.
template <class A>
inline constexpr bool is_active = std::derived_from<A, ActiveNode>;

}  // namespace core

/// Dims and attributes that an operation names without needing a tensor of them; parsed like those
/// of a tensor type.
template <class... Parts>
struct Mentions;

/// A type as an argument: `plan(op::Matmul<Out>{}, type<A>, type<B>)`.
template <class T>
struct Type {
  using type = T;
};
template <class T>
inline constexpr Type<T> type{};

}  // namespace shardtype
