// Plans on nodes: which groups run in two stages, what that costs, and the bytes of each kind of
// link in the text of a plan.
#include <string>

#include <shardtype/lazy/dry_run.hpp>
#include <shardtype/lazy/explain.hpp>
#include <shardtype/plan/explain.hpp>
#include <shardtype/plan/two_stages.hpp>

#include "harness/catch.hpp"

using namespace shardtype;
using namespace shardtype::planning;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

constexpr Machine on_nodes(double times_faster_inside) {
  Machine m;
  m.latency = 1e-6;
  m.bytes_per_second = 1e9;
  m.inside_latency = 0.25e-6;
  m.inside_bytes_per_second = times_faster_inside * 1e9;
  return m;
}
constexpr Machine over_x(Machine const& m, std::int64_t ranks) {
  Identity const ids[] = {identity<X>};
  return m.over(ids, &ranks, 1);
}
constexpr Machine over_xy(Machine const& m, std::int64_t x, std::int64_t y) {
  Identity const ids[] = {identity<X>, identity<Y>};
  std::int64_t const sizes[] = {x, y};
  return m.over(ids, sizes, 2);
}
constexpr bool staged(Machine const& m) {
  return planning::in_two_stages(Collective::all_reduce, m) &&
         planning::in_two_stages(Collective::all_gather, m) &&
         planning::in_two_stages(Collective::reduce_scatter, m);
}

// chosen where the link between nodes is slower by 4, not where both are alike
static_assert(staged(over_x(on_nodes(4).node_ranks<X>(4), 8)));
static_assert(!staged(over_x(on_nodes(1).node_ranks<X>(4), 8)));
// not within a node, with one rank a node, without rates of nodes, or for other collectives
static_assert(!staged(over_x(on_nodes(4).node_ranks<X>(8), 8)));
static_assert(!staged(over_x(on_nodes(4).node_ranks<X>(1), 8)));
static_assert(!staged(over_x(on_nodes(4), 8)));
static_assert(!staged(over_x(Machine{}.node_ranks<X>(4), 8)));
static_assert(!planning::in_two_stages(Collective::permute,
                                       over_x(on_nodes(4).node_ranks<X>(4), 8)));
// a mesh by node: both axes together have nodes, each by itself has links of one kind
constexpr Machine by_node = on_nodes(4).node_ranks<X>(1).node_ranks<Y>(4);
static_assert(staged(over_xy(by_node, 3, 4)) && over_xy(by_node, 3, 4).nodes == 3 &&
              over_xy(by_node, 3, 4).in_node == 4);
static_assert(!staged(over_x(by_node, 3)) && over_x(by_node, 3).bytes_per_second == 1e9);
static_assert([] {
  Identity const ids[] = {identity<Y>};
  std::int64_t const four = 4;
  Machine const inside = by_node.over(ids, &four, 1);
  return !staged(inside) && inside.bytes_per_second == 4e9 && inside.latency == 0.25e-6;
}());
// an axis' own rates go before those of nodes, in either order
static_assert(over_x(on_nodes(4).with<X>(3e-6, 5e8).node_ranks<X>(8), 8).bytes_per_second == 5e8);
static_assert(over_x(on_nodes(4).node_ranks<X>(8).with<X>(3e-6, 5e8), 8).bytes_per_second == 5e8);

// 2 nodes of 4: of 2 n 7 / 8 bytes 2 n 3 / 4 stay inside, and 2 n / 8 pass between
constexpr Machine eight = over_x(on_nodes(4).node_ranks<X>(4), 8);
static_assert(planning::stage_bytes(1'400'000, eight).inside == 1'200'000 &&
              planning::stage_bytes(1'400'000, eight).between == 200'000);
// an AllReduce of 0.8 MB: 1.2 MB at 4 GB/s, 0.2 MB at 1 GB/s; 2 x 4 messages of 0.25 us, and 3 of 1
static_assert(planning::step_transfer(Collective::all_reduce, 1'400'000, eight) == 500'000'000);
static_assert(planning::step_latency(Collective::all_reduce, 8, eight) == 5'000'000);
// a ReduceScatter: 4 of 0.25 us, and 2 of 1
static_assert(planning::step_latency(Collective::reduce_scatter, 8, eight) == 3'000'000);

using Summand = Tensor<float, Dim<I>, Dim<J>, Unreduced<X>>;
constexpr auto whole = [](auto a) { return evaluate<Dim<I>, Dim<J>>(a); };

std::string planned(Machine const& m, std::int64_t rows) {
  return explain(
      dry_run<Summand>(whole).extent<I>(rows).extent<J>(1000).ranks<X>(8).on(m).planned());
}

}  // namespace

TEST_CASE("a program's plan has the bytes of each kind of link") {
  Machine const nodes = on_nodes(4).node_ranks<X>(4);
  // 0.8 MB
  std::string const text = planned(nodes, 200);
  CHECK(text.find("AllReduce X") != std::string::npos);
  CHECK(text.find("1.4 MB") != std::string::npos);
  CHECK(text.find("two stages: 1.2 MB inside of nodes, 200 kB between\n") != std::string::npos);
  CHECK(planned(on_nodes(1).node_ranks<X>(4), 200).find("two stages") == std::string::npos);
  CHECK(planned(on_nodes(4), 200).find("two stages") == std::string::npos);
  // segments of 4 kB are left to MPI
  CHECK(planned(nodes, 8).find("two stages") == std::string::npos);
}

TEST_CASE("and so has the plan of an operation") {
  using A = Tensor<float, Dim<I>, Unreduced<X, Y>>;
  core::Names const& names = core::Scope<A>::names;
  planning::Sizing z;
  z.sizes = {{3, 2}};
  z.extents = {{600'000}};
  z.element_bytes = 4;
  Spec after = A::spec;
  after.unreduced = {};
  Plan plan;
  plan.of = planning::PlanOf::reshard;
  plan.sizing = z;
  plan.push_operand(A::spec);
  plan.result = after;
  AxisList both;
  both.push(0);
  both.push(1);
  plan.push(planning::shared_step(planning::Move::reduce, planning::Slot::a, both, A::spec, after));
  // 2.4 MB on 3 nodes of 2: 4 MB a rank, and of each node 2 (3 - 1) / 3 of 2.4 MB, 1.6 MB a rank
  std::string const text = explain(plan, names, on_nodes(4).node_ranks<X>(1).node_ranks<Y>(2));
  CHECK(text.find("4 MB\n     two stages: 2.4 MB inside of nodes, 1.6 MB between\n") !=
        std::string::npos);
  CHECK(explain(plan, names).find("two stages") == std::string::npos);
  INFO(text);
}
