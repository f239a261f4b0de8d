// Solutions and Cholesky factors of stacks of small matrices, against LAPACK's routines for one
// after another.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <shardtype/linalg/linalg.hpp>
#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>

#include "paired.hpp"
#include "yield.hpp"

using namespace shardtype;

namespace {

char const* const help =
    "bench_solve_batch [--rounds=21] [--benchmark_filter=CASE]\n"
    "linalg::solve of stacks of n x n systems with one right-hand side against copying, getrf and "
    "getrs of each;\n"
    "linalg::cholesky against copying and potrf. Each rank has so many that a round takes some "
    "milliseconds. Last lines:\n"
    "ratio solve_batch CASE RANKS MEDIAN Q1 Q3, ours over LAPACK in time.\n";

struct X : Axis<"X"> {};
struct B : Index<"B"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using Pair = std::pair<std::function<void()>, std::function<void()>>;

#ifdef SHARDTYPE_HAVE_LAPACK
namespace lk = linalg::kernels;

/// LAPACK on each matrix of a block, which is row-major: copied to columns, factored, solved.
template <class T>
void solve_each(std::int64_t count, std::int64_t n, T const* a, T const* b, T* x) {
  std::vector<T> square(static_cast<std::size_t>(n * n));
  std::vector<std::int32_t> pivots(static_cast<std::size_t>(n));
  for (std::int64_t t = 0; t < count; ++t) {
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        square[static_cast<std::size_t>(i + j * n)] = a[(t * n + i) * n + j];
    std::copy_n(b + t * n, n, x + t * n);
    lk::getrf(n, n, square.data(), n, pivots.data());
    lk::getrs(lk::Trans::no, n, 1, square.data(), n, pivots.data(), x + t * n, n);
  }
}
template <class T>
void factor_each(std::int64_t count, std::int64_t n, T const* a, T* l) {
  std::copy_n(a, count * n * n, l);
  // the lower triangle of a row-major matrix is the upper one of its transpose
  for (std::int64_t t = 0; t < count; ++t) {
    T* const mine = l + t * n * n;
    lk::potrf(lk::Triangle::upper, n, mine, n);
    for (std::int64_t i = 0; i < n; ++i) std::fill_n(mine + i * n + i + 1, n - i - 1, T(0));
  }
}

template <class T>
void add(Suite& suite, std::string const& name, auto const& mesh, std::int64_t ranks) {
  for (std::int64_t const n : {4, 8, 16, 32}) {
    std::int64_t const count = std::max<std::int64_t>(64, 4000000 / (n * n * n));
    auto const a =
        normal<Tensor<T, Dim<B, X>, Dim<I>, Dim<J>>>(mesh, {count * ranks, n, n}, RandomKey{1});
    auto const b = normal<Tensor<T, Dim<B, X>, Dim<I>>>(mesh, {count * ranks, n}, RandomKey{2});
    auto const s = from_function<Tensor<T, Dim<B, X>, Dim<I>, Dim<J>>>(
        mesh, {count * ranks, n, n},
        [n](auto, auto i, auto j) { return static_cast<T>(i == j ? n + 1 : 1); });
    auto const room = std::make_shared<std::vector<T>>(static_cast<std::size_t>(count * n * n));
    suite.add(name + "_solve_" + std::to_string(n), [=] {
      return Pair{
          [=] { (void)linalg::solve<I, J>(a, b); },
          [=] { solve_each<T>(count, n, execute::data_of(a), execute::data_of(b), room->data()); }};
    });
    suite.add(name + "_cholesky_" + std::to_string(n), [=] {
      return Pair{[=] { (void)linalg::cholesky<I, J>(s); },
                  [=] { factor_each<T>(count, n, execute::data_of(s), room->data()); }};
    });
  }
}
#else
template <class T>
void add(Suite&, std::string const&, auto const&, std::int64_t) {
  stop("this program has no LAPACK");
}
#endif

}  // namespace

int main(int argc, char** argv) {
  if (asked_for_help(argc, argv, help)) return 0;
  Environment env(argc, argv);
  Mesh<X> const mesh(env.world(), {env.size()});
  Suite suite("solve_batch", option(argc, argv, "rounds", 21));
  add<double>(suite, "double", mesh, env.size());
  add<float>(suite, "float", mesh, env.size());
  suite.run(argc, argv);
  suite.print();
  return 0;
}
