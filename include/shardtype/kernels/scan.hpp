#pragma once
/// Running values of a block along one dim; `R` is a reducer (kernels/reducers.hpp). bfloat16 is
/// accumulated in float.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/device_scan.hpp>
#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/prefetch.hpp>
#include <shardtype/kernels/reducers.hpp>
#include <shardtype/kernels/scan_short.hpp>
#include <shardtype/kernels/vector.hpp>
#include <shardtype/kernels/vector_loop.hpp>
#include <shardtype/kernels/vector_scan.hpp>
#include <shardtype/runtime/copy_bytes.hpp>

namespace shardtype::kernels {

namespace detail {

/// The values that a scan writes: running ones, each with or without its own element, or the last.
enum class Scanned { inclusive, exclusive, total };

/// Device: one call scans one column.
template <class T, class R>
struct ScanMiddle {
  T const* src;
  T* dst;
  T const* start;  ///< [outer, inner], the value before the block; null: none
  std::int64_t middle, inner;
  Scanned what;
  bool reverse;

  template <class Number>
  KOKKOS_FUNCTION void operator()(Number work) const {
    auto const width = static_cast<Number>(inner);
    std::int64_t const at = std::int64_t{work / width} * middle * inner + work % width;
    using Part = typename R::Part;
    Part sum =
        start == nullptr ? R::nothing() : R::load(static_cast<typename R::Element>(start[work]));
    for (std::int64_t n = 0; n < middle; ++n) {
      std::int64_t const k = reverse ? middle - 1 - n : n;
      Part next = sum;
      R::join(next, R::load(static_cast<typename R::Element>(src[at + k * inner])));
      if (what != Scanned::total)
        dst[at + k * inner] = static_cast<T>(what == Scanned::exclusive ? sum : next);
      sum = next;
    }
    if (what == Scanned::total) dst[work] = static_cast<T>(sum);
  }
};

// As at make_calls of kernels/launch.hpp.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"
#endif
/// Host: one call scans a run of neighbouring columns row by row, so that memory is read and
/// written in long runs. The running values stay in cache.
template <class T, class R>
struct ScanRows {
  using Part = typename R::Part;
  static constexpr std::int64_t run = std::int64_t{16384 / sizeof(Part)};
  T const* src;
  T* dst;
  T const* start;
  std::int64_t middle, inner;
  std::int64_t runs;  ///< calls per outer position
  Scanned what;
  bool reverse;

  void operator()(std::int64_t work) const {
    std::int64_t const outer = work / runs;
    std::int64_t const begin = work % runs * run;
    std::int64_t const n = begin + run < inner ? run : inner - begin;
    Part sum[static_cast<std::size_t>(run)];
    for (std::int64_t i = 0; i < n; ++i)
      sum[i] = start == nullptr
                   ? R::nothing()
                   : R::load(static_cast<typename R::Element>(start[outer * inner + begin + i]));
    for (std::int64_t row_number = 0; row_number < middle; ++row_number) {
      std::int64_t const k = reverse ? middle - 1 - row_number : row_number;
      std::int64_t const at = (outer * middle + k) * inner + begin;
      if (what == Scanned::inclusive) {
        row<true, true>(src + at, dst + at, sum, n);
      } else if (what == Scanned::exclusive) {
        row<true, false>(src + at, dst + at, sum, n);
      } else {
        row<false, false>(src + at, dst, sum, n);
      }
    }
    if (what != Scanned::total) return;
    for (std::int64_t i = 0; i < n; ++i) dst[outer * inner + begin + i] = static_cast<T>(sum[i]);
  }

