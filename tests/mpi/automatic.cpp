// Whole expressions in automatic mode: the results equal dense references, and the bytes of every
// rank equal the plan's. The extents are divisible, not divisible and empty.
// SOURCES: tests/shim/pmpi.cpp
// TIMEOUT: 300
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"
#include "shim/pmpi.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct B : Index<"B"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};
struct M : Index<"M"> {};

using Grid = Mesh<X, Y>;

// The global array of a matrix, read by its two indices.
struct Dense {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<double> at;

  double operator()(std::int64_t i, std::int64_t j) const {
    return at[static_cast<std::size_t>(i * columns + j)];
  }
  Dense operator*(Dense const& b) const {
    Dense c{rows, b.columns, std::vector<double>(static_cast<std::size_t>(rows * b.columns))};
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t k = 0; k < columns; ++k)
        for (std::int64_t j = 0; j < b.columns; ++j)
          c.at[static_cast<std::size_t>(i * b.columns + j)] += (*this)(i, k) * b(k, j);
    return c;
  }
};
template <class F>
Dense dense(std::int64_t rows, std::int64_t columns, F f) {
  Dense d{rows, columns, {}};
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) d.at.push_back(static_cast<double>(f(i, j)));
  return d;
}

std::int64_t small(std::int64_t i, std::int64_t j) { return (i * 7 + j * 3) % 5 - 2; }
auto shifted(std::int64_t by) {
  return [by](std::int64_t i, std::int64_t j) { return small(i + by, j); };
}

template <class T, class... Dims>
auto matrix(Grid const& mesh, std::int64_t rows, std::int64_t columns, std::int64_t by) {
  return from_function<T, Dims...>(mesh, {rows, columns}, [by](std::int64_t i, std::int64_t j) {
    return T(static_cast<double>(small(i + by, j)));
  });
}

// Evaluates `e` and checks that this rank moved the bytes of the plan.
template <class... Out, class E, class... Policy>
auto counted(Grid const& mesh, E const& e, Policy const&... policy) {
  PlannedProgram const p = planned(evaluate_to<Out...>, mesh, e, policy...);
  REQUIRE(p.plan.possible);
  Coords at;
  for (int x = 0; x < p.names.axes; ++x)
    at.at[x] =
        p.names.axis[x].id == core::identity<X> ? mesh.coordinate<X>() : mesh.coordinate<Y>();
  shim::reset();
  auto result = evaluate<Out...>(mesh, e, policy...);
  CHECK(shim::bytes() == (mesh.here() ? p.plan.bytes(at) : 0));
  return result;
}

// The number of elements that differ from `expected` by more than `rounding`.
template <class C>
int wrong(C const& c, std::vector<double> const& expected, double rounding = 0) {
  auto const got = to_host(c);
  REQUIRE(got.size() == expected.size());
  int bad = 0;
  for (std::size_t k = 0; k < got.size(); ++k)
    if (!(std::abs(static_cast<double>(got[k]) - expected[k]) <=
          rounding * (1 + std::abs(expected[k]))))
      ++bad;
  return bad;
}
std::vector<double> transposed(Dense const& d) {
  std::vector<double> out;
  for (std::int64_t j = 0; j < d.columns; ++j)
    for (std::int64_t i = 0; i < d.rows; ++i) out.push_back(d(i, j));
  return out;
}

std::vector<std::array<std::int64_t, 5>> const sizes = {
    {8, 8, 8, 8, 8}, {13, 7, 5, 11, 3}, {1, 17, 2, 9, 4}, {3, 0, 6, 5, 2}, {0, 4, 3, 2, 1}};

template <class Use>
void on_all_grids(Use use) {
  for (auto const& grid : on_ranks::grids()) use(Grid(MPI_COMM_WORLD, grid));
}

}  // namespace

