// QR and least squares of one tall matrix over many ranks: the products give the matrix back, the
// columns are orthonormal, r is a triangle and the same on all ranks, for chunks and for one piece,
// few rows and none on a rank, matrices of lower rank; CholeskyQR2 and its Error; bytes and memory
// as planned; gradients against differences.
// SOURCES: tests/shim/pmpi.cpp
// NEEDS: LAPACK
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <shardtype/linalg/linalg.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/linalg.hpp"
#include "harness/measured_plan.hpp"
#include "harness/on_ranks.hpp"
#include "shim/pmpi.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};
using Z = Kokkos::complex<double>;
using Int = std::int64_t;

template <class T>
T number(Int i, Int j) {
  return linear::drawn<T>(i * 300 + j, 23);
}

template <class T, class A, class Parts>
void good(Mesh<X, Y> const& mesh, A const& a, Parts const& parts, double tolerance) {
  Int const n = a.template extent<J>();
  CHECK(linear::distance((einsum<I, J>(parts.q, parts.r) - a).tensor()) < tolerance);
  auto const gram = reshard<Dim<K>, Dim<L>>(
      einsum<K, L>(linalg::detail::conjugate(parts.q), relabel<K, L>(parts.q)));
  auto const identity = from_function<T, Dim<K>, Dim<L>>(
      mesh, {n, n}, [](Int k, Int l) { return T(k == l ? 1 : 0); });
  CHECK(linear::distance((gram - identity).tensor()) < tolerance);
  CHECK(linear::distance((triu<K, J>(parts.r) - parts.r).tensor()) == 0);
  // the same bits on all ranks
  auto const mine = to_host(parts.r);
  std::vector<T> first = mine;
  MPI_Bcast(first.data(), static_cast<int>(first.size() * sizeof(T)), MPI_BYTE, 0, MPI_COMM_WORLD);
  CHECK(first == mine);
}

template <class T>
void factors(Int m, Int n, double tolerance) {
  INFO(m << " x " << n);
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = from_function<T, Dim<I, X, Y>, Dim<J>>(mesh, {m, n}, &number<T>);
  auto const parts = linalg::qr<I, J, K>(a);
  static_assert(
      std::is_same_v<std::remove_const_t<decltype(parts.q)>, Tensor<T, Dim<I, X, Y>, Dim<K>>>);
  static_assert(std::is_same_v<std::remove_const_t<decltype(parts.r)>, Tensor<T, Dim<K>, Dim<J>>>);
  good<T>(mesh, a, parts, tolerance);
  // columns before rows, one axis
  auto const turned = from_function<T, Dim<J>, Dim<I, Y>>(
      mesh, {n, m}, [](Int j, Int i) { return number<T>(i, j); });
  good<T>(mesh, turned, linalg::qr<I, J, K>(turned), tolerance);
  auto const by_products = linalg::qr<I, J, K>(turned, linalg::cholesky_qr);
  good<T>(mesh, turned, by_products, tolerance);
  auto const r = to_host(by_products.r);
  bool positive = true;
  for (Int k = 0; k < n; ++k)
    positive = positive && linalg::kernels::real_part(r[static_cast<std::size_t>(k * (n + 1))]) > 0;
  CHECK(positive);
  // the residual is orthogonal to the columns
  auto const b = from_function<T, Dim<I, X, Y>, Dim<L>>(
      mesh, {m, 2}, [](Int i, Int l) { return number<T>(i + 7000, l); });
  auto const x = linalg::lstsq<I, J>(a, b);
  static_assert(std::is_same_v<std::remove_const_t<decltype(x)>, Tensor<T, Dim<J>, Dim<L>>>);
  auto const residual = (b - einsum<I, L>(a, x)).tensor();
  auto const along = reshard<Dim<J>, Dim<L>>(einsum<J, L>(linalg::detail::conjugate(a), residual));
  CHECK(linear::distance(along) < tolerance * double(m + 1));
}

