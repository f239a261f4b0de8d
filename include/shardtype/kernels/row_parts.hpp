#pragma once
/// Host: sums and extremes of short packed rows, many rows at once.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <shardtype/kernels/reduce_runs.hpp>
#include <shardtype/kernels/reducers.hpp>
#include <shardtype/kernels/short_rows.hpp>
#include <shardtype/kernels/vector.hpp>
#include <shardtype/kernels/vector_loop.hpp>

namespace shardtype::kernels::detail {

/// The joined elements of `rows` packed rows of `terms` elements. Terms are joined in the order of
/// `add_run`: a row has the same bits alone and among others.
template <class R>
class RowParts {
 public:
  using T = typename R::Element;
  using Part = typename R::Part;

  static void compute(T const* from, std::int64_t terms, std::int64_t rows, Part* part) {
    switch (terms) {
      case 2:
        return few_terms<2>(from, terms, rows, part);
      case 3:
        return few_terms<3>(from, terms, rows, part);
      case 4:
        return few_terms<4>(from, terms, rows, part);
      case 8:
        return few_terms<8>(from, terms, rows, part);
      default:
        return terms < few ? few_terms<0>(from, terms, rows, part)
                           : in_lanes(from, terms, rows, part);
    }
  }

 private:
  static constexpr std::int64_t few = 16;
  static constexpr std::int64_t many = 64;

  /// `Terms`: their number, or 0. Compilers take elements of several rows in one register where it
  /// is a constant.
  template <int Terms>
  SHARDTYPE_VECTOR_LOOP static void few_terms(T const* from, std::int64_t terms, std::int64_t rows,
                                              Part* part) {
    std::int64_t const m = Terms > 0 ? Terms : terms;
    for (std::int64_t k = 0; k < rows; ++k) {
      Part sum = R::nothing();
      for (std::int64_t i = 0; i < m; ++i) R::join(sum, R::load(from[k * m + i]));
      part[k] = sum;
    }
  }
  /// Lanes of rows are turned, so that those of several rows are in one vector.
  SHARDTYPE_VECTOR_LOOP static void in_lanes(T const* from, std::int64_t terms, std::int64_t rows,
                                             Part* part) {
    constexpr std::int64_t width = 64;
    alignas(64) static thread_local Part lane[static_cast<std::size_t>(width * few)];
    alignas(64) static thread_local Part turned[static_cast<std::size_t>(width * few)];
    for (std::int64_t first = 0; first < rows; first += width) {
      std::int64_t const m = rows - first < width ? rows - first : width;
      T const* const some = from + first * terms;
      for (std::int64_t k = 0; k < m; ++k) lanes_of(some + k * terms, terms, lane + k * few);
      detail::turn_squares(static_cast<Part const*>(lane), few, few, m, static_cast<Part*>(turned),
                           m);
      for (std::int64_t half = few / 2; half > 0; half /= 2)
        join_rows(turned, turned + half * m, half * m);
      for (std::int64_t i = terms / few * few; i < terms; ++i)
        for (std::int64_t k = 0; k < m; ++k) R::join(turned[k], R::load(some[k * terms + i]));
      for (std::int64_t k = 0; k < m; ++k) part[first + k] = turned[k];
    }
  }
  static void join_rows(Part* __restrict to, Part const* __restrict from, std::int64_t n) {
    for (std::int64_t k = 0; k < n; ++k) R::join(to[k], from[k]);
  }
  /// Whether parts are the elements themselves, also joined with nothing.
  static constexpr bool plain =
      std::is_same_v<T, Part> &&
      (std::is_same_v<R, ExtremeReducer<T, true>> || std::is_same_v<R, ExtremeReducer<T, false>>);
  /// Whether lanes are joined in vectors explicitly: compilers do not keep those of a comparison.
  static constexpr bool joins_vectors = [] {
    if constexpr (computes_in_vectors && has_vectors<Part>) {
      return requires(vector_of<Part>& a) { R::join_lanes(a, a); };
    } else {
      return false;
    }
  }();
  /// Joins the whole lanes of a row.
  static void lanes_of(T const* __restrict x, std::int64_t terms, Part* __restrict lane) {
    if constexpr (joins_vectors) {
      vectors_of(x, terms, lane);
    } else {
      numbers_of(x, terms, lane);
    }
  }
  SHARDTYPE_VECTOR_LOOP static void vectors_of(T const* x, std::int64_t terms, Part* lane) {
    using V = vector_of<Part>;
    constexpr int lanes = vector_lanes<Part>;
    auto const joined = [&](std::int64_t at) {
      V out{};
      if constexpr (plain) {
        std::memcpy(&out, x + at, sizeof out);
      } else {
        for (int l = 0; l < lanes; ++l) out[l] = R::load(x[at + l]);
      }
      return out;
    };
    for (std::int64_t l = 0; l < few; l += lanes) {
      V first = joined(l);
      if (terms == many) {  // as `fold` joins them
        V second = joined(l + few);
        R::join_lanes(first, joined(l + 2 * few));
        R::join_lanes(second, joined(l + 3 * few));
        R::join_lanes(first, second);
      } else {
        for (std::int64_t i = few; i + few <= terms; i += few) R::join_lanes(first, joined(i + l));
      }
      std::memcpy(lane + l, &first, sizeof first);
    }
  }
  SHARDTYPE_VECTOR_LOOP static void numbers_of(T const* __restrict x, std::int64_t terms,
                                               Part* __restrict lane) {
    if (terms == many) {
      Part all[static_cast<std::size_t>(many)];
      for (std::int64_t l = 0; l < many; ++l) {
        all[l] = R::nothing();
        R::join(all[l], R::load(x[l]));
      }
      detail::fold<R, many, few>(all);
      for (std::int64_t l = 0; l < few; ++l) lane[l] = all[l];
      return;
    }
    for (std::int64_t l = 0; l < few; ++l) lane[l] = R::nothing();
    for (std::int64_t i = 0; i + few <= terms; i += few)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC unroll 1  // else 16 single elements
#endif
      for (std::int64_t l = 0; l < few; ++l) R::join(lane[l], R::load(x[i + l]));
  }
};

}  // namespace shardtype::kernels::detail
