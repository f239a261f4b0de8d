#pragma once
/// Element types as MPI sees them.

#include <complex>
#include <cstdint>

#include <Kokkos_Core.hpp>
#include <mpi.h>

#include <shardtype/core/spec.hpp>

namespace shardtype {

/// The MPI datatype for elements of `T`.
template <class T>
struct WireType {
  static_assert(sizeof(T) == 0, "no MPI datatype for this element type; specialise WireType<T>");
};
template <>
struct WireType<float> {
  static MPI_Datatype get() { return MPI_FLOAT; }
};
template <>
struct WireType<double> {
  static MPI_Datatype get() { return MPI_DOUBLE; }
};
/// As a byte, so that maxima and minima (any, all) can be taken of it.
template <>
struct WireType<bool> {
  static_assert(sizeof(bool) == 1);
  static MPI_Datatype get() { return MPI_UINT8_T; }
};
template <>
struct WireType<std::int32_t> {
  static MPI_Datatype get() { return MPI_INT32_T; }
};
template <>
struct WireType<std::int64_t> {
  static MPI_Datatype get() { return MPI_INT64_T; }
};
template <>
struct WireType<Kokkos::complex<float>> {
  static MPI_Datatype get() { return MPI_C_FLOAT_COMPLEX; }
};
template <>
struct WireType<Kokkos::complex<double>> {
  static MPI_Datatype get() { return MPI_C_DOUBLE_COMPLEX; }
};

/// The MPI operation of a kind of reduction.
inline MPI_Op wire_operation(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::max:
      return MPI_MAX;
    case ReduceKind::min:
      return MPI_MIN;
    case ReduceKind::sum:
      break;
  }
  return MPI_SUM;
}

}  // namespace shardtype
