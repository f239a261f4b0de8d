// Elementwise operations, reductions and pending reductions on ranks, compared with the dense
// value, for many shardings; uneven, empty and single extents; the shim counts the bytes.
// SOURCES: tests/shim/pmpi.cpp
// TIMEOUT: 300
#include <algorithm>
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
struct K : Index<"K"> {};
using OnMesh = Mesh<X, Y>;

std::vector<std::array<std::int64_t, 2>> const sizes = {{5, 3}, {1, 1},   {0, 4},
                                                        {7, 0}, {13, 11}, {8, 6}};

double left(std::int64_t i, std::int64_t j) {
  return static_cast<double>((i * 7 + j * 3) % 11 - 5);
}
double right(std::int64_t i, std::int64_t j) {
  return static_cast<double>((i * 5 + j * 2) % 7 - 3);
}

/// The number of elements of `a` that are not `f(i, j)`; all ranks compare all elements.
template <class A, class F>
int wrong(A const& a, std::array<std::int64_t, 2> n, F f, double tolerance = 0) {
  auto const all = to_host(a);
  int bad = static_cast<std::int64_t>(all.size()) == n[0] * n[1] ? 0 : 1;
  for (std::int64_t i = 0; bad == 0 && i < n[0]; ++i)
    for (std::int64_t j = 0; j < n[1]; ++j) {
      double const got = static_cast<double>(all[static_cast<std::size_t>(i * n[1] + j)]);
      double const wanted = static_cast<double>(f(i, j));
      bool const same = (std::isnan(got) && std::isnan(wanted)) || got == wanted ||
                        std::abs(got - wanted) <= tolerance * (1 + std::abs(wanted));
      bad += same ? 0 : 1;
    }
  return bad;
}
template <class A>
double one_value(A const& a) {
  return static_cast<double>(item(a));
}

/// The operands with given extents on one mesh, for one pair of shardings.
struct SquareLess {
  template <class T>
  KOKKOS_INLINE_FUNCTION auto operator()(T x, T y) const {
    return x * x - y;
  }
};

template <class A, class B>
void operators(OnMesh const& mesh, std::array<std::int64_t, 2> n) {
  using T = typename A::element;
  auto const a = from_function<A>(mesh, n, left);
  auto const b = [&] {
    if constexpr (B::rank == 2) {
      return from_function<B>(mesh, n, right);
    } else {
      return from_function<B>(mesh, {n[1]}, [](std::int64_t j) { return right(3, j); });
    }
  }();
  auto const r = [](std::int64_t i, std::int64_t j) {
    return B::rank == 2 ? right(i, j) : right(3, j);
  };
  shim::reset();
  auto const linear = (a * b + T(2) * a - b).tensor();
  auto const chosen = where(a > b, a, -b).tensor();
  auto const extremes = (max(a, b) * min(b, a)).tensor();
  auto const mapped = map(SquareLess(), a, b).tensor();
  CHECK(shim::bytes() == 0);
  CHECK(wrong(linear, n, [&](auto i, auto j) {
          return left(i, j) * r(i, j) + 2 * left(i, j) - r(i, j);
        }) == 0);
  CHECK(wrong(chosen, n,
              [&](auto i, auto j) { return left(i, j) > r(i, j) ? left(i, j) : -r(i, j); }) == 0);
  CHECK(wrong(extremes, n, [&](auto i, auto j) { return left(i, j) * r(i, j); }) == 0);
  CHECK(wrong(mapped, n, [&](auto i, auto j) { return left(i, j) * left(i, j) - r(i, j); }) == 0);
}

