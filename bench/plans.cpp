// The plans of programs of automatic mode on a mesh of 2 x 4: the bytes that each rank sends, its
// flops, and how far the plan may be from the best possible; of those that send more than JAX's,
// the predicted time in JAX's layouts over that of the plan. scripts/bench plans compares them with
// JAX's partitioner (scripts/bench.d/plans has the same programs in JAX). `--picture FILE` draws
// one.
#include <cstdio>
#include <map>
#include <string>

#include <shardtype/shardtype.hpp>
#include <shardtype/visualize/timeline.hpp>

#include "plan_blocks.hpp"
#include "plan_losses.hpp"
#include "plan_models.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"x", 2> {};
struct Y : Axis<"y", 4> {};
using Grid = automatic_mode::Axes<X, Y>;

/// Prints `plan NAME BYTES FLOPS gap=GAP`, then the collectives. GAP is -1 without a bound.
template <class Program>
void show(char const* name, Program const& p) {
  ProgramPlan const& plan = p.plan;
  std::string collectives;
  for (Collective const c :
       {Collective::all_gather, Collective::all_reduce, Collective::reduce_scatter,
        Collective::all_to_all, Collective::permute})
    if (int const n = plan.count(c); n > 0)
      collectives += " " + std::to_string(n) + " " + detail::collective_text(c);
  std::printf("plan %s %lld %lld gap=%.2g%s\n", name, static_cast<long long>(plan.bytes_per_rank()),
              static_cast<long long>(plan.flops()), plan.gap().value_or(-1), collectives.c_str());
}
template <class... Given, class F>
void show(char const* name, F const& f, Grid) {
  show(name, dry_run<Grid, Given...>(f).planned());
}

// Labels with their extents.
struct I8 : Index<"I", 8192> {};
struct J4 : Index<"J", 4096> {};
struct K5 : Index<"K", 512> {};
struct L4 : Index<"L", 4096> {};

void chains() {
  show<Tensor<float, Dim<I8, X>, Dim<J4, Y>>, Tensor<float, Dim<J4, Y>, Dim<K5>>,
       Tensor<float, Dim<K5>, Dim<L4, Y>>>(
      "chain3", [](auto a, auto b, auto c) { return evaluate<Dim<I8, X>, Dim<L4, Y>>(a * b * c); },
      Grid{});
  struct I : Index<"I", 4096> {};
  struct J : Index<"J", 4096> {};
  struct K : Index<"K", 4096> {};
  struct L : Index<"L", 4096> {};
  struct M : Index<"M", 64> {};
  show<Tensor<float, Dim<I, X>, Dim<J, Y>>, Tensor<float, Dim<J, Y>, Dim<K, X>>,
       Tensor<float, Dim<K, X>, Dim<L, Y>>, Tensor<float, Dim<L, Y>, Dim<M>>>(
      "chain4",
      [](auto a, auto b, auto c, auto d) { return evaluate<Dim<I, X>, Dim<M>>(a * b * c * d); },
      Grid{});
}

struct S : Index<"S", 8192> {};
struct D : Index<"D", 2048> {};
struct F : Index<"F", 8192> {};
struct E : Index<"E", 2048> {};

void layers() {
  show<Tensor<float, Dim<S, X>, Dim<D, Y>>, Tensor<float, Dim<D, X>, Dim<F, Y>>,
       Tensor<float, Dim<F, Y>, Dim<E, X>>>(
      "mlp_2d",
      [](auto x, auto up, auto down) {
        return evaluate<Dim<S, X>, Dim<E, Y>>(max(x * up, 0.0F) * down);
      },
      Grid{});
  show<Tensor<float, Dim<S, X, Y>, Dim<D>>, Tensor<float, Dim<D, X, Y>, Dim<F>>,
       Tensor<float, Dim<F, X, Y>, Dim<E>>>(
      "mlp_fsdp",
      [](auto x, auto up, auto down) {
        return evaluate<Dim<S, X, Y>, Dim<E>>(max(x * up, 0.0F) * down);
      },
      Grid{});
  show<Tensor<float, Dim<S, X>, Dim<D>>, Tensor<float, Dim<D>, Dim<F, Y>>,
       Tensor<float, Dim<F, Y>, Dim<E>>>(
      "mlp_megatron",
      [](auto x, auto up, auto down) {
        return evaluate<Dim<S, X>, Dim<E>>(max(x * up, 0.0F) * down);
      },
      Grid{});
}

