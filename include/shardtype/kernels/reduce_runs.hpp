#pragma once
/// Reductions of contiguous runs of elements, in lanes.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/functions.hpp>
#include <shardtype/kernels/layout.hpp>
#include <shardtype/kernels/staged.hpp>
#include <shardtype/kernels/truths.hpp>
#include <shardtype/kernels/vector.hpp>
#include <shardtype/kernels/vector_loop.hpp>

namespace shardtype::kernels::detail {

template <class R>
inline constexpr bool takes_blocks = requires { &R::deposit; };
/// Whether the host gives it rows of elements of neighbouring outputs.
template <class R>
inline constexpr bool takes_rows = requires { R::columns; };
template <class R>
inline constexpr bool finds_places = requires { typename R::Values; };

/// Whether the host gives a reducer some elements, or rows of them, at once.
template <class R>
inline constexpr bool takes_arrays = requires { requires R::in_blocks; };

/// Whether elements are read from memory instead of computed.
template <class In>
inline constexpr bool is_memory = std::is_pointer_v<In> || std::is_same_v<In, Truths>;

/// Whether elements are computed in blocks (kernels/staged.hpp).
template <class In>
inline constexpr bool is_staged = requires { requires In::staged; };

/// Prefetches the `n` elements that are `Ahead` bytes after those at `at`. If many instructions are
/// between two loads, the processor issues too few loads ahead.
template <int Ahead, class In>
KOKKOS_INLINE_FUNCTION void read_ahead([[maybe_unused]] In const& at,
                                       [[maybe_unused]] std::int64_t n) {
#if !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
  constexpr int line = 64;
  auto const lines = [&](void const* from, std::int64_t bytes) {
    for (std::int64_t k = 0; k < bytes; k += line)
      __builtin_prefetch(static_cast<char const*>(from) + Ahead + k);
  };
  if constexpr (std::is_same_v<In, Truths>) {
    lines(at.data, n);
  } else if constexpr (is_memory<In>) {
    lines(at, n * static_cast<std::int64_t>(sizeof(*at)));
  }
#endif
}

/// Joins `Lanes` parts to `To` by halves.
template <class R, int Lanes, int To>
KOKKOS_FUNCTION void fold(typename R::Part* part) {
  if constexpr (Lanes > To) {
    for (int l = 0; l < Lanes / 2; ++l) R::join(part[l], part[l + Lanes / 2]);
    detail::fold<R, Lanes / 2, To>(part);
  }
}

/// Whether the host joins lanes of `In` in vectors explicitly: compilers make none of comparisons
/// that keep NaN.
template <class R, class In>
inline constexpr bool joins_vectors = [] {
  if constexpr (std::is_pointer_v<In> && computes_in_vectors &&
                requires { requires R::parts_are_elements; }) {
    return has_vectors<typename R::Part>;
  } else {
    return false;
  }
}();
/// As many elements as a vector has lanes.
template <class V, class T>
void load_lanes(V& out, T const* x) {
  if constexpr (std::is_same_v<T, bfloat16>) {
    using Words = vector_of<std::uint32_t>;
    half_vector_of<std::uint16_t> high;
    std::memcpy(&high, x, sizeof high);
    out = __builtin_bit_cast(V, __builtin_convertvector(high, Words) << 16);
  } else {
    std::memcpy(&out, x, sizeof out);
  }
}
/// Joins the halves of a vector.
template <class R, class Half, class V>
Half joined_halves(V const& x) {
  Half part[2];
  std::memcpy(part, &x, sizeof x);
  R::join_lanes(part[0], part[1]);
  return part[0];
}
/// The joined elements of a run that is at least as long as a vector.
template <class R, class T>
SHARDTYPE_VECTOR_LOOP typename R::Part join_vectors(T const* run, std::int64_t n) {
  using Part = typename R::Part;
  using V = vector_of<Part>;
  constexpr int lanes = vector_lanes<Part>;
  constexpr int count = 4;
  constexpr std::int64_t step = count * lanes;
  V sum[static_cast<std::size_t>(count)];
  V x{};
  auto const join = [&](V& one, std::int64_t at) {
    detail::load_lanes(x, run + at);
    R::join_lanes(one, x);
  };
  std::int64_t i = lanes;
  detail::load_lanes(sum[0], run);
  if (n >= step) {
    for (int v = 1; v < count; ++v) detail::load_lanes(sum[v], run + v * lanes);
    for (i = step; i + step <= n; i += step) {
      detail::read_ahead<6144>(run + i, step);
      for (int v = 0; v < count; ++v) join(sum[v], i + v * lanes);
    }
    R::join_lanes(sum[0], sum[1]);
    R::join_lanes(sum[2], sum[3]);
    R::join_lanes(sum[0], sum[2]);
  }
  for (; i + lanes <= n; i += lanes) join(sum[0], i);
  if (i < n) join(sum[0], n - lanes);  // some a second time
  auto const last = [&] {
    if constexpr (vector_bytes == 64) {
      return detail::joined_halves<R, short_vector_of<Part>>(
          detail::joined_halves<R, half_vector_of<Part>>(sum[0]));
    } else if constexpr (vector_bytes == 32) {
      return detail::joined_halves<R, short_vector_of<Part>>(sum[0]);
    } else {
      return sum[0];
    }
  }();
  Part best = last[0];
  for (int l = 1; l < static_cast<int>(16 / sizeof(Part)); ++l) R::join(best, last[l]);
  return best;
}

/// Reduces a contiguous run in independent lanes, so that it vectorises.
template <class R, class In>
SHARDTYPE_VECTOR_LOOP KOKKOS_FUNCTION void add_run(In const& run, std::int64_t n,
                                                   typename R::Total& total) {
  constexpr int lanes = 64;  // hides the latency of the sums; more lanes would not stay in
                             // registers
  constexpr int few = 16;
  constexpr std::int64_t flush = 4096;
  if constexpr (!is_staged<In>) {
    if (n < few) {  // without lanes that would hold nothing
      typename R::Part part = R::nothing();
      for (std::int64_t i = 0; i < n; ++i) R::join(part, R::load(run[i]));
      R::join(total, R::widen(part));
      return;
    }
  }
  for (std::int64_t from = 0; from < n; from += flush) {
    std::int64_t const to = from + flush < n ? from + flush : n;
    if constexpr (is_staged<In>) {
      using T = typename R::Element;
      T buffer[static_cast<std::size_t>(flush)];
      kernels::compute(run + from, to - from, buffer);
      detail::add_run<R>(static_cast<T const*>(buffer), to - from, total);
      continue;
    }
    if constexpr (joins_vectors<R, In>) {
      if (to - from >= few) {
        R::join(total, R::widen(detail::join_vectors<R>(run + from, to - from)));
        continue;
      }
    }
    typename R::Part part[lanes];
    std::int64_t i = from;
    if (to - from < lanes) {
      for (int l = 0; l < few; ++l) part[l] = R::nothing();
    } else {
      for (int l = 0; l < lanes; ++l) part[l] = R::nothing();
      for (; i + lanes <= to; i += lanes) {
        detail::read_ahead<6144>(run + i, lanes);
        for (int l = 0; l < lanes; ++l) R::join(part[l], R::load(run[i + l]));
      }
      detail::fold<R, lanes, few>(part);
    }
    for (; i + few <= to; i += few)
      for (int l = 0; l < few; ++l) R::join(part[l], R::load(run[i + l]));
    detail::fold<R, few, 1>(part);
    for (; i < to; ++i) R::join(part[0], R::load(run[i]));
    R::join(total, R::widen(part[0]));
  }
}

/// Position of the first of `n` elements that `Hit` accepts, which are not none.
template <class Hit, class In>
SHARDTYPE_VECTOR_LOOP KOKKOS_FUNCTION std::int64_t find_first(In const& run, std::int64_t n,
                                                              Hit const& hit) {
  // as wide as the elements, so that compilers count in vectors
  using Count = std::conditional_t<sizeof(run[0]) == 8, std::int64_t, std::int32_t>;
  constexpr Count lanes = 64;
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    Count hits = 0;
    for (Count l = 0; l < lanes; ++l) hits += hit(run[i + l]) ? 1 : 0;
    if (hits > 0) break;
  }
  if (i + lanes <= n) {  // without a branch for each element
    Count first = lanes;
    for (Count l = 0; l < lanes; ++l) {
      Count const at = hit(run[i + l]) ? l : lanes;
      first = at < first ? at : first;
    }
    return i + first;
  }
  while (i < n - 1 && !hit(run[i])) ++i;
  return i;
}
/// Position of the first of `n` elements that equals `value`, which is one of them.
template <class R, class In>
KOKKOS_FUNCTION std::int64_t find_value(In const& run, std::int64_t n,
                                        typename R::Element const& value) {
  using Compared = shardtype::detail::computed_t<typename R::Element>;
  Compared const best = value;
  if (best != best) return detail::find_first(run, n, [](Compared const& x) { return x != x; });
  return detail::find_first(run, n, [best](Compared const& x) { return x == best; });
}

