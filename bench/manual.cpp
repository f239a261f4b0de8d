// The extra time of a collective in manual mode over the MPI call that it makes. It sends one
// number per rank, so the difference is the overhead of the library.
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "paired.hpp"

using namespace shardtype;

namespace {

char const* const help =
    "bench_manual [--rounds=41] [--calls=2000] [--benchmark_filter=CASE]\n"
    "Collectives of one number in manual mode against MPI's with buffers of their own, in turn. "
    "Last\n"
    "lines: value manual CASE RANKS MICROSECONDS, what a call of ours takes longer, the median of "
    "the\n"
    "rounds.\n";

struct X : Axis<"X"> {};
struct I : Index<"I"> {};

struct Case {
  std::string name;
  std::function<void()> ours, rival;
  std::vector<double> differences{};
};

}  // namespace

int main(int argc, char** argv) {
  if (asked_for_help(argc, argv, help)) return 0;
  Environment env(argc, argv);
  std::int64_t const rounds = option(argc, argv, "rounds", 41);
  std::int64_t const calls = option(argc, argv, "calls", 2000);
  Mesh<X> const mesh(env.world(), {env.size()});
  detail::ManualScope const inside(mesh);
  auto const one = varying<X>(full_local<double, Dim<I>>({1}, 1.0));
  auto const many = varying<X>(full_local<double, Dim<I>>({env.size()}, 1.0));
  MPI_Comm const comm = mesh.state().whole().raw();
  int const p = env.size();
  int const to = (env.rank() + 1) % p;
  int const from = (env.rank() + p - 1) % p;
  HostArray<double> in(p), out(p);

  std::vector<Case> cases;
  cases.push_back({"all_reduce",
                   [&] { benchmark::DoNotOptimize(all_reduce<Max, X>(one).local_size()); },
                   [&] { MPI_Allreduce(in.data(), out.data(), 1, MPI_DOUBLE, MPI_MAX, comm); }});
  cases.push_back(
      {"all_gather", [&] { benchmark::DoNotOptimize(all_gather<X, I>(one).local_size()); },
       [&] { MPI_Allgather(in.data(), 1, MPI_DOUBLE, out.data(), 1, MPI_DOUBLE, comm); }});
  cases.push_back(
      {"reduce_scatter",
       [&] { benchmark::DoNotOptimize(reduce_scatter<Max, X, I>(many).local_size()); },
       [&] { MPI_Reduce_scatter_block(in.data(), out.data(), 1, MPI_DOUBLE, MPI_MAX, comm); }});
  cases.push_back(
      {"all_to_all", [&] { benchmark::DoNotOptimize(all_to_all<X, I, I>(many).local_size()); },
       [&] { MPI_Alltoall(in.data(), 1, MPI_DOUBLE, out.data(), 1, MPI_DOUBLE, comm); }});
  cases.push_back({"permute", [&] { benchmark::DoNotOptimize(rotate<X>(one, 1).local_size()); },
                   [&] {
                     MPI_Request both[2];
                     MPI_Irecv(out.data(), 1, MPI_DOUBLE, from, 0, comm, both);
                     MPI_Isend(in.data(), 1, MPI_DOUBLE, to, 0, comm, both + 1);
                     MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
                   }});

  auto const repeated = [&](std::function<void()> const& call) {
    return [&] {
      for (std::int64_t k = 0; k < calls; ++k) call();
    };
  };
  for (Case& c : cases)
    benchmark::RegisterBenchmark(("manual/" + c.name).c_str(),
                                 [&](benchmark::State& state) {
                                   timed(repeated(c.ours));
                                   timed(repeated(c.rival));
                                   bool first = true;
                                   for (auto _ : state) {
                                     double const a = first ? timed(repeated(c.ours)) : 0;
                                     double const b = timed(repeated(c.rival));
                                     double const ours = first ? a : timed(repeated(c.ours));
                                     first = !first;
                                     double const each = 1e6 / static_cast<double>(calls);
                                     c.differences.push_back((ours - b) * each);
                                     state.SetIterationTime(ours / static_cast<double>(calls));
                                     state.counters["rival_us"] = b * each;
                                   }
                                 })
        ->UseManualTime()
        ->Iterations(rounds)
        ->Unit(benchmark::kMicrosecond);
  run_benchmarks(argc, argv);
  if (env.rank() == 0)
    for (Case const& c : cases)
      if (!c.differences.empty())
        std::printf("value manual %s %d %.3f\n", c.name.c_str(), p, median(c.differences));
  return 0;
}
