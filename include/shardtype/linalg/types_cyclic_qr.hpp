#pragma once
/// QR of one matrix whose columns are block-cyclic over a mesh axis, as an operation: its rule, and
/// its plan, two loops of panels in which nothing is gathered; and what least squares say of the
/// extents of a matrix.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include <shardtype/check/operation.hpp>
#include <shardtype/linalg/types_cyclic.hpp>

namespace shardtype::detail {

/// Error E41 where a matrix has more columns than rows.
constexpr void check_tall(ResultExtents const& c) {
  int const rows = c.a().find(c.from().dims[0].label), cols = c.a().find(c.from().dims[1].label);
  if (c.given[0][rows] >= 0 && c.given[0][rows] < c.given[0][cols])
    ResultExtents::fail(
        "index " + c.name(rows) + " has extent " + std::to_string(c.given[0][rows]) + " and " +
        c.name(cols) + " " + std::to_string(c.given[0][cols]) +
        "; lstsq takes at least as many rows as columns, or, of stacks, with .rcond, any matrix");
}

}  // namespace shardtype::detail

namespace shardtype {

namespace planning {

/// The panels of reflectors of a matrix of `rows` rows: one for each block of its first min(rows,
/// columns) columns.
struct QrPanels {
  std::int64_t rows = 0;
  CyclicBlocks columns{};

