// Reproducible sums and norms have the same bits for all numbers of ranks, shardings and orders of
// the terms. They are compared with one pass over the dense data in shuffled order and with
// constants, and their error bound with exact sums.
// SOURCES: tests/shim/pmpi.cpp
// TIMEOUT: 300
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
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
using OnMesh = Mesh<X, Y>;
double const huge = std::numeric_limits<double>::infinity();

std::uint64_t scrambled(std::int64_t i, std::int64_t j) {
  auto x = static_cast<std::uint64_t>(i * 1000003 + j + 1) * 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}
/// In [-1, 1).
double uniform(std::int64_t i, std::int64_t j) {
  return static_cast<double>(static_cast<std::int64_t>(scrambled(i, j))) * 0x1p-63;
}

constexpr std::int64_t rows = 14;
/// The terms of the sums; each row is a hard case of its own.
double term(std::int64_t i, std::int64_t j) {
  double const u = uniform(i, j);
  auto const power = static_cast<int>(scrambled(i + 50, j) % 2001) - 1000;
  switch (i) {
    case 0:
      return u;
    case 1:  // 1e-300 to 1e300
      return std::ldexp(u, power);
    case 2:  // cancels except for a small rest
      return (j % 2 == 0 ? 1 : -1) * std::ldexp(uniform(i, j / 2), 60) + (j % 97 == 0 ? u : 0);
    case 3:  // denormal
      return std::ldexp(u, -1060);
    case 4:
      return 0;
    case 5:
      return j == 3 ? std::numeric_limits<double>::quiet_NaN() : u;
    case 6:
      return j % 5 == 1 ? huge : u;
    case 7:
      return j == 0 ? -huge : j == 2 ? huge : u;
    case 8:  // partial sums overflow
      return (j % 4 < 2 ? 1 : -1) * 1.7e308;
    case 9:  // overflows
      return 1e308 * (1 + u / 4);
    case 10:  // every term raises the bins
      return std::ldexp(u, static_cast<int>(j % 2000) - 1020);
    case 11:  // halves of units
      return static_cast<double>(j % 7 - 3) * 0x1p-31 + (j == 1 ? 1 : 0);
    case 12:
      return j == 0 ? -0.0 : std::ldexp(u, -1074 + 40);
    default:
      return std::ldexp(u, power / 10) + 0.1;
  }
}

/// An exact sum with 32 bits per limb.
class ExactSum {
  static constexpr std::int64_t limb = std::int64_t{1} << 32;

 public:
  void add(double x) {
    int e = 0;
    double const m = std::frexp(x, &e);
    auto bits = static_cast<std::int64_t>(std::ldexp(m, 53));
    int at = e - 53 + 1200;
    // in two halves, so that 64 bits suffice at every offset in a limb
    for (int half = 0; half < 2; ++half, bits /= std::int64_t{1} << 27, at += 27) {
      std::int64_t rest = bits % (std::int64_t{1} << 27) * (std::int64_t{1} << (at % 32));
      for (auto l = static_cast<std::size_t>(at / 32); rest != 0; ++l, rest /= limb)
        limb_[l] += rest % limb;
    }
  }
  long double size() {
    for (std::size_t l = 0; l + 1 < limb_.size(); ++l) {
      std::int64_t const up = limb_[l] >> 32;
      limb_[l] -= up * limb;
      limb_[l + 1] += up;
    }
    long double out = 0;
    for (std::size_t l = limb_.size(); l-- > 0;)
      out += std::ldexp(static_cast<long double>(limb_[l]), static_cast<int>(l) * 32 - 1200);
    return std::abs(out);
  }

 private:
  std::array<std::int64_t, 80> limb_{};
};

template <class T>
std::uint64_t bits_of(T x) {
  std::uint64_t out = 0;
  std::memcpy(&out, &x, sizeof x);
  return x != x ? 1 : out;
}

/// One pass in shuffled order, in chunks of all lengths.
template <class T, bool Squares>
typename kernels::ReproducibleReducer<T, Squares>::Result reference(std::vector<T> terms,
                                                                    unsigned seed) {
  using R = kernels::ReproducibleReducer<T, Squares>;
  std::mt19937 engine(seed);
  std::shuffle(terms.begin(), terms.end(), engine);
  typename R::Total total = R::nothing();
  std::size_t n = 0;
  for (std::size_t at = 0; at < terms.size(); at += n) {
    n = std::min<std::size_t>(1 + engine() % 700, terms.size() - at);
    typename R::Total piece = R::nothing();
    R::deposit(piece, terms.data() + at, static_cast<std::int64_t>(n), 1);
    R::join(total, piece);
  }
  return R::finish(total);
}

template <class T>
T cast_term(std::int64_t i, std::int64_t j) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(term(i, j));
  } else {
    return T(static_cast<typename T::value_type>(term(i, j)),
             static_cast<typename T::value_type>(term((i + 1) % rows, j + 5)));
  }
}

/// Whether `a`, with one value per row, has the bits of `f(i)`.
template <class A, class F>
int differ(A const& a, F f) {
  auto const all = to_host(a);
  int bad = static_cast<std::int64_t>(all.size()) == rows ? 0 : 1;
  for (std::int64_t i = 0; bad == 0 && i < rows; ++i) {
    auto const got = all[static_cast<std::size_t>(i)];
    auto const wanted = f(static_cast<std::size_t>(i));
    if constexpr (std::is_arithmetic_v<std::remove_cv_t<decltype(got)>>) {
      bad += bits_of(got) == bits_of(wanted) ? 0 : 1;
    } else {
      bad += bits_of(got.real()) == bits_of(wanted.real()) &&
                     bits_of(got.imag()) == bits_of(wanted.imag())
                 ? 0
                 : 1;
    }
  }
  return bad;
}

