// What automatic mode promises about one call: it is predicted to be no slower than the same call
// with named results, sends what its plan says, holds no more than its plan says, keeps to a memory
// limit or refuses, and has the values of the strict call. Rows may be split over ranks.
// SOURCES: tests/shim/pmpi.cpp
// TIMEOUT: 300
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include <shardtype/nn/nn.hpp>
#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"
#include "harness/while_set.hpp"
#include "shim/pmpi.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct S : Index<"S"> {};
struct V : Index<"V"> {};
struct D : Index<"D"> {};
struct K : Index<"K"> {};
using Grid = Mesh<X, Y>;

// Small sizes leave nothing to exchange in the best plan; long rows make it worth while.
constexpr std::array<std::int64_t, 2> shapes[] = {{64, 4096}, {37, 501}, {3, 2000},
                                                  {200, 3},   {0, 5},    {1, 1}};

// The largest difference between two tensors of one sharding; NaN counts as different.
template <class A>
double difference(A const& a, A const& b) {
  auto const x = to_host(a);
  auto const y = to_host(b);
  double most = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    double const off = std::abs(static_cast<double>(x[k]) - static_cast<double>(y[k]));
    most = off <= most ? most : off;
  }
  return most;
}

// Held bytes of a call on this rank, besides what was there before.
template <class Call>
std::pair<std::int64_t, std::int64_t> measure(Call const& call) {
  auto& memory = runtime::run_time.memory;
  std::int64_t const before = memory.now();
  memory.reset();
  shim::reset();
  auto const result = call();
  std::int64_t const sent = shim::bytes();
  return {memory.most() - before, sent};
}

template <class Plan>
Coords coords_of(PlannedProgram const& p, Plan const& mesh) {
  Coords at;
  for (int x = 0; x < p.names.axes; ++x)
    at.at[x] = p.names.axis[x].id == core::identity<X> ? mesh.template coordinate<X>()
                                                       : mesh.template coordinate<Y>();
  return at;
}

int splits = 0;  // plans in which ranks share rows

// On several ranks CI takes a third of the calls, another on each number of ranks; scripts/test
// --all takes all.
bool taken() {
#ifdef AUTOMATIC_COSTS_ALL
  return true;
#else
  static int calls = 0;
  int const ranks = on_ranks::rank_total();
  return ranks == 1 ||
         calls++ % 3 == (static_cast<int>(std::bit_width(static_cast<unsigned>(ranks))) + 1) % 3;
#endif
}

// Compares `evaluate<Out...>` of `body` with the plan `strict` and the values `want`.
template <class... Out, class Want, class Body, class... As>
void compare(Grid const& mesh, Plan const* strict, Want const& want, Body const& body,
             double tolerance, As const&... as) {
  auto const e = body(lazy(as)...);
  PlannedProgram const p = planned(evaluate_to<Out...>, mesh, e);
  INFO(explain(p));
  if (strict != nullptr) {
    INFO("strict " << strict->seconds(p.machine));
    CHECK(p.seconds() <= strict->seconds(p.machine) * (1 + 1e-9));
  }
  for (planning::ProgramNode const& n : p.plan.program.nodes)
    if (n.totals >= 0)
      for (planning::ProgramStep const& s : p.plan) splits += s.node == n.totals ? 1 : 0;
  CHECK(difference(evaluate<Out...>(mesh, e), want) <= tolerance);
  auto const [held, sent] = measure([&] { return evaluate<Out...>(mesh, e); });
  CHECK(held <= p.plan.temporary_bytes());
  CHECK(sent == p.plan.bytes(coords_of(p, mesh)));
  CHECK(difference(evaluate<Out...>(
                       mesh, [&](auto const&... x) { return body(x...); }, as...),
                   want) <= tolerance);
  // a limit below what the fastest plan takes is kept or refused
  using Tight = MemoryLimit<30'000>;
  try {
    std::int64_t const within = measure([&] { return evaluate<Out...>(mesh, e, Tight{}); }).first;
    CHECK(within <= Tight::memory_limit);
    CHECK(difference(evaluate<Out...>(mesh, e, Tight{}), want) <= tolerance);
  } catch (Error const& error) {
    CHECK(on_ranks::code_of([&] { throw error; }) == "E69");
  }
}