template <class A>
void reductions_of(OnMesh const& mesh, std::array<std::int64_t, 2> n) {
  using T = typename A::element;
  auto const a = from_function<A>(mesh, n, left);
  auto const over_rows = [&](std::int64_t j) {
    double s = 0;
    for (std::int64_t i = 0; i < n[0]; ++i) s += left(i, j);
    return s;
  };
  std::array<std::int64_t, 2> const rows{1, n[1]};
  shim::reset();
  auto const unreduced = sum<I>(a);
  CHECK(shim::bytes() == 0);
  CHECK(wrong(reshard<Dim<J>>(unreduced), rows, [&](auto, auto j) { return over_rows(j); }) == 0);
  CHECK(wrong(sum<Dim<J>>(a), rows, [&](auto, auto j) { return over_rows(j); }) == 0);
  CHECK(wrong(sum<Dim<J, Y>>(a), rows, [&](auto, auto j) { return over_rows(j); }) == 0);
  double total = 0;
  double squares = 0;
  std::int64_t positive = 0;
  for (std::int64_t j = 0; j < n[1]; ++j)
    for (std::int64_t i = 0; i < n[0]; ++i) {
      total += left(i, j);
      squares += left(i, j) * left(i, j);
      positive += left(i, j) > 0 ? 1 : 0;
    }
  CHECK(one_value(sum<Tensor<T>>(a)) == total);
  CHECK(one_value(sum<Tensor<T>>(a * a)) == squares);
  CHECK(one_value(sum<Tensor<std::int64_t>>(a > 0)) == static_cast<double>(positive));
  CHECK(one_value(any<Tensor<bool>>(a > 0)) == (positive > 0 ? 1 : 0));
  CHECK(one_value(all<Tensor<bool>>(a > 0)) == (positive == n[0] * n[1] ? 1 : 0));
  if (n[0] > 0) {
    CHECK(wrong(max<Dim<J>>(a), rows, [&](auto, auto j) {
            double m = -100;
            for (std::int64_t i = 0; i < n[0]; ++i) m = std::max(m, left(i, j));
            return m;
          }) == 0);
    CHECK(wrong(argmin<Dim<J>>(a), rows, [&](auto, auto j) {
            std::int64_t at = 0;
            for (std::int64_t i = 1; i < n[0]; ++i)
              if (left(i, j) < left(at, j)) at = i;
            return at;
          }) == 0);
    CHECK(wrong(
              mean<Dim<J>>(cast<double>(a)), rows,
              [&](auto, auto j) { return over_rows(j) / static_cast<double>(n[0]); }, 1e-15) == 0);
    CHECK(wrong(
              prod<Dim<J>>(cast<double>(a)), rows,
              [&](auto, auto j) {
                double p = 1;
                for (std::int64_t i = 0; i < n[0]; ++i) p *= left(i, j);
                return p;
              },
              1e-12) == 0);
  }
}

template <class Visit>
void everywhere(Visit visit) {
  for (auto const& grid : on_ranks::grids()) {
    OnMesh const mesh(MPI_COMM_WORLD, grid);
    for (auto const& n : sizes) {
      CAPTURE(grid[0], grid[1], n[0], n[1]);
      visit(mesh, n);
    }
  }
}

}  // namespace

TEST_CASE("operators of two tensors, whatever their shardings") {
  everywhere([](OnMesh const& mesh, std::array<std::int64_t, 2> n) {
    operators<Tensor<float, Dim<I, X>, Dim<J, Y>>, Tensor<float, Dim<I>, Dim<J>>>(mesh, n);
    operators<Tensor<float, Dim<I, X>, Dim<J>>, Tensor<float, Dim<J>>>(mesh, n);
    operators<Tensor<double, Dim<I>, Dim<J, Y, X>>, Tensor<double, Dim<J, Y>>>(mesh, n);
    operators<Tensor<std::int64_t, Dim<I, X, Y>, Dim<J>>, Tensor<std::int64_t, Dim<I, X>, Dim<J>>>(
        mesh, n);
    operators<Tensor<std::int32_t, Dim<I, Y>, Dim<J>>, Tensor<std::int32_t, Dim<J, X>>>(mesh, n);
  });
}

TEST_CASE("where of a C++ bool chooses one of two tensors") {
  everywhere([](OnMesh const& mesh, std::array<std::int64_t, 2> n) {
    auto const a = from_function<float, Dim<I, X>, Dim<J, Y>>(mesh, n, left);
    auto const b = from_function<float, Dim<I, X>, Dim<J, Y>>(mesh, n, right);
    for (bool const first : {true, false}) {
      auto const chosen = [&](std::int64_t i, std::int64_t j) {
        return first ? left(i, j) : right(i, j);
      };
      CHECK(wrong(where(first, a, b), n, chosen) == 0);
      CHECK(wrong(where(first, a + 1, b * 2) * 3, n, [&](std::int64_t i, std::int64_t j) {
              return first ? 3 * left(i, j) + 3 : 6 * right(i, j);
            }) == 0);
      CHECK(wrong(where(first, a, 2), n,
                  [&](std::int64_t i, std::int64_t j) { return first ? left(i, j) : 2; }) == 0);
      CHECK(wrong(map<Dim<I>, Dim<J>>(functions::Where{}, first, a, b), n, chosen) == 0);
      CHECK(wrong(evaluate<Dim<I, X>, Dim<J>>(mesh, where(first, lazy(a), b)), n, chosen) == 0);
      CHECK(wrong(shard_map<Dim<I>, Dim<J>>(
                      [&](auto const& u, auto const& v) { return where(first, u, v); },
                      all_gather<X, Y>(a), all_gather<X, Y>(b)),
                  n, chosen) == 0);
      auto const unreduced = where(first, to_partial<X>(all_gather<X>(a)), op::zero).tensor();
      CHECK(wrong(all_reduce<X>(unreduced), n,
                  [&](std::int64_t i, std::int64_t j) { return first ? left(i, j) : 0; }) == 0);
    }
  });
}

