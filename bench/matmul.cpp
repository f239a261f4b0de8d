// The product of two distributed matrices against hand-written MPI and BLAS, alternating. The
// hand-written program uses one blocking collective, one sgemm_, and buffers that are allocated
// once.
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
    "bench_matmul [--size=2048] [--rounds=41] [--benchmark_filter=CASE]\n"
    "A product of square float32 matrices on a 1-D mesh of all ranks, ours against MPI and\n"
    "sgemm_. Last lines: ratio matmul CASE RANKS MEDIAN Q1 Q3, ours over the rival in time, where\n"
    "Q1 and Q3 are the quartiles of the ratios of one round; before them, as itself, the rival\n"
    "over itself.\n";

struct X : Axis<"X"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};

using M = Mesh<X>;
using Pair = std::pair<std::function<void()>, std::function<void()>>;

// Small integers: every sum is exact in float, so both programs must agree to the bit.
std::int64_t left(std::int64_t i, std::int64_t j) { return (i * 7 + j * 3) % 11 - 5; }
std::int64_t right(std::int64_t j, std::int64_t k) { return (j * 5 + k * 2) % 7 - 3; }

/// The collective of one case.
enum class Way { none, all_gather, all_reduce, reduce_scatter };

/// The hand-written program of one case for n x n matrices: local blocks, and one call that runs
/// everything.
class ByHand {
 public:
  ByHand(Way way, std::int64_t n)
      : way_(way),
        n_(n),
        p_(ranks_here()),
        a_(n * n / p_),
        b_(way == Way::none ? n * n : n * n / p_),
        whole_(way == Way::all_gather || way == Way::reduce_scatter ? n * n : 0),
        c_(way == Way::all_reduce ? n * n : n * n / p_) {
    std::int64_t const r = rank_here();
    std::int64_t const part = n / p_;
    bool const by_rows = way == Way::none || way == Way::all_gather;  // A[I@X, J], else A[I, J@X]
    std::int64_t const cols = by_rows ? n : part;
    for (std::int64_t i = 0; i < (by_rows ? part : n); ++i)
      for (std::int64_t j = 0; j < cols; ++j)
        a_.data()[i * cols + j] =
            static_cast<float>(left(by_rows ? r * part + i : i, by_rows ? j : r * part + j));
    std::int64_t const first = way == Way::none ? 0 : r * part;
    for (std::int64_t j = 0; j < (way == Way::none ? n : part); ++j)
      for (std::int64_t k = 0; k < n; ++k)
        b_.data()[j * n + k] = static_cast<float>(right(first + j, k));
  }

  void operator()() {
    std::int64_t const part = n_ / p_;
    auto const count = static_cast<int>(part * n_);
    switch (way_) {
      case Way::none:
        sgemm(part, n_, n_, a_.data(), b_.data(), c_.data());
        break;
      case Way::all_gather:
        MPI_Allgather(b_.data(), count, MPI_FLOAT, whole_.data(), count, MPI_FLOAT, MPI_COMM_WORLD);
        sgemm(part, n_, n_, a_.data(), whole_.data(), c_.data());
        break;
      case Way::all_reduce:
        sgemm(n_, n_, part, a_.data(), b_.data(), c_.data());
        MPI_Allreduce(MPI_IN_PLACE, c_.data(), static_cast<int>(n_ * n_), MPI_FLOAT, MPI_SUM,
                      MPI_COMM_WORLD);
        break;
      case Way::reduce_scatter:
        sgemm(n_, n_, part, a_.data(), b_.data(), whole_.data());
        MPI_Reduce_scatter_block(whole_.data(), c_.data(), count, MPI_FLOAT, MPI_SUM,
                                 MPI_COMM_WORLD);
        break;
    }
  }

  HostArray<float> const& result() const { return c_; }

 private:
  Way way_;
  std::int64_t n_, p_;
  HostArray<float> a_, b_, whole_, c_;
};

