#pragma once
/// Solves in which the factors of one matrix over many ranks come by to each rank's own right-hand
/// sides, and what is computed of the diagonal of the factors, as operations: their rules, and
/// their plans.

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <shardtype/check/functions.hpp>
#include <shardtype/linalg/types_cyclic.hpp>
#include <shardtype/linalg/types_loops.hpp>

namespace shardtype {

namespace rules {

/// A solve with the factors of `lu_factor` whose right-hand sides, the last operand, are split over
/// the axis of the matrix: `b[I, K@X]` gives `[J, K@X]`; `transposed`: `b[J, K@X]` gives `[I,
/// K@X]`. K may be split over further axes, and b an unreduced sum over them.
constexpr Verdict cyclic_solve_own(Question const& q, bool transposed) {
  if (Verdict const v = one_matrix(q, false); !v) return v;
  if (Verdict const p = cyclic_pivots(q); !p) return p;
  Spec const& a = q.a();
  Spec const& b = q.operands[q.count - 1];
  int const to = q.from.dims[transposed ? 0 : 1].label;
  int const from = q.from.dims[transposed ? 1 : 0].label;
  int const x = a.dims[a.find(q.from.dims[1].label)].axes[0];
  int const along = b.find(from);
  if (along < 0) return refuse(Code::D01_no_such_index, from);
  if (b.find(to) >= 0) return refuse(Code::D02_index_taken, to);
  if (b.rank != 2) return refuse(Code::Q05_one_matrix, b.dims[b.rank - 1].label);
  if (b.dims[along].axes.size > 0) return refuse(Code::Q05_one_matrix, from);
  if (!b.dims[1 - along].axes.contains(x))
    return refuse(Code::Q05_one_matrix, b.dims[1 - along].label, -1, x);
  for (int y = 0; y < max_axes; ++y)
    if (b.unreduced.contains(y) && b.kind != ReduceKind::sum)
      return refuse(Code::Q02_not_linear, -1, -1, y);
  Spec out = b;
  out.dims[along].label = static_cast<std::int8_t>(to);
  for (int y = 0; y < max_axes; ++y)
    if (a.reduced.contains(y) && out.state(y) == AxisState::replicated) out.reduced.insert(y);
  return accept(out);
}

/// A number of a matrix that is legal by `matrix`, from its factors and pivots.
constexpr Verdict number_of(Question const& q, Verdict const& matrix) {
  if (!matrix) return matrix;
  Verdict const p = cyclic_pivots(q);
  return p ? accept(Spec{}) : p;
}

/// Its inverse: the labels of rows and columns are exchanged, each axis stays at its dim.
constexpr Verdict inverse_of(Question const& q, Verdict const& matrix) {
  Verdict const v = number_of(q, matrix);
  if (!v) return v;
  Spec out = q.a();
  for (int d = 0; d < out.rank; ++d) out.dims[d].label = q.a().dims[1 - d].label;
  return accept(out);
}

}  // namespace rules

namespace planning {

/// Panels of factors in memory at a time: one is used, one arrives or is on its way out.
inline constexpr std::int64_t factor_slots = 2;
/// Elements of these: whole block columns. One rank has all panels in its factors.
constexpr std::int64_t factor_panels(CyclicBlocks const& b) {
  return b.ranks == 1 ? 0 : mul_sat(factor_slots, b.n * std::min(b.n, b.block));
}
/// Numbers of 32 bits beside the `own` columns of the identity.
constexpr std::int64_t identity_indices(std::int64_t n, std::int64_t own) { return n + 3 * own; }
/// Elements of the panels of an inverse with `own` columns, where those numbers are before and
/// after.
constexpr std::int64_t inverse_memory(CyclicBlocks const& b, std::int64_t own,
                                      std::int64_t element_bytes) {
  return std::max(factor_panels(b), pivot_elements(identity_indices(b.n, own), element_bytes));
}

/// Rows of the panel of block `k`: of L from the diagonal on, of U up to it.
constexpr std::int64_t factor_rows(CyclicBlocks const& b, std::int64_t k, bool lower) {
  return lower ? b.n - b.begin(k) : b.begin(k) + b.width(k);
}

/// The passes of L or U (loops::come_by). A panel goes along the process rows, of split columns to
/// all ranks, and is applied to the right-hand sides of each, the columns of an inverse. Over a
/// grid the ranks with its triangle solve a block of the inverse by it, which goes down the process
/// columns, and all subtract their product of both.
template <bool grid, bool forward, bool lower>
class FactorsComeBy : public Planned {
 public:
  using Planned::Planned;
  constexpr void rounds(std::int64_t from, std::int64_t to) { loops::come_by(from, to, *this); }

