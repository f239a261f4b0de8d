// Named reductions over split dims whose result is no sum, maximum or minimum of local results:
// norms, logsumexp, products and indices. The values are compared with the dense value, the bytes
// with the plan, which sends as much as the result has.
// SOURCES: tests/shim/pmpi.cpp
// TIMEOUT: 300
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
using namespace shardtype::runtime;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using OnMesh = Mesh<X, Y>;
using Grid = std::array<std::int64_t, 2>;
using Three = std::array<std::int64_t, 3>;
double const inf = std::numeric_limits<double>::infinity();
double const no_number = std::numeric_limits<double>::quiet_NaN();

std::vector<Three> const sizes = {{5, 3, 4}, {1, 1, 1},  {0, 4, 2},
                                  {3, 0, 2}, {7, 13, 2}, {2, 8, 33}};

template <class T>
T element(std::int64_t i, std::int64_t j, std::int64_t k) {
  auto const v = static_cast<double>((i * 7 + j * 3 + k * 5) % 11 - 5) / 4;
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(v * 4);
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(v);
  } else {
    return T(static_cast<typename T::value_type>(v),
             static_cast<typename T::value_type>((i + 2 * j) % 3));
  }
}
template <class T>
double size_of(T const& x) {
  if constexpr (std::is_arithmetic_v<T>) {
    return std::abs(static_cast<double>(x));
  } else {
    return std::hypot(static_cast<double>(x.real()), static_cast<double>(x.imag()));
  }
}
bool near(double a, double b, double tolerance) {
  return (std::isnan(a) && std::isnan(b)) || a == b ||
         std::abs(a - b) <= tolerance * (1 + std::abs(b));
}

/// The number of elements of `a`, whose dims are I and K, that are not `f(i, k)`.
template <class A, class F>
int wrong(A const& a, Three n, F f, double tolerance = 0) {
  auto const all = to_host(a);
  int bad = static_cast<std::int64_t>(all.size()) == n[0] * n[2] ? 0 : 1;
  for (std::int64_t i = 0; bad == 0 && i < n[0]; ++i)
    for (std::int64_t k = 0; k < n[2]; ++k)
      bad +=
          near(static_cast<double>(all[static_cast<std::size_t>(i * n[2] + k)]), f(i, k), tolerance)
              ? 0
              : 1;
  return bad;
}

/// Checks that the shim's bytes in `body` equal those of the plan of `Op` for operand `A`.
template <class Op, class A, class Body>
auto as_planned(Op op, OnMesh const& mesh, A const& a, Body body) {
  using R = Resolve<Op, A>;
  AxisMap const axes = map_axes(mesh.state(), R::S::names);
  Sizing z{R::S::names.extents(), axes.sizes, 0};
  for (int d = 0; d < A::spec.rank; ++d)
    z.extents.at[R::given.dims[d].label] = a.extents()[static_cast<std::size_t>(d)];
  auto const plans = plan(op, type<A>);
  std::array<std::int64_t, max_dims> extents{};
  for (int l = 0; l < max_dims; ++l) extents[static_cast<std::size_t>(l)] = z.extents[l];
  std::array<std::int64_t, max_axes> along{};
  for (int x = 0; x < max_axes; ++x) along[static_cast<std::size_t>(x)] = axes.sizes[x];
  Plan const p = plans.at(extents, along);
  std::int64_t result = R::bytes;
  for (int d = 0; d < p.result.rank; ++d) result *= z.extents[p.result.dims[d].label];
  CHECK(p.bytes(axes.coords) <= 3 * result);
  shim::reset();
  auto const out = body();
  CHECK(shim::bytes() == p.bytes(axes.coords));
  return out;
}

template <class A, class... Out>
void norms_of(OnMesh const& mesh, Three n) {
  using T = typename A::element;
  double const eps = sizeof(shardtype::detail::real_of<T>) == 4 ? 1e-6 : 1e-14;
  auto const a = from_function<A>(mesh, n, element<T>);
  auto const over_j = [&](auto f) {
    return [=](std::int64_t i, std::int64_t k) {
      double s = 0;
      for (std::int64_t j = 0; j < n[1]; ++j) s = f(s, element<T>(i, j, k));
      return s;
    };
  };
  auto const squares = over_j([](double s, T x) { return s + size_of(x) * size_of(x); });
  CHECK(wrong(
            as_planned(op::Norm<Out...>{}, mesh, a, [&] { return norm<Out...>(a); }), n,
            [&](auto i, auto k) { return std::sqrt(squares(i, k)); }, eps) == 0);
  CHECK(wrong(norm_1<Out...>(a), n, over_j([](double s, T x) { return s + size_of(x); }), eps) ==
        0);
  CHECK(wrong(norm_inf<Out...>(a), n, over_j([](double s, T x) { return std::max(s, size_of(x)); }),
              eps) == 0);
  if constexpr (std::is_floating_point_v<T>) {
    auto const exponentials = over_j([](double s, T x) { return s + std::exp(double(x)); });
    CHECK(wrong(
              as_planned(op::LogSumExp<Out...>{}, mesh, a, [&] { return logsumexp<Out...>(a); }), n,
              [&](auto i, auto k) { return std::log(exponentials(i, k)); }, eps) == 0);
    CHECK(wrong(
              logsumexp<Out...>(a + T(4000)), n,
              [&](auto i, auto k) { return 4000 + std::log(exponentials(i, k)); }, 100 * eps) == 0);
  }
}

