// Collectives over ranks of several nodes in two stages: the values on nodes of 1, 2 and 3 ranks,
// also with a shorter last one and with ranks that lie on the nodes in turn; even, uneven and empty
// segments; in one piece and in many; with shared memory inside of nodes and with messages; the
// bytes over the link of each node; and that they run in two stages where the link between nodes is
// slower by 4, and not where all are alike.
// SOURCES: tests/shim/pmpi.cpp
#include <algorithm>
#include <cstdint>
#include <vector>

#include <shardtype/runtime/environment.hpp>
#include <shardtype/runtime/mesh.hpp>

#include "harness/catch.hpp"
#include "harness/pretended_nodes.hpp"
#include "harness/sending.hpp"
#include "shim/pmpi.hpp"

using namespace shardtype;
using core::ReduceKind;
using runtime::Comm;
using runtime::Counts;
using runtime::run_time;

namespace {

Machine slower_between(double times) {
  Machine m;
  m.inside_latency = m.latency / times;
  m.inside_bytes_per_second = times * m.bytes_per_second;
  return m;
}

// All ranks of the job, every `stride`-th first: 1 is their order.
MPI_Comm world_by(int stride) {
  int rank = 0;
  MPI_Comm out = MPI_COMM_NULL;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank % stride * 100 + rank / stride, &out);
  return out;
}

// Small integers: sums are exact in every order.
template <class T>
T term(std::int64_t k, int rank) {
  return T(static_cast<float>((k * 7 + rank * 5) % 23 - 11));
}
template <class T>
T reduced(std::int64_t k, int ranks, ReduceKind kind) {
  T out = term<T>(k, 0);
  for (int r = 1; r < ranks; ++r) {
    T const x = term<T>(k, r);
    out = kind == ReduceKind::sum                         ? out + x
          : (kind == ReduceKind::max ? out < x : x < out) ? x
                                                          : out;
  }
  return out;
}
template <class T>
std::vector<T> terms(std::int64_t n, int rank) {
  std::vector<T> out(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k) out[static_cast<std::size_t>(k)] = term<T>(k, rank);
  return out;
}

template <class T>
int wrong_all_reduce(Comm& comm, std::int64_t n, ReduceKind kind) {
  std::vector<T> const send = terms<T>(n, comm.rank());
  std::vector<T> apart(send.size());
  std::vector<T> in_place = send;
  comm.all_reduce(send.data(), apart.data(), n, kind);
  comm.all_reduce(in_place.data(), in_place.data(), n, kind);
  int bad = send == terms<T>(n, comm.rank()) ? 0 : 1;
  for (std::int64_t k = 0; k < n; ++k) {
    auto const at = static_cast<std::size_t>(k);
    T const want = reduced<T>(k, comm.size(), kind);
    bad += apart[at] == want && in_place[at] == want ? 0 : 1;
  }
  return bad;
}

template <class T>
int wrong_reduce_scatter(Comm& comm, Counts const& counts, ReduceKind kind) {
  std::int64_t n = 0;
  std::int64_t first = 0;
  for (int g = 0; g < comm.size(); ++g) {
    if (g == comm.rank()) first = n;
    n += counts[static_cast<std::size_t>(g)];
  }
  std::vector<T> const send = terms<T>(n, comm.rank());
  std::vector<T> sum(static_cast<std::size_t>(counts[static_cast<std::size_t>(comm.rank())]));
  comm.reduce_scatter(send.data(), sum.data(), counts, kind);
  int bad = 0;
  for (std::size_t k = 0; k < sum.size(); ++k)
    bad += sum[k] == reduced<T>(first + static_cast<std::int64_t>(k), comm.size(), kind) ? 0 : 1;
  return bad;
}

template <class T>
int wrong_all_gather(Comm& comm, Counts const& counts) {
  std::int64_t n = 0;
  for (std::int64_t const c : counts) n += c;
  std::vector<T> all(static_cast<std::size_t>(n), T(100.F));
  std::int64_t const own = counts[static_cast<std::size_t>(comm.rank())];
  std::vector<T> const send = terms<T>(own, comm.rank());
  comm.all_gather(send.data(), all.data(), counts);
  int bad = 0;
  std::size_t at = 0;
  for (int g = 0; g < comm.size(); ++g)
    for (std::int64_t k = 0; k < counts[static_cast<std::size_t>(g)]; ++k)
      bad += all[at++] == term<T>(k, g) ? 0 : 1;
  return bad;
}

// Even, uneven and empty segments.
std::vector<Counts> segments_of(int ranks) {
  std::vector<Counts> out(4);
  for (int g = 0; g < ranks; ++g) {
    out[0].push_back(6);
    out[1].push_back(1 + g * 3 % 7);
    out[2].push_back(g % 3 == 1 ? 5 : 0);
    out[3].push_back(g == ranks - 1 ? 9 : 0);
  }
  return out;
}

