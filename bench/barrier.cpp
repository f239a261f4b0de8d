// The library's barrier against MPI_Barrier, with more ranks than cores. A waiting rank of MPICH
// spins, so it occupies a core that a rank on its way to the barrier needs; a waiting rank of the
// library yields. This program must not link code that yields inside MPI: such code would hide a
// missing yield.
// RANKS: 8
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "paired.hpp"

using namespace shardtype;

namespace {

char const* const help =
    "bench_barrier [--calls=1000] [--rounds=25] [--plain=3]\n"
    "Comm::barrier against MPI_Barrier, in turn: --calls of ours in all, --plain of the rival's\n"
    "per round (0: none). Last lines: value barrier RANKS MILLISECONDS, the median of all our\n"
    "calls; ratio barrier plain RANKS MEDIAN Q1 Q3, ours over MPI_Barrier's, medians of one round\n"
    "and quartiles of the rounds.\n";

struct X : Axis<"X"> {};

/// Runs `calls` barriers and returns the milliseconds of each, as measured on its slowest rank.
template <class Barrier>
std::vector<double> measured(std::int64_t calls, Barrier barrier) {
  std::vector<double> mine;
  meet();
  for (std::int64_t k = 0; k < calls; ++k) {
    double const start = MPI_Wtime();
    barrier();
    mine.push_back(1e3 * (MPI_Wtime() - start));
  }
  std::vector<double> slowest;
  for (double t : mine) slowest.push_back(greatest(t));
  return slowest;
}

}  // namespace

int main(int argc, char** argv) {
  if (asked_for_help(argc, argv, help)) return 0;
  Environment env(argc, argv);
  std::int64_t const rounds = option(argc, argv, "rounds", 25);
  std::int64_t const calls = std::max<std::int64_t>(1, option(argc, argv, "calls", 1000) / rounds);
  std::int64_t const plain = option(argc, argv, "plain", 3);
  Mesh<X> const mesh(env.world(), {env.size()});
  runtime::Comm& comm = mesh.state().whole();

  std::vector<double> all, ratios;
  benchmark::RegisterBenchmark("barrier",
                               [&](benchmark::State& state) {
                                 auto const ours = [&] { comm.barrier(); };
                                 auto const rival = [&] { MPI_Barrier(comm.raw()); };
                                 measured(calls, ours);
                                 for (auto _ : state) {
                                   std::vector<double> const a = measured(calls, ours);
                                   all.insert(all.end(), a.begin(), a.end());
                                   state.SetIterationTime(1e-3 * median(a));
                                   if (plain == 0) continue;
                                   std::vector<double> const b = measured(plain, rival);
                                   ratios.push_back(median(a) / median(b));
                                   state.counters["rival_ms"] = median(b);
                                 }
                               })
      ->UseManualTime()
      ->Iterations(rounds)
      ->Unit(benchmark::kMillisecond);
  run_benchmarks(argc, argv);

  if (env.rank() == 0) std::printf("value barrier %d %.4f\n", env.size(), median(all));
  if (plain > 0) print_ratio("ratio", "barrier", "plain", env.size(), ratios);
  return 0;
}
