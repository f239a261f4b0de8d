// Outer and Kronecker products, traces, diagonals and grids: every element is compared with its
// definition, on uneven and empty blocks; strict and named, in automatic mode, with gradients.
#include <array>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};
struct P : Index<"P"> {};
struct Q : Index<"Q"> {};
struct R : Index<"R"> {};
struct X2 : Axis<"X2", 2> {};
struct Y2 : Axis<"Y2", 2> {};
struct I8 : Index<"I8", 8> {};
struct J8 : Index<"J8", 8> {};
struct K4 : Index<"K4", 4> {};

using Int = std::int64_t;
using on_ranks::code_of;
using on_ranks::wrong;

double of_a(Int i, Int j) { return static_cast<double>(i * 7 + j + 1); }
double of_b(Int k, Int l) { return static_cast<double>(k * 3 - l + 2); }
double number(Int i) { return static_cast<double>(i * i - 3); }

// Plans of the parts: nothing is sent but what the name of a result says.
using Square = Tensor<float, Dim<I8, X2>, Dim<J8, Y2>>;
constexpr auto diagonal_sum = [](auto const& a) { return trace<I8, J8>(a); };
constexpr auto whole_trace = [](auto const& a) { return trace<I8, J8, Tensor<float>>(a); };
constexpr auto products = [](auto const& u, auto const& v) { return outer(u, v); };
static_assert(plan(diagonal_sum, type<Square>).collectives() == 0);
static_assert(plan(whole_trace, type<Square>).count(Collective::all_reduce) == 2);
static_assert(plan(products, type<Square>, type<Tensor<float, Dim<K4>>>).collectives() == 0);

}  // namespace

TEST_CASE("outer products and grids") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (auto const& [n, m] : {std::array<Int, 2>{5, 7}, {1, 1}, {0, 3}, {8, 2}}) {
    INFO(n << " " << m);
    auto const u = from_function<double, Dim<I, X>>(mesh, {n}, &number);
    auto const v = from_function<double, Dim<J, Y>>(mesh, {m}, &number);
    auto const right = [](Int i, Int j) { return number(i) * number(j); };
    auto const made = outer(u, v);
    static_assert(std::is_same_v<decltype(made), Tensor<double, Dim<I, X>, Dim<J, Y>> const>);
    CHECK(wrong(made, right) == 0);
    CHECK(wrong(outer<Dim<J>, Dim<I, X>>(u, v), [=](Int j, Int i) { return right(i, j); }) == 0);
    CHECK(wrong(outer(u * 1.0, v), right) == 0);
    CHECK(wrong(evaluate<Dim<I, X>, Dim<J>>(mesh, outer(lazy(u) * 1.0, lazy(v))), right) == 0);
    auto const b = from_function<double, Dim<K>, Dim<L>>(mesh, {2, 3}, &of_b);
    CHECK(wrong(outer(u, b), [](Int i, Int k, Int l) { return number(i) * of_b(k, l); }) == 0);
    auto const [first, second] = meshgrid(u, v);
    CHECK(wrong(first, [](Int i, Int) { return number(i); }) == 0);
    CHECK(wrong(second, [](Int, Int j) { return number(j); }) == 0);
    auto const [rows, columns] = meshgrid<Dim<I>, Dim<J, X>>(u, v);
    CHECK(wrong(rows, [](Int i, Int) { return number(i); }) == 0);
    CHECK(wrong(columns, [](Int, Int j) { return number(j); }) == 0);
    // d/du of the sum of u v^T: the sum of v
    double total = 0;
    for (Int j = 0; j < m; ++j) total += number(j);
    auto const whole = from_function<double, Dim<J>>(mesh, {m}, &number);
    auto const slope =
        grad([&](auto const& a) { return sum<Tensor<double>>(outer(a, whole) * 1.0); })(u);
    CHECK(wrong(slope, [=](Int) { return total; }) == 0);
  }
}

TEST_CASE("Kronecker products of matrices and vectors") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (auto const& [n, m] : {std::array<Int, 2>{8, 4}, {16, 1}, {8, 0}}) {
    INFO(n << " " << m);
    auto const a = from_function<double, Dim<I, X>, Dim<J>>(mesh, {n, m}, &of_a);
    auto const b = from_function<double, Dim<K>, Dim<L>>(mesh, {3, 2}, &of_b);
    auto const right = [](Int p, Int q) { return of_a(p / 3, q / 2) * of_b(p % 3, q % 2); };
    auto const made = kron<P, Q>(a, b);
    static_assert(std::is_same_v<decltype(made), Tensor<double, Dim<P, X>, Dim<Q>> const>);
    CHECK(made.extents() == std::array<Int, 2>{n * 3, m * 2});
    CHECK(wrong(made, right) == 0);
    CHECK(wrong(evaluate<Dim<P, X>, Dim<Q>>(mesh, kron<P, Q>(lazy(a) * 1.0, lazy(b))), right) == 0);
    auto const u = from_function<Int, Dim<I, X>>(mesh, {n}, [](Int i) { return i + 1; });
    auto const v = from_function<Int, Dim<J>>(mesh, {3}, [](Int j) { return j - 1; });
    CHECK(wrong(kron<P>(u, v), [](Int p) { return (p / 3 + 1) * (p % 3 - 1); }) == 0);
    double total = 0;
    for (Int k = 0; k < 3; ++k)
      for (Int l = 0; l < 2; ++l) total += of_b(k, l);
    auto const slope =
        grad([&](auto const& x) { return sum<Tensor<double>>(kron<P, Q>(x, b)); })(a);
    CHECK(wrong(slope, [=](Int, Int) { return total; }) == 0);
  }
}

