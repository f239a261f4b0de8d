#pragma once
/// Reducers of norms and of logarithms of sums of exponentials.

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/core/bfloat16.hpp>
#include <shardtype/kernels/prefetch.hpp>
#include <shardtype/kernels/reduce_runs.hpp>
#include <shardtype/kernels/reducers.hpp>
#include <shardtype/kernels/row_parts.hpp>
#include <shardtype/kernels/short_rows.hpp>
#include <shardtype/kernels/vector_functions.hpp>
#include <shardtype/kernels/vector_loop.hpp>
#include <shardtype/kernels/vector_scan.hpp>

namespace shardtype::kernels {

/// The square root of the sum of squares. Squares of float are computed and summed in double, where
/// they cannot overflow or underflow; squares of double overflow from 1.3e154 on.
template <class T>
struct NormReducer : Adding<wide_t<shardtype::detail::real_of<T>>> {
  using Element = T;
  using Wide = wide_t<shardtype::detail::real_of<T>>;
  using Result = shardtype::detail::real_of<T>;
  KOKKOS_FUNCTION static Wide load(T const& x) {
    if constexpr (shardtype::detail::is_complex<T>) {
      auto const re = static_cast<Wide>(x.real());
      auto const im = static_cast<Wide>(x.imag());
      return re * re + im * im;
    } else {
      return static_cast<Wide>(x) * static_cast<Wide>(x);
    }
  }
  KOKKOS_FUNCTION static Result finish(Wide const& a) { return static_cast<Result>(math::sqrt(a)); }
};

/// The sum of absolute values.
template <class T>
struct Norm1Reducer : Adding<shardtype::detail::computed_t<shardtype::detail::real_of<T>>,
                             shardtype::detail::real_of<T>> {
  using Element = T;
  KOKKOS_FUNCTION static shardtype::detail::computed_t<shardtype::detail::real_of<T>> load(
      T const& x) {
    return kernels::call(functions::Absolute{}, x);
  }
};

/// The largest absolute value; 0 for no elements.
template <class T>
struct NormInfReducer : ExtremeReducer<shardtype::detail::real_of<T>, true> {
  using Element = T;
  using Part = shardtype::detail::computed_t<shardtype::detail::real_of<T>>;
  KOKKOS_FUNCTION static Part load(T const& x) {
    return kernels::call(functions::Absolute{}, static_cast<shardtype::detail::computed_t<T>>(x));
  }
  KOKKOS_FUNCTION static Part nothing() { return Part{}; }
};
/// Magnitudes of bfloat16 are compared by their bits, which have the same order; those of a NaN are
/// larger than all others.
template <>
struct NormInfReducer<bfloat16> {
  using Element = bfloat16;
  using Part = std::uint16_t;
  using Total = bfloat16;
  using Result = bfloat16;
  KOKKOS_FUNCTION static Part load(bfloat16 const& x) {
    return static_cast<Part>(x.bits() & 0x7FFFU);
  }
  KOKKOS_FUNCTION static Part nothing() { return 0; }
  KOKKOS_FUNCTION static Total widen(Part const& a) { return bfloat16::from_bits(a); }
  KOKKOS_FUNCTION static void join(Part& a, Part const& b) { a = b > a ? b : a; }
  KOKKOS_FUNCTION static void join(Total& a, Total const& b) { a = b.bits() > a.bits() ? b : a; }
  KOKKOS_FUNCTION static Result finish(Total const& a) { return a; }
};

/// exp(max) * sum is a sum of exponentials, with the largest exponent taken out.
template <class T>
struct Peak {
  T max;
  T sum;
};
/// The logarithm of the sum of exponentials. The sum is relative to the largest element so far, so
/// that nothing overflows; one exponential per element. No elements give -inf, as log(0). With
/// vector functions, a block of elements is read from memory once: its maximum is found first, then
/// its exponentials are summed.
template <class T>
struct LogSumExpReducer {
  using Element = T;
  using Value = shardtype::detail::computed_t<T>;
  using Part = Peak<Value>;
  using Total = Peak<wide_t<T>>;
  using Sent = Part;  ///< the largest element is exact, the sum is relative to it
  using Result = T;
  KOKKOS_FUNCTION static Part load(T const& x) { return {x, Value(1)}; }
  KOKKOS_FUNCTION static Part nothing() {
    return {kernels::extreme_value<Value, false>(), Value(0)};
  }
  KOKKOS_FUNCTION static Total widen(Part const& a) { return {a.max, a.sum}; }
  KOKKOS_FUNCTION static Sent narrow(Total const& a) {
    return {static_cast<Value>(a.max), static_cast<Value>(a.sum)};
  }
  template <class U>
  KOKKOS_FUNCTION static void join(Peak<U>& a, Peak<U> const& b) {
    if (a.max == b.max) {  // also for infinities
      a.sum += b.sum;
    } else if (b.max > a.max) {
      a.sum = b.sum + a.sum * math::exp(a.max - b.max);
      a.max = b.max;
    } else {  // a NaN makes the sum NaN
      a.sum += b.sum * math::exp(b.max - a.max);
    }
  }
  template <class U>
  KOKKOS_FUNCTION static Result finish(Peak<U> const& a) {
    using Wide = wide_t<T>;
    return static_cast<Result>(static_cast<Wide>(a.max) + math::log(static_cast<Wide>(a.sum)));
  }

