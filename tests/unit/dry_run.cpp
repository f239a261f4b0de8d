// Dry runs compared with closed forms that are written here: collectives and products on known
// machines, after Austin et al., How to Scale Your Model (2025), parts 3 and 5. Also the busiest
// rank of meshes that are too large to count each rank, compared with a plain loop on small ones.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>

#include <shardtype/lazy/dry_run.hpp>
#include <shardtype/lazy/explain.hpp>
#include <shardtype/ops/math.hpp>
#include <shardtype/plan/machines.hpp>

#include "harness/catch.hpp"
#include "harness/draw.hpp"
#include "harness/simulate.hpp"

using namespace shardtype;
using Long = std::int64_t;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct Z : Axis<"Z"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};

bool near(double a, double b, double part) { return std::abs(a - b) <= part * std::abs(b); }

constexpr auto whole = [](auto a) { return evaluate<Dim<I>, Dim<J>>(a); };
constexpr auto spread = [](auto a) { return evaluate<Dim<I, X>, Dim<J>>(a); };
constexpr auto turn = [](auto a) { return evaluate<Dim<I>, Dim<J, X>>(a); };

// `V` bytes of float in all, over `p` ranks of X.
template <class A, class F>
PlannedProgram moved(F const& f, Long bytes, Long p, Machine const& m) {
  return dry_run<A>(f)
      .template extent<I>(bytes / 4096)
      .template extent<J>(1024)
      .template ranks<X>(p)
      .on(m)
      .planned();
}
using Split = Tensor<float, Dim<I, X>, Dim<J>>;
using Summand = Tensor<float, Dim<I>, Dim<J>, Unreduced<X>>;

}  // namespace

TEST_CASE("collectives take the time of their closed forms") {
  struct Network {
    Machine machine;
    double bandwidth;
    double latency;
    bool ring = false;
  };
  for (Network const& n : {Network{machines::tpu_v5e, 9e10, 0.5e-6, true},
                           Network{machines::tpu_v5e_slice<X>(), 4.5e10, 1e-6, true},
                           Network{machines::h100_node, 4.5e11, 1e-6},
                           Network{machines::h100_cluster<Y>(), 5e10, 2e-6},
                           Network{machines::h100_cluster<X>(), 4.5e11, 1e-6},
                           Network{machines::epyc_cluster, 2.5e10, 2e-6}})
    for (Long const p : {2, 4, 8, 16, 256})
      for (Long const bytes : {Long{1} << 20, Long{1} << 26, Long{1} << 32}) {
        auto const ranks = static_cast<double>(p);
        double const wire = static_cast<double>(bytes) * (ranks - 1) / ranks / n.bandwidth;
        auto const all_gather = moved<Split>(whole, bytes, p, n.machine);
        CHECK(all_gather.plan.count(Collective::all_gather) == all_gather.plan.collectives());
        CHECK(near(all_gather.seconds(), wire + ranks * n.latency, 1e-6));
        auto const reduce_scatter = moved<Summand>(spread, bytes, p, n.machine);
        CHECK(reduce_scatter.plan.count(Collective::reduce_scatter) == 1);
        CHECK(near(reduce_scatter.seconds(), wire + ranks * n.latency, 1e-6));
        auto const all_reduce = moved<Summand>(whole, bytes, p, n.machine);
        CHECK(all_reduce.plan.count(Collective::all_reduce) == 1);
        CHECK(near(all_reduce.seconds(), 2 * wire + (2 * ranks - 1) * n.latency, 1e-6));
        // through a switch each rank sends its V / p bytes except its own part of them; on a ring
        // half of V crosses each cut through the middle, over two links and both directions: V / 4
        // each
        auto const all_to_all = moved<Split>(turn, bytes, p, n.machine);
        CHECK(all_to_all.plan.count(Collective::all_to_all) == all_to_all.plan.collectives());
        double const cut = static_cast<double>(bytes) / 4 / n.bandwidth;
        CHECK(near(all_to_all.seconds(), (n.ring ? cut : wire / ranks) + ranks * n.latency, 1e-6));
      }
}