// An operation with a strict form of named results, `op`, and its unnamed call.
template <class Case, class In, class... Out>
void check(Grid const& mesh, std::array<std::int64_t, 2> n) {
  using Op = typename Case::template op<Out...>;
  if (!taken()) return;
  INFO(Op::name << " of " << n[0] << " x " << n[1]);
  auto const a = normal<In>(mesh, n, RandomKey{7});
  Plan const strict = plan_at(Op{}, a);
  compare<Out...>(mesh, &strict, call(Op{}, {}, a), Case::lazily, Case::tolerance, a);
}
template <class Case, class... Out>
void check_inputs(Grid const& mesh, std::array<std::int64_t, 2> n) {
  using T = typename Case::element;
  check<Case, Tensor<T, Dim<S, X>, Dim<V, Y>>, Out...>(mesh, n);
  check<Case, Tensor<T, Dim<S>, Dim<V, X, Y>>, Out...>(mesh, n);
  check<Case, Tensor<T, Dim<S, Y>, Dim<V, X>>, Out...>(mesh, n);
  check<Case, Tensor<T, Dim<S>, Dim<V>>, Out...>(mesh, n);
}
template <class Case>
void check_rows(Grid const& mesh) {
  for (auto const& n : shapes) {
    check_inputs<Case, Dim<S, X>, Dim<V, Y>>(mesh, n);
    check_inputs<Case, Dim<S>, Dim<V, X, Y>>(mesh, n);
    check_inputs<Case, Dim<S, X, Y>, Dim<V>>(mesh, n);
  }
}
template <class Case>
void check_reduction(Grid const& mesh) {
  for (auto const& n : shapes) {
    if (n[1] == 0 && Case::needs_elements) continue;
    check_inputs<Case, Dim<S>>(mesh, n);
    check_inputs<Case, Dim<S, X>>(mesh, n);
    check_inputs<Case, Dim<S, Y, X>>(mesh, n);
  }
}

struct Floats {
  using element = float;
  static constexpr double tolerance = 2e-5;
  static constexpr bool needs_elements = false;
};
struct TheSoftmax : Floats {
  template <class... Out>
  using op = op::Softmax<V, Out...>;
  static constexpr auto lazily = [](auto const& a) { return softmax<V>(a); };
};
struct TheLogSoftmax : Floats {
  template <class... Out>
  using op = op::LogSoftmax<V, Out...>;
  static constexpr auto lazily = [](auto const& a) { return log_softmax<V>(a); };
};
struct SumOfExponentials : Floats {
  template <class... Out>
  using op = op::LogSumExp<Out...>;
  static constexpr auto lazily = [](auto const& a) { return logsumexp<V>(a); };
};
struct TheArgMax : Floats {
  static constexpr bool needs_elements = true;
  template <class... Out>
  using op = op::ArgMax<Out...>;
  static constexpr auto lazily = [](auto const& a) { return argmax<V>(a); };
};
struct TheVar : Floats {
  template <class... Out>
  using op = op::Var<Out...>;
  static constexpr auto lazily = [](auto const& a) { return var<V>(a); };
};
struct Length : Floats {
  static constexpr double tolerance = 1e-4;
  template <class... Out>
  using op = op::Norm<Out...>;
  static constexpr auto lazily = [](auto const& a) { return norm<V>(a); };
};
struct Factors : Floats {
  template <class... Out>
  using op = op::Prod<Out...>;
  static constexpr auto lazily = [](auto const& a) { return prod<V>(a); };
};
struct TheSum : Floats {
  static constexpr double tolerance = 1e-3;
  template <class... Out>
  using op = op::Sum<Out...>;
  static constexpr auto lazily = [](auto const& a) { return sum<V>(a); };
};
struct TheMax : Floats {
  static constexpr bool needs_elements = true;
  template <class... Out>
  using op = op::Max<Out...>;
  static constexpr auto lazily = [](auto const& a) { return max<V>(a); };
};