  static constexpr bool in_blocks = vectors::vectorised<functions::Exp, Value>;
  static constexpr std::int64_t block = vectors::block;

  /// Host: adds at most `block` neighbouring elements.
  static void add_block(Total& total, T const* x, std::int64_t n)
    requires in_blocks
  {
    vectors::prefetch(x + 6144 / static_cast<std::int64_t>(sizeof(T)), n);
    Value max{};
    if constexpr (std::is_same_v<T, Value>) {
      max = detail::extreme_of<ExtremeReducer<T, true>>(x, n);
    } else {
      T largest = kernels::extreme_value<T, false>();
      detail::add_run<ExtremeReducer<T, true>>(x, n, largest);
      max = largest;
    }
    Value const base = finite_or_zero(max);
    constexpr int lanes = static_cast<int>(vectors::formulas::sums_of_one);
    alignas(64) Value sums[static_cast<std::size_t>(lanes)] = {};
    add_exponentials<false>(n, sums, x, &base);
    detail::fold<SumReducer<Value>, lanes, 1>(sums);
    join(total, Total{max, sums[0]});
  }
  /// Host: adds `rows` rows of at most `block` elements to as many totals; `row(k)` is where row k
  /// lies.
  template <class Row>
  SHARDTYPE_VECTOR_LOOP static void add_rows(Total* total, Row const& row, std::int64_t n,
                                             std::int64_t rows)
    requires in_blocks
  {
    using Largest = ExtremeReducer<Value, true>;
    alignas(64) Value max[static_cast<std::size_t>(block)];
    alignas(64) Value sum[static_cast<std::size_t>(block)];
    alignas(64) static thread_local Value e[static_cast<std::size_t>(block)];
    for (std::int64_t i = 0; i < n; ++i) max[i] = Largest::nothing();
    for (std::int64_t k = 0; k < rows; ++k) {
      T const* const x = row(k);
      for (std::int64_t i = 0; i < n; ++i) Largest::join(max[i], static_cast<Value>(x[i]));
    }
    for (std::int64_t i = 0; i < n; ++i) sum[i] = Value(0);
    alignas(64) Value base[static_cast<std::size_t>(block)];
    for (std::int64_t i = 0; i < n; ++i) base[i] = finite_or_zero(max[i]);
    for (std::int64_t k = 0; k < rows; ++k) {
      add_exponentials<true>(n, sum, row(k), base);
    }
    // both sums relative to the larger maximum
    alignas(64) Value both[static_cast<std::size_t>(block)];
    for (std::int64_t i = 0; i < n; ++i) {
      both[i] = max[i];
      Largest::join(both[i], static_cast<Value>(total[i].max));
    }
    for (std::int64_t i = 0; i < n; ++i) {
      Value const both_base = finite_or_zero(both[i]);
      e[i] = static_cast<Value>(total[i].max) - both_base;
      max[i] = max[i] - both_base;
    }
    vectors::run<functions::Exp>(n, e, static_cast<Value const*>(e));
    vectors::run<functions::Exp>(n, max, static_cast<Value const*>(max));
    using Wide = wide_t<T>;
    for (std::int64_t i = 0; i < n; ++i)
      total[i] = {both[i], total[i].sum * static_cast<Wide>(e[i]) +
                               static_cast<Wide>(sum[i]) * static_cast<Wide>(max[i])};
  }