TEST_CASE("chains of products") {
  on_all_grids([](Grid const& mesh) {
    for (auto const& n : sizes) {
      auto const a = matrix<double, Dim<I, X>, Dim<J, Y>>(mesh, n[0], n[1], 0);
      auto const b = matrix<double, Dim<J, Y>, Dim<K>>(mesh, n[1], n[2], 1);
      auto const c = matrix<double, Dim<K>, Dim<L, Y, X>>(mesh, n[2], n[3], 2);
      auto const d = matrix<double, Dim<L, X>, Dim<M>>(mesh, n[3], n[4], 3);
      Dense const abcd = dense(n[0], n[1], shifted(0)) * dense(n[1], n[2], shifted(1)) *
                         dense(n[2], n[3], shifted(2)) * dense(n[3], n[4], shifted(3));
      auto const e = lazy(a) * lazy(b) * lazy(c) * lazy(d);
      CHECK(wrong(counted<Dim<I, X>, Dim<M>>(mesh, e), abcd.at) == 0);
      CHECK(wrong(counted<Dim<I>, Dim<M, Y, X>>(mesh, e), abcd.at) == 0);
      CHECK(wrong(counted<Dim<M, Y>, Dim<I, X>>(mesh, e), transposed(abcd)) == 0);
      CHECK(wrong(counted<Dim<I>, Dim<M>>(mesh, e), abcd.at) == 0);
      CHECK(wrong(all_reduce<Y>(counted<Dim<I, X>, Dim<M>, Unreduced<Y>>(mesh, e)), abcd.at) == 0);
      // in another order of the products, with a constraint on a part, and in the order of strict
      // mode
      CHECK(wrong(counted<Dim<I, X>, Dim<M>>(
                      mesh, matmul(lazy(a), matmul(matmul(lazy(b), lazy(c)), lazy(d)))),
                  abcd.at) == 0);
      CHECK(wrong(counted<Dim<I, X>, Dim<M>>(
                      mesh, constrain<Dim<K, X>, Dim<I, Y>>(lazy(a) * lazy(b)) * lazy(c) * lazy(d)),
                  abcd.at) == 0);
      CHECK(wrong(counted<Dim<I, X>, Dim<M>>(
                      mesh, matmul<Dim<I>, Dim<L, Y>>(lazy(a) * lazy(b), lazy(c)) * lazy(d)),
                  abcd.at) == 0);
    }
  });
}

TEST_CASE("products, functions, reductions and values that several read") {
  on_all_grids([](Grid const& mesh) {
    for (auto const& n : sizes) {
      auto const a = matrix<double, Dim<I, X>, Dim<J, Y>>(mesh, n[0], n[1], 0);
      auto const b = matrix<double, Dim<J>, Dim<K, X>>(mesh, n[1], n[2], 1);
      auto const s =
          from_function<double, Dim<K, Y>>(mesh, {n[2]}, [](std::int64_t k) { return k % 3 - 1; });
      Dense const h = dense(n[0], n[1], shifted(0)) * dense(n[1], n[2], shifted(1));
      std::vector<double> expected(h.at.size());
      std::vector<double> softmax(h.at.size());
      std::vector<double> largest(static_cast<std::size_t>(n[0]), -1e300);
      std::vector<double> means(static_cast<std::size_t>(n[2]), 0);
      double total = 0;
      for (std::int64_t i = 0; i < n[0]; ++i) {
        double sum = 0;
        for (std::int64_t k = 0; k < n[2]; ++k) sum += std::exp(h(i, k) / 8);
        for (std::int64_t k = 0; k < n[2]; ++k) {
          auto const at = static_cast<std::size_t>(i * n[2] + k);
          expected[at] = h(i, k) + 2 * std::max(h(i, k), 0.0) * static_cast<double>(k % 3 - 1) - 1;
          softmax[at] = std::exp(h(i, k) / 8) / sum;
          auto& most = largest[static_cast<std::size_t>(i)];
          most = std::max(most, h(i, k) + static_cast<double>(k % 3 - 1));
          means[static_cast<std::size_t>(k)] += h(i, k) / static_cast<double>(n[0]);
          total += h(i, k);
        }
      }
      auto const product = share(lazy(a) * lazy(b));
      auto const e = product + 2.0 * max(product, 0.0) * lazy(s) - 1.0;
      CHECK(wrong(counted<Dim<I, X>, Dim<K>>(mesh, e), expected) == 0);
      CHECK(wrong(counted<Dim<I, Y>, Dim<K, X>>(mesh, e), expected) == 0);
      auto const powers = share(exp(product / 8.0));
      CHECK(wrong(counted<Dim<I>, Dim<K, X>>(mesh, powers / sum<K>(powers)), softmax, 1e-12) == 0);
      if (n[2] > 0) CHECK(wrong(counted<Dim<I, Y>>(mesh, max<K>(product + lazy(s))), largest) == 0);
      if (n[0] > 0)
        CHECK(wrong(counted<Dim<K, X, Y>>(mesh, mean<I>(lazy(a) * lazy(b))), means, 1e-12) == 0);
      CHECK(item(counted<>(mesh, sum(product))) == total);
      // nothing to compute: a reshard, and one with the dims in another order
      CHECK(wrong(counted<Dim<I>, Dim<J, X>>(mesh, lazy(a)), dense(n[0], n[1], shifted(0)).at) ==
            0);
      CHECK(wrong(counted<Dim<J>, Dim<I, Y>>(mesh, transpose<J, I>(lazy(a))),
                  transposed(dense(n[0], n[1], shifted(0)))) == 0);
    }
  });
}

