#pragma once
/// Systems of equations with whole matrices: solve, and what its gradient is made of.

#include <cstdint>
#include <source_location>
#include <string_view>
#include <type_traits>

#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/check/call.hpp>
#include <shardtype/linalg/kernels_lanes.hpp>
#include <shardtype/linalg/rules_local.hpp>
#include <shardtype/linalg/run_blocks.hpp>
#include <shardtype/ops/dims.hpp>
#include <shardtype/ops/math.hpp>
#include <shardtype/ops/products.hpp>
#include <shardtype/ops/rows.hpp>

namespace shardtype {

namespace linalg::detail {

/// n columns of factors, then one of pivots.
struct FactorsAndPivots : Index<"factors and pivots"> {};
struct One : Index<"one"> {};
struct Other : Index<"other"> {};

/// The tensor that a value is, has or stands for; of an expression of automatic mode that of its labels.
template <class A>
using seen_t = shardtype::detail::argument_t<autodiff::tensor_of<A>>;

/// Flops of a factorisation of each of the first operand's matrices times `third` / 3, and of `solutions` with a column.
constexpr planning::Work work(planning::CallSizing const& c, int third, std::int64_t columns) {
  std::int64_t const n = c.rows(0, c.operands[0].find(c.from.dims[0].label));
  std::int64_t const flops =
      add_sat(mul_sat(mul_sat(c.elements(0), n), third) / 3, mul_sat(2, mul_sat(columns, n)));
  std::int64_t const square = mul_sat(mul_sat(n, n + 1), c.element_bytes(0));
  return {flops, mul_sat(n <= kernels::lanes_most ? 64 / c.element_bytes(0) : 1, square), false};
}

/// Whether the column-major factors of matrix t of `a` have a zero on their diagonal; Error E80 where values are checked.
template <class I, class J, class A, class T>
bool singular(A const& a, std::int64_t t, std::int64_t n, T const* factors) {
  for (std::int64_t k = 0; k < n; ++k)
    if (factors[k * (n + 1)] == T(0)) {
      linalg::detail::report<I, J>(a, t, "E80", "is singular");
      return true;
    }
  return false;
}

/// Factors of a matrix in scratch memory, as column-major n x n elements and n pivots.
template <class T>
struct Scratch {
  Buffer matrix, columns, numbers;
  template <class A>
  Scratch(A const& a, std::int64_t n, std::int64_t width)
      : matrix(detail::room<T>(a, n * n)),
        columns(detail::room<T>(a, n * width)),
        numbers(detail::room<std::int32_t>(a, n)) {}
  T* a() const { return static_cast<T*>(matrix.data()); }
  T* b() const { return static_cast<T*>(columns.data()); }
  std::int32_t* pivots() const { return static_cast<std::int32_t*>(numbers.data()); }
};

/// Pivot k of one matrix's n x n factors that LuFactor gave, and the exponent of the power of two by which it scaled the matrix: it
/// stands where the last pivot would, which has no choice.
template <class T>
std::int32_t packed_pivot(std::int64_t n, T const* factors, std::int64_t k) {
  return static_cast<std::int32_t>(k == n - 1 ? static_cast<kernels::real_t<T>>(k)
                                              : kernels::real_part(factors[n * n + k]));
}
template <class T>
int packed_exponent(std::int64_t n, T const* factors) {
  return n == 0 ? 0 : static_cast<int>(kernels::real_part(factors[n * (n + 1) - 1]));
}

/// Column-major factors of a matrix that was multiplied by 2^exponent.
template <class T>
struct ScaledFactors {
  T const* lu;
  int exponent = 0;
};

/// x = a^-1 b, or with `transposed` a^-T b, for each matrix of `made`, NaN where it is singular: `factors(t, pivots)` gives the
/// ScaledFactors of matrix t, and writes their pivots, `right(t, x)` writes its right-hand sides.
template <class I, class J, bool transposed, class A, class T, class Factors, class Right>
void solve_each(A const& a, kernels::Stack<T> const& made, Factors factors, Right right) {
  std::int64_t const n = made.rows, width = made.width;
  if (n == 0 || width == 0) return;
  runtime::Buffer const columns = detail::room<T>(a, n * width);
  runtime::Buffer const numbers = detail::room<std::int32_t>(a, n);
  auto* const x = static_cast<T*>(columns.data());
  auto* const pivots = static_cast<std::int32_t*>(numbers.data());
  for (std::int64_t t = 0; t < made.count; ++t) {
    ScaledFactors<T> const f = factors(t, pivots);
    if (detail::singular<I, J>(a, t, n, f.lu)) {
      kernels::fill(made, t, kernels::not_a_number<T>());
      continue;
    }
    right(t, x);
    int const of_b = kernels::scale_matrix(n, width, x, n);
    kernels::solve_lu(transposed ? kernels::Trans::yes : kernels::Trans::no, n, width, f.lu, n,
                      pivots, x, n);
    kernels::scale_by_power(f.exponent - of_b, n, width, x, n);
    kernels::unpack(x, n, made, t);
  }
}
/// The factors of n x n matrices that LuFactor gave, for `solve_each`.
template <class T>
auto packed_factors(T const* all, std::int64_t n) {
  return [all, n](std::int64_t t, std::int32_t* pivots) {
    T const* const mine = all + t * n * (n + 1);
    for (std::int64_t k = 0; k < n; ++k) pivots[k] = detail::packed_pivot(n, mine, k);
    return ScaledFactors<T>{mine, detail::packed_exponent(n, mine)};
  };
}

/// einsum whose result has these labels.
template <class... Ls, class A, class B>
constexpr auto einsum_to(shardtype::detail::Pack<Ls...>, A const& a, B const& b) {
  return shardtype::einsum<Ls...>(a, b);
}
/// Labels of which I and J are replaced by K and L.
template <class I, class J, class K, class L, class... Ls>
constexpr auto with_pair(shardtype::detail::Pack<Ls...>) {
  return shardtype::detail::Pack<std::conditional_t<
      std::is_same_v<Ls, I>, K, std::conditional_t<std::is_same_v<Ls, J>, L, Ls>>...>{};
}
/// - y x^T with the labels of `Like` (I from y, J from x), summed over all others.
template <class Like, class A, class B>
constexpr auto minus_outer(A const& y, B const& x) {
  using Labels = autodiff::labels_of_t<autodiff::tensor_of<Like>>;
  return (-linalg::detail::einsum_to(Labels{}, shardtype::expand<One>(y),
                                     shardtype::expand<One>(x)))
      .tensor();
}

}  // namespace linalg::detail

namespace op {

/// The factors P A = L U of each matrix [B, I, J] as [B, P, I]: n columns with L below the diagonal and U, then one column
/// of pivots, from 0 on, complete for singular matrices too; in place of the last pivot the exponent of the power of two by which the
/// matrix was scaled. `constant`: no gradient flows through it; else it has none.
template <class I, class J, bool constant>
struct LuFactor : linalg::detail::OnMatrices<I, J> {
  using operation = LuFactor;
  using to = Mentions<Dim<linalg::detail::FactorsAndPivots>, Dim<I>>;
  using gradient = std::conditional_t<constant, checking::Constant, void>;
  static constexpr std::string_view name = "lu_factor";
  static constexpr Verdict rule(rules::Question const& q) { return linalg::rule::per_square(q); }
  constexpr void extents(ResultExtents const& c) const { linalg::detail::set_with_row(c); }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return linalg::detail::work(c, 2, 0);
  }
  template <class Out, class A>
  void fill(Out& out, A const& a) const {
    using T = typename A::element;
    auto const mats = linalg::detail::matrices<I, J>(a);
    std::int64_t const n = mats.rows;
    T* const made = linalg::detail::written(out);
    if (n == 0) return;
    if constexpr (linalg::kernels::has_lanes<T>) {
      if (n <= linalg::kernels::lanes_most) return in_lanes(mats, made, a);
    }
    runtime::Buffer const numbers = linalg::detail::room<std::int32_t>(a, n);
    auto* const pivots = static_cast<std::int32_t*>(numbers.data());
    for (std::int64_t t = 0; t < mats.count; ++t) {
      T* const mine = made + t * n * (n + 1);
      linalg::kernels::pack(mats, t, mine, n);
      int const exponent = linalg::kernels::scale_matrix(n, n, mine, n);
      linalg::kernels::factor_lu(n, mine, n, pivots);
      pivots[n - 1] = exponent;
      for (std::int64_t k = 0; k < n; ++k)
        mine[n * n + k] = T(static_cast<linalg::kernels::real_t<T>>(pivots[k]));
    }
  }