 private:
  template <bool Writes, bool Inclusive>
  SHARDTYPE_VECTOR_LOOP static void row(T const* in, [[maybe_unused]] T* out, Part* sum,
                                        std::int64_t n) {
    // the three arrays do not overlap
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#elif defined(__GNUC__)
#pragma GCC ivdep
#endif
    for (std::int64_t i = 0; i < n; ++i) {
      Part next = sum[i];
      if constexpr (Writes && !Inclusive) out[i] = static_cast<T>(next);
      R::join(next, R::load(static_cast<typename R::Element>(in[i])));
      if constexpr (Writes && Inclusive) out[i] = static_cast<T>(next);
      sum[i] = next;
    }
  }
};
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

/// Host: one call scans the few columns of one outer position, many elements at a time, although
/// each running value waits for the one before.
template <class T, class R>
struct ScanColumns {
  using Part = typename R::Part;
  static constexpr std::int64_t widest = 15;  ///< columns
  /// Elements of one column that are scanned at once, in four vectors.
  static constexpr std::int64_t group = 4 * vector_lanes<Part>;
  T const* src;
  T* dst;
  T const* start;
  std::int64_t middle, inner;
  Scanned what;
  bool reverse;

  void operator()(std::int64_t outer) const {
    T const* const in = src + outer * middle * inner;
    Part sum[widest + 1];
    for (Part& s : sum) s = R::nothing();
    if (start != nullptr)
      for (std::int64_t c = 0; c < inner; ++c)
        sum[c] = R::load(static_cast<typename R::Element>(start[outer * inner + c]));
    if (what == Scanned::total) {
      forward(in, nullptr, middle, sum);
      for (std::int64_t c = 0; c < inner; ++c) dst[outer * inner + c] = static_cast<T>(sum[c]);
    } else {
      some(in, dst + outer * middle * inner, middle, sum);
    }
  }
  bool excludes() const { return what == Scanned::exclusive; }
  /// Scans `n` elements of one column, and returns the value behind them; `sum` is the one before.
  Part column(T const* in, T* out, std::int64_t n, Part sum) const {
    Part all[widest + 1];
    for (Part& s : all) s = R::nothing();
    all[0] = sum;
    some(in, out, n, all);
    return all[0];
  }

 private:
  /// Scans `n` rows; `sum` is the value before them, then the value behind them.
  void some(T const* in, T* out, std::int64_t n, Part* sum) const {
    if (reverse) {
      backward(in, out, n, sum);
    } else {
      forward(in, out, n, sum);
    }
  }
  static Part load(T const& x) { return R::load(static_cast<typename R::Element>(x)); }

  SHARDTYPE_VECTOR_LOOP void forward(T const* in, T* out, std::int64_t n, Part* sum) const {
    std::int64_t k = 0;
    if (what == Scanned::total) {
      k = inner == 1 ? totals<1>(in, n, sum) : totals<widest + 1>(in, n, sum);
    } else if (inner > 1) {
      k = rows(in, out, n, sum);
    } else if constexpr (has_vectors<Part>) {
      k = what == Scanned::exclusive ? vectors<true>(in, out, n, sum[0])
                                     : vectors<false>(in, out, n, sum[0]);
    }
    for (; k < n; ++k)
      for (std::int64_t c = 0; c < inner; ++c) {
        std::int64_t const at = k * inner + c;
        if (what == Scanned::exclusive) out[at] = static_cast<T>(sum[c]);
        R::join(sum[c], load(in[at]));
        if (what == Scanned::inclusive) out[at] = static_cast<T>(sum[c]);
      }
  }
  /// Scans `n` rows from the last to the first: mirrors pieces that stay in cache and scans these.
  SHARDTYPE_VECTOR_LOOP void backward(T const* in, T* out, std::int64_t n, Part* sum) const {
    constexpr std::int64_t most = 8192 / static_cast<std::int64_t>(sizeof(T));
    T given[static_cast<std::size_t>(most)];
    T made[static_cast<std::size_t>(most)];
    Part mirrored[widest + 1];
    for (Part& s : mirrored) s = R::nothing();
    for (std::int64_t c = 0; c < inner; ++c) mirrored[c] = sum[inner - 1 - c];
    for (std::int64_t end = n; end > 0;) {
      std::int64_t const rows_here = end < most / inner ? end : most / inner;
      std::int64_t const here = rows_here * inner;
      end -= rows_here;
      for (std::int64_t i = 0; i < here; ++i) given[i] = in[end * inner + here - 1 - i];
      forward(given, made, rows_here, mirrored);
      for (std::int64_t i = 0; i < here; ++i) out[end * inner + i] = made[here - 1 - i];
    }
    for (std::int64_t c = 0; c < inner; ++c) sum[c] = mirrored[inner - 1 - c];
  }

