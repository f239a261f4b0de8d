// Corner cases of automatic mode: empty and rank-0 tensors, many operands, all element types,
// meshes of one to eight axes and over some of the ranks, expressions that outlive their tensors or
// are evaluated repeatedly, nested share, constrain, relabel and transpose, unreduced operands.
// RANKS: 1 2 4 6
#include <cstdint>
#include <utility>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;
using on_ranks::wrong;
using Long = std::int64_t;
using Complex = Kokkos::complex<double>;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};
using M = Mesh<X, Y>;

M grid() { return on_ranks::two_axes<X, Y>(); }

// Small integers, so that sums are exact.
double value(Long i, Long j) { return static_cast<double>((3 * i + 5 * j) % 7 - 3); }
template <class A, class Mesh>
A make(Mesh const& mesh, std::array<Long, 2> const& extents) {
  return from_function<A>(
      mesh, extents, [](Long i, Long j) { return static_cast<typename A::element>(value(i, j)); });
}
// The sum of f(j) for j below n.
template <class F>
double total(Long n, F f) {
  double out = 0;
  for (Long j = 0; j < n; ++j) out += f(j);
  return out;
}

}  // namespace

TEST_CASE("empty tensors and results without dims") {
  M const mesh = grid();
  for (Long const i : {0, 1, 5})
    for (Long const j : {0, 1, 6})
      for (Long const k : {0, 3}) {
        auto const a = make<Tensor<double, Dim<I, X>, Dim<J, Y>>>(mesh, {i, j});
        auto const b = make<Tensor<double, Dim<J, Y>, Dim<K, X>>>(mesh, {j, k});
        auto const ab = evaluate<Dim<K, Y>, Dim<I, X>>(mesh, lazy(a) * b + 1);
        CHECK(wrong(ab, [&](Long c, Long r) {
                return total(j, [&](Long m) { return value(r, m) * value(m, c); }) + 1;
              }) == 0);
        double const all =
            total(i, [&](Long r) { return total(j, [&](Long c) { return value(r, c); }); });
        CHECK(item(evaluate<>(mesh, sum(lazy(a)))) == all);
        CHECK(item(evaluate<>(mesh, sum(lazy(a)) * 2 - sum(lazy(a)))) == all);
        auto const most = evaluate<Dim<I, Y>>(mesh, max<J>(lazy(a)));
        auto const same = reshard<Dim<I, Y>>(max<Dim<I>>(a));
        CHECK(wrong(most, [&](Long r) {
                double out = std::numeric_limits<double>::lowest();
                if (j == 0) out = -std::numeric_limits<double>::infinity();
                for (Long c = 0; c < j; ++c) out = std::max(out, value(r, c));
                return out;
              }) == wrong(same, [&](Long r) {
                double out = std::numeric_limits<double>::lowest();
                if (j == 0) out = -std::numeric_limits<double>::infinity();
                for (Long c = 0; c < j; ++c) out = std::max(out, value(r, c));
                return out;
              }));
        auto const scalar = evaluate<>(mesh, sum(lazy(a)));
        CHECK(wrong(evaluate<Dim<I>, Dim<J, X>>(mesh, lazy(a) + scalar),
                    [&](Long r, Long c) { return value(r, c) + all; }) == 0);
      }
}

struct OfFour {
  KOKKOS_INLINE_FUNCTION double operator()(double h, double k, double l, double m) const {
    return h - 2 * k + 3 * l - 4 * m;
  }
};

