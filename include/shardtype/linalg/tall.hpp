#pragma once
/// QR and least squares of one tall matrix whose rows are split over ranks, as an operation: its rule and its plan. Each rank
/// factorizes its rows, and the ranks' triangles are gathered (Demmel, Grigori, Hoemmen and Langou, "Communication-optimal
/// parallel and sequential QR and LU factorizations", 2012).

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include <shardtype/check/operation.hpp>
#include <shardtype/linalg/rules_local.hpp>
#include <shardtype/linalg/run_blocks.hpp>
#include <shardtype/plan/local_plan.hpp>

namespace shardtype {

namespace linalg::rule {

/// One matrix `a[I@X, J]`, its dims in any order, rows in blocks, with at least as many rows as columns.
constexpr Verdict tall(Question const& q) {
  Spec const& a = q.a();
  if (Verdict v = has_all(a, q.from); !v) return v;
  for (int x = 0; x < max_axes; ++x)
    if (a.unreduced.contains(x)) return refuse(Code::Q02_not_linear, -1, -1, x);
  int const rows = q.from.dims[0].label, cols = q.from.dims[1].label;
  DimSpec const& split = a.dims[a.find(rows)];
  if (a.rank != 2 || a.local || split.axes.size == 0 || split.axes.cyclic != 0)
    return refuse(Code::Q07_not_tall, rows);
  if (AxisList const& axes = a.dims[a.find(cols)].axes; axes.size > 0)
    return refuse(Code::Q07_not_tall, cols, -1, axes[0]);
  if (q.extents[rows] >= 0 && q.extents[cols] >= 0 && q.extents[rows] < q.extents[cols])
    return refuse(Code::Q07_not_tall, rows, cols);
  return accept(a);
}

}  // namespace linalg::rule

namespace linalg {

/// Asks qr for CholeskyQR2: `qr<I, J, K>(a, linalg::cholesky_qr)`.
struct CholeskyQr {};
inline constexpr CholeskyQr cholesky_qr{};

namespace detail {

struct TallRows : Index<"triangle and rows"> {};

/// Numbers in an n x n triangle.
constexpr std::int64_t triangle(std::int64_t n) { return n * (n + 1) / 2; }
/// Rows that are factorized at a time: they stay in a cache; of many columns, for which LAPACK works in blocks, all rows.
constexpr std::int64_t tall_chunk(std::int64_t rows, std::int64_t n, std::int64_t element_bytes) {
  if (n > 128 || n == 0) return std::max<std::int64_t>(rows, 1);
  return std::max(2 * n, 524288 / (n * element_bytes));
}
/// The scratch of a rank, in elements: a chunk and its reflectors' factors, the chunks' triangles and what they are multiplied
/// with, those of all ranks, and the gathered message with the own part of it.
struct TallScratch {
  std::int64_t chunk, rows, chunks, n, ranks;
  constexpr TallScratch(std::int64_t held, std::int64_t columns, std::int64_t p,
                        std::int64_t element_bytes)
      : chunk(tall_chunk(held, columns, element_bytes)),
        rows(held),
        chunks(ceil_div(held, chunk)),
        n(columns),
        ranks(p) {}
  constexpr std::int64_t piece() const { return mul_sat(std::min(chunk, rows), n); }
  constexpr std::int64_t own() const {
    return mul_sat(mul_sat(std::max<std::int64_t>(chunks, 1), n), n);
  }
  constexpr std::int64_t all() const { return mul_sat(mul_sat(ranks, n), n); }
  constexpr std::int64_t sent() const { return mul_sat(ranks + 1, triangle(n)); }
  constexpr std::int64_t elements() const {
    return add_sat(add_sat(piece(), 2 * own()), add_sat(add_sat(all(), sent()), n));
  }
};

}  // namespace detail
}  // namespace linalg

namespace planning {

/// The gathered value of one round: of each rank a packed triangle of the order `block`.
constexpr void tall_round(Step const& s, Round& r) {
  std::int64_t const n = r.block;
  r.sizing.extents.at[s.after.dims[0].label] =
      n < 0 ? shardtype::dynamic
            : mul_sat(r.sizing.sizes.product(s.axes), linalg::detail::triangle(n));
}

}  // namespace planning

namespace op {

/// q and r of a = q r in one value [P@X, K]: on each rank the n rows of r, then its rows of q. By reflectors, or, if `cholesky`,
/// by CholeskyQR2.
template <class I, class J, class K>
struct TallQr {
  using operation = TallQr;
  using from = shardtype::detail::Bare<I, J>;
  using to = Mentions<Dim<linalg::detail::TallRows>, Dim<K>>;
  using gradient = checking::Constant;
  static constexpr std::string_view name = "qr";
  static constexpr bool communicates = true;
  static constexpr bool recorded = false;
  static constexpr bool has_named_form = false;
  bool cholesky = false;
  constexpr TallQr() = default;
  constexpr explicit TallQr(bool by_cholesky) : cholesky(by_cholesky) {}
  static constexpr Verdict rule(rules::Question const& q) {
    Verdict const v = linalg::rule::tall(q);
    if (!v) return v;
    Spec const& a = q.a();
    if (a.find(q.to.dims[1].label) >= 0)
      return rules::refuse(Code::D02_index_taken, q.to.dims[1].label);
    Spec out = a;
    out.dims[0] = {q.to.dims[0].label, a.dims[a.find(q.from.dims[0].label)].axes};
    out.dims[1] = {q.to.dims[1].label, {}};
    return rules::accept(out);
  }
  template <class A>
  static constexpr Code elements() {
    return linalg::detail::elements<A>();
  }
  constexpr void extents(ResultExtents const& c) const {
    std::int64_t const m = linalg::detail::order_of(c), n = linalg::detail::columns_of(c);
    c.out[1] = n;
    if (m < 0 || n < 0) {
      c.out[0] = shardtype::dynamic;
      return;
    }
    if (m < n)
      ResultExtents::fail("index " + c.name(c.a().find(c.from().dims[0].label)) + " has extent " +
                          std::to_string(m) + " and " + c.name(c.a().find(c.from().dims[1].label)) +
                          " " + std::to_string(n) +
                          "; a matrix whose rows are split has as many rows as columns");
    auto const& axes = c.result.dims[0].axes;
    c.out[0] = mul_sat(c.sizes.product(axes), add_sat(largest_block(m, axes, c.sizes), n));
  }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    Spec const& a = c.operands[0];
    int const i = a.find(c.from.dims[0].label), j = a.find(c.from.dims[1].label);
    std::int64_t const rows = c.rows(0, i), n = c.given[0].extents[a.dims[j].label];
    std::int64_t const ranks = c.common.sizes.product(a.dims[i].axes);
    planning::Work work;
    if (rows >= 0 && n >= 0) {
      linalg::detail::TallScratch const room(rows, n, ranks, c.element_bytes(0));
      std::int64_t const per_row = mul_sat(mul_sat(6, n), n);
      work = {add_sat(mul_sat(per_row, rows), mul_sat(per_row, mul_sat(ranks, n))),
              mul_sat(room.elements(), c.element_bytes(0)), false};
    }
    planning::append_compute(p, work);
    Spec before, after;
    before.add(a.dims[i].label, a.dims[i].axes);
    after.add(a.dims[i].label);
    p.push(planning::shared_step(planning::Move::gather, planning::operand_slot(c.count),
                                 a.dims[i].axes, before, after, 0));
    p.repeat(1, cholesky ? 2 : 1, n, &planning::tall_round);
  }
};

/// q [I@X, K], or r [K, J], of what TallQr gave; the gradient is with respect to a.
template <class I, class J, class K, bool triangular>
struct TallPartOf : linalg::detail::OnMatrices<I, J> {
  using operation = TallPartOf;
  using to = Mentions<Dim<K>>;
  static constexpr std::string_view name = "qr";
  static constexpr Verdict rule(rules::Question const& q) {
    return linalg::rule::with_new(q, linalg::rule::tall(q), triangular ? 0 : 1);
  }
  constexpr void extents(ResultExtents const& c) const {
    linalg::detail::set_extent(c, c.to().dims[0].label, linalg::detail::columns_of(c));
  }
  template <class Out, class A, class F>
  void fill(Out& out, A const& a, F const& both) const {
    namespace lk = linalg::kernels;
    using T = typename A::element;
    std::int64_t const n = linalg::detail::matrices<I, J>(a).width;
    auto const made = linalg::detail::stack_beside<A, I, J, std::conditional_t<triangular, K, I>>(
        out, linalg::detail::written(out));
    T const* const rows = execute::data_of(both) + (triangular ? 0 : n * n);
    if (made.row_stride == n && made.plain_columns() && made.cols.stride[0] == 1) {
      std::copy_n(rows, made.rows * n, made.data);
      return;
    }
    for (std::int64_t i = 0; i < made.rows; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        made.data[i * made.row_stride + lk::offset(made.cols, j)] = rows[i * n + j];
  }
};

}  // namespace op
}  // namespace shardtype