TEST_CASE("batches, summands, powers of a matrix, other elements") {
  on_all_grids([](Grid const& mesh) {
    for (auto const& n : sizes) {
      // q k^T for each element of a batch
      auto const value = [](std::int64_t x, std::int64_t y, std::int64_t z) {
        return double((x * 5 + y * 3 + z) % 7 - 3);
      };
      auto const q =
          from_function<double, Dim<B, X>, Dim<I>, Dim<K, Y>>(mesh, {n[0], n[1], n[2]}, value);
      auto const k =
          from_function<double, Dim<B>, Dim<J, Y>, Dim<K>>(mesh, {n[0], n[3], n[2]}, value);
      std::vector<double> scores;
      for (std::int64_t x = 0; x < n[0]; ++x)
        for (std::int64_t i = 0; i < n[1]; ++i)
          for (std::int64_t j = 0; j < n[3]; ++j) {
            double sum = 0;
            for (std::int64_t d = 0; d < n[2]; ++d) sum += value(x, i, d) * value(x, j, d);
            scores.push_back(sum);
          }
      auto const e = einsum<B, I, J>(lazy(q), lazy(k));
      CHECK(wrong(counted<Dim<B, X>, Dim<I>, Dim<J>>(mesh, e), scores) == 0);
      CHECK(wrong(counted<Dim<B>, Dim<I, X>, Dim<J, Y>>(mesh, e), scores) == 0);

      // sums that are unreduced already are added before they are reduced
      auto const a = matrix<double, Dim<I, X>, Dim<J, Y>>(mesh, n[0], n[1], 0);
      auto const b = matrix<double, Dim<J, Y>, Dim<K>>(mesh, n[1], n[2], 1);
      auto const unreduced = matmul(a, b);
      Dense const ab = dense(n[0], n[1], shifted(0)) * dense(n[1], n[2], shifted(1));
      std::vector<double> thrice = ab.at;
      for (double& x : thrice) x *= 3;
      auto const sums = lazy(unreduced) + 2.0 * (lazy(a) * lazy(b));
      CHECK(wrong(counted<Dim<I, X>, Dim<K>>(mesh, sums), thrice) == 0);
      PlannedProgram const p = planned(evaluate_to<Dim<I, X>, Dim<K>>, mesh, sums);
      CHECK(p.plan.count(Collective::all_reduce) + p.plan.count(Collective::reduce_scatter) <= 1);

      // A A A, with relabelled dims
      auto const square = matrix<double, Dim<I, X>, Dim<J>>(mesh, n[0], n[0], 4);
      Dense const s = dense(n[0], n[0], shifted(4));
      auto const cube =
          lazy(square) * relabel<I, J, J, K>(lazy(square)) * relabel<I, K, J, L>(lazy(square));
      CHECK(wrong(counted<Dim<I>, Dim<L, Y>>(mesh, cube), (s * s * s).at) == 0);

      auto const whole = matrix<std::int64_t, Dim<I, Y>, Dim<J, X>>(mesh, n[0], n[1], 0);
      auto const other = matrix<std::int64_t, Dim<J>, Dim<K>>(mesh, n[1], n[2], 1);
      CHECK(wrong(counted<Dim<I>, Dim<K, X>>(mesh, lazy(whole) * lazy(other)), ab.at) == 0);
      auto const fa = matrix<float, Dim<I, Y>, Dim<J, X>>(mesh, n[0], n[1], 0);
      auto const fb = matrix<float, Dim<J>, Dim<K, X>>(mesh, n[1], n[2], 1);
      CHECK(wrong(counted<Dim<I, X>, Dim<K>>(mesh, lazy(fa) * lazy(fb)), ab.at) == 0);
      using Complex = Kokkos::complex<double>;
      auto const za = matrix<Complex, Dim<I, Y>, Dim<J>>(mesh, n[0], n[1], 0);
      auto const zb = matrix<Complex, Dim<J, X>, Dim<K>>(mesh, n[1], n[2], 1);
      auto const z = counted<Dim<I, X>, Dim<K>>(mesh, real(lazy(za) * lazy(zb)));
      CHECK(wrong(z, ab.at) == 0);
      std::int64_t positive = 0;
      for (double x : ab.at) positive += x > 0 ? 1 : 0;
      CHECK(item(counted<>(mesh, sum(lazy(fa) * lazy(fb) > 0.0F))) == positive);
    }
  });
}

