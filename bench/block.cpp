// A transformer block in tensor and sequence parallelism behind its products, against the same
// block without overlap and against a floor: the sum over its segments of the longer of product and
// communication.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <shardtype/nn/nn.hpp>
#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>

#include "paired.hpp"

using namespace shardtype;

namespace {

char const* const help =
    "bench_block [--b=2] [--s=1024] [--d=768] [--h=12] [--m=3072] [--rounds=9] [--label=TEXT]\n"
    "Rows [B, S@Y, D] of float, H heads, M hidden features, all ranks along Y. Products alone: "
    "gather (rows times\n"
    "[D, M@Y]), scatter ([B, S, M@Y] times [M@Y, D] to rows), weights (the gradient of gather's "
    "weights), both (both\n"
    "gradients of scatter). The block: forward, and both passes less the forward one. Each round "
    "runs each in every\n"
    "way, one after the other. Last lines: value block WHAT_TEXT RANKS MILLISECONDS (medians), and "
    "ratio block\n"
    "WHAT_RATIO_TEXT RANKS MEDIAN Q1 Q3 of the rounds: WAY_floor, WAY_blocking.\n";

struct Y : Axis<"Y"> {};
struct B : Index<"B"> {};
struct S : Index<"S"> {};
struct D : Index<"D"> {};
struct H : Index<"H"> {};
struct F : Index<"F", 64> {};
struct M : Index<"M"> {};
template <class... Parts>
using T = Tensor<float, Parts...>;
using Rows = T<Dim<B>, Dim<S, Y>, Dim<D>>;
using Wide = T<Dim<B>, Dim<S>, Dim<M, Y>>;
using Vector = T<Dim<D>>;
using Heads = T<Dim<D>, Dim<H, Y>, Dim<F>>;
using Out = T<Dim<H, Y>, Dim<F>, Dim<D>>;
using Up = T<Dim<D>, Dim<M, Y>>;
using Hidden = T<Dim<M, Y>>;
using Down = T<Dim<M, Y>, Dim<D>>;
using Layer = nn::Overlapped<Reduced<Y>>;
template <template <class> class As>
struct Block {
  nn::Norm<As, Vector> norm1;
  nn::Attention<As, Heads, Heads, Out> attention;
  nn::Norm<As, Vector> norm2;
  nn::Mlp<As, Up, Hidden, Down, Vector> mlp;
};

struct Sizes {
  std::int64_t b, s, d, h, m;
};

template <class A>
A draw(Mesh<Y> const& mesh, std::array<std::int64_t, A::rank> const& extents) {
  return normal<A>(mesh, extents, RandomKey{7}, 0.0F, 0.03F);
}
Block<value_t> block_of(Mesh<Y> const& mesh, Sizes const& n) {
  auto const vector = [&] { return draw<Vector>(mesh, {n.d}); };
  auto const heads = [&] { return draw<Heads>(mesh, {n.d, n.h, 64}); };
  return {{vector(), vector()},
          {heads(), heads(), heads(), draw<Out>(mesh, {n.h, 64, n.d})},
          {vector(), vector()},
          {draw<Up>(mesh, {n.d, n.m}), draw<Hidden>(mesh, {n.m}), draw<Down>(mesh, {n.m, n.d}),
           vector()}};
}

using Work = std::function<void()>;
template <class F>
Work kept(F f) {
  return [f] { benchmark::DoNotOptimize(f().local_size()); };
}

constexpr std::array ways{Overlap::none, Overlap::ring, Overlap::bidirectional, Overlap::automatic};
constexpr std::array<char const*, 4> way_names{"blocking", "ring", "bidirectional", "automatic"};

// One thing that is timed, and its times.
struct Timed {
  Work run;
  std::vector<double> seconds{};
};
// A product in every way, alone, and its communication alone.
struct Product {
  std::string name;
  std::array<Timed, 4> ways;
  Timed alone, communication;
};

template <class F>
std::array<Timed, 4> in_every_way(F const& f) {
  std::array<Timed, 4> out;
  for (std::size_t w = 0; w < ways.size(); ++w) out[w].run = f(ways[w]);
  return out;
}

constexpr auto passes = [](Overlap how) {
  return value_and_grad<0, 1>([how](auto const& p, auto const& x) {
    return sum<T<>>(square(nn::transformer_block(x, p, Layer{how}, {.causal = true})));
  });
};
// What is split along the sequence besides the products: norms and sums.
constexpr auto norms = [](auto const& p, auto const& x) {
  auto const y = (x + nn::layer_norm<D>(x, p.norm1, nn::Use<Reduced<Y>>{})).tensor();
  return (y + nn::layer_norm<D>(y, p.norm2, nn::Use<Reduced<Y>>{})).tensor();
};
constexpr auto norms_back = value_and_grad<0, 1>(
    [](auto const& p, auto const& x) { return sum<T<>>(square(norms(p, x))); });

}  // namespace