  constexpr std::int64_t least() const { return std::min(rows, columns.n); }
  /// The columns of q, which lie as those of the matrix.
  constexpr CyclicBlocks of_q() const { return {least(), columns.block, columns.ranks}; }
  constexpr std::int64_t count() const { return of_q().count(); }
  constexpr std::int64_t width(std::int64_t k) const { return of_q().width(k); }
  constexpr std::int64_t height(std::int64_t k) const { return rows - columns.begin(k); }
  /// Elements of panel `k`: its reflectors V, and the triangle T that combines them to I - V T V^H.
  constexpr std::int64_t elements(std::int64_t k) const {
    return (height(k) + width(k)) * width(k);
  }
  constexpr std::int64_t room() const { return count() == 0 ? 0 : elements(0); }
  /// Panels in memory at a time: one is used, one arrives or is on its way out.
  static constexpr std::int64_t slots = 2;
  constexpr std::int64_t in_slots() const { return mul_sat(slots, room()); }
  /// Elements that the two loops need on a rank with these columns: two panels, the triangles of
  /// the own panels, the products with columns, and the factors where q is smaller than they.
  constexpr std::int64_t scratch(std::int64_t own_columns, std::int64_t own_of_q) const {
    std::int64_t const w = std::min(least(), columns.block);
    std::int64_t const held = add_sat(in_slots(), mul_sat(w, own_of_q));
    std::int64_t const factors = columns.n > rows ? mul_sat(rows, own_columns) : 0;
    return add_sat(add_sat(held, factors), mul_sat(2 * w, own_columns));
  }
  /// The same of the first loop alone, with right-hand sides: two panels, the factors, the
  /// right-hand sides, and the products with columns of either.
  constexpr std::int64_t scratch_with_right(std::int64_t own_columns, std::int64_t right) const {
    std::int64_t const w = std::min(least(), columns.block);
    std::int64_t const held = add_sat(in_slots(), mul_sat(rows, add_sat(own_columns, right)));
    return add_sat(held, mul_sat(2 * w, std::max(own_columns, right)));
  }
};

namespace cyclic_rounds {

constexpr QrPanels qr_panels(Step const& s, Round const& r) {
  MatrixCall const c = call_of(s, r);
  return {r.sizing.extents[c.rows], c.of_columns};
}
constexpr void qr_sent(Step const& s, Round& r, bool forward) {
  Spec const& a = s.before;
  QrPanels const p{r.sizing.extents[a.dims[0].label],
                   {r.sizing.extents[a.dims[1].label], r.block, r.sizing.sizes.product(s.axes)}};
  std::int64_t const k = forward ? r.number : p.count() - 1 - r.number;
  r.sizing.extents.at[a.dims[0].label] = p.elements(k);
  r.sizing.extents.at[a.dims[1].label] = 1;
  r.root = static_cast<int>(p.columns.owner(k));
}
/// Panel `k` is applied to `columns` of the busiest rank.
constexpr void reflects(Round& r, QrPanels const& p, std::int64_t k, std::int64_t columns) {
  std::int64_t const w = p.width(k);
  computes(r, mul_sat(w * (4 * p.height(k) + 2 * w), columns));
}
/// The columns behind panel `k` of the rank with the most.
constexpr std::int64_t behind_panel(Step const& s, Round const& r, QrPanels const& p,
                                    std::int64_t k) {
  std::int64_t const rest = p.columns.n - p.columns.begin(k) - p.width(k);
  return largest_block(rest, call_of(s, r).along, r.sizing.sizes);
}
/// A panel is applied to `behind` columns of the busiest rank.
constexpr void qr_applied(Step const& s, Round& r, QrPanels const& p, std::int64_t k,
                          std::int64_t behind) {
  MatrixCall const c = call_of(s, r);
  reflects(r, p, k, behind);
  std::int64_t const own = c.most_columns(0, r.sizing.sizes);
  std::int64_t const of_q = largest_block(p.least(), c.along, r.sizing.sizes);
  // the panel that is used is a value of the plan, r is a second result
  r.work.workspace = mul_sat(add_sat(p.scratch(own, of_q) - p.elements(k), mul_sat(p.least(), own)),
                             c.element_bytes);
}
/// A panel is factorized, sent, and applied to the columns behind it.
constexpr void qr(Step const& s, Round& r) {
  if (r.step == 1) return qr_sent(s, r, true);
  QrPanels const p = qr_panels(s, r);
  std::int64_t const w = p.width(r.number);
  if (r.step == 0) return computes(r, mul_sat(3 * w * w, p.height(r.number)));
  qr_applied(s, r, p, r.number, behind_panel(s, r, p, r.number));
}
/// The same, and the panel is applied to the right-hand sides: dim `across` of them, if they have
/// it.
template <int across>
constexpr void qr_with_right(Step const& s, Round& r) {
  if (r.step < 2) return qr(s, r);
  QrPanels const p = qr_panels(s, r);
  MatrixCall const c = call_of(s, r);
  Sizes const& sizes = r.sizing.sizes;
  DimSpec const& d = s.after.dims[across];
  std::int64_t const right =
      s.after.rank > across ? largest_block(r.sizing.extents[d.label], d.axes, sizes) : 1;
  reflects(r, p, r.number, add_sat(behind_panel(s, r, p, r.number), right));
  std::int64_t const own = c.most_columns(0, sizes);
  // the panel that is used is a value of the plan, r is a second result
  std::int64_t const held = p.scratch_with_right(own, right) - p.elements(r.number);
  r.work.workspace = mul_sat(add_sat(held, mul_sat(p.least(), own)), c.element_bytes);
}
/// The last panel first: it is sent, and applied to the columns of q that have been made so far.
constexpr void make_q(Step const& s, Round& r) {
  if (r.step == 0) return qr_sent(s, r, false);
  QrPanels const p = qr_panels(s, r);
  std::int64_t const k = p.count() - 1 - r.number;
  std::int64_t const rest = p.least() - p.columns.begin(k);
  qr_applied(s, r, p, k, largest_block(rest, call_of(s, r).along, r.sizing.sizes));
}

}  // namespace cyclic_rounds

/// A panel on its way to all ranks.
constexpr Step cyclic_qr_move(CallSizing const& c, MatrixCall const& call) {
  Step sent = cyclic_move(c, Move::broadcast, call.along);
  sent.before.add(call.rows);
  sent.before.add(call.columns);
  sent.after = sent.before;
  return sent;
}
/// The loop of panels, of which `round` has the sizes.
constexpr void append_qr_panels(Plan& p, CallSizing const& c, void (*round)(Step const&, Round&)) {
  MatrixCall const call(c);
  QrPanels const panels{c.common.extents[call.rows], call.of_columns};
  append_compute(p, {});
  p.push(cyclic_compute(c, call));
  p.push(cyclic_qr_move(c, call));
  p.push(cyclic_compute(c, call));
  p.repeat(3, panels.count(), call.of_columns.block, round, call.of_columns.ranks,
           {2, call.of_columns.ranks});
}
constexpr void append_cyclic_qr(Plan& p, CallSizing const& c) {
  append_qr_panels(p, c, &cyclic_rounds::qr);
  MatrixCall const call(c);
  QrPanels const panels{c.common.extents[call.rows], call.of_columns};
  p.push(cyclic_qr_move(c, call));
  p.push(cyclic_compute(c, call));
  p.repeat(2, panels.count(), call.of_columns.block, &cyclic_rounds::make_q, call.of_columns.ranks);
}
/// The first loop alone, with right-hand sides, the last operand.
constexpr void append_qr_with_right(Plan& p, CallSizing const& c) {
  bool const first = c.operands[c.count - 1].find(c.from.dims[0].label) == 0;
  append_qr_panels(p, c,
                   first ? &cyclic_rounds::qr_with_right<1> : &cyclic_rounds::qr_with_right<0>);
}

}  // namespace planning

namespace rules {

/// A matrix `a[I, J@X%n]` that has, as far as is known, at least as many rows as columns.
constexpr Verdict tall_columns(Question const& q) {
  Verdict const v = rules::cyclic_columns(q);
  if (!v) return v;
  int const rows = q.from.dims[0].label, cols = q.from.dims[1].label;
  if (q.extents[rows] >= 0 && q.extents[cols] >= 0 && q.extents[rows] < q.extents[cols])
    return refuse(Code::Q09_wide_matrix, rows, cols);
  return v;
}

}  // namespace rules

namespace op {

/// q [I, K@X%n] of a = q r; r is a second result. Or, if `triangular`, the type of r, [K, J@X%n]:
/// no run.
template <class I, class J, class K, bool triangular = false>
struct CyclicQr : detail::OnOneMatrix<I, J> {
  using operation = CyclicQr;
  using to = Mentions<Dim<K>>;
  static constexpr std::string_view name = "qr";
  static constexpr Verdict rule(rules::Question const& q) {
    Verdict const v = rules::cyclic_columns(q);
    if (!v) return v;
    Spec out = q.a();
    std::int8_t const label = q.to.dims[0].label;
    if (out.find(label) >= 0) return rules::refuse(Code::D02_index_taken, label);
    out.dims[out.find(q.from.dims[triangular ? 0 : 1].label)].label = label;
    return rules::accept(out);
  }
  constexpr void extents(ResultExtents const& c) const {
    std::int64_t const m = c.given[0][c.a().find(c.from().dims[0].label)];
    std::int64_t const n = c.given[0][c.a().find(c.from().dims[1].label)];
    for (int d = 0; d < 2; ++d) c.out[d] = c.given[0][d];
    c.out[c.result.find(c.to().dims[0].label)] =
        m < 0 || n < 0 ? shardtype::dynamic : std::min(m, n);
  }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    planning::append_cyclic_qr(p, c);
  }
};

/// q^H b of a = q r, and r [K, J@X%n], of a matrix with at least as many rows as columns, without
/// q: `b[I, L]` -> `[K, L@X]`, of which each rank has some columns, if they are not block-cyclic,
/// and `b[I]` -> `[K]`, the same on all ranks. Nothing but the panels is sent.
template <class I, class J, class K>
struct CyclicQrWithRight : detail::OnOneMatrix<I, J> {
  using operation = CyclicQrWithRight;
  using to = Mentions<Dim<K>>;
  static constexpr std::string_view name = "lstsq";
  static constexpr Verdicts<2> rule(rules::Question const& q) {
    Verdict v = rules::tall_columns(q);
    Spec const& b = q.operands[1];
    std::int8_t const label = q.to.dims[0].label;
    if (v && (q.a().find(label) >= 0 || b.find(label) >= 0))
      v = rules::refuse(Code::D02_index_taken, label);
    if (v) v = rules::solved(q, false);
    if (!v) return {v, v};
    Spec turned = v.result;
    int const along = b.find(q.from.dims[0].label);
    turned.dims[along] = {label, {}};
    Spec r = q.a();
    int const columns = r.find(q.from.dims[1].label);
    if (AxisList& split = turned.dims[1 - along].axes; turned.rank == 2 && split.cyclic == 0)
      split = split.plus(r.dims[columns].axes.suffix(0));
    r.dims[1 - columns].label = label;
    return {rules::accept(turned), rules::accept(r)};
  }
  template <class A, class B>
  using element = Elements<element_t<A>, element_t<A>>;
  constexpr void extents(ResultExtents const& c, ResultExtents const& r) const {
    detail::check_tall(c);
    int const rows = c.a().find(c.from().dims[0].label), columns = 1 - rows;
    int const along = c.operand(1).find(c.from().dims[0].label);
    std::int64_t const m = c.given[0][rows], given = c.given[1][along];
    if (m >= 0 && given >= 0 && m != given)
      ResultExtents::fail("index " + c.name(rows) + " has extent " + std::to_string(m) +
                              " in the matrix and " + std::to_string(given) +
                              " in the right-hand sides",
                          "E24");
    c.out[along] = r.out[rows] = c.given[0][columns];
  }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    planning::append_qr_with_right(p, c);
  }
};

/// Whether the columns of a matrix do not depend on each other: operands a and r of its qr. Of a
/// nothing is read. The result, a number, is 0; else it is Error E83, on all ranks.
template <class I, class J, class K>
struct CyclicFullRank : detail::OnOneMatrix<I, J> {
  using operation = CyclicFullRank;
  static constexpr std::string_view name = "lstsq";
  static constexpr Verdict rule(rules::Question const& q) {
    return rules::accept_if(rules::tall_columns(q), Spec{});
  }
  template <class A, class R>
  using element = std::int32_t;
  constexpr void extents(ResultExtents const& c) const { detail::check_tall(c); }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    planning::append_cyclic_start(p, c);
    planning::append_cyclic_sums(p, c, 1, 1);
  }
};

}  // namespace op
}  // namespace shardtype
