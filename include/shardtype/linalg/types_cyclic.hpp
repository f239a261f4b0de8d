#pragma once
/// Factorizations and solves of one matrix over many ranks, split columns `a[I, J@X%n]` or a grid
/// `a[I@X%n, J@Y%n]`, as operations: their rules, and their plans, in which nothing is gathered.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include <shardtype/check/functions.hpp>
#include <shardtype/check/operation.hpp>
#include <shardtype/linalg/types_cyclic_steps.hpp>
#include <shardtype/rules/along.hpp>

namespace shardtype::rules {

/// Rules for one matrix over many ranks, however it is split: it has both labels, it is not
/// unreduced, and neither dim is split in nested blocks.
constexpr Verdict split_matrix(Question const& q) {
  Spec const& a = q.a();
  if (Verdict v = has_all(a, q.from); !v) return v;
  for (int x = 0; x < max_axes; ++x)
    if (a.unreduced.contains(x)) return refuse(Code::Q02_not_linear, -1, -1, x);
  for (int k = 0; k < 2; ++k)
    if (DimSpec const& d = a.dims[a.find(q.from.dims[k].label)];
        d.axes.size > 0 && d.axes.cyclic == 0)
      return refuse(Code::Q01_matrix_split, d.label, -1, d.axes[0]);
  return {};
}
/// Whether it is one matrix, without batch dims, whose columns are split.
constexpr Verdict alone(Question const& q) {
  Spec const& a = q.a();
  int const rows = q.from.dims[0].label;
  int const columns = q.from.dims[1].label;
  for (int d = 0; d < a.rank; ++d)
    if (a.dims[d].label != rows && a.dims[d].label != columns)
      return refuse(Code::Q05_one_matrix, a.dims[d].label);
  if (a.dims[a.find(columns)].axes.size == 0 || a.local)
    return refuse(Code::Q05_one_matrix, columns);
  return accept(a);
}

/// The first operand as one matrix `a[I, J@X%n]` of any shape, or, where `grids`, over a grid
/// `a[I@X%n, J@Y%n]`, dims in any order; `from` has the labels I and J.
constexpr Verdict cyclic_columns(Question const& q, bool grids = false) {
  if (Verdict v = split_matrix(q); !v) return v;
  DimSpec const& rows = q.a().dims[q.a().find(q.from.dims[0].label)];
  DimSpec const& columns = q.a().dims[q.a().find(q.from.dims[1].label)];
  bool const both = rows.axes.size > 0 && columns.axes.size > 0;
  if (both && !(grids && rows.axes.cyclic == columns.axes.cyclic))
    return refuse(Code::Q03_both_cyclic, rows.label, columns.label);
  if (rows.axes.size > 0 && !both)
    return refuse(Code::Q04_rows_cyclic, rows.label, columns.label, rows.axes[0]);
  return alone(q);
}
/// ... and a square one.
constexpr Verdict one_matrix(Question const& q, bool grids = true) {
  Verdict const v = cyclic_columns(q, grids);
  if (v && contradict(q.extent(q.from, 0), q.extent(q.from, 1)))
    return refuse(Code::D06_extents_contradict, q.from.dims[0].label, q.from.dims[1].label);
  return v;
}

/// Solutions with such a matrix, or, `transposed`, with its transpose, of right-hand sides that are
/// split as the rows of it: they are split as its columns.
constexpr Verdict solved(Question const& q, bool transposed) {
  Spec const& a = q.a();
  Spec const& b = q.operands[q.count - 1];
  int const to = q.from.dims[transposed ? 0 : 1].label;
  int const from = q.from.dims[transposed ? 1 : 0].label;
  AxisList const& given = a.dims[a.find(from)].axes;
  AxisList const& made = a.dims[a.find(to)].axes;
  AxisList const own = given.plus(made);
  int const along = b.find(from);
  if (along < 0) return refuse(Code::D01_no_such_index, from);
  if (b.find(to) >= 0) return refuse(Code::D02_index_taken, to);
  if (b.rank > 2) return refuse(Code::Q05_one_matrix, b.dims[b.rank - 1].label);
  if (!(b.dims[along].axes == given)) return refuse(Code::Q05_one_matrix, from);
  for (int d = 0; d < b.rank; ++d)
    for (int k = 0; d != along && k < own.size; ++k)
      if (b.dims[d].axes.contains(own[k]))
        return refuse(Code::Q05_one_matrix, b.dims[d].label, -1, own[k]);
  for (int x = 0; x < max_axes; ++x)
    if (b.unreduced.contains(x) && (own.contains(x) || b.kind != ReduceKind::sum))
      return refuse(own.contains(x) ? Code::Q05_one_matrix : Code::Q02_not_linear, -1, -1, x);
  Spec out = b;
  out.dims[along] = {static_cast<std::int8_t>(to), made};
  for (int k = 0; k < own.size; ++k) out.reduced.erase(own[k]);
  for (int x = 0; x < max_axes; ++x)
    if (a.reduced.contains(x) && out.state(x) == AxisState::replicated) out.reduced.insert(x);
  return accept(out);
}
/// Whether the second operand is the pivots of `lu_factor`: `i32[J]`, whole on each rank.
constexpr Verdict cyclic_pivots(Question const& q) {
  Spec const& p = q.operands[1];
  bool const whole = p.rank == 1 && p.dims[0].label == q.from.dims[1].label &&
                     p.dims[0].axes.size == 0 && p.unreduced.empty();
  return whole ? Verdict{} : refuse(Code::Q05_one_matrix, q.from.dims[1].label);
}
/// One matrix alone, or a solve with it: right-hand sides `b[I]` or `b[I, K]`, the last operand,
/// give `[J@X%n]` or `[J@X%n, K]`, over a grid `b[I@X%n, K]` gives `[J@Y%n, K]`; `transposed`: the
/// other way round. K may be split over other axes, and b may be an unreduced sum over others: each
/// group of ranks then solves with its part. Between them the pivots of `lu_factor`.
constexpr Verdict on_one_matrix(Question const& q, bool transposed, bool grids = true) {
  Verdict const matrix = one_matrix(q, grids);
  if (!matrix || q.count == 1) return matrix;
  Verdict const v = solved(q, transposed);
  if (!v || q.count == 2) return v;
  Verdict const p = cyclic_pivots(q);
  return p ? v : p;
}
/// A number of a matrix that is legal by `matrix`, from its factors, pivots and another number.
constexpr Verdict lu_number(Question const& q, Verdict const& matrix) {
  if (!matrix) return matrix;
  if (Verdict const p = cyclic_pivots(q); !p) return p;
  if (Spec const& n = q.operands[2]; n.rank > 0 || !n.unreduced.empty())
    return refuse(Code::Q05_one_matrix, n.rank > 0 ? n.dims[0].label : q.from.dims[1].label);
  return accept(Spec{});
}

}  // namespace shardtype::rules