TEST_CASE("large gathers take V / W, small ones half a hop per chip") {
  for (Long const p : {64, 128, 256}) {
    Long const large = Long{1} << 34;
    CHECK(near(moved<Split>(whole, large, p, machines::tpu_v5e).seconds(),
               static_cast<double>(large) / 9e10, 0.02));
    CHECK(near(moved<Summand>(whole, large, p, machines::tpu_v5e).seconds(),
               2.0 * static_cast<double>(large) / 9e10, 0.02));
    // T = T_hop |X| / 2 for any |X|, as long as the bytes of a hop take less time than the hop
    CHECK(near(moved<Split>(whole, p * 4096, p, machines::tpu_v5e).seconds(),
               1e-6 * static_cast<double>(p) / 2, 0.1));
  }
  // bf16[2048, 8192] over a line of four chips, of 8.4 MB each: 3 hops of 8.4 MB at 45 GB/s, 560 us
  auto const quiz = dry_run<Split>(whole)
                        .extent<I>(2048)
                        .extent<J>(8192)
                        .ranks<X>(4)
                        .element_bytes(2)
                        .on(machines::tpu_v5e_slice<X>())
                        .planned();
  CHECK(near(quiz.seconds(), 3 * 8.388608e6 / 4.5e10 + 4e-6, 1e-6));
  // and over two axes at once, with the links of both
  using Both = Tensor<float, Dim<I, X>, Dim<J, Y>>;
  using OneDim = Tensor<float, Dim<I, X, Y>, Dim<J>>;
  auto const two = dry_run<OneDim>(whole)
                       .extent<I>(1 << 20)
                       .extent<J>(4096)
                       .ranks<X>(16)
                       .ranks<Y>(16)
                       .on(machines::tpu_v5e)
                       .planned();
  CHECK(two.plan.collectives() == 1);
  CHECK(near(two.seconds(), 17.179869184e9 * 255 / 256 / (2 * 9e10) + 256 * 0.5e-6, 1e-6));
  auto const lone = dry_run<OneDim>(whole)
                        .extent<I>(1 << 20)
                        .extent<J>(4096)
                        .ranks<X>(16)
                        .ranks<Y>(1)
                        .on(machines::tpu_v5e)
                        .planned();
  CHECK(near(lone.seconds(), 17.179869184e9 * 15 / 16 / 9e10 + 16 * 0.5e-6, 1e-6));
  // an AllToAll over both: an eighth of V over each axis' links
  auto const square = dry_run<OneDim>([](auto a) { return evaluate<Dim<I>, Dim<J, X, Y>>(a); })
                          .extent<I>(1 << 20)
                          .extent<J>(4096)
                          .ranks<X>(16)
                          .ranks<Y>(16)
                          .on(machines::tpu_v5e)
                          .planned();
  CHECK(square.plan.collectives() == 1);
  CHECK(near(square.seconds(), 17.179869184e9 / 256 * 4 / 9e10 + 256 * 0.5e-6, 1e-6));
  // on a cluster what is gathered between the nodes first is small: 1/8, then all of it in the node
  auto const nodes = dry_run<Both>(whole)
                         .extent<I>(1 << 16)
                         .extent<J>(4096)
                         .ranks<X>(8)
                         .ranks<Y>(16)
                         .on(machines::h100_cluster<X>())
                         .planned();
  double const all = 1.073741824e9;
  CHECK(near(nodes.seconds(),
             all / 8 * 15 / 16 / 5e10 + 16 * 2e-6 + all * 7 / 8 / 4.5e11 + 8 * 1e-6, 1e-6));
}

namespace {

double time_of(PlannedProgram const& p, bool products) {
  double sum = 0;
  for (int k = 0; k < p.plan.size; ++k)
    if (products ? p.plan.step_flops(k) > 0 : p.plan.steps[k].collective != Collective::none)
      sum += p.seconds(k);
  return sum;
}
// The least n for which the communication takes no longer than the product.
template <class Plan>
double crossover(Plan plan) {
  Long low = 1, high = 1 << 20;
  while (low < high) {
    Long const n = (low + high) / 2;
    PlannedProgram const p = plan(n);
    if (time_of(p, false) <= time_of(p, true)) {
      high = n;
    } else {
      low = n + 1;
    }
  }
  return static_cast<double>(low);
}

}  // namespace

