// The program of docs/automatic.md: expressions, evaluate, plans, share, constrain, policies and
// dry runs. It computes two layers of a network whose weights are split over all ranks. On 4 ranks.
// SHOWN: docs
// RANKS: 4
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include <shardtype/freeze/to_source.hpp>
#include <shardtype/shardtype.hpp>
#include <shardtype/visualize/program_page.hpp>

using namespace shardtype;

// docs: names
struct X : Axis<"X", 4> {};
struct S : Index<"S", 128> {};  // samples
struct D : Index<"D", 512> {};
struct F : Index<"F", 2048> {};
using Samples = Tensor<float, Dim<S, X>, Dim<D>>;
using Up = Tensor<float, Dim<D, X>, Dim<F>>;
using Down = Tensor<float, Dim<F, X>, Dim<D>>;
// docs: end

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

// docs: share
// Computed once: `leaky` reads z three times. Products, reductions and operations on the same
// arguments are found again; `share` names a value that its type does not settle.
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
// docs: end

// docs: normalized
constexpr auto normalized = [](auto const& a) {
  auto const centred = a - mean<D>(a);
  return centred / sqrt(mean<D>(centred * centred) + 1e-5F);
};
// docs: end

// docs: constrain
// `constrain`: the value between the layers is computed with its samples split.
constexpr auto constrained = [](auto x, auto up, auto down) {
  auto hidden = constrain<Dim<S, X>, Dim<F>>(max(x * up, 0.0F));
  return evaluate<Samples>(hidden * down);
};
static_assert(plan_traced<Samples, Up, Down>(constrained).collectives() == 4);
// docs: end

// docs: limit
// A policy: the limit of the temporaries on a rank.
constexpr auto limited = [](auto x, auto up, auto down) {
  return evaluate<Samples>(max(x * up, 0.0F) * down, MemoryLimit<2'100'000>{});
};
static_assert(plan_of_layers.temporary_bytes() > 2'100'000);
static_assert(plan_traced<Samples, Up, Down>(limited).temporary_bytes() <= 2'100'000);
// docs: end

// docs: machine
// A policy with a machine. Where the latency of a message is high, the plan sends fewer and larger
// messages: the weights.
struct FarApart {
  static constexpr Machine machine{.latency = 1e-2};
  static constexpr std::int64_t memory_limit = 16'000'000;
};
constexpr auto far_apart = [](auto x, auto up, auto down) {
  return evaluate<Samples>(max(x * up, 0.0F) * down, FarApart{});
};
static_assert(plan_traced<Samples, Up, Down>(far_apart).collectives() == 2);
static_assert(plan_traced<Samples, Up, Down>(far_apart).count(Collective::all_gather) == 2);
// docs: end

// docs: nodes
// The same program for an extent that is not known here and for more ranks than the program runs
// on.
struct Nodes : Axis<"nodes"> {};
struct N : Index<"N"> {};
using ManySamples = Tensor<float, Dim<N, Nodes>, Dim<D>>;
using UpOnNodes = Tensor<float, Dim<D, Nodes>, Dim<F>>;
using DownOnNodes = Tensor<float, Dim<F, Nodes>, Dim<D>>;
PlannedProgram on_many_nodes() {
  return dry_run<ManySamples, UpOnNodes, DownOnNodes>([](auto x, auto up, auto down) {
           return evaluate<ManySamples>(max(x * up, 0.0F) * down);
         })
      .extent<N>(1'000'000)
      .ranks<Nodes>(64)
      .on(Machine{.flops_per_second = 1e12}.with<Nodes>(5e-6, 20e9))
      .planned();
}
// docs: end

// Layers whose weights are split over both axes of a mesh, for machines that are not here.
namespace two_axes {
// docs: machines
struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};
struct F : Index<"F"> {};
struct E : Index<"E"> {};
using In = Tensor<float, Dim<B, X>, Dim<D, Y>>;
using Up = Tensor<float, Dim<D, X>, Dim<F, Y>>;
using Down = Tensor<float, Dim<F, Y>, Dim<E, X>>;

