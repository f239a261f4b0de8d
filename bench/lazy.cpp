// Automatic mode. Whole expressions against strict mode, where each error was corrected by the
// first fix in its message; and one large product on the grid that the planner finds, against an
// all_gather and a product written by hand.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <shardtype/shardtype.hpp>

#include "paired.hpp"
#include "sgemm.hpp"
#include "yield.hpp"

using namespace shardtype;

namespace {

char const* const help =
    "bench_lazy [--size=1024] [--product=2048] [--rounds=21] [--benchmark_filter=CASE]\n"
    "evaluate of whole expressions on n x n float32 matrices over the same in strict mode with "
    "the\n"
    "first suggested fix at each refusal (chain, layers, sum, scaled), and of one product over a\n"
    "1-d all_gather and sgemm_ by hand (product). Last lines: ratio lazy CASE RANKS MEDIAN Q1 Q3,\n"
    "ours over the rival in time; before them, as itself, the rival over itself.\n";

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct Z : Axis<"Z"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};
struct M : Index<"M"> {};

using Grid = Mesh<X, Y>;
using Cube = Mesh<X, Y, Z>;
using Pair = std::pair<std::function<void()>, std::function<void()>>;

// Small integers: sums are exact in float in any order, so both programs must agree to the bit.
std::int64_t left(std::int64_t i, std::int64_t j) { return (i * 7 + j * 3) % 11 - 5; }
std::int64_t right(std::int64_t j, std::int64_t k) { return (j * 5 + k * 2) % 7 - 3; }
std::int64_t sparse(std::int64_t i, std::int64_t j) {
  return (i + j) % 64 == 0 ? 1 - (i + j) / 64 % 3 : 0;
}

// Strict mode. Each comment names the error of the uncorrected line and the first fix in its
// message.

template <class A, class B, class C, class D>
auto chain_strict(A const& a, B const& b, C const& c, D const& d) {
  auto const ab = all_reduce<Y>(matmul(a, b));     // C07: all_reduce it first
  return all_reduce<Y>(matmul(matmul(ab, c), d));  // the result is replicated along Y
}

template <class In, class Up, class Down>
auto layers_strict(In const& x, Up const& up, Down const& down) {
  // C05: move it with all_to_all so that both split one index; P04: all_reduce it first
  auto const hidden = max(all_reduce<Y>(matmul(x, all_to_all<Y, K, J>(up))), 0.0F);
  // C02: split it in the other one too
  auto const split = reshard<Dim<I, X>, Dim<K, Y>>(hidden);
  return all_reduce<Y>(matmul(split, down));
}

template <class A, class B, class C, class D>
auto sum_strict(A const& a, B const& b, C const& c, D const& d) {
  return all_reduce<Y>(matmul(a, b) + matmul(c, d));  // no error
}

template <class A, class B, class C, class S>
auto scaled_strict(A const& a, B const& b, C const& c, S const& s) {
  auto const ab = all_reduce<Y>(matmul(a, b));  // P06 of `ab * s`: all_reduce first
  auto const scaled = (ab * s).tensor();
  // C02: split it in the other one too
  return all_reduce<Y>(matmul(reshard<Dim<I, X>, Dim<K, Y>>(scaled), c));
}

/// Ends the job if the local blocks of `a` and `b` differ.
template <class A>
void same(A const& a, A const& b) {
  auto const x = a.local();
  auto const y = b.local();
  for (std::size_t k = 0; k < x.size(); ++k)
    if (x.data()[k] != y.data()[k]) stop("the two programs computed different results");
}

/// The two programs of one case: automatic mode evaluates the expression `e`; `strict` returns a
/// tensor of the same type.
template <class... Out, class E, class Strict>
Pair contenders(Grid const& mesh, E const& e, Strict const& strict) {
  same(evaluate<Out...>(mesh, e), strict());
  if (rank_here() == 0) std::fputs(explain(planned(evaluate_to<Out...>, mesh, e)).c_str(), stdout);
  return {[&mesh, e] { benchmark::DoNotOptimize(evaluate<Out...>(mesh, e).local_size()); },
          [strict] { benchmark::DoNotOptimize(strict().local_size()); }};
}

/// A product by hand on a 1-d mesh, C[I@X, K] = A[I@X, J] B[J@X, K].
class ByHand {
 public:
  explicit ByHand(std::int64_t n)
      : n_(n), part_(n / ranks_here()), a_(n * part_), b_(n * part_), whole_(n * n), c_(n * part_) {
    std::int64_t const first = rank_here() * part_;
    for (std::int64_t i = 0; i < part_; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        a_.data()[i * n + j] = static_cast<float>(left(first + i, j));
        b_.data()[i * n + j] = static_cast<float>(right(first + i, j));
      }
  }
  void operator()() {
    auto const count = static_cast<int>(part_ * n_);
    MPI_Allgather(b_.data(), count, MPI_FLOAT, whole_.data(), count, MPI_FLOAT, MPI_COMM_WORLD);
    sgemm(part_, n_, n_, a_.data(), whole_.data(), c_.data());
  }

