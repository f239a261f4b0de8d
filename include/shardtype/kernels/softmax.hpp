#pragma once
/// Combines elements with the total of their row: softmax.

#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/layout.hpp>
#include <shardtype/kernels/norms.hpp>
#include <shardtype/kernels/prefetch.hpp>
#include <shardtype/kernels/short_rows.hpp>
#include <shardtype/kernels/vector_functions.hpp>
#include <shardtype/kernels/vector_loop.hpp>
#include <shardtype/runtime/copy_bytes.hpp>

namespace shardtype::kernels {

namespace detail {

/// The factor of the exponentials of a row, or, if `Log`, a second value to subtract. Infinities in
/// a row, or only -inf, give NaN.
template <bool Log, class Wide, class T>
KOKKOS_INLINE_FUNCTION T factor_of(T const& sum, T const& max) {
  Wide const all = static_cast<Wide>(sum) + static_cast<Wide>(max - max);
  return static_cast<T>(Log ? static_cast<Wide>(math::log(all)) : Wide(1) / all);
}
/// Replaces the sum of a total by this factor.
template <class T, bool Log>
struct FinishRow {
  Peak<T>* totals;
  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    totals[k].sum = detail::factor_of<Log, wide_t<T>>(totals[k].sum, totals[k].max);
  }
};

/// The part of a row that is computed at once.
template <class T, bool Log>
struct NormalizeShape {
  using Total = Peak<shardtype::detail::computed_t<T>>;
  using Value = shardtype::detail::computed_t<T>;
  T const* src;
  T* dst;
  Total const* totals;  ///< finished
  Layout rows;          ///< without the last dim; strides are those of the totals, 0 along rows
  std::int64_t length, stride;

  KOKKOS_FUNCTION std::int64_t total_of(std::int64_t row) const { return offset_of(rows, row); }
};

/// One call computes one element.
template <class T, bool Log>
struct NormalizeElements {
  using Shape = NormalizeShape<T, Log>;
  using Value = typename Shape::Value;
  Shape shape;

  template <class Number>
  KOKKOS_FUNCTION void operator()(Number work) const {
    auto const length = static_cast<Number>(shape.length);
    Number const row = work / length;
    std::int64_t const at = work % length;
    typename Shape::Total const& t =
        shape.totals[kernels::offset_of(shape.rows, row) + at * shape.stride];
    Value const max = static_cast<Value>(t.max);
    Value const by = static_cast<Value>(t.sum);
    Value const x = static_cast<Value>(shape.src[work]) - max;
    if constexpr (Log) {
      shape.dst[work] = static_cast<T>(x - by);
    } else {
      shape.dst[work] = static_cast<T>(math::exp(x) * by);
    }
  }
};

/// Host: one call computes a block of the last dim for some rows. Rows of the same totals share
/// what is computed of them; where a row has one total, blocks are long, because memory is fast in
/// order. Short rows are computed several at once, each element with a total.
template <class T, bool Log>
struct NormalizeBlocks {
  using Shape = NormalizeShape<T, Log>;
  using Value = typename Shape::Value;
  static constexpr std::int64_t block = vectors::block;
  static constexpr std::int64_t long_block = 8192;
  static constexpr std::size_t spare = spare_bytes / sizeof(Value);
  Shape shape;
  std::int64_t rows;
  std::int64_t run;           ///< elements of a block
  std::int64_t blocks;        ///< per row
  std::int64_t together = 1;  ///< short rows that are computed at once
  std::int64_t rows_of_call = 16;

  NormalizeBlocks(Shape const& its_shape, std::int64_t row_count)
      : shape(its_shape),
        rows(row_count),
        run(shape.stride == 0 ? long_block : block),
        blocks((shape.length + run - 1) / run) {
    if (shape.stride > 1 || shape.length > longest_short_row) return;
    together = block / shape.length;
    rows_of_call = long_block / shape.length / together * together;
  }
  std::int64_t calls() const { return (rows + rows_of_call - 1) / rows_of_call * blocks; }