  // Each of these returns the number of rows that it has done.

  /// One column. Running maxima are first computed without regard to NaN, which takes fewer
  /// instructions, and once more where one was met.
  template <bool Exclusive>
  SHARDTYPE_VECTOR_LOOP static std::int64_t vectors(T const* in, T* out, std::int64_t n, Part& sum)
    requires has_vectors<Part>
  {
    using V = vector_of<Part>;
    V carry = V{} + sum;
    std::int64_t const whole = n - n % group;
    if constexpr (std::is_floating_point_v<Part> && is_idempotent<R>) {
      constexpr std::int64_t most = 32 * group;
      for (std::int64_t k = 0; k < whole; k += most) {
        std::int64_t const end = k + most < whole ? k + most : whole;
        V const before = carry;
        if (!groups<typename R::WithoutNan, Exclusive>(in, out, k, end, carry)) continue;
        carry = before;
        groups<R, Exclusive>(in, out, k, end, carry);
      }
    } else {
      groups<R, Exclusive>(in, out, 0, whole, carry);
    }
    sum = carry[0];
    return whole;
  }
  /// Scans within each of four vectors, then adds what is before it. Whether `Join` has no regard
  /// to NaN, and met one.
  template <class Join, bool Exclusive, class V>
  static bool groups(T const* in, T* out, std::int64_t k, std::int64_t end, V& carry) {
    constexpr int lanes = vector_lanes<Part>;
    constexpr int count = 4;
    constexpr bool looks = !std::is_same_v<Join, R>;
    using Lanes = std::make_integer_sequence<int, lanes>;
    using Scan = VectorScan<Join, V, Lanes>;
    V const nothing = V{} + R::nothing();
    V before = carry;
    V met = nothing;
    for (; k < end; k += count * lanes) {
      // compilers read the vectors in any order, in which the processor sees no stream
      vectors::prefetch(in + k + 6144 / static_cast<std::int64_t>(sizeof(T)), count * lanes);
      Part converted[static_cast<std::size_t>(std::is_same_v<T, Part> ? 1 : count * lanes)];
      Part const* from = converted;
      if constexpr (std::is_same_v<T, Part>) {
        from = in + k;
      } else {
        for (int l = 0; l < count * lanes; ++l) converted[l] = load(in[k + l]);
      }
      V x[static_cast<std::size_t>(count)];
      for (int v = 0; v < count; ++v) {
        std::memcpy(&x[v], from + v * lanes, sizeof(V));
        if constexpr (looks) met = x[v] == x[v] ? met : x[v];
        Scan::scan(x[v], nothing);
      }
      for (int v = 0; v < count; ++v) {
        V value = before;
        detail::join_lanes<Join>(value, Exclusive ? Scan::up(x[v], nothing) : x[v]);
        detail::join_lanes<Join>(before, Scan::last(x[v]));
        if constexpr (std::is_same_v<T, Part>) {
          std::memcpy(out + k + v * lanes, &value, sizeof(V));
        } else {
          std::memcpy(converted + v * lanes, &value, sizeof(V));
        }
      }
      if constexpr (!std::is_same_v<T, Part>)
        for (int l = 0; l < count * lanes; ++l) out[k + l] = static_cast<T>(converted[l]);
    }
    carry = before;
    if constexpr (looks) {
      VectorScan<R, V, Lanes>::scan(met, nothing);
      return met[lanes - 1] != met[lanes - 1];
    }
    return false;
  }
  /// Some columns: reads and writes a fixed number of elements for each row, those behind it, too.
  /// The next row writes these again. Written to a buffer first, because loads wait for stores that
  /// overlap them or lie a multiple of a page apart.
  std::int64_t rows(T const* in, T* out, std::int64_t count, Part* sum) const {
    if (inner <= 4) return rows_of<4>(in, out, count, sum);
    return inner <= 8 ? rows_of<8>(in, out, count, sum) : rows_of<widest + 1>(in, out, count, sum);
  }
  template <int Lanes>
  std::int64_t rows_of(T const* in, T* out, std::int64_t count, Part* sum) const {
    constexpr std::int64_t most = 1024 / static_cast<std::int64_t>(sizeof(Part));
    constexpr bool converts = !std::is_same_v<T, Part>;
    Part value[static_cast<std::size_t>(most + Lanes)];
    Part loaded[static_cast<std::size_t>(converts ? most + Lanes : 1)];
    Row<Lanes> part;
    part.get(sum);
    // the last rows would be read behind the block
    std::int64_t const all = count * inner < Lanes ? 0 : (count * inner - Lanes) / inner + 1;
    for (std::int64_t k = 0; k < all; k += most / inner) {
      std::int64_t const n = (all - k < most / inner ? all - k : most / inner) * inner;
      Part const* x = loaded;
      if constexpr (converts) {
        for (std::int64_t i = 0; i < n - inner + Lanes; ++i) loaded[i] = load(in[k * inner + i]);
      } else {
        x = in + k * inner;
      }
      if (what == Scanned::exclusive) {
        for (std::int64_t i = 0; i < n; i += inner) {
          part.put(value + i);
          part.join(x + i);
        }
      } else {
        for (std::int64_t i = 0; i < n; i += inner) {
          part.join(x + i);
          part.put(value + i);
        }
      }
      if constexpr (converts) {
        for (std::int64_t i = 0; i < n; ++i) out[k * inner + i] = static_cast<T>(value[i]);
      } else {
        std::memcpy(static_cast<void*>(out + k * inner), value,
                    static_cast<std::size_t>(n) * sizeof(T));
      }
    }
    Part last[static_cast<std::size_t>(Lanes)];
    part.put(last);
    for (std::int64_t c = 0; c < inner; ++c) sum[c] = last[c];
    return all;
  }
  /// The running values of some columns, in vectors of 16 bytes if compilers have such.
  template <int Lanes>
  struct Row {
    static constexpr bool vectorised = has_vectors<Part>;
    static constexpr int lanes = vectorised ? 16 / static_cast<int>(sizeof(Part)) : 1;
    using V = short_vector_of<Part, vectorised>;
    V value[static_cast<std::size_t>(Lanes / lanes)];

