#pragma once
/// QR and least squares of one tall matrix whose rows are split over ranks, as an operation: its
/// rule and its plan. Each rank factorizes its rows, and the ranks' triangles are gathered (Demmel,
/// Grigori, Hoemmen and Langou, "Communication-optimal parallel and sequential QR and LU
/// factorizations", 2012).

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

/// One matrix `a[I@X, J]`, its dims in any order, rows in blocks, with at least as many rows as
/// columns.
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

/// Numbers in an n x n triangle.
constexpr std::int64_t triangle(std::int64_t n) { return n * (n + 1) / 2; }
/// Rows that are factorized at a time: they stay in a cache; of many columns, for which LAPACK
/// works in blocks, all rows.
constexpr std::int64_t tall_chunk(std::int64_t rows, std::int64_t n, std::int64_t element_bytes) {
  if (n > 128 || n == 0) return std::max<std::int64_t>(rows, 1);
  return std::max(2 * n, 524288 / (n * element_bytes));
}
/// The scratch of a rank, in elements: a chunk and its reflectors' factors, the chunks' triangles
/// and what they are multiplied with, those of all ranks, and the gathered message with the own
/// part of it.
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

/// q [I@X, K] and r [K, J] of a = q r, r the same on all ranks. By reflectors, or, if `Cholesky`,
/// by CholeskyQR2.
template <class I, class J, class K, bool Cholesky = false>
struct TallQr {
  using operation = TallQr;
  using gradient = checking::PullsBySaved;
  using from = shardtype::detail::Bare<I, J>;
  using to = Mentions<Dim<K>>;
  static constexpr std::string_view name = "qr";
  static constexpr bool communicates = true;
  static constexpr bool keeps_shardings = true;
  static constexpr bool cholesky = Cholesky;
  static constexpr Verdicts<2> rule(rules::Question const& q) {
    Verdict v = linalg::rule::tall(q);
    if (v && q.a().find(q.to.dims[0].label) >= 0)
      v = rules::refuse(Code::D02_index_taken, q.to.dims[0].label);
    return {linalg::rule::with_new(q, v, 1), linalg::rule::with_new(q, v, 0)};
  }
  template <class A>
  static constexpr Code elements() {
    return linalg::detail::elements<A>();
  }
  template <class A>
  using element = Elements<checking::element_t<A>, checking::element_t<A>>;
  constexpr void extents(ResultExtents const& q, ResultExtents const& r) const {
    std::int64_t const m = linalg::detail::order_of(q), n = linalg::detail::columns_of(q);
    for (ResultExtents const* c : {&q, &r})
      linalg::detail::set_extent(*c, c->to().dims[0].label, n);
    if (m >= 0 && n >= 0 && m < n)
      ResultExtents::fail("index " + q.name(q.a().find(q.from().dims[0].label)) + " has extent " +
                          std::to_string(m) + " and " + q.name(q.a().find(q.from().dims[1].label)) +
                          " " + std::to_string(n) +
                          "; a matrix whose rows are split has as many rows as columns");
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
      // results whose columns lie one after the other are copied there
      std::int64_t const turned = i < j ? 0 : mul_sat(add_sat(rows, n), n);
      work = {add_sat(mul_sat(per_row, rows), mul_sat(per_row, mul_sat(ranks, n))),
              mul_sat(add_sat(room.elements(), turned), c.element_bytes(0)), false};
    }
    planning::append_compute(p, work);
    Spec before, after;
    before.add(a.dims[i].label, a.dims[i].axes);
    after.add(a.dims[i].label);
    p.push(planning::shared_step(planning::Move::gather, planning::operand_slot(c.count),
                                 a.dims[i].axes, before, after, 0));
    p.repeat(1, cholesky ? 2 : 1, n, &planning::tall_round);
  }
  template <class R, class A>
  typename R::results run(std::source_location const& where, A const& a) const;
  static constexpr bool first_order = true;
  static constexpr bool pull_communicates = true;
  template <std::size_t Result, class V, class A>
  constexpr auto save(V const& both, A const&) const;
  template <class G>
  constexpr auto pull(G const& g) const;
};

}  // namespace op
}  // namespace shardtype