 private:
  template <class T, class A>
  static void in_lanes(linalg::kernels::Stack<T const> const& mats, T* made, A const& a) {
    namespace lk = linalg::kernels;
    constexpr int count = lk::lanes<T>;
    auto const n = static_cast<int>(mats.rows);
    runtime::Buffer const scratch =
        linalg::detail::room<lk::Lanes<T>>(a, std::int64_t{n} * (n + 1));
    auto* const v = static_cast<lk::Lanes<T>*>(scratch.data());
    auto* const numbers = static_cast<T*>(scratch.data());
    // n x n factors, then n pivots, unpacked as columns of one stack
    lk::Stack<T> out{made, {}, mats.count, n, 1, {}, n};
    out.batch = {1, {mats.count}, {std::int64_t{n} * (n + 1)}};
    out.cols = {1, {n}, {n}};
    for (std::int64_t t = 0; t < mats.count; t += count) {
      lk::pack_lanes(mats, t, numbers, n, 0);
      lk::LaneScales<T> const scales = lk::scale_lanes<T>(n, n, 0, n, v);
      lk::factor_lanes<T>(n, n, v, v + n * n, true);
      lk::unpack_lanes(numbers, n, 0, out, t, 0U);
      for (int l = 0; l < count && t + l < mats.count; ++l) {
        T* const pivots = made + (t + l) * n * (n + 1) + std::int64_t{n} * n;
        for (int k = 0; k < n; ++k) pivots[k] = numbers[(n * n + k) * count + l];
        pivots[n - 1] = static_cast<T>(scales.of[l]);
      }
    }
  }
};

/// x = a^-1 b.
template <class I, class J>
struct Solve : linalg::detail::OnMatrices<I, J> {
  using operation = Solve;
  static constexpr std::string_view name = "solve";
  static constexpr Verdict rule(rules::Question const& q) { return linalg::rule::solve(q); }
  constexpr void extents(ResultExtents const& c) const { linalg::detail::set_solution(c, 1); }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return linalg::detail::work(c, 2, c.elements(1));
  }
  template <class Out, class A, class B>
  void fill(Out& out, A const& a, B const& b) const {
    namespace lk = linalg::kernels;
    using T = typename A::element;
    auto const mats = linalg::detail::matrices<I, J>(a);
    auto const right = linalg::detail::stack_beside<A, I, J, I>(b, execute::data_of(b));
    auto const made = linalg::detail::stack_beside<A, I, J, J>(out, linalg::detail::written(out));
    std::int64_t const n = mats.rows, width = right.width;
    if (n == 0 || width == 0) return;
    auto const singular = [&](std::int64_t t) {
      linalg::detail::report<I, J>(a, t, "E80", "is singular; solve has no solution");
    };
    if constexpr (lk::has_lanes<T>) {
      if (n <= lk::lanes_most && width <= lk::lanes_columns)
        return in_lanes(mats, right, made, a, singular);
    }
    linalg::detail::Scratch<T> const s(a, n, width);
    for (std::int64_t t = 0; t < mats.count; ++t) {
      lk::pack(mats, t, s.a(), n);
      lk::pack(right, t, s.b(), n);
      int const of_a = lk::scale_matrix(n, n, s.a(), n);
      int const of_b = lk::scale_matrix(n, width, s.b(), n);
      if (lk::factor_lu(n, s.a(), n, s.pivots()) != 0) {
        singular(t);
        lk::fill(made, t, lk::not_a_number<T>());
        continue;
      }
      lk::solve_lu(lk::Trans::no, n, width, s.a(), n, s.pivots(), s.b(), n);
      lk::scale_by_power(of_a - of_b, n, width, s.b(), n);
      lk::unpack(s.b(), n, made, t);
    }
  }

