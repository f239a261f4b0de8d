// All 121 pairs of operand shardings of a matrix product on a 2-axis mesh: strict where legal,
// named for all. The values are compared with a dense reference, the bytes of every operation with
// its plan.
// SOURCES: tests/shim/pmpi.cpp
// TIMEOUT: 300
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/host_block.hpp"
#include "shim/pmpi.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};

template <class... Ts>
struct List {};
template <class... As, class... Bs>
List<As..., Bs...> operator+(List<As...>, List<Bs...>);
template <std::size_t N, class First, class... Rest>
constexpr auto at(List<First, Rest...>) {
  if constexpr (N == 0) {
    return type<First>;
  } else {
    return at<N - 1>(List<Rest...>{});
  }
}

// The 11 shardings of a matrix over two axes, with every order of the axes.
template <class P, class Q>
using Shardings = List<Tensor<double, Dim<P>, Dim<Q>>, Tensor<double, Dim<P, X>, Dim<Q>>,
                       Tensor<double, Dim<P, Y>, Dim<Q>>, Tensor<double, Dim<P>, Dim<Q, X>>,
                       Tensor<double, Dim<P>, Dim<Q, Y>>, Tensor<double, Dim<P, X, Y>, Dim<Q>>,
                       Tensor<double, Dim<P, Y, X>, Dim<Q>>, Tensor<double, Dim<P>, Dim<Q, X, Y>>,
                       Tensor<double, Dim<P>, Dim<Q, Y, X>>, Tensor<double, Dim<P, X>, Dim<Q, Y>>,
                       Tensor<double, Dim<P, Y>, Dim<Q, X>>>;
constexpr std::size_t kinds = 11;

// The shardings that a result can name: also unreduced ones and both orders of dims.
using UnreducedForms = List<
    Tensor<double, Dim<I>, Dim<K>, Unreduced<X>>, Tensor<double, Dim<I, Y>, Dim<K>, Unreduced<X>>,
    Tensor<double, Dim<I>, Dim<K, Y>, Unreduced<X>>, Tensor<double, Dim<I>, Dim<K>, Unreduced<Y>>,
    Tensor<double, Dim<I, X>, Dim<K>, Unreduced<Y>>,
    Tensor<double, Dim<I>, Dim<K, X>, Unreduced<Y>>,
    Tensor<double, Dim<I>, Dim<K>, Unreduced<X, Y>>, Tensor<double, Dim<K, X>, Dim<I, Y>>,
    Tensor<double, Dim<K>, Dim<I, Y>, Unreduced<X>>>;
using Results = decltype(Shardings<I, K>{} + UnreducedForms{});
constexpr std::size_t results = 20;

std::int64_t left(std::int64_t i, std::int64_t j) { return (i * 7 + j * 3) % 11 - 5; }
std::int64_t right(std::int64_t j, std::int64_t k) { return (j * 5 + k * 2) % 7 - 3; }

struct Problem {
  std::int64_t m, n, k;
  std::vector<std::int64_t> dense;  // m x n

  Problem(std::int64_t m_, std::int64_t k_, std::int64_t n_)
      : m(m_), n(n_), k(k_), dense(static_cast<std::size_t>(m_ * n_)) {
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t c = 0; c < n; ++c)
        for (std::int64_t j = 0; j < k; ++j)
          dense[static_cast<std::size_t>(i * n + c)] += left(i, j) * right(j, c);
  }
};

// The number of local elements that differ from the dense product.
template <class C>
int wrong(C const& c, Problem const& p) {
  int bad = c.template extent<I>() == p.m && c.template extent<K>() == p.n ? 0 : 1;
  constexpr std::size_t di =
      C::spec.dims[0].label == core::Scope<C>::names.find_label(core::identity<I>) ? 0 : 1;
  std::size_t place = 0;
  auto const block = harness::host_block(c);
  auto const* data = block.data();
  std::array<core::Range, 2> const r = c.ranges();
  for (std::int64_t u = r[0].begin; u < r[0].end; ++u)
    for (std::int64_t v = r[1].begin; v < r[1].end; ++v) {
      std::int64_t const i = di == 0 ? u : v;
      std::int64_t const k = di == 0 ? v : u;
      if (data[place++] != static_cast<double>(p.dense[static_cast<std::size_t>(i * p.n + k)]))
        ++bad;
    }
  return bad;
}

