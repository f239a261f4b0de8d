// Measures the machine with all ranks at work and writes its rates to a file for SHARDTYPE_MACHINE.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "paired.hpp"
#include "sgemm.hpp"

using namespace shardtype;

namespace {

char const* const help =
    "bench_calibrate --write=FILE [--n=1024]\n"
    "Measures, on all ranks at once: short messages round a ring, an all_gather, a reduce_scatter, "
    "a\n"
    "product of n^3 float, whole and in pieces, and a copy that passes the caches. Rank 0 writes "
    "FILE;\n"
    "SHARDTYPE_MACHINE=FILE makes programs use it. On several nodes with several ranks each, links "
    "between\n"
    "nodes and inside of them have rates of their own.\n";

/// The median of `times` measurements of `work`, after one unmeasured run.
template <class F>
double seconds(int times, F work) {
  std::vector<double> out;
  for (int k = -1; k < times; ++k) {
    double const t = timed(work);
    if (k >= 0) out.push_back(t);
  }
  return median(out);
}

/// Each rank sends `times` messages of `n` elements to the next rank of the ring, one after the
/// other.
void round_the_ring(runtime::Comm& comm, float const* from, float* to, std::int64_t n, int times) {
  int const p = comm.size();
  for (int k = 0; k < times; ++k) {
    runtime::Stream stream(comm, (comm.rank() + p - 1) % p, (comm.rank() + 1) % p, 1);
    stream.receive(to, n);
    stream.send(from, n);
    stream.finish();
  }
}

struct Link {
  double latency, bytes_per_second, reducing;
};

/// The link of the ranks of `comm`, while all such groups are at work.
Link measured(runtime::Comm& comm, HostArray<float>& from, HostArray<float>& to) {
  constexpr int short_ones = 100;
  int const p = comm.size();
  double const latency =
      seconds(15, [&] { round_the_ring(comm, from.data(), to.data(), 2, short_ones); }) /
      short_ones;
  auto const part = static_cast<std::int64_t>(from.size()) / p;
  runtime::Counts const counts(static_cast<std::size_t>(p), part);
  double const moved = static_cast<double>(sizeof(float)) * static_cast<double>(part) * (p - 1);
  double const meeting = p * latency;  // the latency that step_latency counts
  auto const moving = [&](auto const& collective) {
    double const all = seconds(15, collective);
    return std::max(all - meeting, all / 2);
  };
  double const gathered = moving([&] { comm.all_gather(from.data(), to.data(), counts); });
  double const reduced =
      moving([&] { comm.reduce_scatter(from.data(), to.data(), counts, core::ReduceKind::sum); });
  return {latency, moved / gathered, std::max(1.0, reduced / gathered)};
}

}  // namespace

int main(int argc, char** argv) {
  if (asked_for_help(argc, argv, help)) return 0;
  Environment env(argc, argv);
  std::string const file = option(argc, argv, "write", "");
  std::int64_t const n = option(argc, argv, "n", 1024);
  if (file.empty() || n < 256) {
    if (env.rank() == 0) std::fputs(help, stderr);
    return 2;
  }
  Machine m;
  constexpr std::int64_t large = 1 << 20;
  HostArray<float> from(large), to(large);
  MPI_Comm here = shardtype::detail::ranks_of_node(env.world());
  int place = 0;
  MPI_Comm_rank(here, &place);
  MPI_Comm across = MPI_COMM_NULL;
  MPI_Comm_split(env.world(), place, env.rank(), &across);
  runtime::Comm node(here);
  runtime::Comm between(across);
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(env.world(), &copy);
  runtime::Comm all(copy);
  bool const spans = between.size() > 1 && node.size() > 1;
  if (all.size() > 1) {
    Link const link = measured(spans ? between : all, from, to);
    m.latency = link.latency;
    m.bytes_per_second = link.bytes_per_second;
    m.reducing = link.reducing;
  }
  if (spans) {
    Link const inside = measured(node, from, to);
    m.inside_latency = inside.latency;
    m.inside_bytes_per_second = inside.bytes_per_second;
  }

  HostArray<float> a(n * n), b(n * n), c(n * n);
  double const cube = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  double const whole = seconds(15, [&] { sgemm(n, n, n, a.data(), b.data(), c.data()); });
  m.flops_per_second = 2 * cube / whole;
  double const pieces = seconds(7, [&] {
    for (std::int64_t row = 0; row < n; row += n / 4)
      sgemm(std::min(n / 4, n - row), n, n, a.data() + row * n, b.data(), c.data() + row * n);
  });
  m.cut_product = std::max(1.0, pieces / whole);

  HostArray<float> many(16 * large), there(16 * large);
  double const passed = seconds(5, [&] {
    std::copy_n(many.data(), many.size(), there.data());
    benchmark::ClobberMemory();
  });
  m.memory_bytes_per_second = static_cast<double>(2 * sizeof(float) * many.size()) / passed;

  std::string const none =
      env.size() > 1 ? "" : "# one rank sends nothing: latency and bandwidth are round numbers\n";
  std::string const text = none + "# rates of this machine under " + std::to_string(env.size()) +
                           " ranks: seconds, bytes and flops of each, all at once\n" + to_text(m);
  if (env.rank() != 0) return 0;
  if (int const fault = shardtype::runtime::replace_file(file, text); fault != 0)
    stop(file + " cannot be written: " + shardtype::runtime::file_fault_text(fault));
  std::fputs(text.c_str(), stdout);
  return 0;
}