TEST_CASE("functions of many operands") {
  M const mesh = grid();
  auto const a = make<Tensor<double, Dim<I, X>, Dim<J>>>(mesh, {7, 5});
  auto const b = make<Tensor<double, Dim<I>, Dim<J, Y>>>(mesh, {7, 5});
  auto const c = make<Tensor<double, Dim<J, X>, Dim<I>>>(mesh, {5, 7});
  auto const v =
      from_function<Tensor<double, Dim<J, Y>>>(mesh, {5}, [](Long j) { return double(j); });
  auto const p = lazy(a);
  auto const q = lazy(b);
  auto const r = lazy(c);
  auto const s = lazy(v);
  auto x = [](Long i, Long j) { return value(i, j); };
  auto t = [](Long i, Long j) { return value(j, i); };
  CHECK(wrong(evaluate<Dim<I, Y>, Dim<J, X>>(mesh, p + q + r + s + p + q + r + s),
              [&](Long i, Long j) { return 4 * x(i, j) + 2 * t(i, j) + 2 * double(j); }) == 0);
  CHECK(wrong(evaluate<Dim<I, Y>, Dim<J, X>>(mesh, p + q + r + s + p + q + r + s + p),
              [&](Long i, Long j) { return 5 * x(i, j) + 2 * t(i, j) + 2 * double(j); }) == 0);
  auto const e = (p * q - r) * s + (q + r * 2) * (p - s);
  auto expected = [&](Long i, Long j) {
    double const d = double(j);
    return (x(i, j) * x(i, j) - t(i, j)) * d + (x(i, j) + t(i, j) * 2) * (x(i, j) - d);
  };
  CHECK(wrong(evaluate<Dim<J, X>, Dim<I, Y>>(mesh, e),
              [&](Long j, Long i) { return expected(i, j); }) == 0);
  auto const many = e * 2 + e - (e - p) + e * q;
  CHECK(wrong(evaluate<Dim<J>, Dim<I, X, Y>>(mesh, many), [&](Long j, Long i) {
          return 2 * expected(i, j) + x(i, j) + expected(i, j) * x(i, j);
        }) == 0);
  OfFour const f;
  auto const g = map(f, p, q + r + s, p * q * s, 2 * r);
  CHECK(wrong(evaluate<Dim<I>, Dim<J, X>>(mesh, map(f, g, g, g, 1.0)), [&](Long i, Long j) {
          double const d = double(j);
          double const y = f(x(i, j), x(i, j) + t(i, j) + d, x(i, j) * x(i, j) * d, 2 * t(i, j));
          return f(y, y, y, 1.0);
        }) == 0);
}

TEST_CASE("numbers on both sides and all element types") {
  M const mesh = grid();
  auto const n = make<Tensor<Long, Dim<I, X>, Dim<J, Y>>>(mesh, {6, 5});
  auto const m = make<Tensor<Long, Dim<J, X>, Dim<K>>>(mesh, {5, 4});
  auto whole = [](Long i, Long j) { return static_cast<Long>(value(i, j)); };
  CHECK(wrong(evaluate<Dim<I>, Dim<J>>(mesh, 7 - (lazy(n) + 3) * 3 % 2 + 1),
              [&](Long i, Long j) { return 7 - (whole(i, j) + 3) * 3 % 2 + 1; }) == 0);
  CHECK(wrong(evaluate<Dim<I, Y>, Dim<K, X>>(mesh, 2 * (lazy(n) * m) - 1), [&](Long i, Long k) {
          Long out = 0;
          for (Long j = 0; j < 5; ++j) out += whole(i, j) * whole(j, k);
          return 2 * out - 1;
        }) == 0);
  auto const positive = lazy(n) > 0;
  CHECK(wrong(evaluate<Dim<I>, Dim<J, X>>(mesh, where(positive, n, 0) + where(!positive, 0, n)),
              [&](Long i, Long j) { return std::max<Long>(whole(i, j), 0) * 2; }) == 0);
  CHECK(wrong(evaluate<Dim<J, Y>>(mesh, sum<I>(positive)), [&](Long j) {
          Long out = 0;
          for (Long i = 0; i < 6; ++i) out += whole(i, j) > 0 ? 1 : 0;
          return out;
        }) == 0);
  CHECK(wrong(evaluate<Dim<J, X>>(mesh, any<I>(positive) && !all<I>(positive)), [&](Long j) {
          bool one = false, every = true;
          for (Long i = 0; i < 6; ++i)
            one = one || whole(i, j) > 0, every = every && whole(i, j) > 0;
          return one && !every;
        }) == 0);
  CHECK(wrong(evaluate<Dim<J, X>>(mesh, max<I>(lazy(n)) - min<I>(lazy(n))), [&](Long j) {
          Long low = 100, high = -100;
          for (Long i = 0; i < 6; ++i)
            low = std::min(low, whole(i, j)), high = std::max(high, whole(i, j));
          return high - low;
        }) == 0);
  auto const d = cast<double>(lazy(make<Tensor<Long, Dim<I, X>, Dim<J, Y>>>(mesh, {6, 8})));
  CHECK(wrong(evaluate<Dim<I, Y>>(mesh, mean<J>(4 / (d * 0 + 8) * d)), [&](Long i) {
          return total(8, [&](Long j) { return 0.5 * value(i, j); }) / 8;
        }) == 0);

  auto number = [](Long i, Long j) { return Complex(value(i, j), value(j, i)); };
  auto const z = from_function<Tensor<Complex, Dim<I, X>, Dim<J>>>(mesh, {6, 5}, number);
  auto const w = from_function<Tensor<Complex, Dim<J, Y>, Dim<K, X>>>(mesh, {5, 4}, number);
  CHECK(wrong(evaluate<Dim<I>, Dim<K, Y>>(mesh, Complex(0, 1) * (lazy(z) * conj(lazy(w))) - 1),
              [&](Long i, Long k) {
                Complex out(0, 0);
                for (Long j = 0; j < 5; ++j) out += number(i, j) * Kokkos::conj(number(j, k));
                return Complex(0, 1) * out - Complex(1, 0);
              }) == 0);
  CHECK(wrong(evaluate<Dim<I, X, Y>>(mesh, sum<J>(real(lazy(z)) * imag(lazy(z)))), [&](Long i) {
          return total(5, [&](Long j) { return value(i, j) * value(j, i); });
        }) == 0);
}