/// Copies `n` elements.
template <class In, class T>
SHARDTYPE_VECTOR_LOOP KOKKOS_FUNCTION void copy_run(In const& run, std::int64_t n, T* to) {
  if constexpr (is_staged<In>) {
    kernels::compute(run, n, to);
  } else {
    for (std::int64_t i = 0; i < n; ++i) to[i] = run[i];
  }
}

/// Finds the best element of a run and, only if it beats the best so far, its position: for most
/// runs only values are read. An expression is first computed into a small buffer, because a second
/// evaluation might round differently.
template <class R, class In>
KOKKOS_FUNCTION void place_run(In const& run, std::int64_t n, std::int64_t place,
                               typename R::Total& total) {
  using T = typename R::Element;
  constexpr std::int64_t block = is_memory<In> ? 4096 : 512;
  for (std::int64_t from = 0; from < n; from += block) {
    std::int64_t const m = from + block < n ? block : n - from;
    auto const take = [&](auto const& elements) {
      T best = R::Values::widen(R::Values::nothing());
      detail::add_run<typename R::Values>(elements, m, best);
      if (total.place < 0 || R::better(best, total.value))
        total = {best, place + from + detail::find_value<R>(elements, m, best)};
    };
    if constexpr (is_memory<In>) {
      take(run + from);
    } else {
      T buffer[static_cast<std::size_t>(block)];
      detail::copy_run(run + from, m, buffer);
      take(static_cast<T const*>(buffer));
    }
  }
}

