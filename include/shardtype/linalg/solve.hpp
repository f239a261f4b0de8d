#pragma once
/// Systems of equations with whole matrices: solve, and what its gradient is made of.

#include <algorithm>
#include <cstdint>
#include <source_location>
#include <string_view>
#include <tuple>
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

struct One : Index<"one"> {};
struct Other : Index<"other"> {};

/// The tensor that a value is, has or stands for; of an expression of automatic mode that of its
/// labels.
template <class A>
using seen_t = shardtype::detail::argument_t<autodiff::tensor_of<A>>;

/// Flops of a factorisation of each of the first operand's matrices times `third` / 3, and of
/// `solutions` with a column.
constexpr planning::Work work(planning::CallSizing const& c, int third, std::int64_t columns) {
  std::int64_t const n = c.rows(0, c.operands[0].find(c.from.dims[0].label));
  std::int64_t const flops =
      add_sat(mul_sat(mul_sat(c.elements(0), n), third) / 3, mul_sat(2, mul_sat(columns, n)));
  std::int64_t const square = mul_sat(mul_sat(n, n + 1), c.element_bytes(0));
  return {flops, mul_sat(n <= kernels::lanes_most ? 64 / c.element_bytes(0) : 1, square), false};
}

/// Whether the column-major factors of matrix t of `a` have a zero on their diagonal; Error E80
/// where values are checked.
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

/// Column-major factors of a matrix that was multiplied by 2^exponent, and their pivots.
template <class T>
struct ScaledFactors {
  T const* lu;
  std::int32_t const* pivots;
  int exponent = 0;
};

/// x = a^-1 b, or with `transposed` a^-T b, for each matrix of `made`, NaN where it is singular:
/// `factors(t)` gives the ScaledFactors of matrix t, `right(t, x)` writes its right-hand sides.
template <class I, class J, bool transposed, class A, class T, class Factors, class Right>
void solve_each(A const& a, kernels::Stack<T> const& made, Factors factors, Right right) {
  std::int64_t const n = made.rows, width = made.width;
  if (n == 0 || width == 0) return;
  runtime::Buffer const columns = detail::room<T>(a, n * width);
  auto* const x = static_cast<T*>(columns.data());
  for (std::int64_t t = 0; t < made.count; ++t) {
    ScaledFactors<T> const f = factors(t);
    if (detail::singular<I, J>(a, t, n, f.lu)) {
      kernels::fill(made, t, kernels::not_a_number<T>());
      continue;
    }
    right(t, x);
    int const of_b = kernels::scale_matrix(n, width, x, n);
    kernels::solve_lu(transposed ? kernels::Trans::yes : kernels::Trans::no, n, width, f.lu, n,
                      f.pivots, x, n);
    kernels::scale_by_power(f.exponent - of_b, n, width, x, n);
    kernels::unpack(x, n, made, t);
  }
}
/// The factors of matrix t that op::ScaledLu gave, for `solve_each`.
template <class F, class P, class E>
auto factors_of(F const& lu, P const& pivots, E const& exponents, std::int64_t n) {
  return [all = execute::data_of(lu), rows = execute::data_of(pivots),
          powers = execute::data_of(exponents), n](std::int64_t t) {
    return ScaledFactors<typename F::element>{all + t * n * n, rows + t * n, powers[t]};
  };
}
/// `op` on a, its scaled factors, which are a std::tuple, and further operands.
template <class Op, class A, class Factors, class... Bs>
constexpr auto call_factored(Op const& op, std::source_location const& where, A const& a,
                             Factors const& factors, Bs const&... bs) {
  return std::apply(
      [&](auto const&... each) { return shardtype::call(op, where, a, each..., bs...); }, factors);
}

