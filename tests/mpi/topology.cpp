// Pretended nodes (SHARDTYPE_NODE_SIZE): what the library takes for a node is one of them. Windows
// are shared inside of one and not between two; meshes by node; waiting is decided by hosts; an
// AllToAll between nodes in all modes, its values and bytes.
// SOURCES: tests/shim/pmpi.cpp
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <unistd.h>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"
#include "harness/pretended_nodes.hpp"
#include "harness/while_set.hpp"
#include "shim/pmpi.hpp"

using namespace shardtype;
using runtime::run_time;

namespace {

// read by the Environment that main makes
[[maybe_unused]] bool const two_a_node = ::setenv("SHARDTYPE_NODE_SIZE", "2", 1) == 0;

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct Pair : Axis<"Pair", 2> {};
struct Triple : Axis<"Triple", 3> {};

int ranks() { return on_ranks::rank_total(); }
int me() { return on_ranks::my_rank(); }

// The error that making the mesh gives.
template <class M>
std::string refused_by_node() {
  try {
    M::by_node(MPI_COMM_WORLD);
  } catch (Error const& e) {
    return e.what();
  }
  return "";
}

// A number that each rank of the mesh wrote into its window, read by its neighbour.
bool window_serves(runtime::SharedWindow& window, int rank, int size) {
  if (!window.reserve(static_cast<std::int64_t>(sizeof(int)) * size)) return false;
  detail::List<int> all;
  for (int g = 0; g < size; ++g) all.push_back(g);
  int* const data = static_cast<int*>(window.data());
  window.enter();
  data[rank] = 100 + rank;
  window.meet(all);
  bool const right = data[(rank + 1) % size] == 100 + (rank + 1) % size;
  window.leave();
  return right;
}

}  // namespace

TEST_CASE("the environment's variable makes nodes of two ranks") {
  CHECK(run_time.on_one_node == (ranks() <= 2));
  REQUIRE(run_time.nodes.size() == static_cast<std::size_t>(ranks()));
  for (int r = 0; r < ranks(); ++r) CHECK(run_time.nodes[static_cast<std::size_t>(r)] == r / 2);
  REQUIRE(run_time.node != nullptr);
  CHECK(run_time.node->ranks == std::min(2, ranks() - me() / 2 * 2));
  CHECK(run_time.node->first == (me() < 2));
}

TEST_CASE("ranks of all pretended nodes share the cores of their host") {
  harness::WhileSet<runtime::Waiting> const by_cores{run_time.settings.waiting,
                                                     runtime::Waiting::by_cores};
  harness::PretendedNodes const nodes(1);
  if (ranks() > sysconf(_SC_NPROCESSORS_ONLN)) CHECK(run_time.yield_while_waiting);
  if (ranks() == 1) CHECK_FALSE(run_time.yield_while_waiting);
}

TEST_CASE("a window is possible inside of a pretended node, and not between two") {
  for (int const n : {1, 2, 3, 8}) {
    INFO("nodes of " << n);
    harness::PretendedNodes const nodes(n);
    CHECK(run_time.on_one_node == (ranks() <= n));
    Mesh<X> const all(MPI_COMM_WORLD, {ranks()});
    CHECK(all.state().window().possible() == (ranks() <= n));
    if (ranks() < n) continue;
    std::vector<int> first;
    for (int r = 0; r < n; ++r) first.push_back(r);
    Mesh<X> const one(MPI_COMM_WORLD, {n}, first);
    if (!one.here()) continue;
    CHECK(one.state().window().possible());
    CHECK(window_serves(one.state().window(), me(), n));
  }
}

TEST_CASE("a mesh by node has one axis across nodes and one inside") {
  for (int const n : {1, 2, 3, 8}) {
    INFO("nodes of " << n);
    harness::PretendedNodes const nodes(n);
    if (ranks() > n && ranks() % n != 0) {
      std::string const text = refused_by_node<Mesh<X, Y>>();
      CHECK(text.find("[shardtype E15] a mesh by node needs nodes of equally many ranks; the first "
                      "has " +
                      std::to_string(n)) == 0);
      continue;
    }
    int const inside = std::min(n, ranks());
    auto const mesh = Mesh<X, Y>::by_node(MPI_COMM_WORLD);
    CHECK(mesh.size_of<X>() == ranks() / inside);
    CHECK(mesh.size_of<Y>() == inside);
    CHECK(mesh.coordinate<X>() == me() / inside);
    CHECK(mesh.coordinate<Y>() == me() % inside);
    std::string const text = refused_by_node<Mesh<Pair, Y>>();
    if (ranks() / inside != 2)
      CHECK(text.find("mesh axis Pair, which lies across nodes, has size 2 by its type") !=
            std::string::npos);
    else
      CHECK(text.empty());
    if (inside != 3)
      CHECK(refused_by_node<Mesh<X, Triple>>().find(
                "mesh axis Triple, which lies inside of a node, has size 3 by its type") !=
            std::string::npos);
  }
}

TEST_CASE("a mesh by node takes ranks in any order") {
  // ranks given to the nodes in turn, as launchers do on request
  MPI_Comm turned = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, me() % 2 * ranks() + me() / 2, &turned);
  if (ranks() % 2 == 0) {
    auto const mesh = Mesh<X, Y>::by_node(turned);
    CHECK(mesh.size_of<Y>() == 2);
    CHECK(mesh.coordinate<X>() == me() / 2);
    CHECK(mesh.coordinate<Y>() == me() % 2);
  }
  MPI_Comm_free(&turned);
}