TEST_CASE("operands with dims in another order") {
  everywhere([](OnMesh const& mesh, std::array<std::int64_t, 2> small) {
    auto const check = [&](std::array<std::int64_t, 2> n) {
      auto const a = from_function<float, Dim<I, X>, Dim<J, Y>>(mesh, n, left);
      auto const t = from_function<float, Dim<J, Y>, Dim<I>>(
          mesh, {n[1], n[0]}, [](auto j, auto i) { return right(i, j); });
      CHECK(wrong(a - t, n, [](auto i, auto j) { return left(i, j) - right(i, j); }) == 0);
    };
    check(small);
    // blocks beyond one tile
    if (small == sizes.front()) check({167, 250});
  });
}

TEST_CASE("reductions, whatever the sharding") {
  everywhere([](OnMesh const& mesh, std::array<std::int64_t, 2> n) {
    reductions_of<Tensor<float, Dim<I, X>, Dim<J, Y>>>(mesh, n);
    reductions_of<Tensor<double, Dim<I, Y, X>, Dim<J>>>(mesh, n);
    reductions_of<Tensor<std::int64_t, Dim<I>, Dim<J, X>>>(mesh, n);
    reductions_of<Tensor<std::int32_t, Dim<I>, Dim<J>>>(mesh, n);
  });
}

TEST_CASE("sums that are unreduced go through linear functions, and nothing is sent") {
  everywhere([](OnMesh const& mesh, std::array<std::int64_t, 2> n) {
    auto const a = from_function<float, Dim<I, X>, Dim<J>, Dim<K, Y>>(
        mesh, {n[0], n[1], 5}, [](auto i, auto j, auto k) { return left(i, j) + right(j, k); });
    auto const w = from_function<float, Dim<J>>(mesh, {n[1]}, [](auto j) { return right(j, 1); });
    auto const p = from_function<bool, Dim<I, X>>(mesh, {n[0]}, [](auto i) { return i % 3 != 0; });
    auto const whole = from_function<float, Dim<I, X>, Dim<J>>(mesh, n, left);
    shim::reset();
    auto const u = sum<K>(a);
    static_assert(
        std::is_same_v<decltype(u), Tensor<float, Dim<I, X>, Dim<J>, Unreduced<Y>> const>);
    auto const v = (where(p, -u * w, op::zero) + u * 2 - u / 4 + to_partial<Y>(whole)).tensor();
    CHECK(shim::bytes() == 0);
    auto const dense = [](std::int64_t i, std::int64_t j) {
      double s = 0;
      for (std::int64_t k = 0; k < 5; ++k) s += left(i, j) + right(j, k);
      return (i % 3 != 0 ? -s * right(j, 1) : 0) + s * 2 - s / 4 + left(i, j);
    };
    CHECK(wrong(all_reduce<Y>(v), n, dense, 1e-5) == 0);
    CHECK(wrong(reduce_scatter<Y, J>(v), n, dense, 1e-5) == 0);
    // to_partial pads each block with zeros; two axes of one dim in either order
    auto const twice = reshard<Dim<I, X, Y>, Dim<J>>(whole);
    CHECK(wrong(all_reduce<X, Y>(to_partial<X, Y>(twice)), n, left) == 0);
    CHECK(wrong(all_reduce<X, Y>(to_partial<Y, X>(twice)), n, left) == 0);
    CHECK(wrong(all_reduce<X>(to_partial<X>(whole)), n, left) == 0);
  });
}