// Kinds of matrices whose factors are farther off than they may be, of all ways to split the rows.
template <class T, class... Axes, class Mesh>
void kinds(Mesh const& mesh, Int m, Int n) {
  INFO(m << " x " << n);
  std::vector<int> bad;
  for (int kind = 0; kind < linear::qr_kinds; ++kind) {
    auto const a = from_function<T, Dim<I, Axes...>, Dim<J>>(
        mesh, {m, n}, [=](Int i, Int j) { return linear::qr_element<T>(kind, m, n, i, j); });
    auto const parts = linalg::qr<I, J, K>(a);
    if (!(linear::qr_error<T>(kind, m, n, to_host(parts.q), to_host(parts.r)) <= 1))
      bad.push_back(kind);
  }
  CHECK(bad == std::vector<int>{});
}

// The code of the Error that `call` throws, or ""; its text has these words.
template <class Call>
std::string code_of(Call call, char const* words = "") {
  try {
    call();
  } catch (Error const& e) {
    CHECK(e.where() == FailedOn::every_rank);
    CHECK(std::string(e.what()).find(words) != std::string::npos);
    return e.code();
  }
  return "";
}
Int sum_of_ranks(Int mine) {
  Int all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

namespace proofs {
struct R : Index<"R", 1000> {};
struct C : Index<"C", 8> {};
struct S : Axis<"S", 4> {};
using Tall = Tensor<double, Dim<R, S>, Dim<C>>;
constexpr Plan tall = plan(op::TallQr<R, C, K>{}, type<Tall>);
static_assert(tall.count(Collective::all_gather) == 1 && tall.collectives() == 1);
static_assert(tall.bytes_per_rank() == 3 * 36 * 8);  // not of the 1000 rows
constexpr Plan twice = plan(op::TallQr<R, C, K, true>{}, type<Tall>);
static_assert(twice.bytes_per_rank() == 2 * 3 * 36 * 8);
constexpr auto fit = plan([](auto const& a, auto const& b) { return linalg::lstsq<R, C>(a, b); },
                          type<Tall>, type<Tensor<double, Dim<R, S>>>);
static_assert(fit.collectives() == 2);
}  // namespace proofs

}  // namespace

TEST_CASE("factors and least squares of tall matrices") {
  factors<double>(40, 5, 1e-12);
  factors<double>(7, 7, 1e-11);
  factors<double>(1, 1, 1e-13);
  factors<double>(9, 8, 1e-11);
  factors<double>(33, 1, 1e-12);
  factors<double>(5, 0, 1e-13);
  factors<double>(0, 0, 1e-13);
  factors<float>(60, 6, 1e-4);
  factors<Z>(23, 4, 1e-12);
}
TEST_CASE("many chunks, the last one short") {
  // chunks of 1024 rows: 64 columns, double
  factors<double>(on_ranks::rank_total() > 2 ? 9000 : 5003, 64, 1e-11);
}
TEST_CASE("more columns than chunks have") { factors<double>(400, 130, 1e-10); }

TEST_CASE("matrices of lower rank have orthonormal columns too; products of Cholesky do not") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const low = from_function<double, Dim<I, X, Y>, Dim<J>>(
      mesh, {50, 6}, [](Int i, Int j) { return number<double>(i, j % 3); });
  good<double>(mesh, low, linalg::qr<I, J, K>(low), 1e-12);
  auto const zeros =
      from_function<double, Dim<I, X, Y>, Dim<J>>(mesh, {50, 6}, [](Int, Int) { return 0.; });
  good<double>(mesh, zeros, linalg::qr<I, J, K>(zeros), 1e-12);
  auto const by_products = [](auto const& a) {
    return code_of([&] { linalg::qr<I, J, K>(a, linalg::cholesky_qr); });
  };
  CHECK(by_products(low) == "E83");
  CHECK(by_products(zeros) == "E83");
  auto const nan = from_function<double, Dim<I, X, Y>, Dim<J>>(mesh, {50, 6}, [](Int i, Int j) {
    return i == 3 && j == 2 ? std::nan("") : number<double>(i, j);
  });
  CHECK(by_products(nan) == "E83");
  // NaN in the results, and no rank waits
  bool found = false;
  for (double const x : to_host(linalg::qr<I, J, K>(nan).r)) found = found || std::isnan(x);
  CHECK(found);
  // least squares then have no unique solution, and say so on all ranks
  auto const b =
      from_function<double, Dim<I, X, Y>>(mesh, {50}, [](Int i) { return number<double>(i, 8); });
  CHECK(code_of([&] { linalg::lstsq<I, J>(low, b); }, "column 3 of J") == "E83");
  CHECK(code_of([&] { linalg::lstsq<I, J>(zeros, b); }, "column 0 of J") == "E83");
  for (double const x : to_host(linalg::lstsq<I, J>(nan, b))) found = found && std::isnan(x);
  CHECK(found);
  // columns of sizes 1 to 1e-7 are no trouble; nearly equal ones are
  auto const near = [&](double gap) {
    return from_function<double, Dim<I, X, Y>, Dim<J>>(mesh, {90, 2}, [gap](Int i, Int j) {
      return number<double>(i, 0) + (j == 0 ? 0 : gap * number<double>(i, 1));
    });
  };
  auto const close = near(1e-5);
  good<double>(mesh, close, linalg::qr<I, J, K>(close, linalg::cholesky_qr), 1e-12);
  CHECK(by_products(near(1e-9)) == "E83");
  auto const wide = from_function<double, Dim<I, X, Y>, Dim<J>>(mesh, {5, 6}, &number<double>);
  CHECK(code_of([&] { linalg::qr<I, J, K>(wide); }) == "E41");
  CHECK(code_of([&] { linalg::lstsq<I, J>(wide, relabel<J, L>(wide)); }) == "E41");
}