template <class C>
struct Summed {
  using type = C;
};
template <class T, class D, class E, class... Xs>
struct Summed<Tensor<T, D, E, Unreduced<Xs...>>> {
  using type = Tensor<T, D, E>;
};

template <class C>
int wrong_when_summed(C const& c, Problem const& p) {
  return wrong(reshard<typename Summed<C>::type>(c), p);
}

template <class Op, class A, class B, class Run>
auto counted(Op const& op, A const& a, B const& b, Run run, int& bad) {
  std::int64_t const predicted = a.mesh().here() ? plan_at(op, a, b).bytes(coords_in(op, a, b)) : 0;
  shim::reset();
  auto c = run();
  if (shim::bytes() != predicted) ++bad;
  return c;
}

template <class Out, class A, class B>
int named(A const& a, B const& b, Problem const& p) {
  int bad = 0;
  auto const c = counted(op::Matmul<Out>{}, a, b, [&] { return matmul<Out>(a, b); }, bad);
  static_assert(std::is_same_v<decltype(c), Out const>);
  return bad + wrong_when_summed(c, p);
}

template <std::size_t Pair, class M>
int check_pair(M const& mesh, Problem const& p) {
  using A = typename decltype(at<Pair / kinds>(Shardings<I, J>{}))::type;
  using B = typename decltype(at<Pair % kinds>(Shardings<J, K>{}))::type;
  A const a = from_function<A>(mesh, {p.m, p.k}, left);
  B const b = from_function<B>(mesh, {p.k, p.n}, right);
  int bad = 0;
  if constexpr (Contractible<A, B>) {
    auto const c = counted(op::Matmul<>{}, a, b, [&] { return matmul(a, b); }, bad);
    bad += wrong_when_summed(c, p);
  }
  bad += named<typename decltype(at<Pair % results>(Results{}))::type>(a, b, p);
  bad += named<typename decltype(at<(Pair * 7 + 5) % results>(Results{}))::type>(a, b, p);
  bad += named<typename decltype(at<(Pair / kinds + Pair % kinds * 3 + 11) % results>(
      Results{}))::type>(a, b, p);
  return bad;
}

template <class M, std::size_t... Pair>
void check_all(M const& mesh, Problem const& p, std::index_sequence<Pair...>) {
  int bad[] = {check_pair<Pair>(mesh, p)...};
  for (std::size_t pair = 0; pair < sizeof...(Pair); ++pair) {
    INFO("pair " << pair << " (a " << pair / kinds << ", b " << pair % kinds << "), " << p.m
                 << " x " << p.k << " x " << p.n);
    CHECK(bad[pair] == 0);
  }
}

}  // namespace

TEST_CASE("every pair of shardings gives the dense product and moves what its plan says") {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::array<std::int64_t, 2> const shape = ranks == 1   ? std::array<std::int64_t, 2>{1, 1}
                                            : ranks == 2 ? std::array<std::int64_t, 2>{2, 1}
                                            : ranks == 3 ? std::array<std::int64_t, 2>{1, 3}
                                            : ranks == 4 ? std::array<std::int64_t, 2>{2, 2}
                                            : ranks == 6 ? std::array<std::int64_t, 2>{3, 2}
                                                         : std::array<std::int64_t, 2>{2, 4};
  Mesh<X, Y> mesh(MPI_COMM_WORLD, shape);
  auto const m = GENERATE(values<std::array<std::int64_t, 3>>({{8, 8, 8},
                                                               {13, 11, 7},
                                                               {1, 1, 1},
                                                               {3, 2, 5},
                                                               {0, 5, 4},
                                                               {5, 0, 4},
                                                               {4, 6, 0},
                                                               {17, 1, 29}}));
  check_all(mesh, Problem(m[0], m[1], m[2]), std::make_index_sequence<kinds * kinds>{});
}

TEST_CASE("half of the ranks, in reverse order") {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<int> half;
  for (int r = ranks - 1; r >= ranks / 2; --r) half.push_back(r);
  if (half.size() % 2 == 1 && half.size() > 1) half.pop_back();
  std::int64_t const n = static_cast<std::int64_t>(half.size());
  Mesh<X, Y> mesh(MPI_COMM_WORLD, {n == 1 ? 1 : 2, n == 1 ? 1 : n / 2}, half);
  check_all(mesh, Problem(9, 7, 10), std::make_index_sequence<kinds * kinds>{});
}