template <class T>
void same_everywhere(std::int64_t n) {
  using Sums = kernels::ReproducibleReducer<T, false>;
  using Norms = kernels::ReproducibleReducer<T, true>;
  std::vector<typename Sums::Result> sums;
  std::vector<typename Norms::Result> norms;
  for (std::int64_t i = 0; i < rows; ++i) {
    std::vector<T> terms;
    for (std::int64_t j = 0; j < n; ++j) terms.push_back(cast_term<T>(i, j));
    sums.push_back(reference<T, false>(terms, 1));
    norms.push_back(reference<T, true>(terms, 1));
    auto const again = reference<T, false>(terms, 2);
    CHECK(std::memcmp(&again, &sums.back(), sizeof again) == 0);
  }
  auto const summed = [&](std::size_t i) { return sums[i]; };
  auto const normed = [&](std::size_t i) { return norms[i]; };
  for (auto const& grid : on_ranks::grids()) {
    CAPTURE(grid[0], grid[1], n);
    OnMesh const mesh(MPI_COMM_WORLD, grid);
    auto const a = from_function<T, Dim<I>, Dim<J, X, Y>>(mesh, {rows, n}, cast_term<T>);
    auto const b = from_function<T, Dim<J, Y>, Dim<I, X>>(
        mesh, {n, rows}, [](auto j, auto i) { return cast_term<T>(i, j); });
    auto const c = from_function<T, Dim<I, X>, Dim<J>>(mesh, {rows, n}, cast_term<T>);
    CHECK(differ(sum<Dim<I>>(a, reproducible), summed) == 0);
    CHECK(differ(sum<Dim<I, Y>>(a, reproducible), summed) == 0);
    CHECK(differ(sum<Dim<I, X>>(b, reproducible), summed) == 0);
    CHECK(differ(norm<Dim<I>>(b, reproducible), normed) == 0);
    shim::reset();
    auto const strict = sum<J>(c, reproducible);
    CHECK(shim::bytes() == 0);
    CHECK(differ(strict, summed) == 0);
    CHECK(differ(norm<J>(c, reproducible), normed) == 0);
  }
}

}  // namespace

TEST_CASE("sums of double have the bits of one pass") {
  for (std::int64_t n : {0, 1, 5, 2003}) same_everywhere<double>(n);
}
TEST_CASE("sums of float have the bits of one pass") {
  for (std::int64_t n : {3, 2003}) same_everywhere<float>(n);
}
TEST_CASE("sums of complex numbers have the bits of one pass") {
  same_everywhere<Kokkos::complex<double>>(1201);
}

TEST_CASE("the bits themselves") {
  OnMesh const mesh(MPI_COMM_WORLD, on_ranks::grids()[0]);
  std::int64_t const n = 100003;
  auto const a = from_function<double, Dim<I>, Dim<J, Y, X>>(
      mesh, {2, n}, [](auto i, auto j) { return term(i, j); });
  auto const sums = to_host(sum<Dim<I>>(a, reproducible));
  auto const norms = to_host(norm<Dim<I>>(a, reproducible));
  CHECK(bits_of(sums[0]) == 0x4051f7a1b4cc2dbcU);
  CHECK(bits_of(sums[1]) == 0xfea62bcbba5ab3f3U);
  CHECK(bits_of(norms[0]) == 0x4066daa51fcb5436U);
}

TEST_CASE("the error is within the bound, and below that of the ordinary sum") {
  OnMesh const mesh(MPI_COMM_WORLD, on_ranks::grids()[0]);
  for (std::int64_t n : {1, 7, 1000, 20011}) {
    auto const a = from_function<double, Dim<I>, Dim<J, X>>(
        mesh, {rows, n}, [](auto i, auto j) { return term(i, j); });
    auto const got = to_host(sum<Dim<I>>(a, reproducible));
    auto const ordinary = to_host(sum<Dim<I>>(a));
    for (std::int64_t i : {0, 1, 2, 3, 4, 8, 10, 11, 12, 13}) {
      CAPTURE(n, i);
      ExactSum exact;
      double largest = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        exact.add(term(i, j));
        largest = std::max(largest, std::abs(term(i, j)));
      }
      ExactSum other = exact;
      double const value = got[static_cast<std::size_t>(i)];
      exact.add(-value);
      long double const error = exact.size();
      CHECK(error <= static_cast<long double>(n) * std::ldexp(1.0L * largest, -61) +
                         std::ldexp(1.0L * std::abs(value), -53));
      double const usual = ordinary[static_cast<std::size_t>(i)];
      if (usual - usual == 0) {
        other.add(-usual);
        CHECK(error <=
              other.size() + static_cast<long double>(n) * std::ldexp(1.0L * largest, -61));
      }
    }
  }
}

TEST_CASE("sums of integers, and of nothing") {
  OnMesh const mesh(MPI_COMM_WORLD, on_ranks::grids()[0]);
  auto const a = from_function<std::int32_t, Dim<I>, Dim<J, X>>(
      mesh, {3, 50}, [](auto i, auto j) { return i + j; });
  CHECK(to_host(sum<Dim<I>>(a, reproducible))[2] == 1325);
  static_assert(std::is_same_v<decltype(sum<J>(a, reproducible)),
                               Tensor<std::int32_t, Dim<I>, Unreduced<X>>>);
  auto const none =
      from_function<float, Dim<I>, Dim<J, X>>(mesh, {0, 4}, [](auto, auto) { return 1; });
  CHECK(item(sum<Tensor<float>>(none, reproducible)) == 0);
  CHECK(to_host(sum<Dim<J>>(none, reproducible)) == std::vector<float>(4, 0.0F));
}
