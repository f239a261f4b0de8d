#pragma once
/// The parts of a tensor's type: dims and attributes.

#include <cstdint>
#include <type_traits>

#include <shardtype/core/namespaces.hpp>

namespace shardtype {

/// Dimension `I`, split over the mesh axes `Xs`, major to minor; printed `I`, `I@X`, `I@(X,Y)`.
///
/// Blocks nest: each axis cuts the block it is given into ceil(b / p) pieces, so `Dim<I, X, Y>` cuts
/// over X first and each of those pieces over Y. The last pieces may be short or empty.
template <class I, class... Xs>
struct Dim {};

/// In a Dim, the mesh axis X that deals the indices out in turns, `Block` at a time, as ScaLAPACK's
/// grids do: of `Dim<I, Cyclic<X, 64>>` the rank at place k along X holds the indices i with
/// i / 64 % px == k. Printed `I@X%64`. It is the dim's only axis (B01), and Block is from 1 to
/// 2^31 - 1 (B02).
///
///     Tensor<double, Dim<I, Cyclic<X, 64>>, Dim<J, Cyclic<Y, 64>>>   // f64[I@X%64, J@Y%64]
template <class X, std::int64_t Block>
struct Cyclic {};

/// Kinds of reduction an `Unreduced` attribute can owe. Sum is the default and is not spelled.
struct Max {};
struct Min {};
/// In manual mode `all_reduce<Mean, X>` is the mean; nothing can owe one.
struct Mean {};

/// `Unreduced<X>`: each rank along X holds a summand of the value. `Unreduced<Max, X>` and
/// `Unreduced<Min, X>` owe a maximum or minimum. Axes stand in order of name. Printed `{U:X}`,
/// `{U_max:X}`.
template <class... KindThenAxes>
struct Unreduced {};

/// `Reduced<X>`: same bytes as replicated over X, but the cotangent stays unreduced over X. Axes
/// stand in order of name. Printed `{R:X}`.
template <class... Xs>
struct Reduced {};

/// `Varying<X>`, of a Local: what ranks hold differs along X. Axes stand in order of name. Printed
/// `{V:X}`.
template <class... Xs>
struct Varying {};

/// `Memory<Space>`: the Kokkos memory space of the local blocks. Absent: the default execution
/// space's memory.
template <class Space>
struct Memory {};

/// A distributed tensor of `T`; see tensor/tensor.hpp. Declared here so that types can be reasoned
/// about without MPI or Kokkos.
template <class T, class... Parts>
class Tensor;
/// One rank's block in manual mode; see manual/local.hpp.
template <class T, class... Parts>
class Local;
/// What will be a Tensor or a Local; see tensor/pending.hpp.
template <class T>
class Pending;
namespace detail {
template <class T>
inline constexpr bool is_pending = false;
template <class T>
inline constexpr bool is_pending<Pending<T>> = true;
}  // namespace detail

}  // namespace shardtype

namespace shardtype::core {

/// The base of every expression of automatic mode (lazy/expression.hpp).
struct LazyNode {};
/// Whether `A` is an expression of automatic mode: operations on it are recorded.
template <class A>
inline constexpr bool is_lazy = std::is_base_of_v<LazyNode, A>;

}  // namespace shardtype::core

namespace shardtype {

/// Dims and attributes that an operation names, where it needs no tensor of them: read as one's are.
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
