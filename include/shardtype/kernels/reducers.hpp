#pragma once
/// Reducers: the elementwise parts of reductions.

#include <cstdint>
#include <limits>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/functions.hpp>
#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/layout.hpp>
#include <shardtype/kernels/rows.hpp>

namespace shardtype::kernels {

/// The type in which long sums are accumulated; short ones in shardtype::detail::computed_t.
template <class T>
struct Wide {
  using type = T;
};
template <>
struct Wide<float> {
  using type = double;
};
template <>
struct Wide<bfloat16> {
  using type = double;
};
template <>
struct Wide<Kokkos::complex<float>> {
  using type = Kokkos::complex<double>;
};
template <class T>
using wide_t = typename Wide<T>::type;

// Reducers, as kernels/reduce.hpp uses them. `load` converts an element at a position in the
// reduced dims to a part, `join` combines two; short runs are accumulated in `Part`, long ones in
// `Total`.

/// Common part of sums: parts of type `P` are summed in the wide type, results are `R`.
template <class P, class R = P>
struct Adding {
  using Part = P;
  using Total = wide_t<P>;
  using Result = R;
  KOKKOS_FUNCTION static Part nothing() { return Part{}; }
  KOKKOS_FUNCTION static Total widen(Part const& a) { return detail::converted<Total>(a); }
  template <class U>
  KOKKOS_FUNCTION static void join(U& a, U const& b) {
    a = static_cast<U>(a + b);
  }
  KOKKOS_FUNCTION static Result finish(Total const& a) { return detail::converted<Result>(a); }
};

template <class T>
struct SumReducer : Adding<shardtype::detail::computed_t<T>, T> {
  using Element = T;
  KOKKOS_FUNCTION static shardtype::detail::computed_t<T> load(T const& x) { return x; }
};
/// Counts true elements; parts are short enough for 32 bits.
template <>
struct SumReducer<bool> : Adding<std::int32_t> {
  using Element = bool;
  using Total = std::int64_t;
  using Result = std::int64_t;
  KOKKOS_FUNCTION static Part load(bool const& x) { return x ? 1 : 0; }
  KOKKOS_FUNCTION static Total widen(Part const& a) { return a; }
  KOKKOS_FUNCTION static Result finish(Total const& a) { return a; }
};

template <class T>
struct ProductReducer {
  using Element = T;
  using Part = shardtype::detail::computed_t<T>;
  using Total = wide_t<T>;
  using Result = T;
  KOKKOS_FUNCTION static Part load(T const& x) { return x; }
  KOKKOS_FUNCTION static Part nothing() { return Part(1); }
  KOKKOS_FUNCTION static Total widen(Part const& a) { return detail::converted<Total>(a); }
  template <class U>
  KOKKOS_FUNCTION static void join(U& a, U const& b) {
    a = static_cast<U>(a * b);
  }
  KOKKOS_FUNCTION static Result finish(Total const& a) { return detail::converted<Result>(a); }
};

/// bfloat16 is compared as float, which has vectors.
template <class T, bool Max>
struct ExtremeReducer {
  using Element = T;
  using Part = shardtype::detail::computed_t<T>;
  using Total = T;
  using Result = T;
  KOKKOS_FUNCTION static Part load(T const& x) { return x; }
  KOKKOS_FUNCTION static Part nothing() { return kernels::extreme_value<T, !Max>(); }
  KOKKOS_FUNCTION static Total widen(Part const& a) { return static_cast<Total>(a); }
  template <class U>
  KOKKOS_FUNCTION static void join(U& a, U const& b) {
    // keeps NaN, because nothing is larger; in this form it costs one more vector instruction
    U const larger = (Max ? b > a : b < a) ? b : a;
    a = b != b ? b : larger;
  }
  static constexpr bool idempotent = true;
  static constexpr bool parts_are_elements = true;
  /// Host: as `join`, of vectors in which `b` has no NaN.
  struct WithoutNan {
    static constexpr bool idempotent = true;
    template <class V>
    static void join_lanes(V& a, V const& b) {
      if constexpr (Max) {
        a = b > a ? b : a;
      } else {
        a = b < a ? b : a;
      }
    }
  };
  /// Host: as `join`, of vectors.
  template <class V>
  static void join_lanes(V& a, V const& b) {
    V larger = a;
    WithoutNan::join_lanes(larger, b);
    a = b != b ? b : larger;
  }
  /// Host: tests two elements at a time for NaN, which halves the cost.
  static void join_four(Part& a, Part const& b0, Part const& b1, Part const& b2, Part const& b3)
    requires std::is_floating_point_v<Part>
  {
    auto const take = [](Part& best, Part const& b) {
      best = (Max ? b > best : b < best) ? b : best;
    };
    Part best = a;
    take(best, b0);
    take(best, b1);
    take(best, b2);
    take(best, b3);
    bool const nan = __builtin_isunordered(b0, b1) | __builtin_isunordered(b2, b3);
    a = detail::chosen(nan, std::numeric_limits<Part>::quiet_NaN(), best);
  }
  KOKKOS_FUNCTION static Result finish(Total const& a) { return a; }
};

/// Whether any element is true, or all are. Parts are bytes, which compilers vectorise; char8_t,
/// because unsigned char may alias any other object.
template <bool Max>
struct ExtremeReducer<bool, Max> {
  using Element = bool;
  using Part = char8_t;
  using Total = bool;
  using Result = bool;
  KOKKOS_FUNCTION static Part load(bool const& x) { return x ? 1 : 0; }
  KOKKOS_FUNCTION static Part nothing() { return Max ? 0 : 1; }
  KOKKOS_FUNCTION static Total widen(Part const& a) { return a != 0; }
  template <class U>
  KOKKOS_FUNCTION static void join(U& a, U const& b) {
    a = static_cast<U>(Max ? a | b : a & b);
  }
  KOKKOS_FUNCTION static Result finish(Total const& a) { return a; }
};

/// An element and its position.
template <class T>
struct Placed {
  T value;
  std::int64_t place;
};
/// The first position of the largest (or least) element; NaN counts as both.
template <class T, bool Max>
struct PlaceReducer {
  using Element = T;
  using Part = Placed<T>;
  using Total = Placed<T>;
  using Result = std::int64_t;
  using Values = ExtremeReducer<T, Max>;  ///< finds the element; its position is searched
                                          ///< afterwards
  KOKKOS_FUNCTION static Part nothing() { return {kernels::extreme_value<T, !Max>(), -1}; }
  KOKKOS_FUNCTION static Total widen(Part const& a) { return a; }
  KOKKOS_FUNCTION static bool better(T const& x, T const& y) {
    shardtype::detail::computed_t<T> const b = x;
    shardtype::detail::computed_t<T> const a = y;
    return (Max ? b > a : b < a) | ((b != b) & (a == a));
  }
  KOKKOS_FUNCTION static bool same(T const& x, T const& y) {
    shardtype::detail::computed_t<T> const a = x;
    shardtype::detail::computed_t<T> const b = y;
    return (a == b) | ((a != a) & (b != b));
  }
  KOKKOS_FUNCTION static void join(Part& a, Part const& b) {
    if (b.place < 0) return;
    if (a.place < 0 || better(b.value, a.value) || (same(a.value, b.value) && b.place < a.place))
      a = b;
  }
  KOKKOS_FUNCTION static Result finish(Total const& a) { return a.place; }
};

namespace detail {

/// Converts positions along the reduced dims of a block to positions in the global tensor.
template <class T>
struct PlaceInWhole {
  Placed<T>* placed;
  Layout block;
  Rows rows[max_dims];

  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    std::int64_t& place = placed[k].place;
    if (place >= 0) place = global_offset(block, block.rank, rows, place);
  }
};

}  // namespace detail

/// Converts the positions of `n` totals. `block` has the extents of the block's reduced dims with
/// the strides of the global tensor; `rows` has their global indices.
template <class T, class Exec>
void place_in_whole(Exec const& exec, Placed<T>* placed, std::int64_t n, Layout const& block,
                    Rows const* rows) {
  if (n == 0) return;
  detail::PlaceInWhole<T> work{placed, block, {}};
  for (int d = 0; d < block.rank; ++d) work.rows[d] = rows[d];
  kernels::launch(exec, "shardtype::places", n, work);
}

}  // namespace shardtype::kernels