 private:
  std::int64_t n_, part_;
  HostArray<float> a_, b_, whole_, c_;
};

using CubeA = Tensor<float, Dim<I, X>, Dim<J, Z, Y>>;
using CubeB = Tensor<float, Dim<J, Z, X>, Dim<K, Y>>;
using CubeC = Tensor<float, Dim<I, X, Z>, Dim<K, Y>>;

Pair product(Cube const& mesh, std::int64_t n) {
  auto const a = from_function<CubeA>(mesh, {n, n}, left);
  auto const b = from_function<CubeB>(mesh, {n, n}, right);
  auto const e = lazy(a) * lazy(b);
  auto const c = evaluate<CubeC>(mesh, e);
  auto const block = c.local();
  core::Range const rows = c.ranges()[0];
  core::Range const columns = c.ranges()[1];
  for (std::int64_t i : {rows.begin, rows.end - 1})
    for (std::int64_t k : {columns.begin, columns.end - 1}) {
      std::int64_t sum = 0;
      for (std::int64_t j = 0; j < n; ++j) sum += left(i, j) * right(j, k);
      if (block(static_cast<std::size_t>(i - rows.begin),
                static_cast<std::size_t>(k - columns.begin)) != static_cast<float>(sum))
        stop("C is wrong");
    }
  PlannedProgram const p = planned(evaluate_to<CubeC>, mesh, e);
  if (rank_here() == 0) {
    std::fputs(explain(p).c_str(), stdout);
    std::printf("over the lower bound: %.3f\n", p.plan.lower_bound_ratio().value_or(0));
  }
  auto const rival = std::make_shared<ByHand>(n);
  bool const share_cores = shardtype::runtime::run_time.yield_while_waiting;
  return {[&mesh, e] { benchmark::DoNotOptimize(evaluate<CubeC>(mesh, e).local_size()); },
          [rival, share_cores] {
            yield_in_mpi = share_cores;
            (*rival)();
            yield_in_mpi = false;
          }};
}

template <class... Dims>
auto matrix(Grid const& mesh, std::int64_t rows, std::int64_t columns,
            std::int64_t (*f)(std::int64_t, std::int64_t)) {
  return from_function<float, Dims...>(mesh, {rows, columns}, f);
}

}  // namespace

int main(int argc, char** argv) {
  if (asked_for_help(argc, argv, help)) return 0;
  Environment env(argc, argv);
  std::int64_t const n = option(argc, argv, "size", 1024);
  std::int64_t const large = option(argc, argv, "product", 2048);
  std::int64_t const rounds = option(argc, argv, "rounds", 21);
  int const p = env.size();
  if (large % p != 0) stop("--product must be a multiple of the number of ranks");
  Grid const mesh(env.world(), {p >= 4 ? 2 : 1, p >= 4 ? p / 2 : p});
  Cube const cube(env.world(), {p >= 4 ? 2 : 1, p >= 2 ? 2 : 1, p >= 8 ? p / 4 : 1});

  auto const a = matrix<Dim<I, X>, Dim<J, Y>>(mesh, n, n, left);
  auto const b = matrix<Dim<J, Y>, Dim<K>>(mesh, n, n, sparse);
  auto const c = matrix<Dim<K>, Dim<L, Y>>(mesh, n, n, sparse);
  auto const d = matrix<Dim<L, Y>, Dim<M>>(mesh, n, 64, sparse);
  auto const up = matrix<Dim<J>, Dim<K, Y>>(mesh, n, n, sparse);
  auto const down = matrix<Dim<K, Y>, Dim<L>>(mesh, n, n, sparse);
  auto const left_part = matrix<Dim<I, X>, Dim<L, Y>>(mesh, n, n, right);
  auto const right_part = matrix<Dim<L, Y>, Dim<K>>(mesh, n, n, sparse);
  auto const s =
      from_function<float, Dim<K, Y>>(mesh, {n}, [](std::int64_t k) { return k % 3 - 1; });

  Suite suite("lazy", rounds);
  suite.add("chain", [&] {
    return contenders<Dim<I, X>, Dim<M>>(mesh, lazy(a) * lazy(b) * lazy(c) * lazy(d),
                                         [&] { return chain_strict(a, b, c, d); });
  });
  suite.add("layers", [&] {
    return contenders<Dim<I, X>, Dim<L>>(mesh, max(lazy(a) * lazy(up), 0.0F) * lazy(down),
                                         [&] { return layers_strict(a, up, down); });
  });
  suite.add("sum", [&] {
    return contenders<Dim<I, X>, Dim<K>>(mesh,
                                         lazy(a) * lazy(b) + lazy(left_part) * lazy(right_part),
                                         [&] { return sum_strict(a, b, left_part, right_part); });
  });
  suite.add("scaled", [&] {
    return contenders<Dim<I, X>, Dim<L>>(mesh, lazy(a) * lazy(b) * lazy(s) * lazy(down),
                                         [&] { return scaled_strict(a, b, down, s); });
  });
  suite.add("product", [&] { return product(cube, large); });
  suite.run(argc, argv);
  suite.print();
  return 0;
}