TEST_CASE("maxima that are unreduced go through max") {
  everywhere([](OnMesh const& mesh, std::array<std::int64_t, 2> n) {
    auto const a = from_function<float, Dim<I>, Dim<J, X>, Dim<K, Y>>(
        mesh, {n[0], n[1], 5}, [](auto i, auto j, auto k) { return left(i, j) * right(j, k); });
    auto const b = from_function<float, Dim<I>, Dim<J, X>>(mesh, n, right);
    auto const m = (max(max<K>(a), b)).tensor();
    static_assert(std::is_same_v<std::remove_cv_t<decltype(m)>,
                                 Tensor<float, Dim<I>, Dim<J, X>, Unreduced<Max, Y>>>);
    CHECK(wrong(all_reduce<Y>(m), n, [](auto i, auto j) {
            double best = right(i, j);
            for (std::int64_t k = 0; k < 5; ++k) best = std::max(best, left(i, j) * right(j, k));
            return best;
          }) == 0);
  });
}

TEST_CASE("a named result moves nothing where slicing is enough, and reshards where it is not") {
  everywhere([](OnMesh const& mesh, std::array<std::int64_t, 2> n) {
    auto const a = from_function<float, Dim<I, X>>(mesh, {n[0]}, [](auto i) { return left(i, 2); });
    auto const b =
        from_function<float, Dim<J, Y>>(mesh, {n[1]}, [](auto j) { return right(1, j); });
    shim::reset();
    auto const outer = map<Dim<I, X>, Dim<J, Y>>(functions::Add{}, a, b);
    auto const scalar = map<Dim<I, X, Y>>(functions::Multiply{}, a, 3);
    CHECK(shim::bytes() == 0);
    CHECK(wrong(outer, n, [](auto i, auto j) { return left(i, 2) + right(1, j); }) == 0);
    CHECK(wrong(scalar, {n[0], 1}, [](auto i, auto) { return 3 * left(i, 2); }) == 0);
    auto const c =
        from_function<float, Dim<I, Y>>(mesh, {n[0]}, [](auto i) { return right(i, 1); });
    CHECK(wrong(map<Dim<I>>(functions::Add{}, a, c), {n[0], 1},
                [](auto i, auto) { return left(i, 2) + right(i, 1); }) == 0);
    auto const unreduced = to_partial<Y>(a);
    CHECK(wrong(map<Dim<I, X>>(functions::Square{}, unreduced), {n[0], 1},
                [](auto i, auto) { return left(i, 2) * left(i, 2); }) == 0);
  });
}

TEST_CASE("in place, and writes under an expression") {
  everywhere([](OnMesh const& mesh, std::array<std::int64_t, 2> n) {
    auto a = from_function<float, Dim<I, X>, Dim<J, Y>>(mesh, n, left);
    auto const b = from_function<float, Dim<J>>(mesh, {n[1]}, [](auto j) { return right(1, j); });
    auto const before = a.buffer().data();
    a += b;
    a *= 2;
    a -= a * b;
    CHECK(a.buffer().data() == before);
    CHECK(wrong(a, n, [](auto i, auto j) {
            double const v = 2 * (left(i, j) + right(1, j));
            return v - v * right(1, j);
          }) == 0);
    auto e = a + 1;
    CHECK_THROWS_AS(a += 1, Error);  // e still reads a
    static_cast<void>(e.tensor());
    CHECK_NOTHROW(a += 1);
    CHECK(wrong(a - e, n, [](auto, auto) { return 0; }) == 0);
    auto const other = from_function<float, Dim<J>>(mesh, {n[1] + 1}, [](auto) { return 0; });
    CHECK_THROWS_AS((a + other).tensor(), Error);
  });
}

TEST_CASE("an expression is an operand of every other operation") {
  everywhere([](OnMesh const& mesh, std::array<std::int64_t, 2> n) {
    auto const a = from_function<float, Dim<I, X>, Dim<J>>(mesh, n, left);
    std::array<std::int64_t, 2> const turned{n[1], n[0]};
    CHECK(wrong(transpose<J, I>(a + 1), turned, [](auto j, auto i) { return left(i, j) + 1; }) ==
          0);
    CHECK(wrong(concat<J>(a, a * 2), {n[0], 2 * n[1]}, [&](auto i, auto j) {
            return j < n[1] ? left(i, j) : 2 * left(i, j - n[1]);
          }) == 0);
    CHECK(wrong(shift<I>(-a, 1), n, [](auto i, auto j) { return i == 0 ? 0 : -left(i - 1, j); }) ==
          0);
    CHECK(halo_exchange<I>(a * 2, 1, 0).local_extents()[1] == n[1]);
    CHECK(wrong(transfer<Dim<I, X>, Dim<J, Y>>(a * 3, mesh), n,
                [](auto i, auto j) { return 3 * left(i, j); }) == 0);
    CHECK(wrong(reshard<Dim<I>, Dim<J, X>>(a - 1), n,
                [](auto i, auto j) { return left(i, j) - 1; }) == 0);
    auto const b = from_function<float, Dim<J>, Dim<K>>(mesh, {n[1], 2}, right);
    CHECK(wrong(matmul(a * 2, b - 1), {n[0], 2}, [&](auto i, auto k) {
            double s = 0;
            for (std::int64_t j = 0; j < n[1]; ++j) s += 2 * left(i, j) * (right(j, k) - 1);
            return s;
          }) == 0);
  });
}