TEST_CASE("where products become bound by communication") {
  double const ratio = 1.97e14 / 9e10;  // C / W of TPU v5e: 2189
  auto const data = [](auto a, auto b) { return evaluate<Dim<I, X>, Dim<K>>(a * b); };
  // A[I@X, J] . B[J@X, K], the weights gathered: I / p = C / W
  using A = Tensor<float, Dim<I, X>, Dim<J>>;
  using B = Tensor<float, Dim<J, X>, Dim<K>>;
  // A[I@X, J] . B[J, K@X], split over the same axis on both sides
  using Other = Tensor<float, Dim<J>, Dim<K, X>>;
  for (Long const p : {64, 256}) {
    auto of = [&]<class W>(Type<W>, int bytes) {
      return crossover([&](Long batch) {
        return dry_run<A, W>(data)
            .template extent<I>(batch * p)
            .template extent<J>(16384)
            .template extent<K>(65536)
            .template ranks<X>(p)
            .element_bytes(bytes)
            .on(machines::tpu_v5e)
            .planned();
      });
    };
    CHECK(near(of(type<B>, 2), ratio, 0.05));
    CHECK(near(of(type<Other>, 2), ratio, 0.05));
    CHECK(near(of(type<B>, 4), 2 * ratio, 0.05));
  }
  // on 16 chips, where each chip already has its part: C / W (p - 1) / p
  CHECK(near(crossover([&](Long batch) {
               return dry_run<A, B>(data)
                   .extent<I>(batch * 16)
                   .extent<J>(16384)
                   .extent<K>(65536)
                   .ranks<X>(16)
                   .element_bytes(2)
                   .on(machines::tpu_v5e)
                   .planned();
             }),
             ratio * 15 / 16, 0.01));
  // both axes of the pod for data: twice the links, half the batch
  using A2 = Tensor<float, Dim<I, X, Y>, Dim<J>>;
  using B2 = Tensor<float, Dim<J, X, Y>, Dim<K>>;
  auto const pod = [](auto a, auto b) { return evaluate<Dim<I, X, Y>, Dim<K>>(a * b); };
  CHECK(near(crossover([&](Long batch) {
               return dry_run<A2, B2>(pod)
                   .extent<I>(batch * 256)
                   .extent<J>(16384)
                   .extent<K>(65536)
                   .ranks<X>(16)
                   .ranks<Y>(16)
                   .element_bytes(2)
                   .on(machines::tpu_v5e)
                   .planned();
             }),
             ratio / 2, 0.05));
  // A[I, J@Y] . B[J, K@Y], the activations gathered: K / p = C / W
  using Act = Tensor<float, Dim<I>, Dim<J, Y>>;
  using Weights = Tensor<float, Dim<J>, Dim<K, Y>>;
  auto const tensor = [](auto a, auto b) { return evaluate<Dim<I>, Dim<K, Y>>(a * b); };
  for (Long const p : {32, 64})
    CHECK(near(crossover([&](Long per_chip) {
                 return dry_run<Act, Weights>(tensor)
                     .extent<I>(1 << 20)
                     .extent<J>(8192)
                     .extent<K>(per_chip * p)
                     .ranks<Y>(p)
                     .element_bytes(2)
                     .on(machines::tpu_v5e)
                     .planned();
               }),
               ratio, 0.05));
  // H100: between nodes 19800
  CHECK(near(crossover([&](Long batch) {
               return dry_run<A, B>(data)
                   .extent<I>(batch * 64)
                   .extent<J>(16384)
                   .extent<K>(65536)
                   .ranks<X>(64)
                   .element_bytes(2)
                   .on(machines::h100_cluster<Y>())
                   .planned();
             }),
             9.9e14 / 5e10, 0.05));
  // in a node 2200, where each rank already has its part, if the weights are gathered; through a
  // switch AllToAlls are so cheap that the planner finds a better plan for smaller batches
  auto const gathered = [](auto a, auto b) {
    return evaluate<Dim<I, X>, Dim<K>>(a * constrain<Dim<J>, Dim<K>>(b));
  };
  auto in_node = [](auto const& f) {
    return crossover([&](Long batch) {
      return dry_run<A, B>(f)
          .template extent<I>(batch * 8)
          .template extent<J>(16384)
          .template extent<K>(65536)
          .template ranks<X>(8)
          .element_bytes(2)
          .on(machines::h100_node)
          .planned();
    });
  };
  CHECK(near(in_node(gathered), 9.9e14 / 4.5e11 * 7 / 8, 0.01));
  CHECK(in_node(data) < in_node(gathered));
}