namespace {

struct Little {
  static constexpr std::int64_t memory_limit = 40'000;
};
struct SlowNetwork {
  static constexpr Machine machine = [] {
    Machine m = Machine{}.with<X>(1e-3, 1e6);
    m.flops_per_second = 1e12;
    return m;
  }();
};

}  // namespace

TEST_CASE("policies: a limit of memory, another machine") {
  on_all_grids([](Grid const& mesh) {
    auto const a = matrix<double, Dim<I, X>, Dim<J, Y>>(mesh, 60, 50, 0);
    auto const b = matrix<double, Dim<J, Y>, Dim<K, X>>(mesh, 50, 40, 1);
    auto const c = matrix<double, Dim<K, Y>, Dim<L, X>>(mesh, 40, 30, 2);
    Dense const abc =
        dense(60, 50, shifted(0)) * dense(50, 40, shifted(1)) * dense(40, 30, shifted(2));
    auto const e = lazy(a) * lazy(b) * lazy(c);
    CHECK(wrong(counted<Dim<I, X>, Dim<L, Y>>(mesh, e, SlowNetwork{}), abc.at) == 0);
    if (mesh.size() == 1) {  // even the plan with the least memory takes more
      CHECK(on_ranks::code_of([&] { evaluate<Dim<I, X>, Dim<L, Y>>(mesh, e, Little{}); }) == "E69");
      return;
    }
    PlannedProgram const p =
        planned(evaluate_to<Dim<I, X>, Dim<L, Y>>, mesh, e, MemoryLimit<40'000>{});
    CHECK(p.plan.temporary_bytes() <= 40'000);
    CHECK(wrong(counted<Dim<I, X>, Dim<L, Y>>(mesh, e, Little{}), abc.at) == 0);
  });
}

// Types with all sizes: the plan of the compiler and the plan found at run time are the same.
namespace {

struct X2 : Axis<"X", 2> {};
struct Y2 : Axis<"Y", 2> {};
struct I40 : Index<"I", 40> {};
struct J30 : Index<"J", 30> {};
struct K20 : Index<"K", 20> {};
struct L10 : Index<"L", 10> {};

}  // namespace

TEST_CASE("the compiler's plan runs") {
  if (on_ranks::rank_total() < 4) return;
  Mesh<X2, Y2> const mesh(MPI_COMM_WORLD);
  auto const a = from_function<double, Dim<I40, X2>, Dim<J30, Y2>>(mesh, {40, 30}, small);
  auto const b = from_function<double, Dim<J30>, Dim<K20, X2>>(mesh, {30, 20}, small);
  auto const c = from_function<double, Dim<K20, Y2>, Dim<L10>>(mesh, {20, 10}, small);
  auto const e = exp(lazy(a) * lazy(b) * lazy(c) / 1e4);
  constexpr ProgramPlan p = plan(evaluate_to<Dim<I40, X2>, Dim<L10>>, mesh, e);
  static_assert(p.possible && p.collectives() > 0);
  planning::Rates const rates = planned(evaluate_to<Dim<I40, X2>, Dim<L10>>, mesh, e).rates();
  CHECK(planning::plan_program(p.program, rates).picoseconds(rates) == p.picoseconds(rates));
  auto const r = evaluate<Dim<I40, X2>, Dim<L10>>(mesh, e);
  Dense expected = dense(40, 30, small) * dense(30, 20, small) * dense(20, 10, small);
  for (double& x : expected.at) x = std::exp(x / 1e4);
  if (mesh.here()) CHECK(wrong(r, expected.at, 1e-12) == 0);
}
