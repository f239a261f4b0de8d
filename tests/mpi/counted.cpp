// Reductions with a count: values, ties, zeros and the gradients made of them, of every element by
// its definition; split and whole rows, uneven, empty; the bytes of one reduction.
// RANKS: 1 2 4 8
// SOURCES: tests/shim/pmpi.cpp
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

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

using Int = std::int64_t;

// Small integers: rows have ties, and no, one or several zeros.
Int f(Int i, Int j) { return (i * 5 + j * 3) % 7 - (i + j) % 3; }
Int g(Int i, Int j) { return i % 3 == 0 ? j % 4 + 1 : (j * (i % 3)) % 5; }

// What a row of `n` elements has, by `better`.
template <class Better>
std::array<Int, 2> best(Int j, Int n, Better better) {
  std::array<Int, 2> out{f(0, j), 0};
  for (Int i = 0; i < n; ++i) out[0] = better(f(i, j), out[0]) ? f(i, j) : out[0];
  for (Int i = 0; i < n; ++i) out[1] += f(i, j) == out[0] ? 1 : 0;
  return out;
}
std::array<Int, 2> product(Int i, Int n) {
  std::array<Int, 2> out{1, 0};
  for (Int j = 0; j < n; ++j) {
    out[0] *= g(i, j) == 0 ? 1 : g(i, j);
    out[1] += g(i, j) == 0 ? 1 : 0;
  }
  return out;
}

template <class T>
void check(Mesh<X, Y> const& mesh, Int n, Int m) {
  INFO("extents " << n << " x " << m);
  auto const more = [](Int a, Int b) { return a > b; };
  auto const less = [](Int a, Int b) { return a < b; };
  auto const real = [](Int x) { return T(static_cast<float>(x)); };
  auto const a = from_function<T, Dim<I, X>, Dim<J, Y>>(
      mesh, {n, m}, [&](Int i, Int j) { return real(f(i, j)); });
  if (n > 0) {
    shim::reset();
    auto const [most, ties] = counted_max<Dim<J, Y>>(a);
    Int const p = mesh.template size_of<X>();
    Int const all = a.template local_extent<J>() * 16;
    CHECK(shim::bytes() == 2 * all * (p - 1) / p);
    static_assert(std::is_same_v<decltype(most), Tensor<T, Dim<J, Y>> const>);
    static_assert(std::is_same_v<decltype(ties), Tensor<T, Dim<J, Y>> const>);
    CHECK(on_ranks::wrong(most, [&](Int j) { return real(best(j, n, more)[0]); }) == 0);
    CHECK(on_ranks::wrong(ties, [&](Int j) { return real(best(j, n, more)[1]); }) == 0);
    // ties share the gradient
    auto const ct = where(a == most, T(1) / ties, T(0)).tensor();
    CHECK(on_ranks::wrong(ct, [&](Int i, Int j) {
            auto const [value, count] = best(j, n, more);
            return f(i, j) == value ? T(1) / real(count) : T(0);
          }) == 0);
    auto const least = counted_min<I>(reshard<Dim<J, X, Y>, Dim<I>>(a));
    CHECK(on_ranks::wrong(least.values, [&](Int j) { return real(best(j, n, less)[0]); }) == 0);
    CHECK(on_ranks::wrong(least.counts, [&](Int j) { return real(best(j, n, less)[1]); }) == 0);
    // scattered, and along the other dim of a view
    auto const spread = counted_max<Dim<J, Y, X>>(a);
    CHECK(on_ranks::wrong(spread.counts, [&](Int j) { return real(best(j, n, more)[1]); }) == 0);
  }
  auto const b = from_function<T, Dim<I, Y>, Dim<J, X>>(
      mesh, {n, m}, [&](Int i, Int j) { return real(g(i, j)); });
  auto const [rest, zeros] = counted_prod<Dim<I, Y>>(b);
  CHECK(on_ranks::wrong(rest, [&](Int i) { return real(product(i, m)[0]); }) == 0);
  CHECK(on_ranks::wrong(zeros, [&](Int i) { return real(product(i, m)[1]); }) == 0);
  auto const whole = counted_prod<J>(reshard<Dim<I, X>, Dim<J>>(b));
  CHECK(on_ranks::wrong(whole.values, [&](Int i) { return real(product(i, m)[0]); }) == 0);
  CHECK(on_ranks::wrong(whole.counts, [&](Int i) { return real(product(i, m)[1]); }) == 0);
  // the gradient: the product of all other elements
  auto const ct =
      where(zeros == T(0), rest / b, where(b == T(0), where(zeros == T(1), rest, T(0)), T(0)))
          .tensor();
  CHECK(on_ranks::wrong(ct, [&](Int i, Int j) {
          Int others = 1;
          for (Int k = 0; k < m; ++k) others *= k == j ? 1 : g(i, k);
          return real(others);
        }) == 0);
}

}  // namespace

TEST_CASE("counted: maxima with ties, minima, products with zeros") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (auto const& [n, m] : {std::array<Int, 2>{9, 7}, {1, 1}, {16, 4}, {3, 0}, {0, 5}, {2, 11}}) {
    check<double>(mesh, n, m);
    check<float>(mesh, n, m);
  }
}

TEST_CASE("counted: of no elements, NaN, complex numbers, all elements of a tensor") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const none = counted_max<Dim<J>>(zeros<double, Dim<I, X>, Dim<J>>(mesh, {0, 3}));
  CHECK(on_ranks::wrong(none.values,
                        [](Int) { return -std::numeric_limits<double>::infinity(); }) == 0);
  CHECK(on_ranks::wrong(none.counts, [](Int) { return 0.0; }) == 0);
  auto const odd = from_function<double, Dim<I, X, Y>>(mesh, {19}, [](Int i) {
    return i % 5 == 3 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(i);
  });
  auto const nan = counted_max<Tensor<double>>(odd);
  CHECK(std::isnan(item(nan.values)));
  CHECK(item(nan.counts) == 4);
  using C = Kokkos::complex<float>;
  auto const c = from_function<C, Dim<I, X, Y>>(mesh, {11}, [](Int i) {
    return i % 4 == 2 ? C(0, 0) : i % 2 == 0 ? C(0, 1) : C(2, 0);
  });
  auto const turned = counted_prod<Tensor<C>>(c);
  static_assert(std::is_same_v<decltype(turned.counts), Tensor<float>>);
  CHECK(item(turned.values) == C(0, -32));
  CHECK(item(turned.counts) == 3);
  auto const all = counted_prod<>(reshard<Dim<I>>(c));
  CHECK(item(all.values) == item(turned.values));
  auto const h = full<bfloat16, Dim<I, X>>(mesh, {6}, bfloat16(3.0F));
  auto const same = counted_min<Tensor<bfloat16>>(h);
  CHECK(static_cast<float>(item(same.values)) == 3.0F);
  CHECK(static_cast<float>(item(same.counts)) == 6.0F);
}

TEST_CASE("counted: ranks outside the mesh") {
  Mesh<X, Y> const mesh(MPI_COMM_WORLD, {1, 1}, {0});
  auto const both = counted_max<Dim<J>>(zeros<double, Dim<I, X>, Dim<J>>(mesh, {4, 3}));
  CHECK(both.values.extents() == std::array<Int, 1>{3});
  CHECK(both.counts.local_size() == (mesh.here() ? 3 : 0));
  auto const local = counted_max<J>(zeros<double, Dim<I, X>, Dim<J>>(mesh, {4, 3}));
  CHECK(local.counts.extents() == std::array<Int, 1>{4});
}