namespace shardtype {

namespace detail {

/// The elements of a matrix that is factorized: floating, real or complex.
template <class A>
constexpr Code factorized_elements() {
  using T = element_t<A>;
  constexpr bool real = std::is_same_v<T, float> || std::is_same_v<T, double>;
  return real || is_complex<T> ? Code::ok : Code::P12_not_floating;
}

/// Error E41 unless the matrix is square, and E24 unless the right-hand sides, the last operand,
/// have as many rows.
constexpr void check_square(ResultExtents const& c, bool transposed) {
  int const rows = c.from().dims[0].label;
  int const columns = c.from().dims[1].label;
  std::int64_t const m = c.given[0][c.a().find(rows)];
  std::int64_t const n = c.given[0][c.a().find(columns)];
  if (m != n)
    ResultExtents::fail("the matrix is not square: " + std::string(c.names.label_name[rows]) +
                        " has extent " + std::to_string(m) + ", and " +
                        std::string(c.names.label_name[columns]) + " " + std::to_string(n));
  if (c.count == 1) return;
  Spec const& b = c.operand(c.count - 1);
  int const label = transposed ? columns : rows;
  std::int64_t const given = c.given[c.count - 1][b.find(label)];
  if (given != n)
    ResultExtents::fail("index " + std::string(c.names.label_name[label]) + " has extent " +
                            std::to_string(n) + " in the matrix and " + std::to_string(given) +
                            " in the right-hand sides",
                        "E24");
  int const made = transposed ? rows : columns;
  c.out[c.result.find(made)] = n;
}

/// Whether a factorization takes the memory of its matrix; by a constructor, so that an operation
/// can derive from it.
struct InPlace {
  static constexpr bool determined_by_type = true;  ///< in automatic mode nothing is given away
  bool in_place = false;
  constexpr InPlace() = default;
  constexpr explicit InPlace(bool takes) : in_place(takes) {}
};

/// Defaults of the operations on one matrix over many ranks. Their operands are the matrix alone,
/// the matrix and right-hand sides, or the matrix, pivots and right-hand sides.
template <class I, class J, bool Transposed = false>
struct OnOneMatrix {
  using from = Bare<I, J>;
  static constexpr bool communicates = true;
  static constexpr bool keeps_shardings = true;
  static constexpr bool has_named_form = false;
  static constexpr bool transposed = Transposed;
  static constexpr Verdict rule(rules::Question const& q) {
    return rules::on_one_matrix(q, Transposed);
  }
  template <class A>
  static constexpr Code elements() {
    return detail::factorized_elements<A>();
  }
  template <class A, class B>
  static constexpr Code elements() {
    return same_element<A, B> ? detail::factorized_elements<A>() : Code::C10_element_types_differ;
  }
  template <class A, class P, class B>
  static constexpr Code elements() {
    return std::is_same_v<element_t<P>, std::int32_t> ? elements<A, B>()
                                                      : Code::C10_element_types_differ;
  }
  constexpr void extents(ResultExtents const& c) const { check_square(c, Transposed); }
};

/// Whether the pivots say that a matrix is singular.
constexpr bool is_singular(std::int32_t const* pivots, std::int64_t n) {
  return n > 0 && pivots[0] < 0;
}

}  // namespace detail

namespace op {

/// The factors of P a = L U: L below the diagonal, ones not stored, U from it on, and as a second
/// result the pivots, `i32[J]`, whole on each rank. `Singular`: a matrix without a pivot is no
/// error, its result is the matrix itself and a first pivot of -1. Plans over a grid have the most
/// that pivots may exchange.
template <class I, class J, bool Singular = false>
struct CyclicLu : detail::OnOneMatrix<I, J>, detail::InPlace {
  using operation = CyclicLu;
  using detail::InPlace::InPlace;
  static constexpr std::string_view name = "lu_factor";
  static constexpr Verdicts<2> rule(rules::Question const& q) {
    Verdict const v = rules::on_one_matrix(q, false);
    Spec pivots;
    pivots.add(q.from.dims[1].label);
    return {v, rules::accept_if(v, pivots)};
  }
  template <class A>
  using element = Elements<element_t<A>, std::int32_t>;
  constexpr void extents(ResultExtents const& factors, ResultExtents const&) const {
    detail::check_square(factors, false);
  }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    planning::append_factor<planning::Factor::lu>(p, c, this->in_place);
  }
};

/// The lower factor of a = L L^H, of which the lower triangle is read; zeros above.
template <class I, class J>
struct CyclicCholesky : detail::OnOneMatrix<I, J>, detail::InPlace {
  using operation = CyclicCholesky;
  using detail::InPlace::InPlace;
  static constexpr std::string_view name = "cholesky";
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    planning::append_factor<planning::Factor::cholesky>(p, c, this->in_place);
  }
};

