// Solvers that only multiply with a matrix, whose rows are split over the ranks: conjugate
// gradients, GMRES and the power iteration. Each product gathers the vector, each scalar product is
// one all_reduce of a number; a plan counts them.
// RANKS: 4
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include <shardtype/shardtype.hpp>

using namespace shardtype;

struct X : Axis<"X", 4> {};
struct I : Index<"I", 90> {};  // blocks of 23, 23, 23 and 21 rows
struct J : Index<"J", 90> {};
using Matrix = Tensor<double, Dim<I, X>, Dim<J>>;
using Vector = Tensor<double, Dim<I, X>>;

// a x: the vector is gathered, the product is local.
template <class A, class V>
constexpr auto times(A const& a, V const& x) {
  return einsum<I>(a, relabel<I, J>(all_gather<X>(x)));
}
// The product can be multiplied again, without a reshard.
static_assert(same_spec<Vector, decltype(times(std::declval<Matrix>(), std::declval<Vector>()))>);
template <class V, class W>
constexpr auto dot(V const& x, W const& y) {
  return sum<Tensor<double>>(x * y);  // one all_reduce of a number
}

// One step of conjugate gradients for a symmetric positive definite a: {x, r, p} -> the next ones.
constexpr auto cg_step = [](auto const& a, auto const& x, auto const& r, auto const& p) {
  auto const ap = times(a, p);
  auto const rr = dot(r, r);
  auto const step = (rr / dot(p, ap)).tensor();
  auto const next = (r - step * ap).tensor();
  auto const ratio = (dot(next, next) / rr).tensor();
  return std::tuple{(x + step * p).tensor(), next, (next + ratio * p).tensor()};
};
constexpr auto cg_residual = [](auto const& a, auto const& x, auto const& r, auto const& p) {
  return std::get<1>(cg_step(a, x, r, p));
};
constexpr auto cg_plan = plan(cg_residual, type<Matrix>, type<Vector>, type<Vector>, type<Vector>);
static_assert(cg_plan.count(Collective::all_gather) == 1);
static_assert(cg_plan.count(Collective::all_reduce) == 3);
static_assert(cg_plan.collectives() == 4);
static_assert(
    same_spec<Vector, decltype(cg_residual(std::declval<Matrix>(), std::declval<Vector>(),
                                           std::declval<Vector>(), std::declval<Vector>()))>);

// One step of the power iteration: a x, with length 1.
constexpr auto power_step = [](auto const& a, auto const& x) {
  auto const y = times(a, x);
  return (y / sqrt(dot(y, y))).tensor();
};
constexpr auto power_plan = plan(power_step, type<Matrix>, type<Vector>);
static_assert(power_plan.count(Collective::all_gather) == 1);
static_assert(power_plan.count(Collective::all_reduce) == 1);

Vector conjugate_gradients(Matrix const& a, Vector const& b, int steps) {
  Vector x = zeros_like(b), r = b, p = b;
  for (int k = 0; k < steps && item(dot(r, r)) > 1e-24; ++k) {
    auto [next_x, next_r, next_p] = cg_step(a, x, r, p);
    x = next_x;
    r = next_r;
    p = next_p;
  }
  return x;
}

// GMRES: orthonormal vectors that span b, a b, a a b, ..., and the least residual among their
// combinations. The small problem is the same on all ranks, because all have the same scalar
// products.
Vector gmres(Matrix const& a, Vector const& b, int steps) {
  double const length = std::sqrt(item(dot(b, b)));
  std::vector<Vector> basis{(b / length).tensor()};
  std::vector<std::vector<double>> h;                // column k of the Hessenberg matrix
  std::vector<std::pair<double, double>> rotations;  // cosines and sines that make it a triangle
  std::vector<double> right{length};
  for (int k = 0; k < steps && std::abs(right.back()) > 1e-12 * length; ++k) {
    Vector w = times(a, basis.back());
    std::vector<double> column;
    for (Vector const& v : basis) {
      column.push_back(item(dot(v, w)));
      w = (w - column.back() * v).tensor();
    }
    double const rest = std::sqrt(item(dot(w, w)));
    for (std::size_t i = 0; i < rotations.size(); ++i) {
      auto const [c, s] = rotations[i];
      double const upper = column[i];
      column[i] = c * upper + s * column[i + 1];
      column[i + 1] = c * column[i + 1] - s * upper;
    }
    double const size = std::hypot(column.back(), rest);
    auto const [c, s] = rotations.emplace_back(column.back() / size, rest / size);
    column.back() = size;
    right.push_back(-s * right.back());
    right[right.size() - 2] *= c;
    h.push_back(column);
    if (rest == 0) break;
    basis.push_back((w / rest).tensor());
  }
  std::vector<double> y(h.size());
  for (std::size_t k = h.size(); k-- > 0;) {
    y[k] = right[k];
    for (std::size_t m = k + 1; m < h.size(); ++m) y[k] -= h[m][k] * y[m];
    y[k] /= h[k][k];
  }
  Vector x = zeros_like(b);
  for (std::size_t k = 0; k < y.size(); ++k) x = (x + y[k] * basis[k]).tensor();
  return x;
}

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  Mesh<X> const mesh(env.world());
  // a chain of springs, and the same with a drift, which is not symmetric
  auto const chain = [](double drift) {
    return [drift](auto i, auto j) {
      return i == j ? 2.5 : i == j + 1 ? -1.0 - drift : j == i + 1 ? -1.0 + drift : 0.0;
    };
  };
  Matrix const a = from_function<double, Dim<I, X>, Dim<J>>(mesh, chain(0));
  Matrix const skew = from_function<double, Dim<I, X>, Dim<J>>(mesh, chain(0.4));
  Vector const b =
      from_function<double, Dim<I, X>>(mesh, [](auto i) { return std::sin(double(i + 1)); });

  auto const off = [&](Matrix const& m, Vector const& x) {
    return item(max<Tensor<double>>(abs(times(m, x) - b)));
  };
  double const cg = off(a, conjugate_gradients(a, b, 90));
  double const general = off(skew, gmres(skew, b, 60));

  // a heavy end: its eigenvalue is 10 + 1 / 7.5, more than twice the next one
  Matrix const heavy = from_function<double, Dim<I, X>, Dim<J>>(
      mesh, [&](auto i, auto j) { return i == 0 && j == 0 ? 10.0 : chain(0)(i, j); });
  Vector x = b;
  for (int k = 0; k < 50; ++k) x = power_step(heavy, x);
  double const largest = item(dot(x, times(heavy, x)));
  double const exact = 10 + 1 / 7.5;
  if (!(cg < 1e-10) || !(general < 1e-9) || !(std::abs(largest - exact) < 1e-9))
    throw Error("example", "a solver has not converged");
  if (env.rank() == 0)
    std::printf("residuals: conjugate gradients %.0e, GMRES %.0e; largest eigenvalue %.6f\n", cg,
                general, largest);
}
