#pragma once
/// The cotangents of running products, maxima and minima, column by column of [outer, middle,
/// inner].

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/scaled.hpp>

namespace shardtype::kernels {

/// One column of [outer, middle, inner], from the first row of a scan to the last.
struct ScanColumn {
  std::int64_t first, step;
  KOKKOS_FUNCTION ScanColumn(std::int64_t work, std::int64_t middle, std::int64_t inner,
                             bool reverse)
      : first((work / inner) * middle * inner + work % inner +
              (reverse ? (middle - 1) * inner : 0)),
        step(reverse ? -inner : inner) {}
  KOKKOS_FUNCTION std::int64_t at(std::int64_t k) const { return first + k * step; }
};

/// Running products of a column are y_j = a_0 ... a_j, or without a_j if exclusive. The sum of ct_j
/// y_j over the rows of a block and all later ones is `sum + weight q` times the product of all
/// earlier rows, where q is the same of the rows behind the block. The weight is the block's
/// product, but 0 with a zero in it: what is behind a zero is of no weight, also times infinity.
template <class W>
struct ProductsBlock {
  /// Such blocks are sent (runtime::Carried).
  struct Join {
    using Total = ProductsBlock;
    /// Two neighbouring blocks as one.
    KOKKOS_FUNCTION static void join(Total& a, Total const& b) {
      a.sum = a.before(b.sum);
      a.product = a.product * b.product;
      a.weight = a.weight * b.weight;
    }
  };
  Scaled<W> product, weight, sum;

  /// The value before the block, of that behind it. A q of 0 adds nothing, also times infinity.
  KOKKOS_FUNCTION Scaled<W> before(Scaled<W> const& q) const {
    return detail::larger_part(q.m) == 0 ? sum : sum + weight * q;
  }
};

/// A column's ProductsBlock.
template <class T, class W>
struct ProductsBlockOf {
  T const* a;
  T const* ct;
  ProductsBlock<W>* out;
  std::int64_t middle, inner;
  bool exclusive, reverse;

  KOKKOS_FUNCTION void operator()(std::int64_t work) const { out[work] = of(work, 0, middle); }
  /// That of the rows from `begin` to `end` of column `work`.
  KOKKOS_FUNCTION ProductsBlock<W> of(std::int64_t work, std::int64_t begin,
                                      std::int64_t end) const {
    ScanColumn const column(work, middle, inner, reverse);
    ProductsBlock<W> block{Scaled<W>(W(1)), Scaled<W>(W(1)), Scaled<W>(W(0))};
    bool met_zero = false;
    for (std::int64_t k = end; k-- > begin;) {
      Scaled<W> const x(detail::converted<W>(a[column.at(k)]));
      Scaled<W> const c(detail::converted<W>(ct[column.at(k)]));
      if (!exclusive) {
        block.sum = x * (c + block.sum);
      } else {
        block.sum = k == end - 1 ? c : c + x * block.sum;
      }
      met_zero = met_zero || detail::larger_part(x.m) == 0;
      block.product = x * block.product;
      block.weight = met_zero ? Scaled<W>(W(0)) : block.product;
    }
    return block;
  }
};

/// dst = the cotangents of the factors. `blocks`: of all ranks along the dim, [ranks, columns].
template <class T, class W>
struct ProductsBack {
  T const* a;
  T const* ct;
  T* dst;
  Scaled<W>* behind;  ///< workspace, as many as elements
  ProductsBlock<W> const* blocks;
  std::int64_t columns, ranks, me;
  std::int64_t middle, inner;
  bool exclusive, reverse;
  bool ends;  ///< whether the last row of the scan is in this block

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    ProductsBlock<W> const around = of_other_ranks(work);
    rows(work, 0, middle, around.product, around.sum);
  }
  /// For column `work`, the product of all rows before this block, and the sum of those behind it.
  KOKKOS_FUNCTION ProductsBlock<W> of_other_ranks(std::int64_t work) const {
    auto const block = [&](std::int64_t n) {  // in the order of the scan
      return blocks[(reverse ? ranks - 1 - n : n) * columns + work];
    };
    std::int64_t const place = reverse ? ranks - 1 - me : me;
    Scaled<W> sum(W(0));
    for (std::int64_t n = ranks; n-- > place + 1;) sum = block(n).before(sum);
    Scaled<W> product(W(1));
    for (std::int64_t n = 0; n < place; ++n) product = product * block(n).product;
    return {product, Scaled<W>(W(1)), sum};
  }
  /// Rows `begin` to `end` of column `work`, with the product of those before and the sum of those
  /// behind.
  KOKKOS_FUNCTION void rows(std::int64_t work, std::int64_t begin, std::int64_t end,
                            Scaled<W> product, Scaled<W> sum) const {
    ScanColumn const column(work, middle, inner, reverse);
    for (std::int64_t k = end; k-- > begin;) {
      std::int64_t const at = column.at(k);
      Scaled<W> const x(detail::converted<W>(a[at]));
      Scaled<W> const c(detail::converted<W>(ct[at]));
      if (!exclusive) {
        behind[at] = c + sum;
        sum = x * behind[at];
      } else {
        behind[at] = sum;
        sum = ends && k == middle - 1 ? c : c + x * sum;
      }
    }
    for (std::int64_t k = begin; k < end; ++k) {
      std::int64_t const at = column.at(k);
      dst[at] = detail::converted<T>((product * behind[at]).value());
      product = product * Scaled<W>(detail::converted<W>(a[at]));
    }
    // in no exclusive product, also where those before are not finite
    if (exclusive && ends && end == middle) dst[column.at(middle - 1)] = T(0);
  }
};