int main(int argc, char** argv) {
  if (asked_for_help(argc, argv, help)) return 0;
  Environment env(argc, argv);
  auto const number = [&](char const* name, std::int64_t otherwise) {
    return option(argc, argv, name, otherwise);
  };
  Sizes const n{number("b", 2), number("s", 1024), number("d", 768), number("h", 12),
                number("m", 3072)};
  std::int64_t const rounds = number("rounds", 9);
  std::string label = option(argc, argv, "label", "");
  if (!label.empty()) label = "_" + label;
  int const p = env.size();
  if (n.h % p != 0 || n.m % p != 0 || n.s % p != 0)
    stop("h, m and s are multiples of the number of ranks");
  Mesh<Y> const mesh(env.world(), {p});
  Mesh<Y> const alone(MPI_COMM_SELF, {1});

  auto const x = draw<Rows>(mesh, {n.b, n.s, n.d});
  auto const model = block_of(mesh, n);
  auto const wide = draw<Wide>(mesh, {n.b, n.s, n.m});
  auto const whole = all_gather<Y>(x);
  auto const& up = model.mlp.w1;
  auto const& down = model.mlp.w2;
  auto const unreduced = einsum<B, S, D>(wide, down);
  auto const gather = kept([=] { return all_gather<Y>(x); });
  auto const scatter = kept([=] { return reduce_scatter<Y, S>(unreduced); });

  std::vector<Product> products;
  products.push_back({"gather",
                      in_every_way([&](Overlap how) {
                        return kept([=] { return nn::linear(x, up, Layer{how}); });
                      }),
                      {kept([=] { return matmul(whole, up); })},
                      {gather}});
  products.push_back(
      {"scatter",
       in_every_way([&](Overlap how) {
         return kept([=] { return nn::linear<Dim<B>, Dim<S, Y>, Dim<D>>(wide, down, Layer{how}); });
       }),
       {kept([=] { return einsum<B, S, D>(wide, down); })},
       {scatter}});
  products.push_back({"weights",
                      in_every_way([&](Overlap how) {
                        return kept([=] { return einsum<Dim<D>, Dim<M, Y>>(x, wide, how); });
                      }),
                      {kept([=] { return einsum<D, M>(whole, wide); })},
                      {gather}});
  products.push_back({"both",
                      in_every_way([&](Overlap how) -> Work {
                        auto const f = [how](auto const& h, auto const& w) {
                          return nn::linear<Dim<B>, Dim<S, Y>, Dim<D>>(h, w, Layer{how});
                        };
                        using Made = decltype(vjp(f, wide, down));
                        auto const made = std::shared_ptr<Made>(new Made(vjp(f, wide, down)));
                        return [made, x] { (void)made->pullback(x); };
                      }),
                      {[=] {
                        benchmark::DoNotOptimize(einsum<B, S, M>(whole, down).local_size());
                        benchmark::DoNotOptimize(einsum<M, D>(wide, whole).local_size());
                      }},
                      {gather}});

  // the block, and its local work: the same block on each rank alone, with its share of heads and
  // features
  Sizes const share{n.b, n.s, n.d, n.h / p, n.m / p};
  auto const here = block_of(alone, share);
  auto const x_here = draw<Rows>(alone, {n.b, n.s, n.d});
  auto const part_here = draw<Rows>(alone, {n.b, n.s / p, n.d});
  auto const forward = in_every_way([&](Overlap how) {
    return kept([=] { return nn::transformer_block(x, model, Layer{how}, {.causal = true}); });
  });
  auto const both =
      in_every_way([&](Overlap how) -> Work { return [=] { (void)passes(how)(model, x); }; });
  std::array<Timed, 4> block_forward = forward, block_both = both;
  Timed local_forward{kept(
      [=] { return nn::transformer_block(x_here, here, Layer{Overlap::none}, {.causal = true}); })};
  Timed local_both{[=] { (void)passes(Overlap::none)(here, x_here); }};
  Timed norms_whole{kept([=] { return norms(here, x_here); })};
  Timed norms_part{kept([=] { return norms(here, part_here); })};
  Timed back_whole{[=] { (void)norms_back(here, x_here); }};
  Timed back_part{[=] { (void)norms_back(here, part_here); }};
  auto const qkv = draw<T<Dim<D>, Dim<M, Y>>>(mesh, {n.d, 3 * n.h * 64});
  auto const mixed = draw<T<Dim<B>, Dim<S>, Dim<M, Y>>>(mesh, {n.b, n.s, n.h * 64});
  auto const out = draw<Down>(mesh, {n.h * 64, n.d});
  Timed make_qkv{kept([=] { return matmul(whole, qkv); })};
  Timed make_out{kept([=] { return einsum<B, S, D>(mixed, out); })};
  Timed make_up{kept([=] { return matmul(whole, up); })};
  Timed make_down{kept([=] { return einsum<B, S, D>(wide, down); })};
  Timed gathers{gather}, scatters{scatter};

  std::vector<Timed*> all;
  for (Product& one : products) {
    for (Timed& t : one.ways) all.push_back(&t);
    all.push_back(&one.alone);
    all.push_back(&one.communication);
  }
  for (std::size_t w = 0; w < ways.size(); ++w) {
    all.push_back(&block_forward[w]);
    all.push_back(&block_both[w]);
  }
  for (Timed* t : {&local_forward, &local_both, &norms_whole, &norms_part, &back_whole, &back_part,
                   &make_qkv, &make_out, &make_up, &make_down, &gathers, &scatters})
    all.push_back(t);
  for (std::int64_t round = -1; round < rounds; ++round)
    for (Timed* t : all) {
      double const s = timed(t->run);
      if (round >= 0) t->seconds.push_back(s);
    }

  auto const value = [&](std::string const& what, std::vector<double> const& seconds) {
    if (env.rank() == 0)
      std::printf("value block %s%s %d %.2f\n", what.c_str(), label.c_str(), p,
                  1e3 * median(seconds));
  };
  auto const ratio = [&](std::string const& what, std::vector<double> const& a,
                         std::vector<double> const& b) {
    print_ratio("ratio", "block", what + label, p, divided(a, b));
  };
  for (Product const& one : products) {
    std::vector<double> floor;
    for (std::size_t k = 0; k < one.alone.seconds.size(); ++k)
      floor.push_back(std::max(one.alone.seconds[k], one.communication.seconds[k]));
    value(one.name + "_product", one.alone.seconds);
    value(one.name + "_communication", one.communication.seconds);
    for (std::size_t w = 0; w < ways.size(); ++w) {
      value(one.name + "_" + way_names[w], one.ways[w].seconds);
      ratio(one.name + "_" + way_names[w] + "_floor", one.ways[w].seconds, floor);
    }
  }

  // The floor: local work, and of each segment what its communication takes longer than its
  // product.
  std::vector<double> floor_forward, floor_backward;
  for (std::size_t k = 0; k < static_cast<std::size_t>(rounds); ++k) {
    auto const at = [&](Timed const& t) { return t.seconds[k]; };
    auto const rest = [](double communication, double product) {
      return std::max(0.0, communication - product);
    };
    double const ag = at(gathers), rs = at(scatters);
    double const q = at(make_qkv), o = at(make_out), u = at(make_up), w = at(make_down);
    double const spared = at(norms_whole) - at(norms_part);
    double const spared_both = at(back_whole) - at(back_part);
    floor_forward.push_back(at(local_forward) - spared + rest(ag, q) + rest(rs, o) + rest(ag, u) +
                            rest(rs, w));
    floor_backward.push_back(at(local_both) - at(local_forward) - (spared_both - spared) +
                             rest(ag, 2 * w) + rest(rs, u) + rest(ag, u) + rest(ag, 2 * o) +
                             rest(rs, q) + rest(ag, q));
  }
  for (auto const& [what, t] : {std::pair{"all_gather", &gathers},
                                {"reduce_scatter", &scatters},
                                {"qkv", &make_qkv},
                                {"out", &make_out},
                                {"up", &make_up},
                                {"down", &make_down},
                                {"local_forward", &local_forward},
                                {"local_both", &local_both}})
    value(what, t->seconds);
  value("floor_forward", floor_forward);
  value("floor_backward", floor_backward);
  for (std::size_t w = 0; w < ways.size(); ++w) {
    auto const backward = [&](std::size_t way) {
      std::vector<double> seconds;
      for (std::size_t k = 0; k < block_both[way].seconds.size(); ++k)
        seconds.push_back(block_both[way].seconds[k] - block_forward[way].seconds[k]);
      return seconds;
    };
    std::string const name = way_names[w];
    value("forward_" + name, block_forward[w].seconds);
    value("backward_" + name, backward(w));
    ratio("forward_" + name + "_floor", block_forward[w].seconds, floor_forward);
    ratio("backward_" + name + "_floor", backward(w), floor_backward);
    if (w == 0) continue;
    ratio("forward_" + name + "_blocking", block_forward[w].seconds, block_forward[0].seconds);
    ratio("both_" + name + "_blocking", block_both[w].seconds, block_both[0].seconds);
  }
  return 0;
}