// The same at compile time.
template <std::int64_t n>
struct Static {
  struct P : Axis<"P", 2> {};
  struct Q : Axis<"Q", 2> {};
  struct R : Index<"R", 64> {};
  struct C : Index<"C", n> {};
  struct Id : Index<"Id", 32> {};
  struct H : Index<"H", 4> {};
  struct F : Index<"F", 8> {};
  using Rows = Tensor<float, Dim<R, P>, Dim<C, Q>>;
  static constexpr auto soft =
      plan_traced<Rows>([](auto a) { return evaluate<Dim<R, P>, Dim<C, Q>>(softmax<C>(a)); });
  static constexpr auto place =
      plan_traced<Rows>([](auto a) { return evaluate<Dim<R, P>>(argmax<C>(a)); });
  static constexpr auto looked_up =
      plan_traced<Tensor<float, Dim<C, Q>, Dim<R>>, Tensor<std::int64_t, Dim<Id, P>>>(
          [](auto t, auto i) { return evaluate<Dim<Id, P>, Dim<R>>(take<C>(t, i)); });
  static constexpr auto truths =
      plan_traced<Tensor<bool, Dim<C, Q>, Dim<R>>, Tensor<std::int64_t, Dim<Id, P>>>(
          [](auto t, auto i) { return evaluate<Dim<Id, P>, Dim<R>>(take<C>(t, i)); });
};
using Long = Static<4096>;
static_assert(Long::soft.collectives() == 1 && Long::soft.count(Collective::all_reduce) == 1);
static_assert(Long::soft.bytes_per_rank() == 32 * 8);  // of two ranks, a total of 8 bytes a row
static_assert(Long::place.collectives() == 1 && Long::place.bytes_per_rank() == 32 * 16);
static_assert(Long::looked_up.collectives() == 1 &&
              Long::looked_up.bytes_per_rank() == 16 * 64 * 4);
static_assert(Long::truths.bytes_per_rank() == 16 * 64);

}  // namespace

TEST_CASE("softmax and its logarithm") {
  Grid const mesh = on_ranks::two_axes<X, Y>();
  splits = 0;
  check_rows<TheSoftmax>(mesh);
  check_rows<TheLogSoftmax>(mesh);
  if (on_ranks::rank_total() > 1) CHECK(splits > 0);
}

TEST_CASE("rows exchanged by messages") {
  Grid const mesh = on_ranks::two_axes<X, Y>();
  harness::WhileSet<bool> const on_one_node{runtime::run_time.on_one_node, false};
  check_rows<TheSoftmax>(mesh);
  check_reduction<TheVar>(mesh);
}

TEST_CASE("reductions whose partial results are totals") {
  Grid const mesh = on_ranks::two_axes<X, Y>();
  splits = 0;
  check_reduction<SumOfExponentials>(mesh);
  check_reduction<TheArgMax>(mesh);
  check_reduction<TheVar>(mesh);
  check_reduction<Length>(mesh);
  check_reduction<Factors>(mesh);
  if (on_ranks::rank_total() > 1) CHECK(splits > 0);
}

TEST_CASE("sums and extrema") {
  Grid const mesh = on_ranks::two_axes<X, Y>();
  check_reduction<TheSum>(mesh);
  check_reduction<TheMax>(mesh);
}

TEST_CASE("norms of rows that are split") {
  Grid const mesh = on_ranks::two_axes<X, Y>();
  splits = 0;
  for (auto const& n : shapes) {
    if (n[0] == 0 || n[1] < 2) continue;
    auto const x = normal<float, Dim<S>, Dim<V>>(mesh, n, RandomKey{1});
    auto const gain = normal<float, Dim<V>>(mesh, {n[1]}, RandomKey{2});
    auto const bias = normal<float, Dim<V>>(mesh, {n[1]}, RandomKey{3});
    auto const layer = [](auto const& a, auto const& g, auto const& b) {
      return nn::layer_norm<V>(a, g, b);
    };
    auto const rms = [](auto const& a, auto const& g) { return nn::rms_norm<V>(a, g); };
    using Split = Tensor<float, Dim<S, X>, Dim<V, Y>>;
    using Rows = Tensor<float, Dim<S>, Dim<V, Y, X>>;
    auto const layered = layer(x, gain, bias);
    auto const rooted = rms(x, gain);
    auto const from = [&]<class In>(Type<In>) {
      auto const a = reshard<In>(x);
      auto const g = reshard<Dim<V, Y>>(gain);
      compare<Dim<S, X>, Dim<V, Y>>(mesh, nullptr, reshard<Split>(layered), layer, 2e-5, a, g,
                                    bias);
      compare<Dim<S>, Dim<V, Y, X>>(mesh, nullptr, reshard<Rows>(layered), layer, 2e-5, a, g, bias);
      compare<Dim<S, X>, Dim<V, Y>>(mesh, nullptr, reshard<Split>(rooted), rms, 2e-5, a, g);
      compare<Dim<S>, Dim<V, Y, X>>(mesh, nullptr, reshard<Rows>(rooted), rms, 2e-5, a, g);
    };
    from(Type<Split>{});
    from(Type<Rows>{});
    from(Type<Tensor<float, Dim<S>, Dim<V>>>{});
  }
  if (on_ranks::rank_total() > 1) CHECK(splits > 0);
}