namespace {

struct P1 : Axis<"P1"> {};
struct P2 : Axis<"P2"> {};
struct P3 : Axis<"P3"> {};
struct P4 : Axis<"P4"> {};
struct P5 : Axis<"P5"> {};
struct P6 : Axis<"P6"> {};
struct P7 : Axis<"P7"> {};
struct P8 : Axis<"P8"> {};

template <class Split, class Other, class Mesh>
void check_product_on(Mesh const& mesh) {
  auto const a = make<Tensor<double, Dim<I, Split>, Dim<J>>>(mesh, {5, 6});
  auto const b = make<Tensor<double, Dim<J, Other>, Dim<K>>>(mesh, {6, 4});
  auto expected = [](Long i, Long k) {
    return total(6, [&](Long j) { return value(i, j) * value(j, k); }) + 1;
  };
  CHECK(wrong(evaluate<Dim<I>, Dim<K, Split>>(mesh, lazy(a) * b + 1), expected) == 0);
  CHECK(wrong(evaluate<Dim<I, Other>, Dim<K>>(mesh, lazy(a) * b + 1), expected) == 0);
  CHECK(wrong(evaluate<Dim<I, Other>, Dim<K>>(runtime::MeshRef(mesh), lazy(a) * b + 1), expected) ==
        0);
}

}  // namespace

TEST_CASE("meshes of one, five and eight axes") {
  int const n = on_ranks::rank_total();
  Long const two = n % 2 == 0 ? 2 : 1;
  check_product_on<P1, P1>(Mesh<P1>(MPI_COMM_WORLD, {n}));
  Mesh<P1, P2, P3, P4, P5> const five(MPI_COMM_WORLD, {1, two, 1, n / two, 1});
  check_product_on<P2, P4>(five);
  check_product_on<P5, P4>(five);
  Mesh<P1, P2, P3, P4, P5, P6, P7, P8> const eight(MPI_COMM_WORLD,
                                                   {1, 1, two, 1, 1, 1, n / two, 1});
  check_product_on<P3, P7>(eight);
  check_product_on<P8, P7>(eight);
}