void products() {
  struct J : Index<"J", 8192> {};
  struct K : Index<"K", 8192> {};
  show<Tensor<float, Dim<I8, X>, Dim<J, Y>>, Tensor<float, Dim<J, X>, Dim<K, Y>>>(
      "product", [](auto a, auto b) { return evaluate<Dim<I8, X>, Dim<K, Y>>(a * b); }, Grid{});
  struct M : Index<"M", 4096> {};
  struct N : Index<"N", 4096> {};
  struct P : Index<"P", 4096> {};
  struct Q : Index<"Q", 4096> {};
  using Left = Tensor<float, Dim<M, X>, Dim<N, Y>>;
  using Right = Tensor<float, Dim<N, Y>, Dim<P, X>>;
  using Left2 = Tensor<float, Dim<M, X>, Dim<Q, Y>>;
  using Right2 = Tensor<float, Dim<Q, Y>, Dim<P, X>>;
  show<Left, Right, Left2, Right2>(
      "two_products",
      [](auto a, auto b, auto c, auto d) { return evaluate<Dim<M, X>, Dim<P, Y>>(a * b + c * d); },
      Grid{});
}

// Rows over x, features over y: the statistics are reduced, nothing is gathered.
void statistics() {
  struct V : Index<"V", 32768> {};
  using Rows = Tensor<float, Dim<S, X>, Dim<D, Y>>;
  using Feature = Tensor<float, Dim<D, Y>>;
  show<Rows, Feature, Feature>(
      "layer_norm",
      [](auto x, auto gain, auto bias) {
        auto const centred = share(x - mean<D>(x));
        auto const variance = mean<D>(centred * centred);
        return evaluate<Dim<S, X>, Dim<D, Y>>(centred / sqrt(variance + 1e-5F) * gain + bias);
      },
      Grid{});
  using Logits = Tensor<float, Dim<S, X>, Dim<V, Y>>;
  show<Logits>(
      "softmax",
      [](auto x) {
        auto const e = share(exp(x - max<V>(x)));
        return evaluate<Dim<S, X>, Dim<V, Y>>(e / sum<V>(e));
      },
      Grid{});
  show<Logits, Logits>(
      "cross_entropy",
      [](auto x, auto target) {
        auto const largest = share(max<V>(x));
        auto const total = log(sum<V>(exp(x - largest))) + largest;
        return evaluate(mean<S>(total - sum<V>(x * target)));
      },
      Grid{});
}

struct B : Index<"B", 32> {};
struct T : Index<"T", 1024> {};
struct U : Index<"U", 1024> {};
struct N : Index<"N", 16> {};
struct H : Index<"H", 64> {};

/// softmax(q k^T / 8) v, with heads of 64.
template <class Q, class K, class V>
auto attention(Q const& q, K const& k, V const& v) {
  auto const scores = share(einsum<B, N, T, U>(q, relabel<T, U>(k)) * 0.125F);
  auto const weights = share(exp(scores - max<U>(scores)));
  return einsum<B, T, N, H>(weights / sum<U>(weights), relabel<T, U>(v));
}
void heads() {
  using Sequence = Tensor<float, Dim<B, X>, Dim<T, Y>, Dim<N>, Dim<H>>;
  show<Sequence, Sequence, Sequence>(
      "attention",
      [](auto q, auto k, auto v) {
        return evaluate<Dim<B, X>, Dim<T, Y>, Dim<N>, Dim<H>>(attention(q, k, v));
      },
      Grid{});
}

/// The picture of docs/tutorials: both passes of a GPT of four layers, whose parameters are split
/// over the GPUs of a node.
void draw(char const* path) {
  using Of = plan_losses::Gpt<plan_losses::FullySharded, 4>;
  write_svg(dry_run<plan_models::Grid, Of::Model<value_t>, plan_losses::FullySharded::In>(
                value_and_grad<0>(Of::loss))
                .on(machines::h100_node)
                .planned(),
            path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--picture") {
    draw(argv[2]);
    return 0;
  }
  chains();
  layers();
  products();
  statistics();
  heads();
  std::map<std::string, double> seconds;
  auto const print = [&](char const* name, PlannedProgram const& p) {
    seconds[name] = p.seconds();
    show(name, p);
  };
  plan_models::for_all(print);
  plan_models::for_all_longer(print);
  plan_losses::mlps(print);
  plan_losses::gpts<1>(print, "gpt_");
  plan_losses::gpts<4>(print, "gpt4_");
  plan_losses::gpts<12>(print, "gpt12_");
  plan_models::in_layouts_of_jax([&](char const* name, PlannedProgram const& p) {
    std::printf("pinned %s %lld %.3f\n", name, static_cast<long long>(p.plan.bytes_per_rank()),
                p.seconds() / seconds[name]);
  });
  return 0;
}