TEST_CASE("lookups in a split table, and sums by split ids") {
  Grid const mesh = on_ranks::two_axes<X, Y>();
  for (std::array<std::int64_t, 3> const n :
       {std::array<std::int64_t, 3>{1000, 16, 37}, {7, 300, 500}, {5, 1, 0}}) {
    auto const table = normal<double, Dim<V>, Dim<D>>(mesh, {n[0], n[1]}, RandomKey{4});
    auto const ids = integers<std::int64_t, Dim<S>>(mesh, {n[2]}, RandomKey{5}, 0, n[0]);
    auto const updates = normal<double, Dim<S>, Dim<D>>(mesh, {n[2], n[1]}, RandomKey{6});
    auto const look_up = [](auto const& t, auto const& i) { return take<V>(t, i); };
    auto const add = [&](auto const& u, auto const& i) { return scatter_add<V>(u, i, n[0]); };
    auto const taken = look_up(table, ids);
    auto const added = add(updates, ids);
    auto const from = [&](auto const& t, auto const& u, auto const& i) {
      Plan const strict = plan_at(op::Take<V, Dim<S, X>, Dim<D>>{}, t, i);
      compare<Dim<S, X>, Dim<D>>(mesh, &strict, reshard<Dim<S, X>, Dim<D>>(taken), look_up, 0, t,
                                 i);
      compare<Dim<S>, Dim<D, Y>>(mesh, nullptr, reshard<Dim<S>, Dim<D, Y>>(taken), look_up, 0, t,
                                 i);
      compare<Dim<V, Y>, Dim<D>>(mesh, nullptr, reshard<Dim<V, Y>, Dim<D>>(added), add, 1e-12, u,
                                 i);
      compare<Dim<V>, Dim<D>>(mesh, nullptr, added, add, 1e-12, u, i);
    };
    from(reshard<Dim<V, Y>, Dim<D>>(table), reshard<Dim<S, X>, Dim<D>>(updates),
         reshard<Dim<S, X>>(ids));
    from(reshard<Dim<V, X, Y>, Dim<D>>(table), reshard<Dim<S, X, Y>, Dim<D>>(updates),
         reshard<Dim<S, X, Y>>(ids));
    from(reshard<Dim<V>, Dim<D, X>>(table), reshard<Dim<S>, Dim<D, X>>(updates), ids);
  }
}

// Ranks that do not hold a row have false for it: the result is a pending maximum.
TEST_CASE("lookups of truths") {
  Grid const mesh = on_ranks::two_axes<X, Y>();
  auto const table = from_function<bool, Dim<V, Y>, Dim<D>>(
      mesh, {1001, 64}, [](std::int64_t i, std::int64_t j) { return (i * 7 + j) % 3 == 0; });
  auto const ids = integers<std::int64_t, Dim<S, X>>(mesh, {37}, RandomKey{5}, 0, 1001);
  auto const look_up = [](auto const& t, auto const& i) { return take<V>(t, i); };
  Plan const strict = plan_at(op::Take<V, Dim<S, X>, Dim<D>>{}, table, ids);
  auto const want = take<V, Dim<S, X>, Dim<D>>(table, ids);
  compare<Dim<S, X>, Dim<D>>(mesh, &strict, want, look_up, 0, table, ids);
  PlannedProgram const p =
      planned(evaluate_to<Dim<S, X>, Dim<D>>, mesh, look_up(lazy(table), lazy(ids)));
  bool maximum = false;
  for (int k = 0; k < p.plan.size; ++k)
    maximum = maximum || p.plan.spec(k).kind == rules::ReduceKind::max;
  CHECK((maximum || on_ranks::rank_total() < 3));
}

// A mask is a run-time argument that decides about the work.
TEST_CASE("attention with and without a mask") {
  Grid const mesh = on_ranks::two_axes<X, Y>();
  struct Q : Index<"Q"> {};
  struct H : Index<"H"> {};
  auto const q =
      normal<float, Dim<S, X>, Dim<Q>, Dim<H>, Dim<D>>(mesh, {2, 32, 2, 4}, RandomKey{1});
  auto const k =
      normal<float, Dim<S, X>, Dim<K>, Dim<H>, Dim<D>>(mesh, {2, 32, 2, 4}, RandomKey{2});
  auto const flops = [&](bool causal) {
    return planned(evaluate_to<Dim<S, X>, Dim<Q>, Dim<H>, Dim<D>>, mesh,
                   nn::attention(lazy(q), lazy(k), lazy(k), {.causal = causal}))
        .plan.flops();
  };
  CHECK(flops(true) > 0);
  CHECK(flops(false) == 2 * flops(true));
}