// Lengths of the segment from each rank for each: even, by two ranks' blocks, of all lengths, and
// for one rank alone.
enum class Lengths { even, of_blocks, drawn, to_last };
std::int64_t length_of(Lengths how, int from, int to, int ranks) {
  switch (how) {
    case Lengths::even:
      return 5;
    case Lengths::of_blocks:
      return std::int64_t{from % 3} * (to * 2 % 5);
    case Lengths::drawn:
      return (from * 7 + to * 3 + from * to) % 6;
    default:
      return to == ranks - 1 ? 1 + from : 0;
  }
}
// The segments lie in the order of ranks, or, if they are not even, `turned` the other way round
// with an element between them.
template <class T>
int wrong_all_to_all(Comm& comm, Lengths how, bool turned) {
  int const p = comm.size();
  int const me = comm.rank();
  auto const all = static_cast<std::size_t>(p);
  Counts out(all), in(all), out_at(all), in_at(all);
  std::int64_t sent = 0;
  std::int64_t came = 0;
  for (int k = 0; k < p; ++k) {
    int const r = turned ? p - 1 - k : k;
    auto const g = static_cast<std::size_t>(r);
    out[g] = length_of(how, me, r, p);
    in[g] = length_of(how, r, me, p);
    out_at[g] = sent;
    in_at[g] = came;
    sent += out[g] + (turned ? 1 : 0);
    came += in[g] + (turned ? 1 : 0);
  }
  auto const value = [](int from, int to, std::int64_t k) {
    return term<T>(k * 3 + from * 5, to * 2);
  };
  std::vector<T> send(static_cast<std::size_t>(sent) + 1, T(99.F));
  std::vector<T> recv(static_cast<std::size_t>(came) + 1, T(100.F));
  std::vector<T> want = recv;
  for (int r = 0; r < p; ++r) {
    auto const g = static_cast<std::size_t>(r);
    for (std::int64_t k = 0; k < out[g]; ++k)
      send[static_cast<std::size_t>(out_at[g] + k)] = value(me, r, k);
    for (std::int64_t k = 0; k < in[g]; ++k)
      want[static_cast<std::size_t>(in_at[g] + k)] = value(r, me, k);
  }
  auto const sized = how == Lengths::even ? runtime::Segments::even : runtime::Segments::uneven;
  comm.all_to_all(send.data(), out, out_at, recv.data(), in, in_at, sized, nullptr, 3);
  return recv == want ? 0 : 1;
}
template <class T>
int wrong_exchanges(Comm& comm) {
  int bad = wrong_all_to_all<T>(comm, Lengths::even, false);
  for (Lengths const how : {Lengths::of_blocks, Lengths::drawn, Lengths::to_last})
    for (bool const turned : {false, true}) bad += wrong_all_to_all<T>(comm, how, turned);
  return bad;
}

template <class T>
int wrong(Comm& comm) {
  int bad = 0;
  for (ReduceKind const kind : {ReduceKind::sum, ReduceKind::max, ReduceKind::min}) {
    for (std::int64_t const n : {0, 1, 5, 24, 31}) bad += wrong_all_reduce<T>(comm, n, kind);
    for (Counts const& counts : segments_of(comm.size()))
      bad += wrong_reduce_scatter<T>(comm, counts, kind);
  }
  for (Counts const& counts : segments_of(comm.size())) bad += wrong_all_gather<T>(comm, counts);
  return bad;
}

// Bytes in messages from this rank's node to others, all its ranks together.
std::int64_t out_of_node() {
  int me = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  auto const node = [](int r) { return run_time.nodes[static_cast<std::size_t>(r)]; };
  std::vector<std::int64_t> sent(run_time.nodes.size(), 0);
  for (int r = 0; r < static_cast<int>(run_time.nodes.size()); ++r)
    if (node(r) != node(me)) sent[static_cast<std::size_t>(node(me))] += shim::bytes_to(r);
  std::vector<std::int64_t> all(sent.size());
  PMPI_Allreduce(sent.data(), all.data(), static_cast<int>(sent.size()), MPI_INT64_T, MPI_SUM,
                 MPI_COMM_WORLD);
  return all[static_cast<std::size_t>(node(me))];
}

int count_of_nodes() {
  int out = 0;
  for (int const k : run_time.nodes) out = std::max(out, k + 1);
  return out;
}

}  // namespace