TEST_CASE("the machine knows which axes lie inside of a node") {
  Machine m;
  m.inside_latency = m.latency / 2;
  m.inside_bytes_per_second = 4 * m.bytes_per_second;
  harness::WhileSet<Machine> const machine{run_time.machine, m};
  harness::PretendedNodes const nodes(2);
  auto const over = [](Machine const& on, std::int64_t size, auto axis) {
    core::Identity const id = core::identity<decltype(axis)>;
    return on.over(&id, &size, 1);
  };
  Mesh<X> const all(MPI_COMM_WORLD, {ranks()});
  if (all.here()) {
    Machine const on = over(machine_here(all), ranks(), X{});
    CHECK(on.in_node == (ranks() > 2 ? 2 : 1));
    CHECK(on.nodes == (ranks() > 2 ? (ranks() + 1) / 2 : 1));
    CHECK(on.bytes_per_second == (ranks() > 2 ? 1 : 4) * m.bytes_per_second);
    // the plan shows both stages, and the sum is right
    auto const a = full<float, Dim<I>, Unreduced<X>>(all, {60000}, 1.5F);
    std::string const text = explain(op::Reshard<Tensor<float, Dim<I>>>{}, a);
    INFO(text);
    CHECK((text.find("two stages: ") != std::string::npos) == (ranks() > 2));
    auto const sum = all_reduce<X>(a);
    CHECK(sum.local()(0) == 1.5F);
    CHECK(sum.local()(59999) == 1.5F);
  }
  if (ranks() % 2 != 0) return;
  auto const mesh = Mesh<X, Y>::by_node(MPI_COMM_WORLD);
  CHECK(over(machine_here(mesh), ranks() / 2, X{}).bytes_per_second ==
        (ranks() > 2 ? 1 : 4) * m.bytes_per_second);
  CHECK(over(machine_here(mesh), 2, Y{}).bytes_per_second == 4 * m.bytes_per_second);
  // the other way round, Y across nodes
  if (ranks() != 4) return;
  Mesh<X, Y> const turned(MPI_COMM_WORLD, {2, 2}, {0, 2, 1, 3});
  CHECK(over(machine_here(turned), 2, X{}).bytes_per_second == 4 * m.bytes_per_second);
  CHECK(over(machine_here(turned), 2, Y{}).bytes_per_second == m.bytes_per_second);
}

TEST_CASE("a split moves to another dim in two stages") {
  Machine m;
  m.inside_latency = m.latency / 4;
  m.inside_bytes_per_second = 4 * m.bytes_per_second;
  harness::WhileSet<Machine> const machine{run_time.machine, m};
  using Columns = Tensor<double, Dim<I>, Dim<J, X>>;
  auto const element = [](auto i, auto j) { return static_cast<double>(i * 100 + j + 1); };
  for (int const in_node : {2, 4})
    for (std::int64_t const rows : {3, 24, 29}) {
      INFO("nodes of " << in_node << ", " << rows << " rows");
      harness::PretendedNodes const nodes(in_node);
      Mesh<X> const mesh(MPI_COMM_WORLD, {ranks()});
      std::int64_t const columns = rows == 24 ? 24 : 13;
      auto const a = from_function<double, Dim<I, X>, Dim<J>>(mesh, {rows, columns}, element);
      bool const spans = ranks() > in_node;
      std::string const text = explain(op::Reshard<Columns>{}, a);
      CHECK((text.find("two stages: ") != std::string::npos) == spans);
      auto const wrong = [&](auto const& b) {
        auto const want = from_function<double, Dim<I>, Dim<J, X>>(mesh, {rows, columns}, element);
        int bad = 0;
        for (std::size_t i = 0; i < want.local().extent(0); ++i)
          for (std::size_t j = 0; j < want.local().extent(1); ++j)
            bad += b.local()(i, j) == want.local()(i, j) ? 0 : 1;
        return bad;
      };
      auto const sent_between = [] {
        std::int64_t sum = 0;
        for (int r = 0; r < ranks(); ++r)
          if (run_time.nodes[static_cast<std::size_t>(r)] !=
              run_time.nodes[static_cast<std::size_t>(me())])
            sum += shim::bytes_to(r);
        return sum;
      };
      shim::reset();
      CHECK(wrong(reshard<Dim<I>, Dim<J, X>>(a)) == 0);
      if (spans && rows == 24 && ranks() % in_node == 0) {
        std::int64_t const block = rows * columns * 8 / ranks();
        CHECK(sent_between() == block * (ranks() - in_node) / ranks());
      }
      shim::reset();
      CHECK(wrong(all_to_all<X, I, J>(a)) == 0);
      if (spans && rows == 24 && ranks() % in_node == 0) CHECK(sent_between() > 0);
      CHECK(wrong(evaluate<Dim<I>, Dim<J, X>>(mesh, lazy(a))) == 0);
      // the cotangent goes back the same way
      auto const f = [](auto const& v) {
        return sum<Tensor<double>>(square(reshard<Dim<I>, Dim<J, X>>(v))) / 2.0;
      };
      shim::reset();
      auto const [value, gradient] = value_and_grad<0>(f)(a);
      int bad = 0;
      for (std::size_t i = 0; i < a.local().extent(0); ++i)
        for (std::size_t j = 0; j < a.local().extent(1); ++j)
          bad += gradient.local()(i, j) == a.local()(i, j) ? 0 : 1;
      CHECK(bad == 0);
      if (spans && rows == 24 && ranks() % in_node == 0) {
        std::int64_t const block = rows * columns * 8 / ranks();
        CHECK(sent_between() == 2 * block * (ranks() - in_node) / ranks());
      }
    }
}