    void get(Part const* from) { std::memcpy(static_cast<void*>(value), from, sizeof(value)); }
    void put(Part* to) const { std::memcpy(static_cast<void*>(to), value, sizeof(value)); }
    void join(Part const* from) {
      V x[static_cast<std::size_t>(Lanes / lanes)];
      std::memcpy(static_cast<void*>(x), from, sizeof(x));
      for (int v = 0; v < Lanes / lanes; ++v) detail::join_lanes<R>(value[v], x[v]);
    }
  };
  /// Cuts the rows into segments, whose totals do not wait for each other.
  template <int Lanes>
  std::int64_t totals(T const* in, std::int64_t n, Part* sum) const {
    constexpr int segments = Lanes == 1 ? 8 : 4;
    // the last segment must not read behind the block
    std::int64_t const each = (n - Lanes) / segments;
    if (each <= 0) return 0;
    Part part[static_cast<std::size_t>(segments)][static_cast<std::size_t>(Lanes)];
    for (auto& p : part)
      for (Part& l : p) l = R::nothing();
    for (std::int64_t k = 0; k < each; ++k)
      for (int s = 0; s < segments; ++s) {
        T const* const x = in + (s * each + k) * inner;
        for (int l = 0; l < Lanes; ++l) R::join(part[s][l], load(x[l]));
      }
    for (auto const& p : part)
      for (int l = 0; l < Lanes; ++l) R::join(sum[l], p[l]);
    return segments * each;
  }
};

/// The reducer with which elements of type `T` are scanned: the largest and the least bfloat16 are
/// found in float.
template <class R, class T>
struct ScanReducer {
  using Type = R;
};
template <bool Max>
struct ScanReducer<ExtremeReducer<bfloat16, Max>, bfloat16> {
  using Type = ExtremeReducer<float, Max>;
};

template <class Reducer, class T, class Exec>
void scan_blocks(Exec const& exec, T const* src, T* dst, T const* start, std::int64_t outer,
                 std::int64_t middle, std::int64_t inner, Scanned what, bool reverse) {
  using R = typename ScanReducer<Reducer, T>::Type;
  char const* const name = what == Scanned::total ? "shardtype::total" : "shardtype::scan";
  if constexpr (runtime::host_reads<Exec>) {
    using Rows = ScanRows<T, R>;
    using Columns = ScanColumns<T, R>;
    using Short = ScanShort<Columns, T, R>;
    if constexpr (Short::has) {
      if (inner == 1 && what != Scanned::total && Short::takes(outer, middle)) {
        Short const rows{{src, dst, start, middle, inner, what, reverse}, outer};
        kernels::launch(exec, name, rows.calls(), rows);
        return;
      }
    }
    if (inner <= Columns::widest) {
      kernels::launch(exec, name, outer, Columns{src, dst, start, middle, inner, what, reverse});
    } else {
      std::int64_t const runs = (inner + Rows::run - 1) / Rows::run;
      kernels::launch(exec, name, outer * runs,
                      Rows{src, dst, start, middle, inner, runs, what, reverse});
    }
  } else {
    if (what != Scanned::total && detail::scans_in_groups(outer * inner, middle)) {
      detail::scan_in_groups<R>(exec, src, dst, start, outer, middle, inner,
                                what == Scanned::exclusive, reverse);
      return;
    }
    kernels::launch(exec, name, outer * inner,
                    ScanMiddle<T, R>{src, dst, start, middle, inner, what, reverse});
  }
}

/// dst = `count` rows of `n` elements combined, the one at `src` first, each `step` elements behind
/// the one before.
template <class T, class R>
struct CombineRows {
  T const* src;
  T* dst;
  std::int64_t count, n, step;

  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    typename R::Part sum = R::nothing();
    for (std::int64_t r = 0; r < count; ++r) R::join(sum, R::load(src[r * step + k]));
    dst[k] = static_cast<T>(sum);
  }
};

}  // namespace detail