TEST_CASE("values in two stages") {
  harness::WhileSet<Machine> const machine{run_time.machine, slower_between(4)};
  for (int const in_node : {1, 2, 3})
    for (int const stride : {1, 2}) {
      harness::PretendedNodes const nodes(in_node);
      Comm comm(world_by(stride));
      INFO("nodes of " << in_node << ", stride " << stride);
      for (int const way : {0, 1, 2}) {
        bool const in_pieces = way == 2;
        harness::Sending const sizes({.largest_count = in_pieces ? 2 : 1 << 20,
                                      .least_segment = 0,
                                      .node_windows = way != 1});
        CHECK(comm.in_two_stages(Collective::all_reduce, 0) ==
              (in_node > 1 && count_of_nodes() > 1));
        CHECK(wrong<float>(comm) == 0);
        CHECK(wrong<std::int32_t>(comm) == 0);
        if (in_pieces) continue;
        CHECK(wrong<double>(comm) == 0);
        CHECK(wrong<bfloat16>(comm) == 0);
      }
    }
}

TEST_CASE("values of an AllToAll in two stages") {
  harness::WhileSet<Machine> const machine{run_time.machine, slower_between(4)};
  for (int const in_node : {2, 3, 4})
    for (int const stride : {1, 2}) {
      harness::PretendedNodes const nodes(in_node);
      Comm comm(world_by(stride));
      INFO("nodes of " << in_node << ", stride " << stride);
      for (int const way : {0, 1}) {
        harness::Sending const sizes(
            {.largest_count = way == 1 ? 2 : 1 << 20, .node_windows = way == 0});
        CHECK(comm.in_two_stages(Collective::all_to_all, 12) ==
              (in_node > 1 && count_of_nodes() > 1));
        CHECK(wrong_exchanges<float>(comm) == 0);
        CHECK(wrong_exchanges<double>(comm) == 0);
        CHECK(wrong_exchanges<bfloat16>(comm) == 0);
      }
      // segments longer than a round of the window
      if (in_node != 2 || stride != 1) continue;
      Counts const counts(static_cast<std::size_t>(comm.size()), 200'000);
      Counts at;
      for (int g = 0; g < comm.size(); ++g) at.push_back(g * 200'000);
      std::vector<std::int32_t> send(static_cast<std::size_t>(comm.size()) * 200'000);
      for (std::size_t k = 0; k < send.size(); ++k)
        send[k] = static_cast<std::int32_t>(k) + 7 * comm.rank();
      std::vector<std::int32_t> recv(send.size());
      comm.all_to_all(send.data(), counts, at, recv.data(), counts, at, runtime::Segments::even,
                      nullptr, 3);
      int bad = 0;
      for (std::size_t k = 0; k < recv.size(); ++k) {
        auto const from = static_cast<int>(k / 200'000);
        auto const there = static_cast<int>(k % 200'000) + 200'000 * comm.rank();
        bad += recv[k] == there + 7 * from ? 0 : 1;
      }
      CHECK(bad == 0);
    }
}

TEST_CASE("bytes and messages of an AllToAll between nodes and inside") {
  harness::WhileSet<Machine> const machine{run_time.machine, slower_between(4)};
  for (int const in_node : {2, 4})
    for (bool const windows : {true, false}) {
      harness::PretendedNodes const pretended(in_node);
      harness::Sending const ways({.node_windows = windows});
      Comm comm(world_by(1));
      std::int64_t const nodes = count_of_nodes();
      if (nodes == 1 || comm.size() % in_node != 0) continue;
      INFO("nodes of " << in_node);
      Machine on = run_time.machine;
      on.nodes = nodes;
      on.in_node = in_node;
      int const p = comm.size();
      // a segment that is short enough, and one that is not
      for (std::int64_t const n : {1000, 30'000}) {
        Counts const counts(static_cast<std::size_t>(p), n);
        Counts at;
        for (int g = 0; g < p; ++g) at.push_back(g * n);
        std::vector<float> send(static_cast<std::size_t>(p * n), 1.F);
        std::vector<float> recv(send.size());
        auto const exchange = [&](runtime::Segments sized) {
          comm.all_to_all(send.data(), counts, at, recv.data(), counts, at, sized, nullptr, n);
        };
        exchange(runtime::Segments::even);  // makes the window
        planning::StageBytes const b =
            planning::staged_bytes(Collective::all_to_all, (p - 1) * n * 4, on);
        CHECK((b.between > 0) == (n == 1000));
        std::int64_t const in_windows = run_time.exchanged_in_windows;
        shim::reset();
        exchange(runtime::Segments::even);
        std::int64_t const inside = run_time.exchanged_in_windows - in_windows;
        CHECK((inside > 0) == (windows && n == 1000));
        std::int64_t between = 0;
        int partners = 0;
        for (int r = 0; r < p; ++r) {
          if (r / in_node == comm.rank() / in_node) continue;
          between += shim::bytes_to(r);
          partners += shim::bytes_to(r) > 0 ? 1 : 0;
        }
        CHECK(out_of_node() == b.between * in_node);
        CHECK(between == b.between);
        CHECK(partners == (n == 1000 ? nodes - 1 : 0));
        if (n == 1000) CHECK(shim::bytes() + inside == b.between + b.inside);
        // lengths that differ are told inside of the node
        shim::reset();
        exchange(runtime::Segments::uneven);
        if (n == 1000)
          CHECK(shim::bytes() + inside ==
                b.between + b.inside + (windows ? 0 : 8 * p * (in_node - 1)));
      }
    }
}

TEST_CASE("bytes out of each node") {
  harness::WhileSet<Machine> const machine{run_time.machine, slower_between(4)};
  for (int const in_node : {2, 3})
    for (std::int64_t const n : {60'000, 100'003}) {
      harness::PretendedNodes const pretended(in_node);
      harness::Sending const ways({.node_windows = n == 60'000});
      Comm comm(world_by(1));
      std::int64_t const nodes = count_of_nodes();
      if (nodes == 1) continue;
      INFO("nodes of " << in_node << ", " << n << " elements");
      std::int64_t const all = n * 4;
      std::vector<float> data(static_cast<std::size_t>(n), 1.F);
      comm.all_reduce(data.data(), data.data(), n, ReduceKind::sum);  // makes the window
      CHECK(data.front() == static_cast<float>(comm.size()));
      std::int64_t const in_windows = run_time.exchanged_in_windows;
      shim::reset();
      comm.all_reduce(data.data(), data.data(), n, ReduceKind::sum);
      std::int64_t const most = 2 * (nodes - 1) * all / nodes + 4 * comm.size();
      std::int64_t const sent = out_of_node();
      CHECK(sent <= most);
      CHECK(sent >= most - 8 * comm.size());
      // without uneven nodes as many as a rank's plan says
      if (comm.size() % in_node == 0 && n % comm.size() == 0)
        CHECK(shim::bytes() + run_time.exchanged_in_windows - in_windows ==
              2 * all * (comm.size() - 1) / comm.size());

      Counts const counts(static_cast<std::size_t>(comm.size()), n / comm.size());
      std::int64_t const whole = n / comm.size() * comm.size() * 4;
      std::vector<float> part(static_cast<std::size_t>(counts[0]));
      shim::reset();
      comm.reduce_scatter(data.data(), part.data(), counts, ReduceKind::sum);
      std::int64_t here = 0;  // ranks of this node
      for (int const k : run_time.nodes)
        here += k == run_time.nodes[static_cast<std::size_t>(comm.rank())] ? 1 : 0;
      CHECK(out_of_node() == whole / comm.size() * (comm.size() - here));
      shim::reset();
      comm.all_gather(part.data(), data.data(), counts);
      CHECK(out_of_node() == whole / comm.size() * here * (nodes - 1));
    }
}

TEST_CASE("two stages where the link between nodes is slower by 4, and not where all are alike") {
  for (double const times : {1.0, 4.0}) {
    harness::WhileSet<Machine> const machine{run_time.machine, slower_between(times)};
    for (int const in_node : {1, 2, 8}) {
      harness::PretendedNodes const pretended(in_node);
      Comm comm(world_by(1));
      std::int64_t const n = 80'000;
      std::vector<float> data(static_cast<std::size_t>(n), 1.F);
      bool const spans = in_node > 1 && comm.size() > in_node;
      CHECK(comm.in_two_stages(Collective::all_reduce, n) == (spans && times > 1));
      shim::reset();
      comm.all_reduce(data.data(), data.data(), n, ReduceKind::sum);
      // ours are messages, MPI's are none
      CHECK((out_of_node() > 0) == (spans && times > 1));
    }
  }
}

TEST_CASE("started sums have the bits of the blocking ones") {
  harness::WhileSet<Machine> const machine{run_time.machine, slower_between(4)};
  harness::Sending const sizes({.least_segment = 0});
  for (int const in_node : {2, 3}) {
    harness::PretendedNodes const pretended(in_node);
    Comm comm(world_by(1));
    constexpr std::int64_t n = 1001;
    std::vector<float> send(n);
    for (std::size_t k = 0; k < send.size(); ++k)
      send[k] = 1.F / static_cast<float>(3 + k * 7 + static_cast<std::size_t>(comm.rank()) * 11);
    std::vector<float> now(send.size());
    std::vector<float> later(send.size());
    comm.all_reduce(send.data(), now.data(), n, ReduceKind::sum);
    std::int64_t const arriving = comm.arrivals<float>(n, n / comm.size(), ReduceKind::sum);
    std::vector<float> memory(static_cast<std::size_t>(arriving));
    runtime::UnderWay calls;
    calls.arrivals = arriving > 0 ? memory.data() : nullptr;
    comm.all_reduce(send.data(), later.data(), n, ReduceKind::sum, &calls);
    calls.finish();
    if (comm.in_two_stages(Collective::all_reduce, n)) CHECK(now == later);
  }
}
