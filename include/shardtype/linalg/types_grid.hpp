#pragma once
/// Factorizations and solves of one matrix over a grid of ranks, as operations: their rules and
/// their plans, in which nothing is gathered.

#include <cstdint>
#include <string_view>
#include <type_traits>

#include <shardtype/linalg/types_cyclic.hpp>
#include <shardtype/linalg/types_grid_plan.hpp>

namespace shardtype::op {

/// CyclicLu of `a[I@X%n, J@Y%n]`. Plans have the most that pivots may exchange.
template <class I, class J, bool Singular = false>
struct GridLu : detail::LuOfOneMatrix<I, J, rules::Over::grid, Singular> {
  using operation = GridLu;
  using detail::LuOfOneMatrix<I, J, rules::Over::grid, Singular>::LuOfOneMatrix;
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    planning::GridPlan(p, c).lu(this->in_place, false);
  }
};

/// CyclicCholesky of `a[I@X%n, J@Y%n]`.
template <class I, class J>
struct GridCholesky : detail::OnOneMatrix<I, J, rules::Over::grid>, detail::InPlace {
  using operation = GridCholesky;
  using detail::InPlace::InPlace;
  static constexpr std::string_view name = "cholesky";
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    planning::GridPlan(p, c).cholesky(this->in_place);
  }
};

/// a x = b by LU of a; the factors are not kept.
template <class I, class J>
struct GridSolve : detail::OnOneMatrix<I, J, rules::Over::grid>, detail::InPlace {
  using operation = GridSolve;
  using detail::InPlace::InPlace;
  static constexpr std::string_view name = "solve";
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    planning::GridPlan const plan(p, c);
    plan.lu(this->in_place, true);
    plan.exchange(c.operands[c.count - 1]);
    for (bool const forward : {true, false}) plan.triangle(false, forward, !this->in_place);
  }
};

/// a x = b, or a^T x = b, by the factors and pivots of GridLu.
template <class I, class J, bool Transposed = false>
struct GridLuSolve : detail::OnOneMatrix<I, J, rules::Over::grid, Transposed> {
  using operation = GridLuSolve;
  static constexpr int results_from = 0, results_to = 2;
  static constexpr std::string_view name = "lu_solve";
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    planning::GridPlan const plan(p, c);
    plan.start();
    if (!Transposed) plan.exchange(c.operands[c.count - 1]);
    for (bool const forward : {true, false}) plan.triangle(Transposed, forward);
    if (Transposed) plan.exchange(c.result);
  }
};

/// a x = b by the factor of GridCholesky.
template <class I, class J>
struct GridCholeskySolve : detail::OnOneMatrix<I, J, rules::Over::grid> {
  using operation = GridCholeskySolve;
  static constexpr std::string_view name = "cholesky_solve";
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    planning::GridPlan const plan(p, c);
    plan.start();
    plan.triangle(false, true);
    plan.triangle(true, false);
    plan.spread();
  }
};

/// t x = b, or t^T x = b, for a triangle of a matrix `t[I@X%n, J@Y%n]`.
template <class I, class J, bool Transposed = false>
struct GridTriangle : detail::OnOneMatrix<I, J, rules::Over::grid, Transposed> {
  using operation = GridTriangle;
  static constexpr std::string_view name = "triangular_solve";
  bool lower = true;
  bool unit = false;  ///< whether ones stand for the diagonal
  constexpr GridTriangle() = default;
  constexpr GridTriangle(bool is_lower, bool is_unit) : lower(is_lower), unit(is_unit) {}
  constexpr std::int32_t variant() const { return lower ? 0 : 1; }
  static constexpr GridTriangle of_variant(std::int32_t number) { return {number == 0, false}; }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    planning::GridPlan const plan(p, c);
    plan.start();
    plan.triangle(Transposed, lower != Transposed);
  }
};

}  // namespace shardtype::op