 private:
  template <class T, class A>
  static void in_lanes(linalg::kernels::Stack<T const> const& mats,
                       linalg::kernels::Stack<T const> const& right,
                       linalg::kernels::Stack<T> const& made, A const& a, auto const& singular) {
    namespace lk = linalg::kernels;
    constexpr int count = lk::lanes<T>;
    auto const n = static_cast<int>(mats.rows), width = n + static_cast<int>(right.width);
    runtime::Buffer const scratch = linalg::detail::room<lk::Lanes<T>>(a, std::int64_t{n} * width);
    auto* const v = static_cast<lk::Lanes<T>*>(scratch.data());
    auto* const numbers = static_cast<T*>(scratch.data());
    for (std::int64_t t = 0; t < mats.count; t += count) {
      lk::pack_lanes(mats, t, numbers, width, 0);
      lk::pack_lanes(right, t, numbers, width, n);
      auto const of_a = lk::scale_lanes<T>(n, width, 0, n, v);
      auto const of_b = lk::scale_lanes<T>(n, width, n, width, v);
      std::uint32_t const bad = lk::factor_lanes<T>(n, width, v, nullptr, false);
      lk::back_lanes<T>(n, width, v);
      lk::scale_lanes_back<T>(n, width, n, v, of_a, of_b);
      for (int l = 0; l < count && t + l < mats.count; ++l)
        if ((bad >> l & 1U) != 0) singular(t + l);
      lk::unpack_lanes(numbers, width, n, made, t, bad);
    }
  }
};