  void operator()(std::int64_t work) const {
    std::int64_t const begin = work % blocks * run;
    std::int64_t const n = shape.length - begin < run ? shape.length - begin : run;
    std::int64_t const first = work / blocks * rows_of_call;
    std::int64_t const end = first + rows_of_call < rows ? first + rows_of_call : rows;
    alignas(64) Value max[static_cast<std::size_t>(block) + spare];
    alignas(64) Value by[static_cast<std::size_t>(block) + spare];
    if (together > 1 && shape.stride != 0) return rows_alike(first, end, max, by);
    if (together > 1) {
      for (std::int64_t r = first; r < end; r += together)
        short_rows(r, r + together < end ? together : end - r, max, by);
      return;
    }
    bool const each = shape.stride != 0;
    std::int64_t known = -1;
    for (std::int64_t r = first; r < end; ++r) {
      std::int64_t const at = shape.total_of(r) + begin * shape.stride;
      T const* const in = shape.src + r * shape.length + begin;
      T* const out = shape.dst + r * shape.length + begin;
      if (at != known) {
        for (std::int64_t j = 0; j < (each ? n : 1); ++j) {
          max[j] = static_cast<Value>(shape.totals[at + j * shape.stride].max);
          by[j] = static_cast<Value>(shape.totals[at + j * shape.stride].sum);
        }
        known = at;
      }
      if (!each) {
        row<false>(in, out, n, max, by);
        continue;
      }
      if (r + 1 < end) {
        vectors::prefetch(in + shape.length, n);
        vectors::prefetch<true>(out + shape.length, n);
      }
      row<true>(in, out, n, max, by);
    }
  }

 private:
  /// Short rows whose elements have totals of their own, which rows share.
  void rows_alike(std::int64_t first, std::int64_t end, Value* max, Value* by) const {
    std::int64_t known = -1, filled = 0;
    for (std::int64_t r = first; r < end;) {
      std::int64_t const at = shape.total_of(r);
      std::int64_t m = 1;
      while (r + m < end && m < together && shape.total_of(r + m) == at) ++m;
      if (at != known) filled = 0;
      known = at;
      for (; filled < m; ++filled)
        for (std::int64_t j = 0; j < shape.length; ++j) {
          max[filled * shape.length + j] = static_cast<Value>(shape.totals[at + j].max);
          by[filled * shape.length + j] = static_cast<Value>(shape.totals[at + j].sum);
        }
      row<true>(shape.src + r * shape.length, shape.dst + r * shape.length, m * shape.length, max,
                by);
      r += m;
    }
  }
  /// `m` rows from row `r` on.
  SHARDTYPE_VECTOR_LOOP void short_rows(std::int64_t r, std::int64_t m, Value* max,
                                        Value* by) const {
    static thread_local Value of_row[2][static_cast<std::size_t>(block)];
    for (std::int64_t k = 0; k < m; ++k) {
      typename Shape::Total const& total = shape.totals[shape.total_of(r + k)];
      of_row[0][k] = static_cast<Value>(total.max);
      of_row[1][k] = static_cast<Value>(total.sum);
    }
    detail::repeat_each(of_row[0], 1, shape.length, m, max);
    detail::repeat_each(of_row[1], 1, shape.length, m, by);
    row<true>(shape.src + r * shape.length, shape.dst + r * shape.length, m * shape.length, max,
              by);
  }
  /// `Each`: an element has a maximum and a factor of its own.
  template <bool Each>
  SHARDTYPE_VECTOR_LOOP static void row(T const* in, T* out, std::int64_t n, Value const* max,
                                        Value const* by) {
    if constexpr (Log) {
      for (std::int64_t j = 0; j < n; ++j)
        out[j] = static_cast<T>((static_cast<Value>(in[j]) - max[Each ? j : 0]) - by[Each ? j : 0]);
    } else if constexpr (std::is_same_v<T, Value>) {
      vectors::scaled_exponentials<Each>(n, out, in, max, by);
    } else {
      alignas(64) Value e[static_cast<std::size_t>(block)];
      for (std::int64_t k = 0; k < n; k += block) {
        std::int64_t const m = n - k < block ? n - k : block;
        for (std::int64_t j = 0; j < m; ++j) e[j] = static_cast<Value>(in[k + j]);
        vectors::scaled_exponentials<Each>(m, e, static_cast<Value const*>(e), max, by);
        for (std::int64_t j = 0; j < m; ++j) out[k + j] = static_cast<T>(e[j]);
      }
    }
  }
};

/// Host: one call computes short rows as a whole, each exponential once. The bits are those of
/// totals and NormalizeBlocks.
template <class T, bool Log>
struct NormalizeShortRows {
  using Value = shardtype::detail::computed_t<T>;
  using Sums = typename LogSumExpReducer<T>::ShortRows;
  static constexpr std::int64_t elements = Sums::elements;  ///< of a call
  static constexpr std::int64_t parts = 7;                  ///< of what is prefetched
  T const* src;
  T* dst;
  std::int64_t length, rows;

