// Collectives of one block over nodes with a slow network between them (scripts/bench.d/network),
// against the time that the network alone takes, and against MPI's own.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "paired.hpp"
#include "yield.hpp"

using namespace shardtype;

namespace {

char const* const help =
    "bench_network --per-node=N [--megabytes=64] [--gbit=1] [--rounds=7] [--label=TEXT]\n"
    "AllReduce, AllGather and ReduceScatter of float32 on nodes of N ranks. Each round runs, in "
    "an\n"
    "order that rotates: ours; MPI's blocking call and its MPI_I... call, both yielding their "
    "core\n"
    "while they wait; and the bytes that must pass each node's link, as plain messages from one\n"
    "rank of each node to one of the next. Last lines: value network CASE_WHAT_LABEL RANKS MS\n"
    "(medians), and ratio network CASE_RATIO_LABEL RANKS MEDIAN Q1 Q3 of the rounds: ours over\n"
    "`wire`, these bytes over the rate; `messages`; and `mpi`, the call with the smaller median.\n";

struct X : Axis<"X"> {};
using Call = std::function<void()>;
enum What { ours, blocking, started, messages };
constexpr std::array<char const*, 4> names{"ours", "mpi_blocking", "mpi_started", "messages"};

struct Case {
  std::string name;
  double bytes;  // that leave each node at least, and arrive there
  std::array<Call, 4> calls;
  float const* result;
  std::int64_t elements;  // of the result
};

// Waits and yields the core.
void finish(std::vector<MPI_Request>& requests) {
  for (int done = 0; done == 0;) {
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
    if (done == 0) sched_yield();
  }
}
template <class Run>
Call yielding(Run run) {
  return [run] {
    yield_in_mpi = true;
    run();
    yield_in_mpi = false;
  };
}
template <class Begin>
Call completed(Begin begin) {
  return yielding([begin] {
    std::vector<MPI_Request> request(1);
    begin(request.data());
    finish(request);
  });
}

// The first rank of each node sends so many bytes to that of the next one.
void pass_on(float const* from, float* to, std::int64_t bytes, int per_node) {
  constexpr std::int64_t piece = 1 << 20;
  int const rank = rank_here(), ranks = ranks_here();
  if (rank % per_node != 0) return;
  int const next = (rank + per_node) % ranks, previous = (rank + ranks - per_node) % ranks;
  auto* const out = reinterpret_cast<char const*>(from);
  auto* const in = reinterpret_cast<char*>(to);
  std::vector<MPI_Request> requests;
  for (std::int64_t at = 0; at < bytes; at += piece) {
    auto const n = static_cast<int>(std::min(piece, bytes - at));
    MPI_Irecv(in + at, n, MPI_BYTE, previous, 7, MPI_COMM_WORLD, &requests.emplace_back());
    MPI_Isend(out + at, n, MPI_BYTE, next, 7, MPI_COMM_WORLD, &requests.emplace_back());
  }
  finish(requests);
}

// Ends the job unless ours has the numbers of MPI.
void compare(Case const& c) {
  auto const n = static_cast<std::size_t>(c.elements);
  c.calls[blocking]();
  std::vector<float> const expected(c.result, c.result + n);
  c.calls[ours]();
  for (std::size_t k = 0; k < n; ++k)
    if (!(std::abs(c.result[k] - expected[k]) <= 1e-5F)) stop("MPI has another " + c.name);
}

std::array<std::vector<double>, 4> measured(Case const& c, std::int64_t rounds) {
  std::array<std::vector<double>, 4> seconds;
  for (std::int64_t k = -1; k < rounds; ++k)
    for (std::size_t w = 0; w < 4; ++w) {
      std::size_t const at = (w + static_cast<std::size_t>(k + 1)) % 4;
      double const took = timed(c.calls[at]);
      if (k >= 0) seconds[at].push_back(took);
    }
  return seconds;
}

}  // namespace

