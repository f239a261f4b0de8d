// allclose, array_equal and isclose on ranks, compared with NumPy's definition element by element,
// over split dims, with uneven and empty extents. The shim shows that one byte is reduced and
// nothing is gathered.
// SOURCES: tests/shim/pmpi.cpp
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"
#include "shim/pmpi.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
constexpr double inf = std::numeric_limits<double>::infinity();
double const nan = std::nan("");

// The answer of `ask`. Checks that all ranks have it, and that one byte is reduced over them and
// nothing else is sent.
template <class Ask>
bool asked(Ask ask, int reductions = 1) {
  std::int64_t const ranks = on_ranks::rank_total();
  shim::reset();
  bool const said = ask();
  CHECK(shim::bytes() == reductions * (2 - (2 + ranks - 1) / ranks));
  int mine = said ? 1 : 0;
  int all[2] = {};
  MPI_Allreduce(&mine, &all[0], 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&mine, &all[1], 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  CHECK(all[0] == all[1]);
  return said;
}

// numpy.isclose
bool close(double a, double b, double rtol, double atol, bool equal_nan) {
  if (std::isnan(a) || std::isnan(b)) return equal_nan && std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= atol + rtol * std::abs(b);
}

TEST_CASE("isclose, element by element as NumPy") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  static double const given[] = {0,   -0., 1e-9, 1e-7, 1,   1 + 1e-6, 1 + 1e-4,
                                 1e9, -1,  inf,  -inf, nan, 1e9 + 9e3};
  std::int64_t const n = 13;
  auto const a = from_function<double, Dim<I, X>, Dim<J, Y>>(mesh, {n, n},
                                                             [](auto i, auto) { return given[i]; });
  auto const b = from_function<double, Dim<I, X>, Dim<J, Y>>(mesh, {n, n},
                                                             [](auto, auto j) { return given[j]; });
  for (bool const equal_nan : {false, true})
    for (auto const& [rtol, atol] :
         std::vector<std::array<double, 2>>{{1e-5, 1e-8}, {0, 0}, {0, 1e-8}, {1e-3, 0}, {inf, 0}}) {
      auto const got = to_host(isclose(a, b, rtol, atol, equal_nan));
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          INFO(given[i] << " and " << given[j] << " within " << rtol << ", " << atol);
          bool const zero_by_inf = std::isinf(rtol) && given[j] == 0;  // 0 * inf is NaN
          if (!zero_by_inf)
            CHECK((got[static_cast<std::size_t>(i * n + j)] != 0) ==
                  close(given[i], given[j], rtol, atol, equal_nan));
        }
    }
  // integers whose difference overflows, complex numbers, bools
  constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  auto const ints = from_function<std::int32_t, Dim<I, X>>(mesh, {3}, [](auto i) {
    return i == 0 ? least : i == 1 ? most : 100000;
  });
  CHECK(to_host(isclose(ints, most)) == std::vector<std::uint8_t>{0, 1, 0});
  CHECK(to_host(isclose(ints, least, 2.0)) == std::vector<std::uint8_t>{1, 1, 1});
  CHECK(to_host(isclose(ints, 100001)) == std::vector<std::uint8_t>{0, 0, 1});
  CHECK(to_host(isclose(ints, 100002)) == std::vector<std::uint8_t>{0, 0, 0});
  auto const big = from_function<std::int64_t, Dim<I, X>>(
      mesh, {2}, [](auto i) { return (std::int64_t{1} << 60) + i; });
  CHECK(to_host(isclose(big, std::int64_t{1} << 60, 0, 0)) == std::vector<std::uint8_t>{1, 0});
  using C = Kokkos::complex<float>;
  auto const z = from_function<C, Dim<I, X>>(
      mesh, {2}, [](auto i) { return C(3, i == 0 ? 4 : static_cast<float>(inf)); });
  CHECK(to_host(isclose(z, C(3, 4.00003F), 1e-5, 0)) == std::vector<std::uint8_t>{1, 0});
  CHECK(to_host(isclose(z, C(3, 4.00008F), 1e-5, 0)) == std::vector<std::uint8_t>{0, 0});
  CHECK(to_host(isclose(ints > 0, true)) == std::vector<std::uint8_t>{0, 1, 1});
}

