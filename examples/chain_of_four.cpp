// The product of four matrices with few collectives. The number depends on the shardings of the
// operands: here are four choices, from blocks everywhere to no split contracted index, with the
// plan that automatic mode finds for each. The source asserts the number of collectives and the
// bytes per rank, for automatic mode and for strict mode from left to right. On 8 ranks.
// SHOWN: docs
// RANKS: 8
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <shardtype/shardtype.hpp>

using namespace shardtype;

struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 4> {};
struct I : Index<"I", 64> {};
struct J : Index<"J", 128> {};
struct K : Index<"K", 16> {};
struct L : Index<"L", 128> {};
struct M : Index<"M", 64> {};

// Every matrix is in blocks over all ranks. AB and ABC are the shardings of the intermediate
// results in strict mode.
struct AllInBlocks {
  using A = Tensor<float, Dim<I, X>, Dim<J, Y>>;
  using B = Tensor<float, Dim<J, X>, Dim<K, Y>>;
  using C = Tensor<float, Dim<K, X>, Dim<L, Y>>;
  using D = Tensor<float, Dim<L, X>, Dim<M, Y>>;
  using AB = Tensor<float, Dim<I, X>, Dim<K, Y>>;
  using ABC = Tensor<float, Dim<I, X>, Dim<L, Y>>;
  using E = Tensor<float, Dim<I, X>, Dim<M, Y>>;
};
// Two pairs whose contracted index is split alike: A and B in J, C and D in L.
struct SplitPairs {
  using A = Tensor<float, Dim<I, X>, Dim<J, Y>>;
  using B = Tensor<float, Dim<J, Y>, Dim<K>>;
  using C = Tensor<float, Dim<K>, Dim<L, Y>>;
  using D = Tensor<float, Dim<L, Y>, Dim<M>>;
  using AB = Tensor<float, Dim<I, X>, Dim<K>>;
  using ABC = Tensor<float, Dim<I, X>, Dim<L, Y>>;
  using E = Tensor<float, Dim<I, X>, Dim<M, Y>>;
};
// docs: middle
// Only the middle pair has a split contracted index, K: its result is unreduced and stays so
// through the product with D.
struct SplitMiddle {
  using A = Tensor<float, Dim<I, X>, Dim<J>>;
  using B = Tensor<float, Dim<J>, Dim<K, Y>>;
  using C = Tensor<float, Dim<K, Y>, Dim<L>>;
  using D = Tensor<float, Dim<L>, Dim<M>>;
  using AB = Tensor<float, Dim<I, X>, Dim<K, Y>>;
  using ABC = Tensor<float, Dim<I, X>, Dim<L>, Unreduced<Y>>;
  using E = Tensor<float, Dim<I, X>, Dim<M, Y>>;
};
// docs: end

// docs: rows
// The rows of A are split over all ranks, the other matrices are replicated.
struct RowsOfA {
  using A = Tensor<float, Dim<I, X, Y>, Dim<J>>;
  using B = Tensor<float, Dim<J>, Dim<K>>;
  using C = Tensor<float, Dim<K>, Dim<L>>;
  using D = Tensor<float, Dim<L>, Dim<M>>;
  using AB = Tensor<float, Dim<I, X, Y>, Dim<K>>;
  using ABC = Tensor<float, Dim<I, X, Y>, Dim<L>>;
  using E = Tensor<float, Dim<I, X, Y>, Dim<M>>;
};
// docs: end

// The program: the expression and the sharding of its result.
template <class E>
struct Chain {
  auto operator()(auto a, auto b, auto c, auto d) const { return evaluate<E>(a * b * c * d); }
};
template <class S>
constexpr auto automatic =
    plan_traced<typename S::A, typename S::B, typename S::C, typename S::D>(Chain<typename S::E>{});