TEST_CASE("reductions compute an expression while they read it, or one that has a name before") {
  everywhere([](OnMesh const& mesh, std::array<std::int64_t, 2> n) {
    auto const a = from_function<float, Dim<I, X>, Dim<J, Y>>(mesh, n, left);
    auto const b = from_function<float, Dim<I, X>, Dim<J, Y>>(mesh, n, right);
    auto const w = from_function<float, Dim<J>>(mesh, {n[1]}, [](auto j) { return right(1, j); });
    std::array<std::int64_t, 2> const rows{n[0], 1};
    auto const over = [&](auto f) {
      return [=](std::int64_t i, std::int64_t) {
        double s = 0;
        for (std::int64_t j = 0; j < n[1]; ++j) s += f(i, j);
        return s;
      };
    };
    auto const product = over([](auto i, auto j) { return 2 * left(i, j) * right(i, j); });
    CHECK(wrong(sum<Dim<I>>(2 * a * b), rows, product) == 0);
    CHECK(wrong(sum<Dim<I, X>>(a * b * 2), rows, product) == 0);
    CHECK(wrong(all_reduce<Y>(sum<J>(a * b + b * a)), rows, product) == 0);
    CHECK(wrong(sum<Dim<I>>(a * w), rows,  // w has another sharding
                over([](auto i, auto j) { return left(i, j) * right(1, j); })) == 0);
    CHECK(wrong(
              norm<Dim<I>>(a - b), rows,
              [&](auto i, auto j) {
                return std::sqrt(over([](auto i1, auto j1) {
                  return (left(i1, j1) - right(i1, j1)) * (left(i1, j1) - right(i1, j1));
                })(i, j));
              },
              1e-6) == 0);
    auto e = a * b * 2;
    CHECK(wrong(sum<Dim<I>>(e), rows, product) == 0);
    CHECK(e.computed());
    CHECK(wrong(sum<Dim<I>>(std::move(e)), rows, product) == 0);
    auto const longer = from_function<float, Dim<I, X>, Dim<J, Y>>(mesh, {n[0], n[1] + 1}, left);
    CHECK_THROWS_AS(sum<Dim<I>>(a * longer), Error);
  });
}