TEST_CASE("any matrix, and any split of its rows: fewer than columns on a rank, and none") {
  auto const nested = on_ranks::two_axes<X, Y>();
  Mesh<X> const mesh(MPI_COMM_WORLD);
  kinds<double, X>(mesh, 7, 6);
  kinds<double, X, Y>(nested, 13, 6);
  kinds<float, X>(mesh, 10, 6);
  kinds<Z, X>(mesh, 10, 6);
  kinds<Kokkos::complex<float>, X, Y>(nested, 9, 7);
}

TEST_CASE("plans count what is sent, and the memory") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  for (auto const& [m, n] : {std::pair<Int, Int>{0, 0}, {30, 3}, {6000, 40}}) {
    INFO(m << " x " << n);
    auto const a = from_function<double, Dim<I, X>, Dim<J>>(mesh, {m, n}, &number<double>);
    auto const holds = [&]<bool cholesky>(std::bool_constant<cholesky>) {
      op::TallQr<I, J, K, cholesky> const op{};
      Plan const plan = plan_at(op, a);
      CHECK(plan.collectives() == (cholesky ? 2 : 1));
      Int const planned = plan.bytes(coords_in(op, a));
      auto& memory = runtime::run_time.memory;
      Int const before = memory.now(), given = measured_plan::block_bytes(a);
      memory.reset();
      shim::reset();
      auto const both = call(op, std::source_location::current(), a);
      Int const sent = shim::bytes(), held = memory.most() - before + given;
      CHECK(sum_of_ranks(sent) == sum_of_ranks(planned));
      INFO("held " << held << ", planned " << plan.peak_bytes());
      CHECK(held <= plan.peak_bytes());
      if (plan.peak_bytes() >= measured_plan::large)
        CHECK(static_cast<double>(plan.peak_bytes()) <=
              1.1 * static_cast<double>(measured_plan::most_of_ranks(held)));
    };
    holds(std::false_type{});
    holds(std::true_type{});
  }
}

TEST_CASE("gradients") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = from_function<double, Dim<I, X, Y>, Dim<J>>(mesh, {9, 3}, &number<double>);
  auto const turned = from_function<double, Dim<J>, Dim<I, Y>>(
      mesh, {2, 5}, [](Int j, Int i) { return number<double>(i, j); });
  auto const b =
      from_function<double, Dim<I, X, Y>>(mesh, {9}, [](Int i) { return number<double>(i, 77); });
  check_grads([](auto const& m) { return linalg::qr<I, J, K>(m).q; }, a);
  check_grads([](auto const& m) { return linalg::qr<I, J, K>(m).r; }, a);
  check_grads([](auto const& m) { return linalg::qr<I, J, K>(m).q; }, turned);
  check_grads([](auto const& m) { return linalg::qr<I, J, K>(m, linalg::cholesky_qr).r; }, turned);
  check_grads([](auto const& m, auto const& v) { return linalg::lstsq<I, J>(m, v); }, a, b);
  auto const z = from_function<Z, Dim<I, X>, Dim<J>>(mesh, {6, 2}, &number<Z>);
  check_grads([](auto const& m) { return real(linalg::qr<I, J, K>(m).r).tensor(); }, z);
}