// Compares a tensor with a copy in which one element differs, for several positions of it, and with
// no difference.
template <class... A, class... B, class M>
void check_pair(M const& mesh, Tensor<double, A...> const*, Tensor<double, B...> const*,
                std::array<std::int64_t, 2> const& n) {
  auto const value = [](auto i, auto j) { return 1.0 + static_cast<double>(i * 7 + j * 3); };
  auto const a = from_function<double, A...>(mesh, n, value);
  for (std::int64_t const at :
       {std::int64_t{-1}, std::int64_t{0}, n[0] * n[1] / 2, n[0] * n[1] - 1}) {
    bool const differs = at >= 0 && at < n[0] * n[1];
    for (double const by : {1e-7, 1e-3}) {
      auto const b = reshard<B...>(from_function<double, A...>(mesh, n, [&](auto i, auto j) {
        return i * n[1] + j == at ? value(i, j) * (1 + by) : value(i, j);
      }));
      INFO("extents " << n[0] << " " << n[1] << ", element " << at);
      CHECK(asked([&] { return allclose(a, b); }) == (!differs || by < 1e-5));
      CHECK(asked([&] { return allclose(b, a, 1e-2); }));
      CHECK(asked([&] { return array_equal(a, b); }) == !differs);
      CHECK(asked([&] { return array_equal(a * 2 - a, b); }) == !differs);
    }
  }
}

TEST_CASE("allclose and array_equal of split tensors: one byte is reduced") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::array<std::int64_t, 2> const& n :
       {std::array<std::int64_t, 2>{5, 7}, {1, 1}, {3, 0}, {0, 2}, {1, 33}}) {
    using Whole = Tensor<double, Dim<I>, Dim<J>>;
    using Rows = Tensor<double, Dim<I, X>, Dim<J>>;
    using Both = Tensor<double, Dim<I, X>, Dim<J, Y>>;
    using Deep = Tensor<double, Dim<I>, Dim<J, Y, X>>;
    using BlockCyclic = Tensor<double, Dim<I, Cyclic<X, 2>>, Dim<J>>;
    check_pair(mesh, static_cast<Whole const*>(nullptr), static_cast<Whole const*>(nullptr), n);
    check_pair(mesh, static_cast<Rows const*>(nullptr), static_cast<Rows const*>(nullptr), n);
    check_pair(mesh, static_cast<Both const*>(nullptr), static_cast<Rows const*>(nullptr), n);
    check_pair(mesh, static_cast<Deep const*>(nullptr), static_cast<Deep const*>(nullptr), n);
    check_pair(mesh, static_cast<BlockCyclic const*>(nullptr), static_cast<Whole const*>(nullptr),
               n);
    using Turned = Tensor<double, Dim<J, Y>, Dim<I>>;
    check_pair(mesh, static_cast<Both const*>(nullptr), static_cast<Turned const*>(nullptr), n);
  }
  auto const a = from_function<float, Dim<I, X>>(
      mesh, {6}, [](auto i) { return i == 4 ? static_cast<float>(nan) : static_cast<float>(i); });
  CHECK(!asked([&] { return allclose(a, a); }));
  CHECK(asked([&] { return allclose(a, a, 0, 0, true); }));
  CHECK(!asked([&] { return array_equal(a, a); }));
  CHECK(asked([&] { return array_equal(a, a, true); }));
  CHECK(!asked([&] { return allclose(a, 0, 10, 10); }));
  CHECK(asked([&] { return array_equal(a * 0, 0 * a, true); }));
  // numbers, broadcast rows, reduced tensors, tensors without dims
  auto const b = from_function<float, Dim<I, X>, Dim<J, Y>>(
      mesh, {6, 5}, [](auto i, auto) { return static_cast<float>(i); });
  auto const row = arange<float, Dim<I>>(mesh, 6);
  CHECK(asked([&] { return array_equal(b, row); }));
  CHECK(asked([&] { return array_equal(row, reshard<Dim<I, X>>(row)); }));
  CHECK(asked([&] { return allclose(reduced<Y>(row), row); }));
  CHECK(asked([&] { return allclose(b * 0 + 1, 1); }));
  CHECK(!asked([&] { return allclose(1, b); }));
  CHECK(asked([&] { return array_equal(sum<Tensor<float>>(row), 15); }, 1));
  // another extent: unequal, without a comparison of elements
  auto const shorter = arange<float, Dim<I, X>>(mesh, 5);
  CHECK(!asked([&] { return array_equal(a, shorter); }, 0));
  CHECK(!asked([&] { return array_equal(a + 1, shorter + shorter); }, 0));
  CHECK(on_ranks::code_of([&] { static_cast<void>(allclose(a, shorter)); }) == "E24");
}

// Ranks whose copies of a value differ still get one answer.
TEST_CASE("all ranks get one answer, also where copies differ") {
  Mesh<X> const mesh(MPI_COMM_WORLD, {on_ranks::rank_total()});
  auto a = zeros<float, Dim<I>>(mesh, {3});
  harness::write_block(a, [&](auto const& block) {
    if (on_ranks::my_rank() == on_ranks::rank_total() - 1) block(2) = 1;
  });
  CHECK(!asked([&] { return array_equal(a, 0); }));
}

}  // namespace