/// JAX computes running maxima of n rows by a tree: those of the (n / 2) maxima of two neighbours
/// each are every other one, and the others are the maximum of the one before and an element. Where
/// both of two are equal each gets a half, and neither if one is NaN. `Back`: cotangents of the
/// results to those of the elements; else tangents of the elements to those of the results, the
/// transpose.
template <class T, bool Max, bool Back>
struct RunningExtremeBack {
  using Value = shardtype::detail::computed_t<T>;
  T const* a;
  T const* given;
  T* dst;
  Value* workspace;  ///< 5 for each element
  std::int64_t middle, inner;
  bool exclusive, reverse;

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    ScanColumn const column(work, middle, inner, reverse);
    // an exclusive one has no own element: its rows begin one later
    std::int64_t const late = exclusive ? 1 : 0;
    std::int64_t const n = middle - late;
    Value* const x = workspace + work * 5 * middle;  // of each level, one behind the other
    Value* const c = x + 2 * middle;
    Value* const y = c + 2 * middle;
    for (std::int64_t k = 0; k < n; ++k) {
      x[k] = static_cast<Value>(a[column.at(k)]);
      y[k] = k == 0 ? x[k] : larger(y[k - 1], x[k]);
      c[k] = static_cast<Value>(given[column.at(k + (Back ? late : 0))]);
    }
    if (n > 0) through(x, c, y, n);
    if (exclusive && middle > 0) dst[column.at(Back ? middle - 1 : 0)] = static_cast<T>(Value(0));
    for (std::int64_t k = 0; k < n; ++k)
      dst[column.at(k + (Back ? 0 : late))] = static_cast<T>(c[k]);
  }

  KOKKOS_FUNCTION static Value larger(Value p, Value q) {
    return p != p || (Max ? p > q : p < q) ? p : q;
  }
  /// The share of `p` in the larger of both.
  KOKKOS_FUNCTION static Value share(Value p, Value q) {
    return p == q ? Value(0.5) : ((Max ? p > q : p < q) ? Value(1) : Value(0));
  }

 private:
  /// `x`: the elements, and behind them memory for the maxima of two, of four and so on; `y`: the
  /// running maxima; `c`, with memory like `x`: what is given, then what is wanted.
  KOKKOS_FUNCTION static void through(Value* x, Value* c, Value const* y, std::int64_t n) {
    // not recursive: the levels up, then down; an element of level l stands for 2^l rows
    std::int64_t length[64];
    std::int64_t begin[65] = {};
    int levels = 0;
    for (std::int64_t m = n; m > 0; m /= 2) {
      length[levels] = m;
      begin[levels + 1] = begin[levels] + m;
      ++levels;
    }
    for (int level = 0; level + 1 < levels; ++level) {
      Value* const here = x + begin[level];
      Value* const ct = c + begin[level];
      Value* const next = x + begin[level + 1];
      Value* const next_ct = c + begin[level + 1];
      for (std::int64_t i = 0; i < length[level + 1]; ++i) {
        Value const p = here[2 * i];
        Value const q = here[2 * i + 1];
        next[i] = larger(p, q);
        next_ct[i] = Back ? ct[2 * i + 1] : share(p, q) * ct[2 * i] + share(q, p) * ct[2 * i + 1];
      }
      if constexpr (Back)
        for (std::int64_t i = 1; i < length[level]; ++i) {
          if (i % 2 == 0) {
            Value const before = y[(i << level) - 1];
            next_ct[i / 2 - 1] += share(before, here[i]) * ct[i];
            ct[i] = share(here[i], before) * ct[i];
          } else {
            ct[i] = Value(0);
          }
        }
    }
    for (int level = levels - 1; level-- > 0;) {
      Value const* const here = x + begin[level];
      Value* const ct = c + begin[level];
      Value const* const next_ct = c + begin[level + 1];
      if constexpr (Back) {
        for (std::int64_t i = 0; i < length[level + 1]; ++i) {
          ct[2 * i] += share(here[2 * i], here[2 * i + 1]) * next_ct[i];
          ct[2 * i + 1] += share(here[2 * i + 1], here[2 * i]) * next_ct[i];
        }
      } else {
        for (std::int64_t i = 1; i < length[level]; ++i) {
          if (i % 2 == 0) {
            Value const before = y[(i << level) - 1];
            ct[i] = share(before, here[i]) * next_ct[i / 2 - 1] + share(here[i], before) * ct[i];
          } else {
            ct[i] = next_ct[i / 2];
          }
        }
      }
    }
  }
};

/// Runs `body(column)` for `columns` columns.
template <class Exec, class Body>
void for_columns(Exec const& exec, std::int64_t columns, Body const& body) {
  if (columns > 0) kernels::launch(exec, "shardtype::running_back", columns, body);
}

}  // namespace shardtype::kernels