TEST_CASE("functions of one tensor") {
  OnMesh const mesh(MPI_COMM_WORLD, on_ranks::grids()[0]);
  std::array<std::int64_t, 2> const n{9, 7};
  auto const a = from_function<double, Dim<I, X>, Dim<J, Y>>(
      mesh, n, [](auto i, auto j) { return 0.13 * left(i, j) + 0.01; });
  auto const check = [&](auto const& got, double (*f)(double)) {
    CHECK(wrong(got, n, [&](auto i, auto j) { return f(0.13 * left(i, j) + 0.01); }, 1e-15) == 0);
  };
  check(exp(a), [](double x) { return std::exp(x); });
  check(expm1(a), [](double x) { return std::expm1(x); });
  check(log(a), [](double x) { return std::log(x); });
  check(log1p(a), [](double x) { return std::log1p(x); });
  check(log2(a), [](double x) { return std::log2(x); });
  check(log10(a), [](double x) { return std::log10(x); });
  check(exp2(a), [](double x) { return std::exp2(x); });
  check(rsqrt(a), [](double x) { return 1 / std::sqrt(x); });
  check(sqrt(a), [](double x) { return std::sqrt(x); });
  check(sin(a), [](double x) { return std::sin(x); });
  check(cos(a), [](double x) { return std::cos(x); });
  check(tan(a), [](double x) { return std::tan(x); });
  check(asin(a), [](double x) { return std::asin(x); });
  check(acos(a), [](double x) { return std::acos(x); });
  check(atan(a), [](double x) { return std::atan(x); });
  check(sinh(a), [](double x) { return std::sinh(x); });
  check(cosh(a), [](double x) { return std::cosh(x); });
  check(tanh(a), [](double x) { return std::tanh(x); });
  check(erf(a), [](double x) { return std::erf(x); });
  check(erfc(a), [](double x) { return std::erfc(x); });
  check(cbrt(a), [](double x) { return std::cbrt(x); });
  check(floor(a * 10), [](double x) { return std::floor(x * 10); });
  check(ceil(a * 10), [](double x) { return std::ceil(x * 10); });
  check(round(a * 50), [](double x) { return std::nearbyint(x * 50); });
  check(abs(a), [](double x) { return std::abs(x); });
  check(sign(a), [](double x) { return static_cast<double>((x > 0) - (x < 0)); });
  check(square(a), [](double x) { return x * x; });
  check(pow(a, 3.0), [](double x) { return std::pow(x, 3.0); });
  check(atan2(a, 2.0), [](double x) { return std::atan2(x, 2.0); });
  check(logaddexp(a, 0.25), [](double x) { return std::log(std::exp(x) + std::exp(0.25)); });
  check(logaddexp(a * 2000, 1000.0) - 1000, [](double x) {
    double const more = 2000 * x - 1000;
    return more > 0 ? more + std::log1p(std::exp(-more)) : std::log1p(std::exp(more));
  });
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  check(logaddexp(a * 0 + infinity, infinity), [](double) { return infinity; });
  check(logaddexp(a * 0 - infinity, -infinity), [](double) { return -infinity; });
  check(logaddexp(a, -infinity), [](double x) { return x; });
  check(a % 0.25, [](double x) { return x - std::floor(x / 0.25) * 0.25; });
  check(cast<std::int32_t>(a * 10),
        [](double x) { return static_cast<double>(static_cast<int>(x * 10)); });
  check(isnan(log(a)), [](double x) { return x < 0 ? 1.0 : 0.0; });
  check(isfinite(1 / (a - 0.01)), [](double x) { return x - 0.01 == 0 ? 0.0 : 1.0; });
  check(!(a > 0) || a == 0.01, [](double x) { return x <= 0 || x == 0.01 ? 1.0 : 0.0; });
  using C = Kokkos::complex<double>;
  auto const z = cast<C>(a) * C(0, 2) + C(1, 0);
  check(real(z), [](double) { return 1.0; });
  auto const again = cast<C>(a) * C(0, 2) + C(1, 0);
  check(imag(conj(again)), [](double x) { return -2 * x; });
  check(abs(cast<C>(a) * C(3, 4)), [](double x) { return 5 * std::abs(x); });
  auto const nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isnan(one_value(max<Tensor<double>>(where(a > 0.5, nan, a)))));
}

TEST_CASE(
    "functions of complex numbers: large, small, and on the cuts; points in "
    "unit.complex_functions") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using Z = Kokkos::complex<double>;
  using Zf = Kokkos::complex<float>;
  auto at = [&]<class T>(T const& z) { return full<T, Dim<I, X>>(mesh, {3}, z); };
  auto near = [&](auto const& e, double re, double im) {
    for (auto const& got : to_host(e)) {
      CHECK(std::abs(static_cast<double>(got.real()) - re) <= 1e-7 * std::abs(re));
      CHECK(std::abs(static_cast<double>(got.imag()) - im) <= 1e-7 * std::abs(im));
    }
  };
  near(tanh(at(Z(800, 0))), 1, 0);
  near(tan(at(Z(0, 800))), 0, 1);
  near(acos(at(Z(2, 0))), 0, -1.3169578969248166);
  near(asin(at(Z(2, 0))), 1.5707963267948966, 1.3169578969248166);
  near(sqrt(at(Z(-2, -0.0))), 0, -1.4142135623730951);
  near(atan(at(Zf(0, 1e-5F))), 0, 1e-5);
  near(asin(at(Zf(0, 1e-5F))), 0, 1e-5);
  near(atan(at(Z(0, 1e200))), 1.5707963267948966, 1e-200);
  near(asin(at(Z(1, 1e308))), 1e-308, 709.88935561837);
  near(at(Z(1, 1)) / at(Z(1e308, 1e308)), 1e-308, 0);
  near(Z(1, 1) / at(Z(1e308, 1e308)), 1e-308, 0);
}