/// Multiplies the upper triangle of matrix t by 2^-exponent.
template <class T>
void unscale(kernels::Stack<T> const& made, std::int64_t t, int exponent) {
  for (std::int64_t j = 0; j < made.width && exponent != 0; ++j)
    for (std::int64_t i = 0; i <= j; ++i) {
      T& x = made.member(t)[i * made.row_stride + kernels::offset(made.cols, j)];
      x = kernels::times_power(x, -exponent);
    }
}
/// Writes the factors and the pivots of each matrix, as many at once as a register has lanes.
/// `exponents`: of the powers of two by which the matrices were scaled, or null: the factors are
/// those of the given ones.
template <class A, class T>
void factor_in_lanes(A const& a, kernels::Stack<T const> const& mats, kernels::Stack<T> const& made,
                     std::int32_t* pivots, std::int32_t* exponents) {
  constexpr int count = kernels::lanes<T>;
  auto const n = static_cast<int>(mats.rows);
  runtime::Buffer const scratch = detail::room<kernels::Lanes<T>>(a, std::int64_t{n} * (n + 1));
  auto* const v = static_cast<kernels::Lanes<T>*>(scratch.data());
  auto* const numbers = static_cast<T*>(scratch.data());
  for (std::int64_t t = 0; t < mats.count; t += count) {
    kernels::pack_lanes(mats, t, numbers, n, 0);
    kernels::LaneScales<T> const scales = kernels::scale_lanes<T>(n, n, 0, n, v);
    kernels::factor_lanes<T>(n, n, v, v + n * n, true);
    kernels::unpack_lanes(numbers, n, 0, made, t, 0U);
    for (int l = 0; l < count && t + l < mats.count; ++l) {
      for (int k = 0; k < n; ++k)
        pivots[(t + l) * n + k] =
            k == n - 1 ? k : static_cast<std::int32_t>(numbers[(n * n + k) * count + l]);
      if (exponents != nullptr) {
        exponents[t + l] = scales.of[l];
      } else {
        detail::unscale(made, t + l, scales.of[l]);
      }
    }
  }
}
/// The same, of matrices of any size.
template <class A, class T>
void factor_each(A const& a, kernels::Stack<T const> const& mats, kernels::Stack<T> const& made,
                 std::int32_t* pivots, std::int32_t* exponents) {
  std::int64_t const n = mats.rows;
  if constexpr (kernels::has_lanes<T>) {
    if (n > 0 && n <= kernels::lanes_most)
      return detail::factor_in_lanes(a, mats, made, pivots, exponents);
  }
  bool const in_place = made.row_stride == 1 && made.plain_columns() &&
                        made.cols.stride[0] >= std::max<std::int64_t>(n, 1);
  runtime::Buffer const square = detail::room<T>(a, in_place ? 0 : n * n);
  for (std::int64_t t = 0; t < mats.count; ++t) {
    T* const x = in_place ? made.member(t) : static_cast<T*>(square.data());
    std::int64_t const ld = in_place ? made.cols.stride[0] : n;
    int exponent = 0;
    if (n > 0) {
      kernels::pack(mats, t, x, ld);
      exponent = kernels::scale_matrix(n, n, x, ld);
      kernels::factor_lu(n, x, ld, pivots + t * n);
      pivots[(t + 1) * n - 1] = static_cast<std::int32_t>(n - 1);
      if (!in_place) kernels::unpack(x, ld, made, t);
    }
    if (exponents != nullptr) {
      exponents[t] = exponent;
    } else {
      detail::unscale(made, t, exponent);
    }
  }
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

template <class I, class J, bool transposed>
struct SolveFactored;

/// The factors P A = L U of each matrix [B, I, J], scaled by a power of two, as [B, J, I]:
/// column-major; the pivots i32[B, J], from 0 on, complete for singular matrices too; and the
/// exponents i32[B] of the powers. No gradient flows through them.
template <class I, class J>
struct ScaledLu : linalg::detail::OnMatrices<I, J> {
  using operation = ScaledLu;
  using gradient = checking::Constant;
  static constexpr std::string_view name = "lu_factor";
  static constexpr Verdicts<3> rule(rules::Question const& q) {
    Verdict const v = linalg::rule::square(q);
    Spec const one = linalg::rule::per_matrix(q);
    Spec pivots = one;
    pivots.add(q.from.dims[1].label);
    Spec factors = pivots;
    factors.add(q.from.dims[0].label);
    return {rules::accept_if(v, factors), rules::accept_if(v, pivots), rules::accept_if(v, one)};
  }
  template <class A>
  using element = Elements<checking::element_t<A>, std::int32_t, std::int32_t>;
  constexpr void extents(ResultExtents const& factors, ResultExtents const&,
                         ResultExtents const&) const {
    linalg::detail::check_square(factors);
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return linalg::detail::work(c, 2, 0);
  }
  template <class F, class P, class E, class A>
  void fill(F& factors, P& pivots, E& exponents, A const& a) const {
    linalg::detail::factor_each(
        a, linalg::detail::matrices<I, J>(a),
        linalg::detail::stack_beside<A, I, J, I>(factors, execute::written(factors)),
        execute::written(pivots), execute::written(exponents));
  }
};

/// x = a^-1 b.
template <class I, class J>
struct Solve : linalg::detail::OnMatrices<I, J> {
  using operation = Solve;
  using gradient = checking::ByOthers;
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
    auto const made = linalg::detail::stack_beside<A, I, J, J>(out, execute::written(out));
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

  /// The factors are made once, in the forward pass.
  template <class A, class B>
  constexpr auto instead(std::source_location const& where, A const& a, B const& b) const {
    auto const factors = api::call(op::ScaledLu<I, J>{}, where, a);
    return linalg::detail::call_factored(op::SolveFactored<I, J, false>{}, where, a, factors, b);
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

/// x = a^-1 b, or with `transposed` a^-T b, by the factors that ScaledLu gave: operands a, those,
/// b. Of a nothing is read; the gradient is with respect to it.
template <class I, class J, bool transposed>
struct SolveFactored : linalg::detail::OnFactors<I, J> {
  using operation = SolveFactored;
  using gradient = checking::PullsBySaved;
  using Rows = std::conditional_t<transposed, J, I>;
  using Cols = std::conditional_t<transposed, I, J>;
  static constexpr std::string_view name = "solve_factored";
  static constexpr Verdict rule(rules::Question const& q) {
    return linalg::rule::solve(q, 4, transposed);
  }
  constexpr void extents(ResultExtents const& c) const {
    linalg::detail::set_solution(c, 4, transposed);
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return linalg::detail::work(c, 0, c.elements(4));
  }
  template <class Out, class A, class F, class P, class E, class B>
  void fill(Out& out, A const& a, F const& factors, P const& pivots, E const& exponents,
            B const& b) const {
    namespace lk = linalg::kernels;
    auto const right = linalg::detail::stack_beside<A, I, J, Rows>(b, execute::data_of(b));
    auto const made = linalg::detail::stack_beside<A, I, J, Cols>(out, execute::written(out));
    linalg::detail::solve_each<I, J, transposed>(
        a, made, linalg::detail::factors_of(factors, pivots, exponents, made.rows),
        [&](std::int64_t t, auto* x) { lk::pack(right, t, x, right.rows); });
  }
  template <class V, class A, class F, class P, class E, class B>
  constexpr auto save(V const& x, A const& a, F const& factors, P const& pivots, E const& exponents,
                      B const&) const {
    return autodiff::keep(a, std::tuple(factors, pivots, exponents), x);
  }
  template <class G>
  constexpr auto prepare(G const& g) const {
    return linalg::detail::call_factored(op::SolveFactored<I, J, !transposed>{},
                                         std::source_location::current(), g.template kept<0>(),
                                         g.template kept<1>(), g.ct);
  }
  template <class G>
  constexpr auto pull(G const& g) const {
    if constexpr (G::operand == 0) {
      return linalg::detail::minus_outer<typename G::template operand_type<0>>(
          g.ct, g.template kept<2>());
    } else {
      return g.ct;
    }
  }
};

}  // namespace op

namespace linalg {

/// Public functions of linalg; argument-dependent lookup does not find them (core/namespaces.hpp).
namespace api {

/// The solution of a x = b for each matrix of a: `a[B@X, I, J]`, `b[B@X, I, K]` -> `[B@X, J, K]`,
/// of float, double or their complex numbers. I names the rows and J the columns, at any place
/// among the dims; further dims of a number matrices and are split alike in b; dims that only b has
/// (none, or several, split or not) are right-hand sides. `solve<J, I>(a, b)` solves with the
/// transposed matrix. b may be an unreduced sum; then so is the result.
///
///     auto x = linalg::solve<I, J>(a, b);
///
/// By LU factors with partial pivoting, as LAPACK; matrices of at most 32 rows are factored as many
/// at once as a register has lanes. A singular matrix gives NaN in its own solution; with
/// SHARDTYPE_CHECK=values it is Error E80, which names it. Communicates nothing, in both
/// directions; the backward pass takes the factors of the forward pass. Refused: D01, Q01 rows or
/// columns split, Q02 an unreduced matrix, Q06 dims that do not fit, P12, C10. Errors: E24, E41 a
/// matrix that is not square. As jnp.linalg.solve.
template <class I, class J, class A, class B>
constexpr auto solve(core::Argument<A> const& a, B const& b, checking::CallSite where = {}) {
  return shardtype::call(op::Solve<I, J>{}, where, a.self(), b);
}

}  // namespace api
using namespace api;

}  // namespace linalg

}  // namespace shardtype
