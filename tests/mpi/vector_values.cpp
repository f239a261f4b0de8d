// Elementary functions give an element one value: alone, in an expression, in a reduction, on any
// sharding, at any extent, in place, and from operands whose elements are apart.
// RANKS: 1 2 4
#include <cstdint>
#include <type_traits>
#include <utility>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/host_block.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using Int = std::int64_t;

template <class T>
T value(Int i, Int j) {
  return static_cast<T>(static_cast<float>((i * 37 + j * 11) % 101) * 0.043F - 2.1F);
}

/// The function of one element.
template <class F, class... Ts>
auto one(F, Ts const&... x) {
  using T = std::common_type_t<Ts...>;
  if constexpr (kernels::vectors::vectorised<F, T>) {
    return kernels::vectors::one<F>(x...);
  } else {
    return kernels::call(F{}, x...);
  }
}

/// Whether each element of `a` is `want(i, j)`.
template <class A, class Want>
void check(A const& a, Want const& want) {
  CHECK(on_ranks::wrong(a, want) == 0);
}

template <class T, class DI, class DJ, class M>
void check_matrix(M const& mesh, Int rows, Int columns) {
  INFO(rows << " x " << columns);
  using A = Tensor<T, DI, DJ>;
  A const a = from_function<A>(mesh, {rows, columns}, value<T>);
  A const e = exp(a);
  check(e, [](Int i, Int j) { return one(functions::Exp{}, value<T>(i, j)); });
  A const t = tanh(a * a) * exp(a);
  check(t, [](Int i, Int j) {
    T const x = value<T>(i, j);
    T const square = x * x;
    return one(functions::Tanh{}, square) * one(functions::Exp{}, x);
  });
  // functions of functions, of numbers, and composed ones
  A const p = gelu(log1p(pow(exp(a), T(1.5))));
  check(p, [](Int i, Int j) {
    T const power = one(functions::Power{}, one(functions::Exp{}, value<T>(i, j)), T(1.5));
    return one(functions::Gelu{}, one(functions::Log1p{}, power));
  });
  A const w = where(a > T(0), sigmoid(a), silu(a));
  check(w, [](Int i, Int j) {
    T const x = value<T>(i, j);
    return x > T(0) ? one(functions::Sigmoid{}, x) : one(functions::Silu{}, x);
  });
  // one row for all rows
  Tensor<T, DJ> const row =
      from_function<Tensor<T, DJ>>(mesh, {columns}, [](Int j) { return value<T>(3, j); });
  A const b = atan2(a, row);
  check(b, [](Int i, Int j) { return one(functions::Atan2{}, value<T>(i, j), value<T>(3, j)); });
  // in place
  A c = from_function<A>(mesh, {rows, columns}, value<T>);
  c += exp(c);
  check(c, [](Int i, Int j) { return value<T>(i, j) + one(functions::Exp{}, value<T>(i, j)); });
  A g = from_function<A>(mesh, {rows, columns}, value<T>);
  g -= gelu(g);
  check(g, [](Int i, Int j) { return value<T>(i, j) - one(functions::Gelu{}, value<T>(i, j)); });
  // reductions of expressions, beside those of computed tensors
  if (rows == 0 || columns == 0) return;
  auto const equal = [](auto const& x, auto const& y) {
    auto const given = harness::host_block(x);
    auto const want = harness::host_block(y);
    bool good = true;
    for (Int k = 0; k < x.local_size(); ++k) good = good && given.data()[k] == want.data()[k];
    CHECK(good);
  };
  equal(sum<I>(exp(a)), sum<I>(e));
  equal(sum<J>(exp(a)), sum<J>(e));
  equal(sum(tanh(a * a) * exp(a)), sum(t));
  equal(max<I>(tanh(a * a) * exp(a)), max<I>(t));
  equal(max<J>(exp(a)), max<J>(e));
  // positions are found only along dims that are not split
  if constexpr (std::is_same_v<DI, Dim<I>>) equal(argmax<I>(tanh(a * a) * exp(a)), argmax<I>(t));
  if constexpr (std::is_same_v<DJ, Dim<J>>) equal(argmax<J>(tanh(a * a) * exp(a)), argmax<J>(t));
}

void check_bfloat16(Mesh<X, Y> const& mesh) {
  using A = Tensor<bfloat16, Dim<I, X>, Dim<J>>;
  A const a = from_function<A>(mesh, {5, 530}, value<bfloat16>);
  A const e = exp(a) + tanh(a);
  check(e, [](Int i, Int j) {
    float const x = value<bfloat16>(i, j);
    bfloat16 const exponential(one(functions::Exp{}, x));
    bfloat16 const tangent(one(functions::Tanh{}, x));
    return bfloat16(float{exponential} + float{tangent});
  });
}

}  // namespace

TEST_CASE("all ranks use the instructions that each of them has") {
  using shardtype::runtime::Instructions;
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  auto const common = [&](Instructions first, Instructions others, int where) {
    return shardtype::detail::common_instructions(MPI_COMM_WORLD, rank == where ? first : others);
  };
  for (int where = 0; where < size; ++where) {
    CHECK(common(Instructions::sse2, Instructions::avx512, where) == Instructions::sse2);
    CHECK(common(Instructions::avx2, Instructions::avx512, where) == Instructions::avx2);
    CHECK(common(Instructions::avx512, Instructions::avx512_bf16, where) == Instructions::avx512);
    CHECK(common(Instructions::avx512, Instructions::avx512, where) == Instructions::avx512);
  }
  CHECK(shardtype::runtime::run_time.instructions ==
        shardtype::detail::common_instructions(MPI_COMM_WORLD,
                                               shardtype::runtime::best_instructions()));
}

TEST_CASE("an element of an elementary function has one value wherever it lies") {
  Mesh<X, Y> const mesh = on_ranks::two_axes<X, Y>();
  for (auto const& [rows, columns] :
       {std::pair<Int, Int>{7, 33}, {1, 1}, {3, 0}, {2, 1030}, {131, 5}, {517, 3}}) {
    check_matrix<float, Dim<I, X>, Dim<J>>(mesh, rows, columns);
    check_matrix<double, Dim<I>, Dim<J, Y>>(mesh, rows, columns);
  }
  check_matrix<float, Dim<I, X>, Dim<J, Y>>(mesh, 61, 67);
  check_bfloat16(mesh);
}
