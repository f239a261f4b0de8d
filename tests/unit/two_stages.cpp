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

// An AllToAll of segments of 10 kB: 4 of them between nodes at 1 GB/s, and 6 inside at 4 GB/s in
// two stages, 3 in one; messages of 1 us between nodes, 2 and 5 of them, and of 0.25 us inside, 4
// and 3
static_assert(!planning::in_two_stages(Collective::all_to_all, eight));
static_assert(planning::exchange_seconds(0, 2, eight) * 1e9 > 2999 &&
              planning::exchange_seconds(0, 2, eight) * 1e9 < 3001 &&
              planning::exchange_seconds(0, 1, eight) * 1e9 > 5749 &&
              planning::exchange_seconds(0, 1, eight) * 1e9 < 5751);
// 3 more segments inside take as long as 2.75 us at 3667 bytes
static_assert(planning::exchange_in_two_stages(3'600, eight) &&
              !planning::exchange_in_two_stages(3'700, eight));
static_assert(planning::staged_bytes(Collective::all_to_all, 7 * 3'600, eight).inside == 6 * 3'600);
static_assert(planning::staged_bytes(Collective::all_to_all, 7 * 3'600, eight).between ==
              4 * 3'600);
static_assert(planning::staged_bytes(Collective::all_to_all, 7 * 3'700, eight).between == 0);
// latency and transfer together are the price of the faster form
static_assert([] {
  for (std::int64_t const segment : {0, 1'000, 3'600, 3'700, 100'000}) {
    double const priced = planning::exchange_seconds(static_cast<double>(segment), eight) * 1e12;
    auto const sum =
        static_cast<double>(planning::step_transfer(Collective::all_to_all, 7 * segment, eight) +
                            planning::step_latency(Collective::all_to_all, 8, eight));
    if (sum < priced - 3 || sum > priced + 3) return false;
  }
  return true;
}());
// not where all links are alike, nor on one node, nor with one rank a node
static_assert(!planning::exchange_in_two_stages(8, over_x(on_nodes(1).node_ranks<X>(4), 8)));
static_assert(!planning::exchange_in_two_stages(8, over_x(on_nodes(4).node_ranks<X>(8), 8)));
static_assert(!planning::exchange_in_two_stages(8, over_x(on_nodes(4).node_ranks<X>(1), 8)));
static_assert(!planning::exchange_in_two_stages(8, over_x(on_nodes(4), 8)));

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

TEST_CASE("an AllToAll's plan has the bytes of its two stages where its segments are short") {
  using Rows = Tensor<float, Dim<I, X>, Dim<J>>;
  constexpr auto columns = [](auto a) { return evaluate<Dim<I>, Dim<J, X>>(a); };
  auto const text = [&](Machine const& m, std::int64_t rows) {
    return explain(
        dry_run<Rows>(columns).extent<I>(rows).extent<J>(800).ranks<X>(8).on(m).planned());
  };
  Machine const nodes = on_nodes(4).node_ranks<X>(4);
  // segments of 1 x 100 floats: 2.8 kB in one stage
  std::string const short_ones = text(nodes, 8);
  INFO(short_ones);
  CHECK(short_ones.find("AllToAll X") != std::string::npos);
  CHECK(short_ones.find("two stages: 2.4 kB inside of nodes, 1.6 kB between\n") !=
        std::string::npos);
  CHECK(text(nodes, 80).find("two stages") == std::string::npos);
  CHECK(text(on_nodes(1).node_ranks<X>(4), 8).find("two stages") == std::string::npos);
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