// Ranks exchange totals of their rows, or the rows at the ends of their blocks.
TEST_CASE("running values, shifts and differences along dims that stay split") {
  Grid const mesh = on_ranks::two_axes<X, Y>();
  bool exchanged = false;
  auto const stays = [&]<class... Out>(std::array<std::int64_t, 2> n, detail::Pack<Out...>) {
    using In = Tensor<double, Out...>;
    auto const a = normal<In>(mesh, n, RandomKey{3});
    auto const check_one = [&](auto const& op, auto const& body) {
      if (!taken()) return;
      Plan const strict = plan_at(op, a);
      compare<Out...>(mesh, &strict, body(a), body, 1e-11, a);
      PlannedProgram const p = planned(evaluate_to<Out...>, mesh, body(lazy(a)));
      for (int k = 0; k < p.plan.size; ++k) exchanged = exchanged || p.plan.is_own_call(k);
    };
    check_one(op::CumSum<S>{}, [](auto const& x) { return cumsum<S>(x); });
    check_one(op::CumSum<S>{true, true}, [](auto const& x) {
      return cumsum<S>(x, op::Cumulate::exclusive, op::Direction::reverse);
    });
    check_one(op::CumMax<V>{}, [](auto const& x) { return cummax<V>(x); });
    check_one(op::Diff<S>{}, [](auto const& x) { return diff<S>(x); });
    for (std::int64_t const by : {std::int64_t{1}, std::int64_t{-2}, n[0] / 2, 3 * n[0]}) {
      check_one(op::Shift<S>{by}, [by](auto const& x) { return shift<S>(x, by); });
      check_one(op::Shift<S>{by, op::Edge::wrap},
                [by](auto const& x) { return shift<S>(x, by, op::Edge::wrap); });
    }
  };
  for (auto const& n : shapes) {
    stays(n, detail::Pack<Dim<S, X>, Dim<V, Y>>{});
    stays(n, detail::Pack<Dim<S, Y, X>, Dim<V>>{});
    stays(n, detail::Pack<Dim<S>, Dim<V, X, Y>>{});
  }
  if (on_ranks::rank_total() > 1) CHECK(exchanged);
}

// A stencil sends the rows at the ends of blocks, for as many steps as it has.
TEST_CASE("a stencil in automatic mode sends what its shifts send") {
  Grid const mesh = on_ranks::two_axes<X, Y>();
  auto const a = normal<double, Dim<S, X>, Dim<V, Y>>(mesh, {96, 64}, RandomKey{3});
  auto const stencil = [](auto const& x) {
    return shift<S>(x, 1) + shift<S>(x, -1) + shift<V>(x, 1) + shift<V>(x, -1) - x * 4.0;
  };
  auto const want = stencil(a).tensor();
  compare<Dim<S, X>, Dim<V, Y>>(mesh, nullptr, want, stencil, 1e-13, a);
  PlannedProgram const p = planned(evaluate_to<Dim<S, X>, Dim<V, Y>>, mesh, stencil(lazy(a)));
  INFO(explain(p));
  std::int64_t const rows = 96 / mesh.size_of<X>(), columns = 64 / mesh.size_of<Y>();
  CHECK(p.plan.bytes_per_rank() <= 16 * (rows + columns));
}

TEST_CASE("cross entropy of recorded logits") {
  Grid const mesh = on_ranks::two_axes<X, Y>();
  using Logits = Tensor<float, Dim<S, X>, Dim<V, Y>>;
  for (auto const& n : shapes) {
    if (n[0] == 0) continue;
    auto const logits = normal<Logits>(mesh, n, RandomKey{8});
    auto const ids = integers<std::int64_t, Dim<S, X>>(mesh, {n[0]}, RandomKey{9}, 0, n[1]);
    auto const want = nn::cross_entropy<V, Dim<S, X>>(logits, ids);
    auto const unnamed = [](auto const& l, auto const& i) { return nn::cross_entropy<V>(l, i); };
    auto const named = [](auto const& l, auto const& i) {
      return nn::cross_entropy<V, Dim<S, X>>(l, i);
    };
    compare<Dim<S, X>>(mesh, nullptr, want, unnamed, 1e-4, logits, ids);
    compare<Dim<S, X>>(mesh, nullptr, want, named, 1e-4, logits, ids);
    auto const mean = [](auto const& l, auto const& i) {
      return nn::mean_cross_entropy<V, Tensor<float>>(l, i);
    };
    compare<>(mesh, nullptr, mean(logits, ids), mean, 1e-4, logits, ids);
  }
}
