#pragma once
/// The parts of a tensor's type: dims and attributes.

namespace shardtype {

/// Dimension `I`, split over the mesh axes `Xs`, major to minor; printed `I`, `I@X`, `I@(X,Y)`.
///
/// Blocks nest: each axis cuts the block it is given into ceil(b / p) pieces, so `Dim<I, X, Y>` cuts
/// over X first and each of those pieces over Y. The last pieces may be short or empty.
template <class I, class... Xs>
struct Dim {};

/// Kinds of reduction an `Unreduced` attribute can owe. Sum is the default and is not spelled.
struct Max {};
struct Min {};

/// `Unreduced<X>`: each rank along X holds a summand of the value. `Unreduced<Max, X>` and
/// `Unreduced<Min, X>` owe a maximum or minimum. Axes stand in order of name. Printed `{U:X}`,
/// `{U_max:X}`.
template <class... KindThenAxes>
struct Unreduced {};

/// `Reduced<X>`: same bytes as replicated over X, but the cotangent stays unreduced over X. Axes
/// stand in order of name. Printed `{R:X}`.
template <class... Xs>
struct Reduced {};

/// `Memory<Space>`: the Kokkos memory space of the local blocks. Absent: the default execution
/// space's memory.
template <class Space>
struct Memory {};

/// A distributed tensor of `T`; see tensor/tensor.hpp. Declared here so that types can be reasoned
/// about without MPI or Kokkos.
template <class T, class... Parts>
class Tensor;

/// A type as an argument: `plan(matmul_to<Out>, type<A>, type<B>)`.
template <class T>
struct Type {
  using type = T;
};
template <class T>
inline constexpr Type<T> type{};

}  // namespace shardtype