/// Reduces a contiguous run, whose first element is term number `place`, into `total`.
template <class R, class In>
KOKKOS_FUNCTION void run_into(In const& run, std::int64_t n, std::int64_t place,
                              typename R::Total& total) {
  if constexpr (finds_places<R>) {
    detail::place_run<R>(run, n, place, total);
  } else if constexpr (takes_arrays<R>) {
    using T = typename R::Element;
    for (std::int64_t from = 0; from < n; from += R::block) {
      std::int64_t const m = n - from < R::block ? n - from : R::block;
      if constexpr (std::is_pointer_v<In>) {
        R::add_block(total, run + from, m);
      } else {
        T buffer[static_cast<std::size_t>(R::block)];
        detail::copy_run(run + from, m, buffer);
        R::add_block(total, buffer, m);
      }
    }
  } else {
    detail::add_run<R>(run, n, total);
  }
}

// Rows: for the terms `first` to `end`, the elements of `n` neighbouring outputs (at most `Width`)
// are contiguous. `terms` gives the positions for the first output.

// By default clang warns if it cannot vectorise a loop as told, because of calls that have no
// vector form (exp, or a user's function). Such a loop runs element by element, as intended.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"
#endif
/// Calls `four(k, i, x0, x1, x2, x3)` with the elements of rows k to k + 3 for each output i, so
/// that parts are read and written a quarter as often; `one(k, i, x)` gets the elements of
/// remaining rows. `Ahead`: whether to prefetch, because an element takes many instructions.
template <bool Ahead, std::int64_t Width, class In, class Four, class One>
SHARDTYPE_VECTOR_LOOP void for_rows(In const& from, Layout const& terms, std::int64_t n,
                                    std::int64_t first, std::int64_t end, Four const& four,
                                    One const& one) {
  constexpr std::int64_t block = 64;
  constexpr int ahead = 2048;
  std::int64_t k = first;
  if constexpr (is_staged<In>) {
    using T = std::remove_cvref_t<decltype(from[0])>;
    T row[4][static_cast<std::size_t>(Width)];
    for (; k + 4 <= end; k += 4) {
      for (int r = 0; r < 4; ++r) kernels::compute(from + offset_of(terms, k + r), n, row[r]);
      for (std::int64_t i = 0; i < n; ++i) four(k, i, row[0][i], row[1][i], row[2][i], row[3][i]);
    }
    for (; k < end; ++k) {
      kernels::compute(from + offset_of(terms, k), n, row[0]);
      for (std::int64_t i = 0; i < n; ++i) one(k, i, row[0][i]);
    }
    return;
  }
  for (; k + 4 <= end; k += 4) {
    In const r0 = from + offset_of(terms, k);
    In const r1 = from + offset_of(terms, k + 1);
    In const r2 = from + offset_of(terms, k + 2);
    In const r3 = from + offset_of(terms, k + 3);
    auto const columns = [&](std::int64_t begin, std::int64_t stop) {
    // the accumulators do not overlap the elements
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#elif defined(__GNUC__)
#pragma GCC ivdep
#endif
      for (std::int64_t i = begin; i < stop; ++i) four(k, i, r0[i], r1[i], r2[i], r3[i]);
    };
    if constexpr (Ahead) {
      for (std::int64_t i = 0; i < n; i += block) {
        detail::read_ahead<ahead>(r0 + i, block);
        detail::read_ahead<ahead>(r1 + i, block);
        detail::read_ahead<ahead>(r2 + i, block);
        detail::read_ahead<ahead>(r3 + i, block);
        columns(i, i + block < n ? i + block : n);
      }
    } else {
      columns(0, n);
    }
  }
  for (; k < end; ++k) {
    In const row = from + offset_of(terms, k);
    for (std::int64_t i = 0; i < n; ++i) one(k, i, row[i]);
  }
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

/// Rows that are joined in parts.
inline constexpr std::int64_t rows_of_part = 128;

/// The parts of `n` outputs: their terms from `first` to `end`, at most `rows_of_part`.
template <class R, std::int64_t Width, class In>
SHARDTYPE_VECTOR_LOOP void parts_of_rows(In const& from, Layout const& terms, std::int64_t n,
                                         std::int64_t first, std::int64_t end,
                                         typename R::Part* part) {
  using Part = typename R::Part;
  constexpr bool joins_four = requires(Part a) { R::join_four(a, a, a, a, a); };
  for (std::int64_t i = 0; i < n; ++i) part[i] = R::nothing();
  detail::for_rows<joins_four, Width>(
      from, terms, n, first, end,
      [&](std::int64_t, std::int64_t i, auto const& x0, auto const& x1, auto const& x2,
          auto const& x3) {
        Part sum = part[i];
        if constexpr (joins_four) {
          R::join_four(sum, R::load(x0), R::load(x1), R::load(x2), R::load(x3));
        } else {
          R::join(sum, R::load(x0));
          R::join(sum, R::load(x1));
          R::join(sum, R::load(x2));
          R::join(sum, R::load(x3));
        }
        part[i] = sum;
      },
      [&](std::int64_t, std::int64_t i, auto const& x) { R::join(part[i], R::load(x)); });
}
template <class R, std::int64_t Width, class In>
SHARDTYPE_VECTOR_LOOP void add_rows(In const& from, Layout const& terms, std::int64_t n,
                                    std::int64_t first, std::int64_t end,
                                    typename R::Total* total) {
  typename R::Part part[static_cast<std::size_t>(Width)];
  for (std::int64_t k = first; k < end; k += rows_of_part) {
    std::int64_t const stop = k + rows_of_part < end ? k + rows_of_part : end;
    detail::parts_of_rows<R, Width>(from, terms, n, k, stop, part);
    for (std::int64_t i = 0; i < n; ++i) R::join(total[i], R::widen(part[i]));
  }
}

/// The best elements of at most `rows_of_part` terms, and their positions, in two separate arrays.
template <class R, std::int64_t Width>
struct PlacesOfRows {
  using T = typename R::Element;
  // as wide as the elements, so that one comparison selects both
  using Place = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  T best[static_cast<std::size_t>(Width)];
  Place place[static_cast<std::size_t>(Width)];

  /// Of `n` outputs: their terms from `first` to `end`.
  template <class In>
  SHARDTYPE_VECTOR_LOOP void find(In const& from, Layout const& terms, std::int64_t n,
                                  std::int64_t first, std::int64_t end) {
    detail::copy_run(from + offset_of(terms, first), n, best);
    for (std::int64_t i = 0; i < n; ++i) place[i] = 0;
    auto const take = [](T& value, Place& at, T const& x, std::int64_t k) {
      bool const better = R::better(x, value);
      value = detail::chosen(better, x, value);
      at = detail::chosen(better, static_cast<Place>(k), at);
    };
    detail::for_rows<true, Width>(
        from, terms, n, first + 1, end,
        [&](std::int64_t k, std::int64_t i, T const& x0, T const& x1, T const& x2, T const& x3) {
          T value = best[i];
          Place at = place[i];
          take(value, at, x0, k - first);
          take(value, at, x1, k - first + 1);
          take(value, at, x2, k - first + 2);
          take(value, at, x3, k - first + 3);
          best[i] = value;
          place[i] = at;
        },
        [&](std::int64_t k, std::int64_t i, T const& x) { take(best[i], place[i], x, k - first); });
  }
  /// Of output i: the best element, and its position counted from the terms before `first` on.
  typename R::Total at(std::int64_t i, std::int64_t first) const {
    return {best[i], first + static_cast<std::int64_t>(place[i])};
  }
};
/// Finds the best elements and their positions.
template <class R, std::int64_t Width, class In>
SHARDTYPE_VECTOR_LOOP void place_rows(In const& from, Layout const& terms, std::int64_t n,
                                      std::int64_t first, std::int64_t end,
                                      typename R::Total* total) {
  PlacesOfRows<R, Width> part;
  for (std::int64_t base = first; base < end; base += rows_of_part) {
    part.find(from, terms, n, base, base + rows_of_part < end ? base + rows_of_part : end);
    for (std::int64_t i = 0; i < n; ++i)
      if (total[i].place < 0 || R::better(part.best[i], total[i].value))
        total[i] = part.at(i, base);
  }
}

/// Gives rows to the reducer, which reads them twice: so many that they stay in the cache, and at
/// most its block of columns at a time.
template <class R, class In>
void arrays_of_rows(In const& from, Layout const& terms, std::int64_t n, std::int64_t first,
                    std::int64_t end, typename R::Total* total) {
  using T = typename R::Element;
  constexpr std::int64_t most = 64;
  for (std::int64_t begin = 0; begin < n; begin += R::block) {
    std::int64_t const columns = n - begin < R::block ? n - begin : R::block;
    for (std::int64_t k = first; k < end; k += most) {
      std::int64_t const rows = end - k < most ? end - k : most;
      auto const row_at = [&](std::int64_t r) { return from + (offset_of(terms, k + r) + begin); };
      if constexpr (std::is_pointer_v<In>) {
        R::add_rows(total + begin, row_at, columns, rows);
      } else {
        static thread_local T buffer[static_cast<std::size_t>(most)]
                                    [static_cast<std::size_t>(R::block)];
        for (std::int64_t r = 0; r < rows; ++r) detail::copy_run(row_at(r), columns, buffer[r]);
        R::add_rows(
            total + begin, [&](std::int64_t r) { return static_cast<T const*>(buffer[r]); },
            columns, rows);
      }
    }
  }
}

template <class R, std::int64_t Width, class In>
void rows_into(In const& from, Layout const& terms, std::int64_t n, std::int64_t first,
               std::int64_t end, typename R::Total* total) {
  if constexpr (finds_places<R>) {
    detail::place_rows<R, Width>(from, terms, n, first, end, total);
  } else if constexpr (takes_arrays<R>) {
    detail::arrays_of_rows<R>(from, terms, n, first, end, total);
  } else {
    detail::add_rows<R, Width>(from, terms, n, first, end, total);
  }
}

}  // namespace shardtype::kernels::detail