  constexpr void start(std::int64_t) const {}
  constexpr void arrive(std::int64_t turn) {
    if (!moves(Move::broadcast, Group::along, Split::rows)) return;
    SentPart const p = part_of(turn);
    p.from_owner();
    if (grid && lower) p.first_rows(p.k);
    bool const alone = !grid && round_->sizing.sizes.product(step_->axes) == 1;
    p.sized(alone ? 0 : planning::factor_rows(p.b, p.k, lower), p.w);
  }
  constexpr void apply(std::int64_t turn) {
    if constexpr (grid)
      if (moves(Move::broadcast, Group::down, Split::columns)) {
        SentPart const p = part_of(turn);
        p.from_owner();
        p.sized(p.w, p.b.n);
      }
    if (!computes()) return;
    MatrixCall const c = cyclic_rounds::call_of(*step_, *round_);
    Sizes const& sizes = round_->sizing.sizes;
    CyclicBlocks const& b = c.of_rows;
    std::int64_t const k = cyclic_rounds::in_turn<forward>(b, turn);
    std::int64_t const w = b.width(k);
    std::int64_t const columns = c.most_columns(0, sizes);
    std::int64_t const panel = std::min(b.n, b.block);
    std::int64_t held = 0;
    if constexpr (grid) {
      std::int64_t const rows =
          lower ? c.most_rows(k, sizes) : largest_block(b.begin(k) + w, c.down, sizes);
      cyclic_rounds::computes(*round_, mul_sat(2 * w * rows, columns));
      held = add_sat(mul_sat(panel, factor_slots * c.most_rows(0, sizes) + columns),
                     grid_indices(b.n, c.element_bytes));
    } else {
      std::int64_t const rows = planning::factor_rows(b, k, lower);
      // of an inverse the right-hand sides are the columns of the identity
      bool const inverse = step_->after.find(c.rows) >= 0 && step_->after.find(c.columns) >= 0;
      // the first pass skips their leading zeros
      std::int64_t const right = !inverse  ? cyclic_rounds::right_of(*step_, *round_, c)
                                 : forward ? largest_block(b.begin(k) + w, c.along, sizes)
                                           : columns;
      cyclic_rounds::computes(*round_, mul_sat(w * w + 2 * w * (rows - w), right));
      held = inverse ? planning::inverse_memory(c.of_columns, columns, c.element_bytes)
                     : planning::factor_panels(c.of_columns);
      // the panel that is used is a value of the plan
      if (c.of_columns.ranks > 1) held = std::max<std::int64_t>(0, held - rows * w);
    }
    round_->work.workspace = mul_sat(held, c.element_bytes);
  }