int main(int argc, char** argv) {
  if (asked_for_help(argc, argv, help)) return 0;
  Environment const env(argc, argv);
  Mesh<X> const mesh(env.world(), {env.size()});
  runtime::Comm& comm = mesh.state().whole();
  auto const per_node = static_cast<int>(option(argc, argv, "per-node", 1));
  double const rate = 1e9 / 8 * static_cast<double>(option(argc, argv, "gbit", 1));
  std::int64_t const ranks = env.size();
  std::int64_t const part = option(argc, argv, "megabytes", 64) * 1'000'000 / 4 / ranks;
  std::int64_t const n = part * ranks;
  int const all = static_cast<int>(n), one = static_cast<int>(part);
  std::string const label = option(argc, argv, "label", std::string("here"));

  HostArray<float> const given(n), made(n);
  std::mt19937 random(static_cast<unsigned>(env.rank()));
  std::uniform_real_distribution<float> numbers(-1, 1);
  for (std::int64_t k = 0; k < n; ++k) given.data()[k] = numbers(random);
  float const* const in = given.data();
  float* const out = made.data();
  runtime::Counts counts(static_cast<std::size_t>(ranks));
  counts.assign(counts.size(), part);

  double const nodes = static_cast<double>(ranks) / per_node;
  double const once = 4.0 * static_cast<double>(n) * (nodes - 1) / nodes;
  auto const link = [&](int times) -> Call {
    return [&, times] {
      for (int k = 0; k < times; ++k) pass_on(in, out, static_cast<std::int64_t>(once), per_node);
    };
  };
  Case const cases[] = {
      {"all_reduce",
       2 * once,
       {[&] { comm.all_reduce(in, out, n, core::ReduceKind::sum); },
        yielding([&] { MPI_Allreduce(in, out, all, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); }),
        completed([&](MPI_Request* r) {
          MPI_Iallreduce(in, out, all, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, r);
        }),
        link(2)},
       out,
       n},
      {"all_gather",
       once,
       {[&] { comm.all_gather(in, out, counts); },
        yielding([&] { MPI_Allgather(in, one, MPI_FLOAT, out, one, MPI_FLOAT, MPI_COMM_WORLD); }),
        completed([&](MPI_Request* r) {
          MPI_Iallgather(in, one, MPI_FLOAT, out, one, MPI_FLOAT, MPI_COMM_WORLD, r);
        }),
        link(1)},
       out,
       n},
      {"reduce_scatter",
       once,
       {[&] { comm.reduce_scatter(in, out, counts, core::ReduceKind::sum); }, yielding([&] {
          MPI_Reduce_scatter_block(in, out, one, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        }),
        completed([&](MPI_Request* r) {
          MPI_Ireduce_scatter_block(in, out, one, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, r);
        }),
        link(1)},
       out,
       part}};
  for (Case const& c : cases) {
    compare(c);
    auto const seconds = measured(c, option(argc, argv, "rounds", 7));
    std::vector<double> const wire(seconds[ours].size(), c.bytes / rate);
    if (env.rank() == 0) {
      for (std::size_t w = 0; w < 4; ++w)
        std::printf("value network %s_%s_%s %d %.1f\n", c.name.c_str(), names[w], label.c_str(),
                    env.size(), 1e3 * median(seconds[w]));
      std::printf("value network %s_wire_%s %d %.1f\n", c.name.c_str(), label.c_str(), env.size(),
                  1e3 * c.bytes / rate);
    }
    auto const ratio = [&](char const* over, std::vector<double> const& rival) {
      print_ratio("ratio", "network", c.name + "_" + over + "_" + label, env.size(),
                  divided(seconds[ours], rival));
    };
    ratio("wire", wire);
    ratio("messages", seconds[messages]);
    ratio("mpi",
          seconds[median(seconds[blocking]) < median(seconds[started]) ? blocking : started]);
  }
  return 0;
}