  std::int64_t together() const { return elements / length; }
  std::int64_t calls() const { return (rows + together() - 1) / together(); }

  SHARDTYPE_VECTOR_LOOP void operator()(std::int64_t work) const {
    std::int64_t const first = work * together();
    std::int64_t const m = rows - first < together() ? rows - first : together();
    std::int64_t const n = m * length;
    T const* const in = src + first * length;
    T* const out = dst + first * length;
    alignas(64) static thread_local Value e[Sums::room];
    alignas(64) static thread_local Value max[Sums::room];
    alignas(64) static thread_local Value sum[Sums::room];
    alignas(64) static thread_local Value by[Sums::room];
    // of the next call's elements, a part at a time: as many as the processor can wait for
    std::int64_t part = 0;
    auto const ahead = [&] {
      std::int64_t const at = n + n * part / parts,
                         some = n * (part + 1) / parts - n * part / parts;
      vectors::prefetch(in + at, some);
      vectors::prefetch<true>(out + at, some);
      ++part;
    };
    ahead();
    Sums::compute(in, length, m, max, e, sum, ahead);
    ahead();
    for (std::int64_t k = 0; k < m; ++k) sum[k] = detail::factor_of<Log, wide_t<T>>(sum[k], max[k]);
    detail::repeat_each(static_cast<Value const*>(sum), 1, length, m, static_cast<Value*>(by));
    ahead();
    if constexpr (Log) {
      alignas(64) static thread_local Value base[Sums::room];
      detail::repeat_each(static_cast<Value const*>(max), 1, length, m, static_cast<Value*>(base));
      for (std::int64_t k = 0; k < n; ++k)
        out[k] = static_cast<T>((static_cast<Value>(in[k]) - base[k]) - by[k]);
    } else {
      for (std::int64_t k = 0; k < n; ++k) out[k] = static_cast<T>(e[k] * by[k]);
    }
  }
};

/// Host: one call computes rows of at most a block, each as a whole and each exponential once. The
/// bits are those of totals and NormalizeBlocks.
template <class T>
struct NormalizeWholeRows {
  using Value = shardtype::detail::computed_t<T>;
  static constexpr std::int64_t longest = vectors::block;
  T const* src;
  T* dst;
  std::int64_t length, rows;

  std::int64_t together() const { return 8192 / length; }
  std::int64_t calls() const { return (rows + together() - 1) / together(); }

  void operator()(std::int64_t work) const {
    std::int64_t const first = work * together();
    std::int64_t const end = rows - first < together() ? rows : first + together();
    for (std::int64_t r = first; r < end; ++r) row(src + r * length, dst + r * length);
  }