/// The collective of `way` in a plan.
constexpr Collective collective_of(Way way) {
  switch (way) {
    case Way::none:
      break;
    case Way::all_gather:
      return Collective::all_gather;
    case Way::all_reduce:
      return Collective::all_reduce;
    case Way::reduce_scatter:
      return Collective::reduce_scatter;
  }
  return Collective::none;
}

/// Ends the job unless the local block of C equals the hand-written one bit for bit and sampled
/// elements are correct.
template <class C>
void compare(C const& c, HostArray<float> const& rival, std::int64_t n) {
  auto const block = c.local();
  if (block.size() != rival.size()) stop("the blocks of C differ in size");
  for (std::size_t k = 0; k < rival.size(); ++k)
    if (block.data()[k] != rival.data()[k]) stop("the two programs computed different C");
  core::Range const rows = c.ranges()[0];
  for (std::int64_t i : {rows.begin, rows.end - 1})
    for (std::int64_t k : {std::int64_t{0}, n / 3, n - 1}) {
      std::int64_t sum = 0;
      for (std::int64_t j = 0; j < n; ++j) sum += left(i, j) * right(j, k);
      if (block(static_cast<std::size_t>(i - rows.begin), static_cast<std::size_t>(k)) !=
          static_cast<float>(sum))
        stop("C is wrong");
    }
}

/// Both programs of one case, after one check that their results agree.
template <class A, class B, class... Out>
Pair contenders(M const& mesh, Way way, std::int64_t n) {
  auto const a = std::make_shared<A const>(from_function<A>(mesh, {n, n}, left));
  auto const b = std::make_shared<B const>(from_function<B>(mesh, {n, n}, right));
  Plan const p = plan_at(op::Matmul<Out...>{}, *a, *b);
  if (p.collectives() != (way == Way::none ? 0 : 1) ||
      (way != Way::none && p.count(collective_of(way)) != 1))
    stop("our plan is another one:\n" + explain(op::Matmul<Out...>{}, *a, *b));
  auto const rival = std::make_shared<ByHand>(way, n);
  bool const share_cores = shardtype::runtime::run_time.yield_while_waiting;
  auto const run_rival = [rival, share_cores] {
    yield_in_mpi = share_cores;
    (*rival)();
    yield_in_mpi = false;
  };
  run_rival();
  compare(matmul<Out...>(*a, *b), rival->result(), n);
  return {[a, b] { benchmark::DoNotOptimize(matmul<Out...>(*a, *b).local_size()); }, run_rival};
}

}  // namespace

int main(int argc, char** argv) {
  if (asked_for_help(argc, argv, help)) return 0;
  Environment env(argc, argv);
  std::int64_t const n = option(argc, argv, "size", 2048);
  std::int64_t const rounds = option(argc, argv, "rounds", 41);
  if (n % env.size() != 0) stop("--size must be a multiple of the number of ranks");
  M const mesh(env.world(), {env.size()});

  using RowsA = Tensor<float, Dim<I, X>, Dim<J>>;
  using ColsA = Tensor<float, Dim<I>, Dim<J, X>>;
  using RowsB = Tensor<float, Dim<J, X>, Dim<K>>;
  using AllB = Tensor<float, Dim<J>, Dim<K>>;
  Suite suite("matmul", rounds);
  suite.add("none", [&] { return contenders<RowsA, AllB, Dim<I, X>, Dim<K>>(mesh, Way::none, n); });
  suite.add("all_gather",
            [&] { return contenders<RowsA, RowsB, Dim<I, X>, Dim<K>>(mesh, Way::all_gather, n); });
  suite.add("all_reduce",
            [&] { return contenders<ColsA, RowsB, Dim<I>, Dim<K>>(mesh, Way::all_reduce, n); });
  suite.add("reduce_scatter", [&] {
    return contenders<ColsA, RowsB, Dim<I, X>, Dim<K>>(mesh, Way::reduce_scatter, n);
  });
  suite.run(argc, argv);
  if (env.rank() == 0 && shardtype::runtime::run_time.yield_while_waiting && yielding_calls == 0 &&
      n > 64)
    std::printf("note: this MPI does not wait in UCX; the rival spins while it waits\n");
  suite.print();
  return 0;
}
