// A tour of automatic mode: expressions, evaluate, plans, share, constrain, policies and dry runs.
// The program computes two layers of a network whose weights are split over all ranks. On 4 ranks.
// RANKS: 4
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <shardtype/shardtype.hpp>

using namespace shardtype;

struct X : Axis<"X", 4> {};
struct S : Index<"S", 128> {};  // samples
struct D : Index<"D", 512> {};
struct F : Index<"F", 2048> {};
using Samples = Tensor<float, Dim<S, X>, Dim<D>>;
using Up = Tensor<float, Dim<D, X>, Dim<F>>;
using Down = Tensor<float, Dim<F, X>, Dim<D>>;

// docs: program
// A program is a function. Its plan is a constant that is computed from types alone.
constexpr auto layers = [](auto x, auto up, auto down) {
  return evaluate<Samples>(max(x * up, 0.0F) * down);
};
constexpr auto plan_of_layers = plan_traced<Samples, Up, Down>(layers);
static_assert(plan_of_layers.collectives() == 3);
static_assert(plan_of_layers.count(Collective::all_gather) == 0);  // nothing is gathered
static_assert(plan_of_layers.bytes_per_rank() <= 1'100'000);
// docs: end

// Computed once: `leaky` reads z three times. Products, reductions and operations on the same arguments are found
// again; `share` names a value that its type does not settle.
auto leaky(auto const& z) { return where(z > 0.0F, z, 0.125F * z); }
constexpr auto found = [](auto x, auto up, auto down) {
  return evaluate<Samples>(leaky(x * up) * down);
};
constexpr auto shared = [](auto x, auto up, auto down) {
  auto scaled = share((0.5F * x) * up);  // known by a number, too
  return evaluate<Samples>(leaky(scaled) * down);
};
static_assert(plan_traced<Samples, Up, Down>(found).flops() == plan_of_layers.flops());
static_assert(plan_traced<Samples, Up, Down>(shared).flops() == plan_of_layers.flops());

// `constrain`: the value between the layers is computed with its samples split.
constexpr auto constrained = [](auto x, auto up, auto down) {
  auto hidden = constrain<Dim<S, X>, Dim<F>>(max(x * up, 0.0F));
  return evaluate<Samples>(hidden * down);
};
static_assert(plan_traced<Samples, Up, Down>(constrained).collectives() == 4);

// Policies: the limit of the temporaries on a rank, and the properties of a machine. Where the
// latency of a message is high, the plan sends fewer and larger messages: the weights.
constexpr auto limited = [](auto x, auto up, auto down) {
  return evaluate<Samples>(max(x * up, 0.0F) * down, MemoryLimit<2'100'000>{});
};
static_assert(plan_of_layers.temporary_bytes() > 2'100'000);
static_assert(plan_traced<Samples, Up, Down>(limited).temporary_bytes() <= 2'100'000);

struct FarApart {
  static constexpr Machine machine{.latency = 1e-2};
  static constexpr std::int64_t memory_limit = 16'000'000;
};
constexpr auto far_apart = [](auto x, auto up, auto down) {
  return evaluate<Samples>(max(x * up, 0.0F) * down, FarApart{});
};
static_assert(plan_traced<Samples, Up, Down>(far_apart).collectives() == 2);
static_assert(plan_traced<Samples, Up, Down>(far_apart).count(Collective::all_gather) == 2);

// The same program for an extent that is not known here and for more ranks than the program runs
// on.
struct Nodes : Axis<"nodes"> {};
struct N : Index<"N"> {};
using ManySamples = Tensor<float, Dim<N, Nodes>, Dim<D>>;
using UpOnNodes = Tensor<float, Dim<D, Nodes>, Dim<F>>;
using DownOnNodes = Tensor<float, Dim<F, Nodes>, Dim<D>>;
std::string on_many_nodes() {
  auto const program = dry_run<ManySamples, UpOnNodes, DownOnNodes>([](auto x, auto up, auto down) {
                         return evaluate<ManySamples>(max(x * up, 0.0F) * down);
                       })
                           .extent<N>(1'000'000)
                           .ranks<Nodes>(64)
                           .on(Machine{.flops_per_second = 1e12}.with<Nodes>(5e-6, 20e9))
                           .planned();
  return explain(program);
}

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  Mesh<X> const mesh(env.world());
  // small integers, so that no sum is rounded
  auto const f = [](std::int64_t i, std::int64_t j) { return (i * i + 2 * j + i * j) % 3 - 1; };
  auto const x = from_function<Samples>(mesh, f);
  auto const up = from_function<Up>(mesh, f);
  auto const down = from_function<Down>(mesh, f);

  // docs: run
  // An expression begins with `lazy`. Nothing runs until `evaluate` is called; the plan of an
  // expression can be queried.
  auto const e = max(lazy(x) * up, 0.0F) * down;
  static_assert(plan(evaluate_to<Samples>, mesh, e).collectives() == 3);
  auto const y = evaluate<Samples>(mesh, e);
  // docs: end

  auto const by_leaky = evaluate<Samples>(mesh, leaky(share(lazy(x) * up)) * down);
  auto const by_constraint =
      evaluate<Samples>(mesh, constrain<Dim<S, X>, Dim<F>>(max(lazy(x) * up, 0.0F)) * down);
  auto const by_limit = evaluate<Samples>(mesh, e, MemoryLimit<2'100'000>{});
  auto const by_policy = evaluate<Samples>(mesh, e, FarApart{});

  // Strict mode names each sharding itself.
  auto const z = matmul<Dim<S>, Dim<F, X>>(x, up);
  std::vector<float> const expected = to_host(matmul<Samples>(max(z, 0.0F), down));
  std::vector<float> const expected_leaky = to_host(matmul<Samples>(leaky(z), down));
  auto const agree = [](char const* what, auto const& given, std::vector<float> const& right) {
    if (to_host(given) != right) throw Error("example", std::string(what) + " gave other numbers");
  };
  agree("evaluate", y, expected);
  agree("share", by_leaky, expected_leaky);
  agree("constrain", by_constraint, expected);
  agree("a memory limit", by_limit, expected);
  agree("a policy", by_policy, expected);

  auto const print = [&](char const* what, std::string const& text) {
    if (env.rank() == 0) std::printf("%s\n%s\n", what, text.c_str());
  };
  print("layers", explain(dry_run<Samples, Up, Down>(layers).planned()));
  print("shared", explain(dry_run<Samples, Up, Down>(shared).planned()));
  print("constrained", explain(dry_run<Samples, Up, Down>(constrained).planned()));
  print("within 2.1 MB", explain(dry_run<Samples, Up, Down>(limited).planned()));
  print("far apart", explain(dry_run<Samples, Up, Down>(far_apart).planned()));
  print("on 64 nodes", on_many_nodes());
}