// the layers, on x by y ranks of a machine
PlannedProgram on(Machine const& machine, std::int64_t x, std::int64_t y) {
  auto layer = dry_run<In, Up, Down>([](auto in, auto up, auto down) {
    return evaluate<Dim<B, X>, Dim<E, Y>>(max(in * up, 0) * down);
  });
  layer.extent<B>(1 << 20).extent<D>(8192).extent<F>(32768).extent<E>(8192).element_bytes(2);
  return layer.ranks<X>(x).ranks<Y>(y).on(machine).planned();
}
std::string on_a_pod() { return explain(on(machines::tpu_v5e, 16, 16)); }
std::string on_512_nodes() { return explain(on(machines::h100_cluster<Y>(), 512, 8)); }
// docs: end
}  // namespace two_axes

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
  // docs: policy-run
  auto const by_policy = evaluate<Samples>(mesh, e, FarApart{});
  // docs: end
  // docs: function-run
  auto const rows = evaluate<Samples>(mesh, normalized, x);  // each mean is computed once
  // docs: end
  // docs: several
  using Hidden = Tensor<float, Dim<S, X>, Dim<F>>;
  auto const z = share(lazy(x) * up);
  auto const [doubled, sums] =
      evaluate<Outs<Hidden, Tensor<float, Dim<S, X>>>>(mesh, std::tuple(z * 2.0F, sum<F>(z)));
  // docs: end

  // Strict mode names each sharding itself.
  auto const hidden = matmul<Dim<S>, Dim<F, X>>(x, up);
  std::vector<float> const expected = to_host(matmul<Samples>(max(hidden, 0.0F), down));
  std::vector<float> const expected_leaky = to_host(matmul<Samples>(leaky(hidden), down));
  auto const agree = [](char const* what, auto const& given, std::vector<float> const& right) {
    if (to_host(given) != right) throw Error("example", std::string(what) + " gave other numbers");
  };
  agree("evaluate", y, expected);
  agree("share", by_leaky, expected_leaky);
  agree("constrain", by_constraint, expected);
  agree("a memory limit", by_limit, expected);
  agree("a policy", by_policy, expected);
  agree("two results, the first", doubled, to_host(reshard<Hidden>(hidden * 2.0F)));
  agree("two results, the second", sums, to_host(sum<Tensor<float, Dim<S, X>>>(hidden)));
  if (!allclose(rows, normalized(x), 1e-5F, 1e-5F))
    throw Error("example", "a function of expressions gave other numbers", FailedOn::every_rank);

  auto const print = [&](char const* what, std::string const& text) {
    if (env.rank() == 0) std::printf("== %s\n%s\n", what, text.c_str());
  };
  print("layers", explain(dry_run<Samples, Up, Down>(layers).planned()));
  print("shared", explain(dry_run<Samples, Up, Down>(shared).planned()));
  print("constrained", explain(dry_run<Samples, Up, Down>(constrained).planned()));
  print("limited", explain(dry_run<Samples, Up, Down>(limited).planned()));
  print("far-apart", explain(dry_run<Samples, Up, Down>(far_apart).planned()));
  print("nodes", explain(on_many_nodes()));
  print("pod", two_axes::on_a_pod());
  print("cluster", two_axes::on_512_nodes());
  // docs: source
  if (env.rank() == 0)
    std::printf("== source\n%s\n", to_source<"layers">(evaluate_to<Samples>, mesh, e).c_str());
  // docs: end
  // docs: page
  if (env.rank() == 0)
    write_html(planned(evaluate_to<Samples>, mesh, e), "plan.html");  // or to_html
  // docs: end
  if (env.rank() == 0 && std::filesystem::file_size("plan.html") < 1000)
    throw Error("example", "the page of the plan is empty");
}