TEST_CASE("a mesh over some of the ranks") {
  int const n = on_ranks::rank_total();
  std::vector<int> half;
  for (int k = n - 1; k >= 0; k -= 2) half.push_back(k);
  Mesh<X, Y> const mesh(MPI_COMM_WORLD, {static_cast<Long>(half.size()), 1}, half);
  check_product_on<X, Y>(mesh);
  auto const a = make<Tensor<double, Dim<I, X>, Dim<J>>>(mesh, {5, 6});
  auto const b = make<Tensor<double, Dim<J, X>, Dim<I>>>(mesh, {6, 5});
  auto const c = evaluate<Dim<I, X>, Dim<J>>(mesh, lazy(a) + transpose<I, J>(lazy(b)));
  CHECK(c.extent<I>() == 5);
  CHECK(c.mesh() == mesh);
  if (!mesh.here()) CHECK(c.local_size() == 0);
  CHECK(wrong(c, [](Long i, Long j) { return value(i, j) + value(j, i); }) == 0);
}

namespace {

auto outliving(M const& mesh, Long n) {
  auto const a = make<Tensor<double, Dim<I, X>, Dim<J>>>(mesh, {n, 4});
  auto const b = make<Tensor<double, Dim<J, Y>, Dim<K>>>(mesh, {4, n});
  return share(lazy(a) * b) + 1;
}

}  // namespace

TEST_CASE("expressions that outlive their tensors and are evaluated often") {
  M const mesh = grid();
  auto const small = outliving(mesh, 3);
  auto const large = outliving(mesh, 9);
  auto expected = [](Long i, Long k) {
    return total(4, [&](Long j) { return value(i, j) * value(j, k); }) + 1;
  };
  for (int turn = 0; turn < 3; ++turn) {
    CHECK(wrong(evaluate<Dim<I>, Dim<K, Y>>(mesh, small), expected) == 0);
    CHECK(wrong(evaluate<Dim<I>, Dim<K, Y>>(mesh, large), expected) == 0);
    CHECK(wrong(evaluate<Dim<K, X>, Dim<I>>(mesh, large),
                [&](Long k, Long i) { return expected(i, k); }) == 0);
    CHECK(item(evaluate<>(mesh, sum(small))) ==
          total(3, [&](Long i) { return total(3, [&](Long k) { return expected(i, k); }); }));
  }
  // a tensor that an expression refers to cannot be written
  auto a = make<Tensor<double, Dim<I, X>, Dim<J>>>(mesh, {5, 4});
  {
    auto const e = lazy(a) + 1;
    CHECK(on_ranks::code_of([&] { a += 1; }) == "E21");
  }
  a += 1;
  CHECK(wrong(evaluate<Dim<I>, Dim<J>>(mesh, a), [](Long i, Long j) { return value(i, j) + 1; }) ==
        0);
}

TEST_CASE("shares of shares") {
  M const mesh = grid();
  auto const a = make<Tensor<double, Dim<I, X>, Dim<J, Y>>>(mesh, {5, 6});
  auto const b = make<Tensor<double, Dim<J, X>, Dim<K>>>(mesh, {6, 4});
  auto const s = share(lazy(a) * b);
  auto const t = share(share(s) * 2 + s);
  auto const u = share(t);
  auto const e = s * t + u - max<K>(share(t + s)) + sum<I>(u);
  auto ab = [](Long i, Long k) {
    return total(6, [&](Long j) { return value(i, j) * value(j, k); });
  };
  CHECK(wrong(evaluate<Dim<I, Y>, Dim<K, X>>(mesh, e), [&](Long i, Long k) {
          double most = -1e9;
          for (Long l = 0; l < 4; ++l) most = std::max(most, 4 * ab(i, l));
          return 3 * ab(i, k) * ab(i, k) + 3 * ab(i, k) - most +
                 total(5, [&](Long r) { return 3 * ab(r, k); });
        }) == 0);
  // share of an operand, and of a value in another order of dims
  auto const g = share(lazy(a));
  CHECK(wrong(evaluate<Dim<J>, Dim<I, X>>(mesh, transpose<J, I>(g) + g),
              [&](Long j, Long i) { return 2 * value(i, j); }) == 0);
  CHECK(wrong(evaluate<Dim<J>, Dim<I, X>>(mesh, g), [&](Long j, Long i) { return value(i, j); }) ==
        0);
  CHECK(wrong(evaluate<Dim<I, X>, Dim<L>>(mesh, g * relabel<I, L>(g)), [&](Long i, Long l) {
          return total(6, [&](Long j) { return value(i, j) * value(l, j); });
        }) == 0);
}