template <class A, class... Out>
void places_of(OnMesh const& mesh, Three n) {
  using T = typename A::element;
  auto const a = from_function<A>(mesh, n, element<T>);
  for (bool const largest : {true, false}) {
    auto const best = [&](std::int64_t i, std::int64_t k) {
      std::int64_t at = n[1] > 0 ? 0 : -1;
      for (std::int64_t j = 1; j < n[1]; ++j)
        if (largest ? element<T>(i, j, k) > element<T>(i, at, k)
                    : element<T>(i, j, k) < element<T>(i, at, k))
          at = j;
      return static_cast<double>(at);
    };
    CHECK(wrong(largest
                    ? as_planned(op::ArgMax<Out...>{}, mesh, a, [&] { return argmax<Out...>(a); })
                    : as_planned(op::ArgMin<Out...>{}, mesh, a, [&] { return argmin<Out...>(a); }),
                n, best) == 0);
  }
  CHECK(wrong(
            as_planned(op::Prod<Out...>{}, mesh, a, [&] { return prod<Out...>(a); }), n,
            [&](auto i, auto k) {
              double p = 1;
              for (std::int64_t j = 0; j < n[1]; ++j) p *= double(element<T>(i, j, k));
              return p;
            },
            1e-6) == 0);
}

template <class Visit>
void everywhere(Visit visit) {
  for (Grid const& grid : on_ranks::grids()) {
    OnMesh const mesh(MPI_COMM_WORLD, grid);
    for (Three const& n : sizes) {
      CAPTURE(grid[0], grid[1], n[0], n[1], n[2]);
      visit(mesh, n);
    }
  }
}

template <class T, class... Parts>
using Cube = Tensor<T, Parts...>;

}  // namespace

TEST_CASE("norms and logsumexp over split dims") {
  everywhere([](OnMesh const& mesh, Three n) {
    norms_of<Cube<float, Dim<I>, Dim<J, X>, Dim<K, Y>>, Dim<I>, Dim<K>>(mesh, n);
    norms_of<Cube<double, Dim<I>, Dim<J, Y, X>, Dim<K>>, Dim<I, X>, Dim<K, Y>>(mesh, n);
    norms_of<Cube<Kokkos::complex<float>, Dim<I, Y>, Dim<J, X>, Dim<K>>, Dim<I, X>, Dim<K>>(mesh,
                                                                                            n);
  });
}

TEST_CASE("products and places over split dims") {
  everywhere([](OnMesh const& mesh, Three n) {
    places_of<Cube<float, Dim<I>, Dim<J, X>, Dim<K, Y>>, Dim<I>, Dim<K>>(mesh, n);
    places_of<Cube<std::int32_t, Dim<I, Y>, Dim<J, X>, Dim<K>>, Dim<I>, Dim<K, X>>(mesh, n);
  });
}

TEST_CASE("places over several labels are those of the whole") {
  everywhere([](OnMesh const& mesh, Three n) {
    auto const a = from_function<float, Dim<J, Y>, Dim<I>, Dim<K, X>>(
        mesh, {n[1], n[0], n[2]}, [](auto j, auto i, auto k) { return element<float>(i, j, k); });
    CHECK(wrong(argmax<Dim<I>>(a), {n[0], 1, 1}, [&](auto i, auto) {
            std::int64_t at = n[1] * n[2] > 0 ? 0 : -1;
            for (std::int64_t p = 1; p < n[1] * n[2]; ++p)
              if (element<float>(i, p / n[2], p % n[2]) > element<float>(i, at / n[2], at % n[2]))
                at = p;
            return static_cast<double>(at);
          }) == 0);
  });
}

TEST_CASE("the strict forms over whole dims") {
  everywhere([](OnMesh const& mesh, Three n) {
    auto const a = from_function<float, Dim<I, X>, Dim<J>, Dim<K>>(mesh, n, element<float>);
    shim::reset();
    auto const two = norm<J>(a);
    auto const logs = logsumexp<J>(a);
    auto const one = norm_1<J>(a);
    CHECK(shim::bytes() == 0);
    CHECK(wrong(two - norm<Dim<I>, Dim<K>>(a), n, [](auto, auto) { return 0; }, 1e-6) == 0);
    CHECK(wrong(one - norm_1<Dim<I>, Dim<K>>(a), n, [](auto, auto) { return 0; }, 1e-6) == 0);
    CHECK(wrong(
              exp(logs) - exp(logsumexp<Dim<I>, Dim<K>>(a)), n, [](auto, auto) { return 0; },
              1e-5) == 0);
    auto const unreduced = norm_1<I>(a);
    static_assert(
        std::is_same_v<decltype(unreduced), Tensor<float, Dim<J>, Dim<K>, Unreduced<X>> const>);
    auto const most = norm_inf<I>(a);
    static_assert(
        std::is_same_v<decltype(most), Tensor<float, Dim<J>, Dim<K>, Unreduced<Max, X>> const>);
  });
}

