#pragma once
/// MPI datatypes and operations for element types.

#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>
#include <mpi.h>

#include <shardtype/check/functions.hpp>
#include <shardtype/core/bfloat16.hpp>
#include <shardtype/core/sent.hpp>
#include <shardtype/core/spec.hpp>

namespace shardtype::runtime {

inline MPI_Datatype datatype_of(Type<float>) { return MPI_FLOAT; }
inline MPI_Datatype datatype_of(Type<double>) { return MPI_DOUBLE; }
inline MPI_Datatype datatype_of(Type<std::int32_t>) { return MPI_INT32_T; }
inline MPI_Datatype datatype_of(Type<std::int64_t>) { return MPI_INT64_T; }
inline MPI_Datatype datatype_of(Type<Kokkos::complex<float>>) { return MPI_C_FLOAT_COMPLEX; }
inline MPI_Datatype datatype_of(Type<Kokkos::complex<double>>) { return MPI_C_DOUBLE_COMPLEX; }
/// Sent as its bits; MPI has no operations on them.
inline MPI_Datatype datatype_of(Type<bfloat16>) { return MPI_UINT16_T; }
/// Sent as a byte, for maxima and minima (any, all).
inline MPI_Datatype datatype_of(Type<bool>) { return MPI_UINT8_T; }

/// The MPI datatype for elements of `T`.
template <class T>
struct WireType {
  static_assert(
      requires { runtime::datatype_of(Type<T>{}); },
      "no MPI datatype for this element type; specialise WireType<T>");
  static MPI_Datatype get() { return runtime::datatype_of(Type<T>{}); }
};

/// The partial result of a reduction `R` (kernels/reducers.hpp) for one output, in a form that
/// ranks send: its `Sent` or `Total`, which `R::join` combines with another rank's.
template <class R>
struct Carried {
  shardtype::detail::sent_t<R> value;
  friend Carried operator+(Carried a, Carried const& b) {
    R::join(a.value, b.value);
    return a;
  }
};

}  // namespace shardtype::runtime

namespace shardtype {

namespace detail {

template <class T>
inline constexpr bool is_carried = false;
template <class R>
inline constexpr bool is_carried<Carried<R>> = true;

/// Frees `handle` by `Free` when MPI ends, which deletes the attributes of MPI_COMM_SELF first.
template <auto Free, class Handle>
void give_back_at_end(Handle& handle) {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(
      MPI_COMM_NULL_COPY_FN,
      [](MPI_Comm, int, void* attribute, void*) { return Free(static_cast<Handle*>(attribute)); },
      &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, &handle);
  MPI_Comm_free_keyval(&key);  // it exists as long as the attribute
}

/// `Bytes` bytes as one element. Created once.
template <std::size_t Bytes>
MPI_Datatype wire_bytes() {
  static MPI_Datatype type = MPI_DATATYPE_NULL;
  if (type == MPI_DATATYPE_NULL) {
    MPI_Type_contiguous(static_cast<int>(Bytes), MPI_BYTE, &type);
    MPI_Type_commit(&type);
    detail::give_back_at_end<&MPI_Type_free>(type);
  }
  return type;
}

/// `Join::join` on elements of `T` as an MPI operation; commutative. Created once.
template <class T, class Join>
MPI_Op wire_join() {
  static MPI_Op op = MPI_OP_NULL;
  if (op == MPI_OP_NULL) {
    MPI_Op_create(
        [](void* theirs, void* ours, int* n, MPI_Datatype*) {
          for (int k = 0; k < *n; ++k)
            Join::join(static_cast<T*>(ours)[k], static_cast<T const*>(theirs)[k]);
        },
        1, &op);
    detail::give_back_at_end<&MPI_Op_free>(op);
  }
  return op;
}

template <class T>
struct JoinSums {
  static void join(T& a, T const& b) { a = a + b; }
};
/// Like MPI_MAX and MPI_MIN, but a NaN always gives a NaN.
template <class T, bool Max>
struct JoinExtremes {
  static void join(T& a, T const& b) { a = (Max ? b > a : b < a) || b != b ? b : a; }
};

}  // namespace detail

}  // namespace shardtype

namespace shardtype::runtime {

template <class R>
struct WireType<Carried<R>> {
  static MPI_Datatype get() { return detail::wire_bytes<sizeof(Carried<R>)>(); }
};

/// The MPI operation of a kind of reduction on elements of `T`.
template <class T>
MPI_Op wire_operation(ReduceKind kind) {
  if constexpr (detail::is_carried<T>) {
    return detail::wire_join<T, detail::JoinSums<T>>();
  } else if constexpr (shardtype::detail::is_real_floating<T>) {
    if (kind == ReduceKind::max) return detail::wire_join<T, detail::JoinExtremes<T, true>>();
    if (kind == ReduceKind::min) return detail::wire_join<T, detail::JoinExtremes<T, false>>();
    if constexpr (std::is_same_v<T, bfloat16>) return detail::wire_join<T, detail::JoinSums<T>>();
  }
  return kind == ReduceKind::max ? MPI_MAX : kind == ReduceKind::min ? MPI_MIN : MPI_SUM;
}

}  // namespace shardtype::runtime