TEST_CASE("constraints on constraints") {
  M const mesh = grid();
  auto const a = make<Tensor<double, Dim<I, X>, Dim<J, Y>>>(mesh, {5, 6});
  auto const b = make<Tensor<double, Dim<J, X>, Dim<K>>>(mesh, {6, 4});
  auto ab = [](Long i, Long k) {
    return total(6, [&](Long j) { return value(i, j) * value(j, k); });
  };
  auto const leaf = constrain<Dim<J, X>, Dim<I, Y>>(a);
  CHECK(wrong(evaluate<Dim<I>, Dim<J>>(mesh, leaf), value) == 0);
  CHECK(wrong(evaluate<Dim<I>, Dim<J>>(mesh, leaf + a),
              [](Long i, Long j) { return 2 * value(i, j); }) == 0);
  auto const twice = constrain<Dim<I>, Dim<J>>(
      constrain<Dim<I, Y>, Dim<J, X>>(constrain<Dim<I, Y>, Dim<J, X>>(leaf)));
  CHECK(wrong(evaluate<Dim<I, X, Y>, Dim<J>>(mesh, twice), value) == 0);
  auto const product =
      constrain<Dim<I, Y>, Dim<K>>(constrain<Dim<K, Y>, Dim<I>, Unreduced<X>>(lazy(a) * b));
  CHECK(wrong(evaluate<Dim<K, X>, Dim<I>>(mesh, product * 2),
              [&](Long k, Long i) { return 2 * ab(i, k); }) == 0);
  auto const shared = share(product);
  CHECK(
      wrong(evaluate<Dim<I>, Dim<K>>(mesh, constrain<Dim<I, X>, Dim<K>>(shared) + shared * shared),
            [&](Long i, Long k) { return ab(i, k) + ab(i, k) * ab(i, k); }) == 0);
  // positions count in the order that the constraint names
  auto first_of = [](Long rows, Long columns, auto const& f) {
    Long at = 0;
    for (Long n = 0; n < rows * columns; ++n)
      if (f(n / columns, n % columns) > f(at / columns, at % columns)) at = n;
    return at;
  };
  CHECK(item(evaluate<>(mesh, argmax<J, I>(leaf))) ==
        first_of(6, 5, [](Long j, Long i) { return value(i, j); }));
  CHECK(item(evaluate<>(mesh, argmax<K, I>(matmul<Dim<K, X>, Dim<I>>(lazy(a), b)))) ==
        first_of(4, 5, [&](Long k, Long i) { return ab(i, k); }));
  CHECK(item(evaluate<>(mesh, argmax<I, K>(matmul<Dim<I>, Dim<K, Y>>(lazy(a), b)))) ==
        first_of(5, 4, ab));
  // the plan keeps a named result
  auto const named = matmul<Dim<I, X>, Dim<K, Y>>(lazy(a), b);
  CHECK(wrong(evaluate<Dim<I>, Dim<K>>(mesh, named), ab) == 0);
  CHECK(wrong(evaluate<Dim<I>, Dim<K>>(mesh, sum<Dim<I, Y>>(lazy(a)) * named), [&](Long i, Long k) {
          return total(6, [&](Long j) { return value(i, j); }) * ab(i, k);
        }) == 0);
}