// One product after the other, each with the result sharding that S names.
template <class S>
struct Strict {
  static constexpr Plan steps[] = {
      plan(op::Matmul<typename S::AB>{}, type<typename S::A>, type<typename S::B>),
      plan(op::Matmul<typename S::ABC>{}, type<typename S::AB>, type<typename S::C>),
      plan(op::Matmul<typename S::E>{}, type<typename S::ABC>, type<typename S::D>)};
  static constexpr int collectives() {
    int n = 0;
    for (Plan const& p : steps) n += p.collectives();
    return n;
  }
  static constexpr std::int64_t bytes_per_rank() {
    std::int64_t n = 0;
    for (Plan const& p : steps) n += p.bytes_per_rank();
    return n;
  }
};

// Whether a plan sends exactly this much. The asserts below make a change of a size, of a sharding
// or of the library that sends more or less fail to compile.
constexpr bool sends(auto const& plan, int collectives, std::int64_t bytes_per_rank) {
  return plan.collectives() == collectives && plan.bytes_per_rank() == bytes_per_rank;
}
// docs: budgets
static_assert(sends(automatic<AllInBlocks>, 6, 22'528));
static_assert(sends(Strict<AllInBlocks>{}, 6, 32'256));
static_assert(sends(automatic<SplitPairs>, 2, 6'144));
static_assert(sends(Strict<SplitPairs>{}, 2, 9'216));
static_assert(sends(automatic<SplitMiddle>, 1, 6'144));
static_assert(sends(Strict<SplitMiddle>{}, 1, 6'144));
static_assert(sends(automatic<RowsOfA>, 0, 0));
static_assert(sends(Strict<RowsOfA>{}, 0, 0));
// docs: end
// The unreduced A · B and C · D are smaller than the later products: the collectives run on them.
static_assert(automatic<SplitPairs>.count(Collective::all_reduce) == 1);
static_assert(automatic<SplitPairs>.count(Collective::reduce_scatter) == 1);

// The product on one processor; the matrices are stored row by row.
std::vector<float> dense(std::vector<float> const& a, std::vector<float> const& b,
                         std::size_t inner, std::size_t columns) {
  std::size_t const rows = a.size() / inner;
  std::vector<float> c(rows * columns);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t k = 0; k < inner; ++k)
      for (std::size_t j = 0; j < columns; ++j)
        c[i * columns + j] += a[i * inner + k] * b[k * columns + j];
  return c;
}

template <class S>
void multiply(Environment const& env, Mesh<X, Y> const& mesh, char const* what) {
  // Small integers, so that no sum is rounded: every order of the products gives the same bits.
  auto const f = [](std::int64_t i, std::int64_t j) { return (i * i + 2 * j + i * j) % 3 - 1; };
  auto const a = from_function<typename S::A>(mesh, f);
  auto const b = from_function<typename S::B>(mesh, f);
  auto const c = from_function<typename S::C>(mesh, f);
  auto const d = from_function<typename S::D>(mesh, f);

  auto const e = evaluate<typename S::E>(mesh, lazy(a) * b * c * d);

  auto const ab = matmul<typename S::AB>(a, b);
  auto const abc = matmul<typename S::ABC>(ab, c);
  auto const in_order = matmul<typename S::E>(abc, d);

  auto const expected = dense(dense(dense(to_host(a), to_host(b), 128, 16), to_host(c), 16, 128),
                              to_host(d), 128, 64);
  if (to_host(e) != expected || to_host(in_order) != expected)
    throw Error("example", std::string(what) + ": the products differ", FailedOn::every_rank);

  auto const program =
      dry_run<typename S::A, typename S::B, typename S::C, typename S::D>(Chain<typename S::E>{});
  if (env.rank() == 0)
    std::printf("== %s\n%s  from left to right: %d collectives, %lld bytes per rank\n\n", what,
                explain(program.planned()).c_str(), Strict<S>::collectives(),
                static_cast<long long>(Strict<S>::bytes_per_rank()));
}

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  Mesh<X, Y> const mesh(env.world());
  multiply<AllInBlocks>(env, mesh, "blocks");
  multiply<SplitPairs>(env, mesh, "pairs");
  multiply<SplitMiddle>(env, mesh, "middle");
  multiply<RowsOfA>(env, mesh, "rows");
}