TEST_CASE("traces, and matrices with a given diagonal") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Int const n : {0, 1, 5, 8, 13}) {
    INFO(n);
    auto const a = from_function<double, Dim<I, X>, Dim<J, Y>>(mesh, {n, n}, &of_a);
    double total = 0;
    for (Int i = 0; i < n; ++i) total += of_a(i, i);
    auto const parts = trace<I, J>(a);
    static_assert(std::is_same_v<decltype(parts), Tensor<double, Unreduced<X, Y>> const>);
    CHECK(item(all_reduce<X, Y>(parts)) == total);
    CHECK(item(trace<I, J, Tensor<double>>(a)) == total);
    CHECK(item(evaluate(mesh, trace<I, J>(lazy(a) * 1.0))) == total);
    auto const slope = grad([](auto const& x) { return trace<I, J, Tensor<double>>(x); })(a);
    CHECK(wrong(slope, [](Int i, Int j) { return i == j ? 1 : 0; }) == 0);

    auto const rows = from_function<double, Dim<K, Y>, Dim<I, X>>(mesh, {3, n}, &of_b);
    auto const right = [](Int k, Int i, Int j) { return i == j ? of_b(k, i) : 0; };
    auto const made = diag<I, J>(rows);
    static_assert(
        std::is_same_v<decltype(made), Tensor<double, Dim<K, Y>, Dim<I, X>, Dim<J>> const>);
    CHECK(made.extents() == std::array<Int, 3>{3, n, n});
    CHECK(wrong(made, right) == 0);
    CHECK(wrong(call(op::Named<op::Diag<I, J>, Dim<K>, Dim<J, X>, Dim<I, Y>>{},
                     std::source_location::current(), rows),
                [=](Int k, Int j, Int i) { return right(k, i, j); }) == 0);
    CHECK(wrong(evaluate<Dim<K>, Dim<I, X>, Dim<J, Y>>(mesh, diag<I, J>(lazy(rows) * 1.0)),
                right) == 0);
    auto const odd = from_function<bool, Dim<I, Y, X>>(mesh, {n}, [](Int i) { return i % 2 != 0; });
    CHECK(wrong(diag<I, J>(odd), [](Int i, Int j) { return i == j && i % 2 != 0; }) == 0);
    // the elements beside the diagonal are constants
    auto const of_rows = grad(
        [](auto const& x) { return sum<Tensor<double>>(exp(diag<I, J>(x) * 0.5) * 2.0); })(rows);
    auto const expected = exp(rows * 0.5).tensor();
    CHECK(allclose(of_rows, expected, 1e-14, 1e-14));
  }
}

TEST_CASE("reshape, and dims split into three and merged from three") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Int const n : {0, 1, 3}) {
    INFO(n);
    auto const line = from_function<Int, Dim<I>, Dim<J, Y>>(mesh, {24 * n, 3},
                                                            [](Int i, Int j) { return i * 3 + j; });
    auto const cube = split_dim<I, P, Q, R>(line, {n, 4, 6});
    static_assert(
        std::is_same_v<decltype(cube), Tensor<Int, Dim<P>, Dim<Q>, Dim<R>, Dim<J, Y>> const>);
    CHECK(wrong(cube, [](Int p, Int q, Int r, Int j) { return ((p * 4 + q) * 6 + r) * 3 + j; }) ==
          0);
    CHECK(array_equal(merge_dims<P, Q, R, I>(cube), line));
    auto const rows = from_function<Int, Dim<I, X>, Dim<J>>(mesh, {8 * n, 6},
                                                            [](Int i, Int j) { return i * 6 + j; });
    auto const other = reshape<P, Q, R>(rows, {8 * n, 2, 3});
    static_assert(std::is_same_v<decltype(other), Tensor<Int, Dim<P, X>, Dim<Q>, Dim<R>> const>);
    CHECK(wrong(other, [](Int p, Int q, Int r) { return (p * 2 + q) * 3 + r; }) == 0);
    CHECK(array_equal(reshape<I, J>(other, {8 * n, 6}), rows));
    CHECK(array_equal(reshape<P, Q, R>(reshape<Q, R>(rows, {8 * n, 6}), {8 * n, 2, 3}), other));
    CHECK(wrong(reshape<Dim<P, X>, Q>(rows, {8 * n, 6}), [](Int p, Int q) { return p * 6 + q; }) ==
          0);
    CHECK(wrong(evaluate<Dim<P, X>, Dim<Q>, Dim<R>>(
                    mesh, reshape<P, Q, R>(lazy(rows) + 0, {8 * n, 2, 3})),
                [](Int p, Int q, Int r) { return (p * 2 + q) * 3 + r; }) == 0);
    auto const factor = from_function<double, Dim<P, X>, Dim<Q>, Dim<R>>(
        mesh, {8 * n, 2, 3},
        [](Int p, Int q, Int r) { return static_cast<double>((p * 2 + q) * 3 + r); });
    auto const slope = grad([&](auto const& a) {
      return sum<Tensor<double>>(reshape<P, Q, R>(a, {8 * n, 2, 3}) * factor);
    })(cast<double>(rows).tensor());
    CHECK(wrong(slope, [](Int i, Int j) { return static_cast<double>(i * 6 + j); }) == 0);
    CHECK(code_of([&] { reshape<P, Q>(rows, {8 * n + 1, 6}); }) == "E41");
  }
}