/// x = a^-1 b, or with `transposed` a^-T b, by the factors that LuFactor gave: operands a, those, b. Of a nothing is
/// read; the gradient is with respect to it.
template <class I, class J, bool transposed>
struct SolveFactored : linalg::detail::OnMatrices<I, J> {
  using operation = SolveFactored;
  using Rows = std::conditional_t<transposed, J, I>;
  using Cols = std::conditional_t<transposed, I, J>;
  static constexpr std::string_view name = "solve_factored";
  static constexpr Verdict rule(rules::Question const& q) {
    return linalg::rule::solve(q, 2, transposed);
  }
  constexpr void extents(ResultExtents const& c) const {
    linalg::detail::set_solution(c, 2, transposed);
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return linalg::detail::work(c, 0, c.elements(2));
  }
  template <class Out, class A, class F, class B>
  void fill(Out& out, A const& a, F const& factors, B const& b) const {
    namespace lk = linalg::kernels;
    auto const right = linalg::detail::stack_beside<A, I, J, Rows>(b, execute::data_of(b));
    auto const made =
        linalg::detail::stack_beside<A, I, J, Cols>(out, linalg::detail::written(out));
    linalg::detail::solve_each<I, J, transposed>(
        a, made, linalg::detail::packed_factors(execute::data_of(factors), made.rows),
        [&](std::int64_t t, auto* x) { lk::pack(right, t, x, right.rows); });
  }
};

}  // namespace op

namespace autodiff {

/// The factors are made once, in the forward pass.
template <class I, class J>
struct Vjp<op::Solve<I, J>> : Differentiable {
  /// What it consists of is judged in its calls.
  template <int K, class V, class A, class B>
  static constexpr Verdict judge() {
    return {};
  }
  template <class A, class B>
  static constexpr auto instead(op::Solve<I, J> const&, std::source_location const& where,
                                A const& a, B const& b) {
    auto const factors = api::call(op::LuFactor<I, J, true>{}, where, a);
    return api::call(op::SolveFactored<I, J, false>{}, where, a, factors, b);
  }
};

template <class I, class J, bool transposed>
struct Vjp<op::SolveFactored<I, J, transposed>> : Differentiable {
  using Op = op::SolveFactored<I, J, transposed>;
  template <class V, class A, class F, class B>
  static constexpr auto save(Op const&, V const& x, A const& a, F const& factors, B const&) {
    return autodiff::keep(a, factors, x);
  }
  template <class V, class A, class F, class B, class S, class C>
  static constexpr auto prepare(Op const&, S const& saved, C const& ct) {
    return api::call(op::SolveFactored<I, J, !transposed>{}, std::source_location::current(),
                     autodiff::kept<0>(saved), autodiff::kept<1>(saved), ct);
  }
  template <int K, class V, class A, class F, class B, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& right) {
    if constexpr (K == 0) {
      return linalg::detail::minus_outer<A>(right, autodiff::kept<2>(saved));
    } else {
      return right;
    }
  }
};

}  // namespace autodiff

namespace linalg {

/// Public functions of linalg; argument-dependent lookup does not find them (core/namespaces.hpp).
namespace api {

/// The solution of a x = b for each matrix of a: `a[B@X, I, J]`, `b[B@X, I, K]` -> `[B@X, J, K]`, of float, double or their
/// complex numbers. I names the rows and J the columns, at any place among the dims; further dims of a number matrices and
/// are split alike in b; dims that only b has (none, or several, split or not) are right-hand sides. `solve<J, I>(a, b)` solves
/// with the transposed matrix. b may be an unreduced sum; then so is the result.
///
///     auto x = linalg::solve<I, J>(a, b);
///
/// By LU factors with partial pivoting, as LAPACK; matrices of at most 32 rows are factored as many at once as a register
/// has lanes. A singular matrix gives NaN in its own solution; with SHARDTYPE_CHECK=values it is Error E80, which names
/// it. Communicates nothing, in both directions; the backward pass takes the factors of the forward pass.
/// Refused: D01, Q01 rows or columns split, Q02 an unreduced matrix, Q06 dims that do not fit, P12, C10. Errors: E24, E41
/// a matrix that is not square. As jnp.linalg.solve.
template <class I, class J, class A, class B>
constexpr auto solve(core::Argument<A> const& a, B const& b, checking::CallSite where = {}) {
  return shardtype::call(op::Solve<I, J>{}, where, a.self(), b);
}

}  // namespace api
using namespace api;

}  // namespace linalg

}  // namespace shardtype
