// The packed product of the library against the BLAS that it is linked with, alternating on one
// core. Needs SHARDTYPE_HAVE_BLAS. Limit BLAS to one thread, and let both use the same instruction
// set.

#include "shardtype/kernels/gemm.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include <Kokkos_Core.hpp>
#include <benchmark/benchmark.h>

namespace {

using Exec = Kokkos::DefaultHostExecutionSpace;
using shardtype::kernels::Matrix;

constexpr int pairs = 21;

/// The measured times of one case in seconds, one entry per pair.
struct Times {
  std::vector<double> ours, blas;
};

std::map<std::string, Times> results;
std::deque<std::string> order;  // the names in order of registration, for the last lines

double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x.empty() ? 0 : x[x.size() / 2];
}

template <class F>
double seconds(F&& f) {
  auto const start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// One iteration is a pair: both products run, each with its own timing; which one runs first
/// alternates.
template <class T>
void product(benchmark::State& state, std::string const& name, std::int64_t m, std::int64_t n,
             std::int64_t k) {
  Exec const exec;
  std::vector<T> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(k * n)),
      c(static_cast<std::size_t>(m * n));
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = T(static_cast<float>(i % 7) - 3);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = T(static_cast<float>(i % 5) - 2);
  Matrix<T const> const ma{a.data(), m, k, k, 1, 0};
  Matrix<T const> const mb{b.data(), k, n, n, 1, 0};
  Matrix<T> const mc{c.data(), m, n, n, 1, 0};
  std::vector<char> workspace(shardtype::kernels::gemm_workspace_bytes<T>(exec, 1, m, n, k));
  // Small products are repeated, so that each timing lasts some milliseconds.
  auto const repeats = std::max<std::int64_t>(1, (std::int64_t{1} << 29) / (m * n * k));
  auto const ours = [&] {
    for (std::int64_t r = 0; r < repeats; ++r) {
      shardtype::kernels::kokkos_gemm(exec, 1, ma, mb, mc, false, workspace.data(),
                                      workspace.size());
    }
    exec.fence();
  };
  auto const blas = [&] {
    for (std::int64_t r = 0; r < repeats; ++r) {
      shardtype::kernels::blas_gemm(1, ma, mb, mc, false);
    }
  };
  ours();
  blas();
  Times times;
  bool blas_first = false;
  for (auto _ : state) {
    double blas_time = 0;
    if (blas_first) blas_time = seconds(blas);
    double const our_time = seconds(ours);
    if (!blas_first) blas_time = seconds(blas);
    blas_first = !blas_first;
    times.ours.push_back(our_time / static_cast<double>(repeats));
    times.blas.push_back(blas_time / static_cast<double>(repeats));
    state.SetIterationTime(times.ours.back());
  }
  double const flop = (std::is_arithmetic_v<T> ? 2.0 : 8.0) * static_cast<double>(m) *
                      static_cast<double>(n) * static_cast<double>(k);
  state.counters["ours_GFs"] = flop / median(times.ours) * 1e-9;
  state.counters["blas_GFs"] = flop / median(times.blas) * 1e-9;
  results[name] = times;
}

template <class T>
void add(std::string const& type, std::int64_t m, std::int64_t n, std::int64_t k) {
  std::string name = type + "_" + std::to_string(m);
  if (m != n || n != k) name += "x" + std::to_string(n) + "x" + std::to_string(k);
  order.push_back(name);
  benchmark::RegisterBenchmark(
      ("gemm/" + name).c_str(),
      [name, m, n, k](benchmark::State& state) { product<T>(state, name, m, n, k); })
      ->UseManualTime()
      ->Iterations(pairs)
      ->Unit(benchmark::kMillisecond);
}

template <class T>
void add_sizes(std::string const& type) {
  add<T>(type, 512, 512, 512);
  add<T>(type, 1024, 1024, 1024);
  add<T>(type, 2048, 2048, 2048);
  add<T>(type, 1500, 1100, 900);
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::initialize(argc, argv);
  benchmark::Initialize(&argc, argv);
  add_sizes<float>("float");
  add_sizes<double>("double");
  add<Kokkos::complex<float>>("complex_float", 1024, 1024, 1024);
  add<Kokkos::complex<double>>("complex_double", 1024, 1024, 1024);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  for (auto const& name : order) {
    auto const found = results.find(name);
    if (found == results.end()) continue;
    std::vector<double> ratios;
    for (std::size_t i = 0; i < found->second.ours.size(); ++i) {
      ratios.push_back(found->second.ours[i] / found->second.blas[i]);
    }
    std::printf("ratio gemm %s 1 %.4f %.4f %.4f\n", name.c_str(), median(ratios),
                *std::min_element(ratios.begin(), ratios.end()),
                *std::max_element(ratios.begin(), ratios.end()));
  }
  Kokkos::finalize();
  return 0;
}
