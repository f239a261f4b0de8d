#pragma once
/// Factorizations and solves of one matrix over a grid of ranks, as operations: their rules and
/// their plans, in which nothing is gathered.

#include <cstdint>
#include <string_view>
#include <type_traits>

#include <shardtype/linalg/types_cyclic.hpp>

namespace shardtype::op {

/// CyclicLu of `a[I@X%n, J@Y%n]`. Plans have the most that pivots may exchange.
template <class I, class J>
struct GridLu : detail::OnOneMatrix<I, J, rules::Over::grid>, detail::LuWays {
  using operation = GridLu;
  using detail::LuWays::LuWays;
  static constexpr std::string_view name = "lu_factor";
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    planning::append_factor<planning::Factor::lu>(p, c, this->in_place);
  }
};

/// CyclicCholesky of `a[I@X%n, J@Y%n]`.
template <class I, class J>
struct GridCholesky : detail::OnOneMatrix<I, J, rules::Over::grid>, detail::InPlace {
  using operation = GridCholesky;
  using detail::InPlace::InPlace;
  static constexpr std::string_view name = "cholesky";
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    planning::append_factor<planning::Factor::cholesky>(p, c, this->in_place);
  }
};

/// a x = b by LU of a; the factors are not kept.
template <class I, class J>
struct GridSolve : detail::OnOneMatrix<I, J, rules::Over::grid>, detail::InPlace {
  using operation = GridSolve;
  using detail::InPlace::InPlace;
  static constexpr std::string_view name = "solve";
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    planning::append_factor<planning::Factor::lu_before_solve>(p, c, this->in_place);
    planning::append_exchange(p, c, c.operands[c.count - 1]);
    planning::append_triangle<false, true>(p, c, !this->in_place);
    planning::append_triangle<false, false>(p, c, !this->in_place);
  }
};

/// a x = b, or a^T x = b, by the factors and pivots of GridLu.
template <class I, class J, bool Transposed = false>
struct GridLuSolve : detail::OnOneMatrix<I, J, rules::Over::grid, Transposed> {
  using operation = GridLuSolve;
  static constexpr std::string_view name = "lu_solve";
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    planning::append_solve<Transposed>(p, c);
  }
};

/// a x = b by the factor of GridCholesky.
template <class I, class J>
struct GridCholeskySolve : detail::OnOneMatrix<I, J, rules::Over::grid> {
  using operation = GridCholeskySolve;
  static constexpr std::string_view name = "cholesky_solve";
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    planning::append_cholesky_solve(p, c);
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
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    planning::append_triangle_solve<Transposed>(p, c, lower);
  }
};

}  // namespace shardtype::op