TEST_CASE("relabelled and transposed") {
  M const mesh = grid();
  auto const a = make<Tensor<double, Dim<I, X>, Dim<J, Y>>>(mesh, {6, 6});
  auto aa = [](Long i, Long k) {
    return total(6, [&](Long j) { return value(i, j) * value(j, k); });
  };
  auto const e = lazy(a);
  auto const square = e * relabel<I, J, J, K>(e);
  CHECK(wrong(evaluate<Dim<I, Y>, Dim<K>>(mesh, square), aa) == 0);
  CHECK(wrong(evaluate<Dim<I>, Dim<L, X>>(mesh, square * relabel<I, K, J, L>(e)),
              [&](Long i, Long l) {
                return total(6, [&](Long k) { return aa(i, k) * value(k, l); });
              }) == 0);
  // (A A^T)^T - A A^T
  auto const gram = share(e * relabel<I, K>(transpose<J, I>(e)));
  CHECK(
      wrong(evaluate<Dim<I, X>, Dim<K, Y>>(mesh, relabel<K, I, I, K>(transpose<K, I>(gram)) - gram),
            [](Long, Long) { return 0.0; }) == 0);
  CHECK(wrong(evaluate<Dim<K, X>, Dim<I, Y>>(mesh, transpose<K, I>(transpose<K, I>(gram) + gram)),
              [&](Long k, Long i) {
                return 2 * total(6, [&](Long j) { return value(i, j) * value(k, j); });
              }) == 0);
  // swapped names: A + A^T
  CHECK(wrong(evaluate<Dim<J, Y>, Dim<I, X>>(mesh, e + relabel<I, J, J, I>(e)),
              [](Long j, Long i) { return value(i, j) + value(j, i); }) == 0);
  // a value with the sharding of a constraint, in another order of dims and with other labels
  auto const pinned =
      constrain<Dim<K, X>, Dim<L>>(relabel<I, K, J, L>(constrain<Dim<J>, Dim<I, Y>>(e)));
  CHECK(wrong(evaluate<Dim<L, Y>, Dim<K>>(mesh, transpose<L, K>(pinned)),
              [](Long l, Long k) { return value(k, l); }) == 0);
  CHECK(wrong(evaluate<Dim<L>, Dim<K, Y>>(mesh, pinned),
              [](Long l, Long k) { return value(k, l); }) == 0);
  CHECK(wrong(evaluate<Dim<K>, Dim<L>>(mesh, relabel<I, K, J, L>(sum<>(lazy(a)) * 0 + e)), value) ==
        0);
}