/// `dst` [outer, middle, inner] = the running values of `src` over its middle dim, beginning with
/// `start` [outer, inner] (null: the neutral value); `exclusive`: each without its own element;
/// `reverse`: from the last row to the first.
template <class R, class T, class Exec>
void scan_middle(Exec const& exec, T const* src, T* dst, T const* start, std::int64_t outer,
                 std::int64_t middle, std::int64_t inner, bool exclusive, bool reverse) {
  if (outer * middle * inner == 0) return;
  detail::scan_blocks<R>(exec, src, dst, start, outer, middle, inner,
                         exclusive ? detail::Scanned::exclusive : detail::Scanned::inclusive,
                         reverse);
}

/// `dst` [outer, inner] = `src` [outer, middle, inner] combined over its middle, in that order.
template <class R, class T, class Exec>
void total_middle(Exec const& exec, T const* src, T* dst, std::int64_t outer, std::int64_t middle,
                  std::int64_t inner, bool reverse) {
  if (outer * inner == 0) return;
  T const* const none = nullptr;
  detail::scan_blocks<R>(exec, src, dst, none, outer, middle, inner, detail::Scanned::total,
                         reverse);
}

/// `dst` [n] = rows of `src` [rows, n] combined: the first `me` in order, or `reverse` those behind
/// row `me` from the last on.
template <class R, class T, class Exec>
void combine_rows(Exec const& exec, T const* src, T* dst, std::int64_t rows, std::int64_t me,
                  std::int64_t n, bool reverse) {
  if (n == 0) return;
  std::int64_t const count = reverse ? rows - 1 - me : me;
  T const* const first = reverse ? src + (rows - 1) * n : src;
  kernels::launch(exec, "shardtype::combine_rows", n,
                  detail::CombineRows<T, R>{first, dst, count, n, reverse ? -n : n});
}

}  // namespace shardtype::kernels
