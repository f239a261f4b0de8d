// The library's sums over the ranks of one node against MPI's blocking calls, alternating, for
// several sizes of the local block.
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "paired.hpp"
#include "yield.hpp"

using namespace shardtype;

namespace {

char const* const help =
    "bench_sums [--rounds=41] [--benchmark_filter=CASE]\n"
    "Comm::all_reduce and reduce_scatter of float32 against MPI_Allreduce and\n"
    "MPI_Reduce_scatter_block. Last lines: ratio sums CASE_KBYTES RANKS MEDIAN Q1 Q3, ours over\n"
    "MPI in time, where Q1 and Q3 are the quartiles of the ratios of one round; before them, as\n"
    "itself, MPI over itself.\n";

struct X : Axis<"X"> {};
using Pair = std::pair<std::function<void()>, std::function<void()>>;

}  // namespace

int main(int argc, char** argv) {
  if (asked_for_help(argc, argv, help)) return 0;
  Environment env(argc, argv);
  Mesh<X> const mesh(env.world(), {env.size()});
  runtime::Comm& comm = mesh.state().whole();
  bool const share_cores = shardtype::runtime::run_time.yield_while_waiting;
  constexpr std::int64_t largest = std::int64_t{1} << 24;
  HostArray<float> const in(largest);
  HostArray<float> const out(largest);
  runtime::Counts counts(static_cast<std::size_t>(env.size()));
  Suite suite("sums", option(argc, argv, "rounds", 41));
  for (std::int64_t n = 1 << 12; n <= largest; n *= 4) {
    std::string const size = "_" + std::to_string(n * 4 / 1024) + "K";
    std::int64_t const part = n / env.size();
    suite.add("all_reduce" + size, [&, n] {
      return Pair{[&, n] { comm.all_reduce(in.data(), in.data(), n, core::ReduceKind::sum); },
                  [&, n] {
                    yield_in_mpi = share_cores;
                    MPI_Allreduce(MPI_IN_PLACE, in.data(), static_cast<int>(n), MPI_FLOAT, MPI_SUM,
                                  MPI_COMM_WORLD);
                    yield_in_mpi = false;
                  }};
    });
    suite.add("reduce_scatter" + size, [&, part] {
      return Pair{[&, part] {
                    counts.assign(counts.size(), part);
                    comm.reduce_scatter(in.data(), out.data(), counts, core::ReduceKind::sum);
                  },
                  [&, part] {
                    yield_in_mpi = share_cores;
                    MPI_Reduce_scatter_block(in.data(), out.data(), static_cast<int>(part),
                                             MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
                    yield_in_mpi = false;
                  }};
    });
  }
  suite.run(argc, argv);
  suite.print();
  return 0;
}
