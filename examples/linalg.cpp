// Linear algebra on stacks of matrices: a regression for each of many groups, whose data are split
// over the ranks. The normal equations are solved by Cholesky factors; the gradient of the fit with
// respect to the ridge goes through them.
// RANKS: 4
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include <shardtype/linalg/linalg.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;

struct X : Axis<"X", 4> {};
struct Group : Index<"Group", 10> {};
struct Sample : Index<"Sample", 40> {};
struct P : Index<"P", 3> {};  // parameters
struct Q : Index<"Q", 3> {};  // and once more, as columns

using Groups = Dim<Group, X>;  // ten groups on four ranks: blocks of 3, 3, 3 and 1

// docs: matrix
// a[g, p, q] = sum of x x^T plus a ridge, for each group; nothing is sent.
template <class Data, class Ridge>
auto normal_matrix(Data const& x, Ridge const& ridge) {
  return einsum<Group, P, Q>(x, relabel<P, Q>(x)) + ridge;
}
// docs: end

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  Mesh<X> const mesh(env.world());
  auto const x = from_function<double, Groups, Dim<Sample>, Dim<P>>(
      mesh,
      [](auto g, auto s, auto p) { return std::cos(double(g + 1) * double(s * p) + double(s)); });
  auto const wanted = from_function<double, Groups, Dim<P>>(
      mesh, [](auto g, auto p) { return double(g) - 2 * double(p); });
  auto const y = einsum<Group, Sample>(x, wanted);
  auto const identity = from_function<double, Groups, Dim<P>, Dim<Q>>(
      mesh, [](auto, auto p, auto q) { return p == q ? 1.0 : 0.0; });
  auto const ridge = full<double, Groups>(mesh, 1e-9);

  // docs: fit
  auto const fit = [&](auto const& r) {
    auto const l = linalg::cholesky<P, Q>(normal_matrix(x, r * identity));
    return linalg::cholesky_solve<P, Q>(l, einsum<Group, P>(x, y));  // [Group@X, Q]
  };
  // docs: end
  auto const error = [&](auto const& r) {
    return sum<Tensor<double>>(square(relabel<Q, P>(fit(r)) - wanted));
  };
  static_assert(plan(op::Solve<P, Q>{}, type<Tensor<double, Groups, Dim<P>, Dim<Q>>>,
                     type<Tensor<double, Groups, Dim<P>>>)
                    .collectives() == 0);

  double const off = item(error(ridge));
  if (!(off < 1e-12)) throw Error("example", "the parameters are wrong");
  check_grads(error, (1e8 * ridge).tensor());  // through the factors, to each group's ridge

  // the same by LU factors, and how much each group's matrix is worth
  auto const a = normal_matrix(x, ridge * identity).tensor();
  // docs: solve
  auto const again = linalg::solve<P, Q>(a, einsum<Group, P>(x, y));
  auto const both = linalg::slogdet<P, Q>(a);
  // docs: end
  double const sign = item(min<Tensor<double>>(both.sign));
  double const distance = item(max<Tensor<double>>(abs(again - fit(ridge))));
  if (sign != 1 || !(distance < 1e-9)) throw Error("example", "two solutions differ");
  double const smallest = item(min<Tensor<double>>(both.logdet));
  if (env.rank() == 0)
    std::printf("ten regressions; squared error %.1e, smallest log determinant %.3f\n", off,
                smallest);
}