namespace {

// A layer of a network: weights split over both axes, the batch over one.
using In = Tensor<float, Dim<I, X>, Dim<J, Y>>;
using Up = Tensor<float, Dim<J, X>, Dim<K, Y>>;
using Down = Tensor<float, Dim<K, Y>, Dim<L, X>>;
constexpr auto layer = [](auto in, auto up, auto down) {
  return evaluate<Dim<I, X>, Dim<L, Y>>(max(in * up, 0) * down);
};

Long plain_most(ProgramPlan const& p, int first, int last) {
  core::AxisList all;
  for (int x = 0; x < p.program.axes; ++x) all.push(x);
  Long most = 0;
  for (Long r = 0; r < p.program.sizes.product(all); ++r) {
    Coords const at = member(all, p.program.sizes, {}, r);
    Long sum = 0;
    for (int k = first; k < last; ++k)
      if (p.steps[k].collective != Collective::none) sum += step_bytes(p.move(k), p.sizing(k), at);
    most = std::max(most, sum);
  }
  return most;
}
int wrong_bytes(ProgramPlan const& p) {
  int wrong = p.bytes_per_rank() != plain_most(p, 0, p.size) ? 1 : 0;
  for (int k = 0; k < p.size; ++k)
    wrong += p.step_bytes_per_rank(k) != plain_most(p, k, k + 1) ? 1 : 0;
  return wrong;
}

}  // namespace

TEST_CASE("a layer on 8 to 100000 ranks, in moments") {
  struct Grid {
    Long x, y;
  };
  auto const start = std::chrono::steady_clock::now();
  double before = 1e9;
  for (Grid const g :
       {Grid{4, 2}, Grid{8, 8}, Grid{32, 16}, Grid{64, 64}, Grid{256, 256}, Grid{400, 250}}) {
    auto const p = dry_run<In, Up, Down>(layer)
                       .extent<I>(1 << 20)
                       .extent<J>(8192)
                       .extent<K>(32768)
                       .extent<L>(8192)
                       .ranks<X>(g.x)
                       .ranks<Y>(g.y)
                       .element_bytes(2)
                       .on(machines::tpu_v5e)
                       .planned();
    auto const ranks = static_cast<double>(g.x * g.y);
    double const flops = 2 * 2 * 1048576.0 * 8192 * 32768;
    CHECK(p.plan.possible);
    CHECK(static_cast<double>(p.plan.flops()) >= 0.999 * flops / ranks);
    CHECK(p.seconds() >= 0.999 * flops / ranks / 1.97e14);
    CHECK(p.seconds() < before);  // more ranks are never slower here
    CHECK(p.plan.bytes_per_rank() > 0);
    CHECK(static_cast<double>(p.plan.peak_bytes()) > 2 * 1048576.0 * 8192 / ranks);
    if (ranks <= 512) CHECK(wrong_bytes(p.plan) == 0);
    CHECK(explain(p).find("predicted") != std::string::npos);
    before = p.seconds();
  }
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - start;
  INFO("seconds: " << took.count());
  CHECK(took.count() < 60);
}

