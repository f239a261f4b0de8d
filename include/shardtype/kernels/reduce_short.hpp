#pragma once
/// Host: reductions of short contiguous runs, many outputs at once.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <shardtype/core/sent.hpp>
#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/layout.hpp>
#include <shardtype/kernels/prefetch.hpp>
#include <shardtype/kernels/reduce_runs.hpp>
#include <shardtype/kernels/row_parts.hpp>
#include <shardtype/kernels/short_rows.hpp>
#include <shardtype/kernels/vector_loop.hpp>
#include <shardtype/runtime/copy_bytes.hpp>

namespace shardtype::kernels::detail {

/// Whether a reducer computes the totals of several short rows itself.
template <class R>
inline constexpr bool takes_short_rows = requires { &R::ShortRows::totals; };
/// The longest rows whose best elements are found many at once: longer ones are searched twice.
inline constexpr std::int64_t longest_searched = 128;
/// The longest rows that are reduced many at once; 0: none.
template <class R>
inline constexpr std::int64_t longest_reduced =
    finds_places<R>                                       ? longest_searched
    : takes_blocks<R> || takes_arrays<R> || takes_rows<R> ? 0
                                                          : longest_short_row;
template <class R>
  requires takes_short_rows<R>
inline constexpr std::int64_t longest_reduced<R> = R::ShortRows::longest;

/// One call reduces neighbouring outputs of few elements each. `Store` writes a total.
template <class R, class In, class Store>
struct ReduceShort {
  using T = typename R::Element;
  /// Elements of a call, which stay in the first cache, and its most outputs.
  static constexpr std::int64_t elements = finds_places<R> ? 2048 : 1024;
  static constexpr std::int64_t most = elements / 2;
  In in;
  Store store;
  Layout kept;  ///< of the outputs: extents, and strides in the source
  std::int64_t outputs, terms;
  bool packed;  ///< whether a run is behind the other

  /// Outputs of a call: whole vectors.
  static std::int64_t together(std::int64_t terms) { return elements / terms / 16 * 16; }
  static std::int64_t calls(std::int64_t outputs, std::int64_t terms) {
    std::int64_t const each = together(terms);
    return (outputs + each - 1) / each;
  }

  SHARDTYPE_VECTOR_LOOP void operator()(std::int64_t work) const {
    std::int64_t const begin = work * together(terms);
    std::int64_t const n = outputs - begin < together(terms) ? outputs - begin : together(terms);
    alignas(64) static thread_local T buffer[static_cast<std::size_t>(elements)];
    T const* const from = rows(begin, n, buffer);
    if constexpr (takes_short_rows<R>) {
      static thread_local typename R::Total total[static_cast<std::size_t>(most)];
      R::ShortRows::totals(from, terms, n, total);
      for (std::int64_t k = 0; k < n; ++k) store(begin + k, total[k]);
    } else if constexpr (finds_places<R>) {
      places(from, begin, n);
    } else {
      static thread_local typename R::Part part[static_cast<std::size_t>(most)];
      RowParts<R>::compute(from, terms, n, part);
      for (std::int64_t k = 0; k < n; ++k) {
        typename R::Total total = R::widen(R::nothing());
        R::join(total, R::widen(part[k]));
        store(begin + k, total);
      }
    }
  }

 private:
  /// The elements of the outputs from `begin` on, packed: where they lie, or in `buffer`.
  T const* rows(std::int64_t begin, std::int64_t n, T* buffer) const {
    if (packed) {
      if constexpr (std::is_pointer_v<In>) {
        if constexpr (takes_short_rows<R>) vectors::prefetch(in + (begin + n) * terms, n * terms);
        return in + begin * terms;
      } else {
        detail::copy_run(in + begin * terms, n * terms, buffer);
        return buffer;
      }
    }
    for (std::int64_t k = 0; k < n; ++k)
      detail::copy_run(in + offset_of(kept, begin + k), terms, buffer + k * terms);
    return buffer;
  }
  /// The first best elements.
  SHARDTYPE_VECTOR_LOOP void places(T const* from, std::int64_t begin, std::int64_t n) const {
    // as wide as the elements, so that one comparison selects both
    using Place = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
    alignas(64) static thread_local T tile[static_cast<std::size_t>(elements)];
    alignas(64) static thread_local Place place[static_cast<std::size_t>(most)];
    detail::turn_rows(from, terms, n, static_cast<T*>(tile), n);
    for (std::int64_t k = 0; k < n; ++k) place[k] = 0;
    for (std::int64_t i = 1; i < terms; ++i) {
      T const* const x = tile + i * n;
      auto const number = static_cast<Place>(i);
      for (std::int64_t k = 0; k < n; ++k) {
        bool const better = R::better(x[k], tile[k]);
        tile[k] = detail::chosen(better, x[k], tile[k]);
        place[k] = detail::chosen(better, number, place[k]);
      }
    }
    for (std::int64_t k = 0; k < n; ++k)
      store(begin + k, {tile[k], static_cast<std::int64_t>(place[k])});
  }
};

/// Reduces short contiguous runs; false if the elements lie otherwise. `store(k, total)` writes the
/// total of output k.
template <class R, class Exec, class In, class Store>
bool reduce_short([[maybe_unused]] Exec const& exec, [[maybe_unused]] Layout const& kept,
                  [[maybe_unused]] Layout const& reduced, [[maybe_unused]] std::int64_t outputs,
                  [[maybe_unused]] std::int64_t terms, [[maybe_unused]] In const& in,
                  [[maybe_unused]] Store const& store) {
  if constexpr (std::is_same_v<In, bool const*>) {
    return detail::reduce_short<R>(exec, kept, reduced, outputs, terms, Truths{in}, store);
  } else if constexpr (runtime::host_reads<Exec> && longest_reduced<R> > 0) {
    if (terms > longest_reduced<R> || terms < 2 || reduced.rank != 1 || reduced.stride[0] != 1)
      return false;
    Layout const rows = merged(kept);
    bool const packed = outputs == 1 || (rows.rank == 1 && rows.stride[0] == terms);
    using Work = ReduceShort<R, In, Store>;
    kernels::launch(exec, "shardtype::reduce", Work::calls(outputs, terms),
                    Work{in, store, kept, outputs, terms, packed});
    return true;
  } else {
    return false;
  }
}

}  // namespace shardtype::kernels::detail