 private:
  SHARDTYPE_VECTOR_LOOP void row(T const* in, T* out) const {
    constexpr auto lanes = vectors::formulas::sums_of_one;
    alignas(64) static thread_local Value e[static_cast<std::size_t>(longest)];
    alignas(64) Value sum[static_cast<std::size_t>(lanes)] = {};
    Value const* x = e;
    vectors::prefetch(in + length, length);
    if constexpr (std::is_same_v<T, Value>) {
      x = in;
    } else {
      for (std::int64_t k = 0; k < length; ++k) e[k] = static_cast<Value>(in[k]);
    }
    Value const max = detail::extreme_of<ExtremeReducer<Value, true>>(x, length);
    Value const base = detail::chosen(max - max == Value(0), max, Value(0));
    Value const one(1);
    vectors::scaled_exponentials<false>(length, e, x, &base, &one);
    vectors::prefetch<true>(out + length, length);
    std::int64_t k = 0;
    for (; k + lanes <= length; k += lanes)
      for (std::int64_t l = 0; l < lanes; ++l) sum[l] = sum[l] + e[k + l];
    for (std::int64_t l = 0; k + l < length; ++l) sum[l] = sum[l] + e[k + l];
    detail::fold<SumReducer<Value>, static_cast<int>(lanes), 1>(sum);
    Value const by = detail::factor_of<false, wide_t<T>>(sum[0], max);
    for (k = 0; k < length; ++k) out[k] = static_cast<T>(e[k] * by);
  }
};

}  // namespace detail

/// `dst` = softmax of `src`, both packed; `Log`: its logarithm. `totals` are those of the rows,
/// which this function overwrites; `rows` has the extents of the block with the strides of the
/// totals, which are 0 along the dims of a row. Reads `src` once. Runs on `exec`.
template <bool Log, class T, class Exec>
void normalize(Exec const& exec, T const* src, T* dst,
               Peak<shardtype::detail::computed_t<T>>* totals, Layout rows) {
  std::int64_t const n = rows.elements();
  if (n == 0) return;
  std::int64_t count = 1;
  for (int d = 0; d < rows.rank; ++d)
    if (rows.stride[d] != 0) count *= rows.extent[d];
  kernels::launch(exec, "shardtype::softmax_rows", count,
                  detail::FinishRow<shardtype::detail::computed_t<T>, Log>{totals});
  rows = merged(rows);
  int const last = --rows.rank;
  std::int64_t const length = rows.extent[last];
  detail::NormalizeShape<T, Log> const shape{src, dst, totals, rows, length, rows.stride[last]};
  if constexpr (runtime::host_reads<Exec>) {
    detail::NormalizeBlocks<T, Log> const blocks(shape, n / length);
    kernels::launch(exec, "shardtype::softmax", blocks.calls(), blocks);
  } else {
    kernels::launch(exec, "shardtype::softmax", n, detail::NormalizeElements<T, Log>{shape});
  }
}

/// Whether packed rows lie one behind the other and are computed each as a whole; `rows` as above.
template <bool Log, class T, class Exec>
bool has_whole_rows([[maybe_unused]] Layout const& rows) {
  using Value = shardtype::detail::computed_t<T>;
  if constexpr (runtime::host_reads<Exec> && vectors::vectorised<functions::Exp, Value>) {
    constexpr std::int64_t longest =
        Log ? detail::longest_short_row : detail::NormalizeWholeRows<T>::longest;
    Layout const all = merged(rows);
    return all.rank == 2 && all.elements() > 0 && all.stride[1] == 0 && all.stride[0] == 1 &&
           all.extent[1] <= longest;
  } else {
    return false;
  }
}
/// `dst` = softmax of `src` or its logarithm, where `has_whole_rows`; no totals. Runs on `exec`.
template <bool Log, class T, class Exec>
void normalize_whole_rows([[maybe_unused]] Exec const& exec, [[maybe_unused]] T const* src,
                          [[maybe_unused]] T* dst, [[maybe_unused]] Layout const& rows) {
  using Value = shardtype::detail::computed_t<T>;
  if constexpr (runtime::host_reads<Exec> && vectors::vectorised<functions::Exp, Value>) {
    Layout const all = merged(rows);
    std::int64_t const length = all.extent[1], count = all.extent[0];
    if constexpr (!Log) {
      if (length > detail::longest_short_row) {
        detail::NormalizeWholeRows<T> const calls{src, dst, length, count};
        return kernels::launch(exec, "shardtype::softmax", calls.calls(), calls);
      }
    }
    detail::NormalizeShortRows<T, Log> const calls{src, dst, length, count};
    kernels::launch(exec, "shardtype::softmax", calls.calls(), calls);
  }
}

}  // namespace shardtype::kernels