  /// Host: totals of short packed rows.
  struct ShortRows {
    static constexpr std::int64_t longest = in_blocks ? detail::longest_short_row : 0;
    static constexpr std::int64_t elements = 1024;
    /// Of an array of them, with what `repeat_each` writes behind.
    static constexpr std::size_t room =
        static_cast<std::size_t>(elements) + detail::spare_bytes / sizeof(Value);

    /// The largest elements of `n` rows, the exponentials of all elements less that of their row,
    /// and their sums. An infinite largest element is not subtracted. `between` is called between
    /// passes over the elements, four times.
    template <class Between>
    SHARDTYPE_VECTOR_LOOP static void compute(T const* from, std::int64_t terms, std::int64_t n,
                                              Value* max, Value* e, Value* sum, Between between) {
      alignas(64) static thread_local Value base[room];
      std::int64_t const all = n * terms;
      for (std::int64_t k = 0; k < all; ++k) e[k] = static_cast<Value>(from[k]);
      between();
      detail::RowParts<ExtremeReducer<Value, true>>::compute(e, terms, n, max);
      between();
      for (std::int64_t k = 0; k < n; ++k) sum[k] = finite_or_zero(max[k]);
      detail::repeat_each(static_cast<Value const*>(sum), 1, terms, n, static_cast<Value*>(base));
      for (std::int64_t k = 0; k < all; ++k) e[k] = e[k] - base[k];
      between();
      vectors::run<functions::Exp>(all, e, static_cast<Value const*>(e));
      between();
      detail::RowParts<SumReducer<Value>>::compute(e, terms, n, sum);
    }
    /// Of at most 1024 elements.
    SHARDTYPE_VECTOR_LOOP static void totals(T const* from, std::int64_t terms, std::int64_t n,
                                             Total* total)
      requires in_blocks
    {
      alignas(64) static thread_local Value e[room];
      alignas(64) static thread_local Value max[room];
      alignas(64) static thread_local Value sum[room];
      compute(from, terms, n, max, e, sum, [] {});
      for (std::int64_t k = 0; k < n; ++k) {
        // relative to the largest element, as in a join with nothing
        total[k] = {max[k], sum[k]};
      }
    }
  };

 private:
  /// The number that is subtracted before exp: `x`, but 0 if `x` is not finite, so that the
  /// exponentials of -inf and inf are 0 and inf.
  static Value finite_or_zero(Value x) { return detail::chosen(x - x == Value(0), x, Value(0)); }
  template <bool Each>
  SHARDTYPE_VECTOR_LOOP static void add_exponentials(std::int64_t n, Value* sums, T const* x,
                                                     Value const* base) {
    if constexpr (std::is_same_v<T, Value>) {
      vectors::add_exponentials<Each>(n, sums, x, base);
    } else {
      alignas(64) static thread_local Value e[static_cast<std::size_t>(block)];
      for (std::int64_t i = 0; i < n; ++i) e[i] = static_cast<Value>(x[i]);
      vectors::add_exponentials<Each>(n, sums, static_cast<Value const*>(e), base);
    }
  }
};

}  // namespace shardtype::kernels
