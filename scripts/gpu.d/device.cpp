// The rates of local operations on the default execution space, beside those of a copy and of the
// vendor's product: one line per case, which says how much was asked for (scripts/gpu).
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <mpi.h>

#include <shardtype/shardtype.hpp>

#ifdef KOKKOS_ENABLE_CUDA
#include <cublas_v2.h>
#else
extern "C" void cblas_sgemm(int, int, int, int, int, int, float, float const*, int, float const*,
                            int, float, float*, int);
#endif

using namespace shardtype;

namespace {

using Int = std::int64_t;
using Exec = Kokkos::DefaultExecutionSpace;

struct X : Axis<"X"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using Rows = Tensor<float, Dim<I, X>, Dim<J>>;

/// The least of five means, in seconds; all ranks repeat as often.
template <class F>
double seconds(F run) {
  using Clock = std::chrono::steady_clock;
  auto const again = [](bool mine) {
    int more = mine ? 1 : 0;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return more != 0;
  };
  run();
  double best = 1e30;
  for (int round = 0; round < 5; ++round) {
    Kokkos::fence();
    auto const begin = Clock::now();
    double spent = 0;
    int runs = 0;
    do {
      run();
      Kokkos::fence();
      ++runs;
      spent = std::chrono::duration<double>(Clock::now() - begin).count();
    } while (again(spent < 0.05 && runs < 200));
    best = std::min(best, spent / runs);
  }
  return best;
}

/// Prints the rates of rank 0.
class Report {
 public:
  Report(bool prints, double copy) : prints_(prints), copy_(copy) {}

  /// A case that moves `bytes` bytes per rank; `asked`: of the rate of a copy.
  template <class F>
  void moves(char const* name, double bytes, double asked, F run) const {
    double const rate = bytes / seconds(run);
    line(name, rate * 1e-9, "GB/s", rate / copy_, "the copy rate", asked);
  }
  void line(char const* name, double rate, char const* unit, double ratio, char const* of,
            double asked) const {
    if (!prints_) return;
    std::printf("rate %-18s %9.1f %s, %.3f of %s (%.2f asked)%s\n", name, rate, unit, ratio, of,
                asked, ratio < asked ? " SHORT" : "");
    std::fflush(stdout);
  }

 private:
  bool prints_;
  double copy_;
};

/// The seconds of the vendor's product of [m, n] and [n, n].
double vendor_product(Int m, Int n) {
  using View = Kokkos::View<float*, Exec::memory_space>;
  auto const rows = static_cast<std::size_t>(m);
  auto const cols = static_cast<std::size_t>(n);
  View const a("a", rows * cols);
  View const b("b", cols * cols);
  View const c("c", rows * cols);
  int const small = static_cast<int>(m);
  int const large = static_cast<int>(n);
#ifdef KOKKOS_ENABLE_CUDA
  cublasHandle_t handle{};
  cublasCreate(&handle);
  cublasSetStream(handle, Exec().cuda_stream());
  float const one = 1;
  float const zero = 0;
  double const out = seconds([&] {
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, large, small, large, &one, b.data(), large,
                a.data(), large, &zero, c.data(), large);
  });
  cublasDestroy(handle);
  return out;
#else
  constexpr int row_major = 101;
  constexpr int plain = 111;
  return seconds([&] {
    cblas_sgemm(row_major, plain, plain, small, large, large, 1, a.data(), large, b.data(), large,
                0, c.data(), large);
  });
#endif
}

void run(MPI_Comm world, Int n) {
  Mesh<X> const mesh(world);
  auto const ranks = mesh.size();
  int rank = 0;
  MPI_Comm_rank(world, &rank);
  double const block = 4.0 * static_cast<double>(n) * static_cast<double>(n) / ranks;
  using View = Kokkos::View<float*, Exec::memory_space>;
  auto const elements = static_cast<std::size_t>(n / ranks * n);
  double copy = 0;
  {
    View const from("from", elements);
    View const to("to", elements);
    copy = 2 * block / seconds([&] { Kokkos::deep_copy(Exec(), to, from); });
  }
  if (rank == 0)
    std::printf("rate copy %.1f GB/s on %s, %lld x %lld, %d ranks\n", copy * 1e-9, Exec::name(),
                static_cast<long long>(n), static_cast<long long>(n), static_cast<int>(ranks));
  Report const report(rank == 0, copy);
  auto const a = full<Rows>(mesh, {n, n}, 1.5F);
  auto const b = full<Rows>(mesh, {n, n}, 0.5F);
  report.moves("a * 3 + b", 3 * block, 0.85, [&] { (void)(a * 3.0F + b).tensor(); });
  report.moves("exp(a)", 2 * block, 0.85, [&] { (void)exp(a).tensor(); });
  report.moves("sum of all", block, 0.85, [&] { (void)sum<I, J>(a); });
  report.moves("sum of rows", block, 0.85, [&] { (void)sum<J>(a); });
  report.moves("sum of columns", block, 0.85, [&] { (void)sum<I>(a); });
  report.moves("softmax of rows", 2 * block, 0.7, [&] { (void)softmax<J>(a); });
  if (ranks > 1)  // packs, sends, unpacks
    report.moves("all_to_all", 4 * block, 0, [&] { (void)reshard<Dim<I>, Dim<J, X>>(a); });
  auto const m = full<Tensor<float, Dim<J>, Dim<K>>>(mesh, {n, n}, 0.25F);
  double const ours = seconds([&] { (void)matmul(a, m); });
  double const flops =
      2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n) / ranks;
  report.line("matmul", flops / ours * 1e-9, "GFLOP/s", vendor_product(n / ranks, n) / ours,
              "the vendor's", 0.97);
}

}  // namespace

int main(int argc, char** argv) {
  Environment env(argc, argv);
  run(env.world(), argc > 1 ? std::atoll(argv[1]) : 4096);
}