TEST_CASE("logsumexp of more columns than are computed at once") {
  for (Grid const& grid : on_ranks::grids()) {
    OnMesh const mesh(MPI_COMM_WORLD, grid);
    auto const at = [](std::int64_t i, std::int64_t j) { return double(i * j % 11) / 4; };
    auto const over = [&](std::int64_t j) {
      double sum = 0;
      for (std::int64_t i = 0; i < 9; ++i) sum += std::exp(at(i, j));
      return std::log(sum);
    };
    auto const a = from_function<float, Dim<I, X>, Dim<J>>(mesh, {9, 1301}, at);
    CHECK(wrong(
              logsumexp<Dim<J>>(a), {1301, 1, 1}, [&](auto j, auto) { return over(j); }, 1e-6) ==
          0);
    CHECK(wrong(
              logsumexp<Dim<J>>(a + 1.0F), {1301, 1, 1}, [&](auto j, auto) { return over(j) + 1; },
              1e-6) == 0);
  }
}

TEST_CASE("elements that are far apart, infinite or no numbers") {
  for (Grid const& grid : on_ranks::grids()) {
    OnMesh const mesh(MPI_COMM_WORLD, grid);
    // one case per row
    double const rows[][4] = {{3e30, 4e30, 0, 0},       {3e-30, -4e-30, 0, 0},
                              {-inf, -inf, -inf, -inf}, {1, inf, 2, -inf},
                              {1, no_number, 2, 3},     {no_number, inf, -inf, 0},
                              {-3e38, 88, -inf, 87},    {-500, -501, -502, -1e30},
                              {0.0, -0.0, 0.0, -0.0},   {inf, inf, 0, 0}};
    auto const at = [&](std::int64_t i, std::int64_t j) { return rows[i][j]; };
    auto const a = from_function<float, Dim<I>, Dim<J, X>>(mesh, {10, 4}, at);
    auto const b = from_function<float, Dim<I>, Dim<J, Y>>(mesh, {10, 4}, at);
    auto const check = [&](auto const& got, std::array<double, 10> const& wanted) {
      CHECK(
          wrong(got, {10, 1, 1}, [&](auto i, auto) { return wanted[std::size_t(i)]; }, 1e-6) == 0);
    };

    std::array<double, 10> const norms = {5e30,      5e-30, inf,  inf, no_number,
                                          no_number, inf,   1e30, 0,   inf};
    check(norm<Dim<I>>(a), norms);
    check(norm<Dim<I, X>>(b), norms);
    CHECK(to_host(norm<Dim<I>>(a))[1] == Approx(5e-30F));
    double const close = std::log(1 + std::exp(-1.0));
    double const few = -500 + std::log(1 + std::exp(-1.0) + std::exp(-2.0));
    std::array<double, 10> const logs = {4e30,      std::log(4.0), -inf, inf,           no_number,
                                         no_number, 88 + close,    few,  std::log(4.0), inf};
    check(logsumexp<Dim<I>>(a), logs);
    check(logsumexp<Dim<I, Y>>(b), logs);
    // a NaN counts as the largest and the least element
    std::array<double, 10> const most = {4e30,      3e-30, -inf, inf, no_number,
                                         no_number, 88,    -500, 0,   inf};
    std::array<double, 10> const least = {0,         -4e-30, -inf,  -inf, no_number,
                                          no_number, -inf,   -1e30, 0,    0};
    std::array<double, 10> const first = {1, 0, 0, 1, 1, 0, 1, 0, 0, 0};
    check(max<Dim<I>>(a), most);
    check(max<Dim<I, X>>(b), most);
    check(min<Dim<I>>(a), least);
    check(min<Dim<I, X>>(b), least);
    check(argmax<Dim<I>>(a), first);
    check(argmax<Dim<I, Y>>(b), first);
  }
}

TEST_CASE("long rows") {
  OnMesh const mesh(MPI_COMM_WORLD, on_ranks::grids()[0]);
  std::int64_t const n = 100003;
  auto const a = from_function<float, Dim<J, Y, X>>(
      mesh, {n}, [](auto j) { return static_cast<float>(j % 1000) * 1e-3F; });
  double s = 0;
  double e = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    auto const v = double(static_cast<float>(j % 1000) * 1e-3F);
    s += v * v;
    e += std::exp(v);
  }
  CHECK(item(norm<Tensor<float>>(a)) == Approx(std::sqrt(s)).epsilon(1e-7));
  CHECK(item(logsumexp<Tensor<float>>(a)) == Approx(std::log(e)).epsilon(1e-6));
  CHECK(item(argmax<Tensor<std::int64_t>>(a)) == 999);
}