 private:
  constexpr SentPart part_of(std::int64_t turn) const {
    std::int64_t const n = round_->sizing.extents[step_->before.dims[1].label];
    CyclicBlocks const b{n, round_->block, 1};
    return {step_, round_, cyclic_rounds::in_turn<forward>(b, turn)};
  }
};

/// One pass over the factors, by L or by U.
template <bool forward, bool lower>
constexpr void append_factors_come_by(Plan& p, CallSizing const& c) {
  MatrixCall(c).grid() ? planning::append_rounds<FactorsComeBy<true, forward, lower>>(p, c)
                       : planning::append_rounds<FactorsComeBy<false, forward, lower>>(p, c);
}

/// An all_reduce of `numbers` numbers of 8 bytes from each of the ranks that hold the matrix.
template <int numbers>
constexpr void append_cyclic_parts(Plan& p, CallSizing const& c) {
  AxisList const axes = matrix_axes(c);
  Step sent = cyclic_move(c, Move::reduce, axes);
  for (int k = 0; k < axes.size; ++k) sent.before.unreduced.insert(axes[k]);
  p.push(sent);
  p.repeat(1, 1, 1, [](Step const& s, Round& r) {
    r.sizing.element_bytes = mul_sat(8 * numbers, r.sizing.sizes.product(s.axes));
  });
}

}  // namespace planning

namespace detail {

/// The elements of factors and their pivots.
template <class A, class P>
constexpr Code elements_of_factors() {
  return std::is_same_v<element_t<P>, std::int32_t> ? detail::factorized_elements<A>()
                                                    : Code::C10_element_types_differ;
}
/// Error E41, of factors without right-hand sides.
constexpr void check_square_factors(ResultExtents const& c) {
  if (c.given[0][0] != c.given[0][1]) ResultExtents::fail("the matrix is not square");
}

}  // namespace detail

namespace op {

/// a x = b, or a^T x = b, for right-hand sides of which each rank has its own, by the factors and
/// pivots of CyclicLu.
template <class I, class J, bool Transposed = false>
struct CyclicLuSolveOwn : detail::OnOneMatrix<I, J, Transposed> {
  using operation = CyclicLuSolveOwn;
  static constexpr int results_from = 0, results_to = 2;
  static constexpr std::string_view name = "lu_solve";
  static constexpr Verdict rule(rules::Question const& q) {
    return rules::cyclic_solve_own(q, Transposed);
  }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    planning::append_cyclic_start(p, c);
    planning::append_factors_come_by<true, !Transposed>(p, c);
    planning::append_factors_come_by<false, Transposed>(p, c);
  }
};

/// The inverse [J, I@X%n], over a grid [J@X%n, I@Y%n], by the factors and pivots of CyclicLu;
/// `Transposed`, of split columns: its transpose, typed as the matrix.
template <class I, class J, bool Transposed = false>
struct CyclicInverse : detail::OnOneMatrix<I, J> {
  using operation = CyclicInverse;
  static constexpr int results_from = 0, results_to = 2;
  static constexpr std::string_view name = "inv";
  static constexpr Verdict rule(rules::Question const& q) {
    Verdict const v = rules::inverse_of(q, rules::one_matrix(q, !Transposed));
    return v && Transposed ? rules::accept(q.a()) : v;
  }
  template <class A, class P>
  static constexpr Code elements() {
    return detail::elements_of_factors<A, P>();
  }
  constexpr void extents(ResultExtents const& c) const {
    detail::check_square_factors(c);
    c.out[0] = c.out[1] = c.given[0][0];
  }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    planning::append_cyclic_start(p, c);
    planning::append_factors_come_by<true, !Transposed>(p, c);
    planning::append_factors_come_by<false, Transposed>(p, c);
  }
};

/// det a^-T, typed as the matrix, by the factors and pivots of CyclicLu and the determinant; of a
/// singular matrix, which stands in place of its factors, by cofactors. It sends what the inverse
/// sends.
template <class I, class J>
struct CyclicCofactors : detail::OnOneMatrix<I, J> {
  using operation = CyclicCofactors;
  static constexpr std::string_view name = "det";
  static constexpr Verdict rule(rules::Question const& q) {
    Verdict const v = rules::lu_number(q, rules::one_matrix(q, false));
    return v ? rules::accept(q.a()) : v;
  }
  template <class A, class P, class N>
  static constexpr Code elements() {
    return std::is_same_v<element_t<N>, element_t<A>> ? detail::elements_of_factors<A, P>()
                                                      : Code::C10_element_types_differ;
  }
  constexpr void extents(ResultExtents const& c) const {
    detail::check_square_factors(c);
    c.out[0] = c.out[1] = c.given[0][0];
  }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int n) const {
    CyclicInverse<I, J, true>{}.steps(p, c, n);
  }
};

/// The determinant, its sign or the logarithm of its modulus, by the factors and pivots of
/// CyclicLu.
template <class I, class J, linalg::detail::Product what>
struct CyclicLuProduct : detail::OnOneMatrix<I, J> {
  using operation = CyclicLuProduct;
  static constexpr int results_from = 0, results_to = 2;
  static constexpr std::string_view name = "det";
  static constexpr Verdict rule(rules::Question const& q) {
    return rules::number_of(q, rules::one_matrix(q));
  }
  template <class A, class P>
  static constexpr Code elements() {
    return detail::elements_of_factors<A, P>();
  }
  template <class A, class P>
  using element = std::conditional_t<what == linalg::detail::Product::logarithm,
                                     detail::real_of<element_t<A>>, element_t<A>>;
  constexpr void extents(ResultExtents const& c) const { detail::check_square_factors(c); }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    planning::append_cyclic_start(p, c);
    planning::append_cyclic_parts<3>(p, c);
  }
};

}  // namespace op

}  // namespace shardtype