TEST_CASE("what is unreduced or reduced to begin with") {
  M const mesh = grid();
  auto const a = make<Tensor<double, Dim<I, X>, Dim<J, Y>>>(mesh, {5, 6});
  auto const unreduced = sum<J>(a);  // [I@X]{U:Y}
  auto const highest = max<J>(a);    // [I@X]{U_max:Y}
  auto const lowest = min<I>(a);     // [J@Y]{U_min:X}
  auto row = [](Long i) { return total(6, [&](Long j) { return value(i, j); }); };
  auto most = [](Long i) {
    double out = -100;
    for (Long j = 0; j < 6; ++j) out = std::max(out, value(i, j));
    return out;
  };
  auto least = [](Long j) {
    double out = 100;
    for (Long i = 0; i < 5; ++i) out = std::min(out, value(i, j));
    return out;
  };
  CHECK(wrong(evaluate<Dim<I>>(mesh, unreduced), row) == 0);
  CHECK(wrong(evaluate<Dim<I, Y>>(mesh, lazy(unreduced) * lazy(unreduced) + 1),
              [&](Long i) { return row(i) * row(i) + 1; }) == 0);
  CHECK(wrong(evaluate<Dim<I>>(mesh, 2 * lazy(unreduced) - unreduced), row) == 0);
  CHECK(wrong(evaluate<Dim<I>>(mesh, highest), most) == 0);
  CHECK(wrong(evaluate<Dim<I, Y>>(mesh, -lazy(highest) * 2),
              [&](Long i) { return -2 * most(i); }) == 0);
  CHECK(wrong(evaluate<Dim<I, Y>>(mesh, max(lazy(highest), 0.0) + unreduced),
              [&](Long i) { return std::max(most(i), 0.0) + row(i); }) == 0);
  CHECK(wrong(evaluate<Dim<I>>(mesh, max(lazy(highest), lazy(unreduced))),
              [&](Long i) { return std::max(most(i), row(i)); }) == 0);
  CHECK(item(evaluate<>(mesh, max(lazy(highest)))) == 3);
  CHECK(item(evaluate<>(mesh, min(lazy(highest)) - max(lazy(lowest)))) == [&] {
    double low = 100, high = -100;
    for (Long i = 0; i < 5; ++i) low = std::min(low, most(i));
    for (Long j = 0; j < 6; ++j) high = std::max(high, least(j));
    return low - high;
  }());
  CHECK(item(evaluate<>(mesh, sum(lazy(highest)))) == total(5, most));
  CHECK(wrong(evaluate<Dim<J, X>>(mesh, matmul(lazy(highest), a)), [&](Long j) {
          return total(5, [&](Long i) { return most(i) * value(i, j); });
        }) == 0);
  CHECK(wrong(reshard<Dim<I>>(evaluate<Dim<I, X>, Unreduced<Max, Y>>(mesh, max<J>(lazy(a)))),
              most) == 0);
  CHECK(wrong(reshard<Dim<I>>(evaluate<Dim<I, X>, Unreduced<Y>>(mesh, sum<J>(lazy(a)) * 2)),
              [&](Long i) { return 2 * row(i); }) == 0);
  auto const known = reduced<Y>(reshard<Dim<I, X>, Dim<J>>(a));
  CHECK(wrong(evaluate<Dim<I>, Dim<J, Y>>(mesh, lazy(known) + a),
              [](Long i, Long j) { return 2 * value(i, j); }) == 0);
  CHECK(wrong(evaluate<Dim<I>, Dim<J, X>, Reduced<Y>>(mesh, lazy(known) + a),
              [](Long i, Long j) { return 2 * value(i, j); }) == 0);
}

TEST_CASE("elementwise expressions of strict mode and batches") {
  M const mesh = grid();
  auto const a = make<Tensor<double, Dim<I, X>, Dim<J>>>(mesh, {5, 6});
  auto const b = make<Tensor<double, Dim<I, X>, Dim<J>>>(mesh, {5, 6});
  CHECK(wrong(evaluate<Dim<I>, Dim<J, Y>>(mesh, (a + b) * lazy(a) + (a * 2)),
              [](Long i, Long j) { return 2 * value(i, j) * value(i, j) + 2 * value(i, j); }) == 0);
  auto const sum_ab = a + b;
  CHECK(wrong(evaluate<Dim<J, Y>, Dim<I>>(mesh, lazy(sum_ab)),
              [](Long j, Long i) { return 2 * value(i, j); }) == 0);
  auto const t = from_function<Tensor<double, Dim<L, Y>, Dim<I, X>, Dim<J>>>(
      mesh, {3, 5, 6}, [](Long l, Long i, Long j) { return value(i + l, j); });
  auto const u = from_function<Tensor<double, Dim<J, X>, Dim<K>, Dim<L>>>(
      mesh, {6, 4, 3}, [](Long j, Long k, Long l) { return value(j, k + l); });
  auto const batch = einsum<L, I, K>(lazy(t), u);
  CHECK(wrong(evaluate<Dim<I, X>, Dim<L>, Dim<K, Y>>(mesh, batch), [](Long i, Long l, Long k) {
          return total(6, [&](Long j) { return value(i + l, j) * value(j, k + l); });
        }) == 0);
  CHECK(wrong(evaluate<Dim<K, X>>(mesh, einsum<K>(lazy(t), u)), [](Long k) {
          return total(3, [&](Long l) {
            return total(5, [&](Long i) {
              return total(6, [&](Long j) { return value(i + l, j) * value(j, k + l); });
            });
          });
        }) == 0);
}