// The same at compile time: of 12 rows on 8 ranks two each, the ranks without rows receive most.
namespace {
struct X8 : Axis<"X8", 8> {};
struct Twelve : Index<"Twelve", 12> {};
struct Pod {
  static constexpr Machine machine = machines::tpu_v5e;
};
constexpr ProgramPlan compiled = plan_traced<Tensor<float, Dim<Twelve, X8>>>(
    [](auto a) { return evaluate<Dim<Twelve>>(a, Pod{}); });
static_assert(compiled.bytes_per_rank() == 12 * 4);
}  // namespace

TEST_CASE("the busiest rank is found without looking at all") {
  Draw draw(5);
  int permutes = 0, wrong = 0;
  using Turned = Tensor<float, Dim<I, X, Y>, Dim<J, Z>>;
  auto const reorder = [](auto a) { return evaluate<Dim<I, Y, X>, Dim<J, Z>>(a); };
  auto const across = [](auto a, auto b) { return evaluate<Dim<J, X, Z>, Dim<K, Y>>(a * b); };
  using Deep = Tensor<float, Dim<I, X, Y, Z>, Dim<J>>;
  using Wide = Tensor<float, Dim<I, Z>, Dim<K, Y>>;
  for (int turns = 0; turns < 150; ++turns) {
    auto size = [&](int n) { return static_cast<Long>(1 + draw.below(n)); };
    auto extent = [&] { return static_cast<Long>(draw.below(40)); };
    auto const p = dry_run<In, Up, Down>(layer)
                       .extent<I>(extent())
                       .extent<J>(extent())
                       .extent<K>(extent())
                       .extent<L>(extent())
                       .ranks<X>(size(6))
                       .ranks<Y>(size(6))
                       .planned();
    wrong += wrong_bytes(p.plan);
    auto const q = dry_run<Turned>(reorder)
                       .extent<I>(extent())
                       .extent<J>(extent())
                       .ranks<X>(size(5))
                       .ranks<Y>(size(5))
                       .ranks<Z>(size(3))
                       .planned();
    permutes += q.plan.count(Collective::permute);
    wrong += wrong_bytes(q.plan);
    auto const r = dry_run<Deep, Wide>(across)
                       .extent<I>(extent())
                       .extent<J>(extent())
                       .extent<K>(extent())
                       .ranks<X>(size(4))
                       .ranks<Y>(size(4))
                       .ranks<Z>(size(4))
                       .planned();
    wrong += wrong_bytes(r.plan);
  }
  CHECK(wrong == 0);
  CHECK(permutes > 0);
  // all kinds of steps, on uneven blocks
  planning::Sizing z;
  z.extents.at[0] = 11;
  z.extents.at[1] = 7;
  z.element_bytes = 4;
  z.sizes.at[0] = 3;
  z.sizes.at[1] = 4;
  z.sizes.at[2] = 2;
  core::AxisList all;
  for (int x = 0; x < 3; ++x) all.push(x);
  Long fewest = 1000, most = 0;
  for (Spec const& from : simulate::all_specs(2, 3, true))
    for (planning::Step const& s : simulate::steps_from(from, 3)) {
      planning::RankClasses ranks(3, z.sizes);
      ranks.note(s, z);
      fewest = std::min(fewest, ranks.size());
      most = std::max(most, ranks.size());
      Long plain = 0;
      for (Long r = 0; r < 24; ++r)
        plain = std::max(plain, step_bytes(s, z, member(all, z.sizes, {}, r)));
      wrong += ranks.most([&](Coords const& at) { return step_bytes(s, z, at); }) != plain ? 1 : 0;
    }
  CHECK(wrong == 0);
  CHECK(fewest == 1);
  CHECK(most <= 24);
  // of many ranks few differ
  z.extents.at[0] = 1'000'003;
  z.sizes.at[0] = 1000;
  z.sizes.at[1] = 100;
  planning::Step gather_both;
  gather_both.move = planning::Move::gather;
  gather_both.axes.push(0);
  gather_both.axes.push(1);
  gather_both.from = 0;
  gather_both.before.add(0, gather_both.axes);
  gather_both.after.add(0);
  planning::RankClasses ranks(2, z.sizes);
  ranks.note(gather_both, z);
  CHECK(ranks.size() <= 16);
}