/// a x = b, or, of split columns, a^T x = b, by LU of a; the factors are not kept.
template <class I, class J, bool Transposed = false>
struct CyclicSolve : detail::OnOneMatrix<I, J, Transposed>, detail::InPlace {
  using operation = CyclicSolve;
  using detail::InPlace::InPlace;
  static constexpr std::string_view name = "solve";
  static constexpr Verdict rule(rules::Question const& q) {
    return rules::on_one_matrix(q, Transposed, !Transposed);
  }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    using planning::Factor;
    bool const grid = planning::MatrixCall(c).grid();
    if (Transposed || grid) {
      planning::append_factor<Factor::lu_before_solve>(p, c, this->in_place);
      if (grid) planning::append_exchange(p, c, c.operands[c.count - 1]);
      planning::append_triangle<Transposed, true>(p, c, !this->in_place);
    } else {
      planning::append_factor<Factor::lu_and_solve>(p, c, this->in_place);
    }
    planning::append_triangle<Transposed, false>(p, c, !this->in_place);
  }
};

/// a x = b, or a^T x = b, by the factors and pivots of CyclicLu.
template <class I, class J, bool Transposed = false>
struct CyclicLuSolve : detail::OnOneMatrix<I, J, Transposed> {
  using operation = CyclicLuSolve;
  static constexpr int results_from = 0, results_to = 2;
  static constexpr std::string_view name = "lu_solve";
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    planning::append_solve<Transposed>(p, c);
  }
};

/// a x = b by the factor of CyclicCholesky.
template <class I, class J>
struct CyclicCholeskySolve : detail::OnOneMatrix<I, J> {
  using operation = CyclicCholeskySolve;
  static constexpr std::string_view name = "cholesky_solve";
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    planning::append_cholesky_solve(p, c);
  }
};

/// t x = b, or t^T x = b, for a triangle of a matrix.
template <class I, class J, bool Transposed = false>
struct CyclicTriangle : detail::OnOneMatrix<I, J, Transposed> {
  using operation = CyclicTriangle;
  static constexpr std::string_view name = "triangular_solve";
  bool lower = true;
  bool unit = false;  ///< whether ones stand for the diagonal
  constexpr CyclicTriangle() = default;
  constexpr CyclicTriangle(bool is_lower, bool is_unit) : lower(is_lower), unit(is_unit) {}
  constexpr std::int32_t variant() const { return lower ? 0 : 1; }
  static constexpr CyclicTriangle of_variant(std::int32_t number) { return {number == 0, false}; }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    planning::append_triangle_solve<Transposed>(p, c, lower);
  }
};

}  // namespace op

}  // namespace shardtype
