// A training step of a GPT: loss, gradient, clipping and AdamW; 4 layers, 256 features, 8 heads, 256 positions, batch 8,
// 256 bytes. One case per parallelism; scripts/bench.d/training runs the same step in PyTorch and JAX beside it.
//   --case=NAME   single, data, fsdp, tensor, bfloat16     --rounds=N   timed steps (21)
// Prints "took CASE MS", the median from a barrier to the end of the last rank, and the same of the step's products alone,
// with the same shapes on each rank: "products CASE MS". The planned bytes of the step: "planned CASE BYTES".
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <shardtype/nn/nn.hpp>
#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>

#include "paired.hpp"
#include "sgemm.hpp"

using namespace shardtype;

namespace {

template <int N>
struct Xs : Axis<"data", N> {};
template <int N>
struct Ys : Axis<"model", N> {};
struct B : Index<"B", 8> {};     // sequences
struct S : Index<"S", 256> {};   // positions
struct D : Index<"D", 256> {};   // features
struct H : Index<"H", 8> {};     // heads
struct F : Index<"F", 32> {};    // features of a head
struct M : Index<"M", 1024> {};  // hidden features
struct V : Index<"V", 256> {};   // bytes
constexpr int layers = 4;
using train::Placed;
using train::Shardings;
using train::Split;

template <int Data, int Model, bool split>
struct Parallelism {
  using X = Xs<Data>;
  using Y = Ys<Model>;
  using On = Mesh<X, Y>;
  using Parameters =
      std::conditional_t<split, Shardings<Split<D, X>, Split<H, Y>, Split<M, Y>, Split<V, Y>>,
                         Shardings<Split<H, Y>, Split<M, Y>, Split<V, Y>>>;
  using Activations = Shardings<Split<B, X>, Split<H, Y>, Split<M, Y>, Split<V, Y>>;
};

template <class P, class T>
struct Gpt {
  using X = typename P::X;
  using Y = typename P::Y;
  template <class... Is>
  using W = Placed<typename P::Parameters, T, Is...>;
  template <class... Is>
  using A = Placed<typename P::Activations, T, Is...>;
  using Ids = Placed<typename P::Activations, std::int64_t, B, S>;

  template <template <class> class As>
  struct Block {
    nn::Norm<As, W<D>> norm1;
    nn::Attention<As, W<D, H, F>, W<D, H, F>, W<H, F, D>> attention;
    nn::Norm<As, W<D>> norm2;
    nn::Mlp<As, W<D, M>, W<M>, W<M, D>, W<D>> mlp;
  };
  template <template <class> class As>
  struct Model {
    As<W<V, D>> table;
    std::array<Block<As>, layers> blocks;
    nn::Norm<As, W<D>> norm;
  };

  static constexpr auto block(auto const& x, auto const& b) {
    nn::Use<Reduced<X>> const use;
    nn::Use<Reduced<Y>> const in;
    auto const a = in(nn::layer_norm<D>(x, b.norm1, use));
    auto const q = nn::rotary<S, F>(matmul(a, use(b.attention.q)));
    auto const k = nn::rotary<S, F>(matmul(a, use(b.attention.k)));
    auto const v = matmul(a, use(b.attention.v));
    auto const mixed = nn::attention(q, k, v);
    auto const y = x + einsum<A<B, S, D>>(mixed, use(b.attention.out));
    auto const c = in(nn::layer_norm<D>(y, b.norm2, use));
    return (y + nn::mlp<A<B, S, D>>(c, b.mlp, use)).tensor();
  }
  static constexpr auto loss = [](auto const& m, auto const& ids, auto const& targets) {
    nn::Use<Reduced<X>> const use;
    auto const table = use(m.table);
    auto x = nn::embedding<V, A<B, S, D>>(table, ids);
    for (auto const& b : m.blocks) x = block(x, b);
    auto const last = nn::Use<Reduced<Y>>{}(nn::layer_norm<D>(x, m.norm, use));
    return nn::mean_cross_entropy<V, Tensor<detail::computed_t<T>>>(matmul(last, table), targets);
  };
};

template <class Run>
double median_ms(int rounds, Run const& run) {
  std::vector<double> times;
  for (int k = -3; k < rounds; ++k) {
    MPI_Barrier(MPI_COMM_WORLD);
    auto const begin = std::chrono::steady_clock::now();
    run(k);
    MPI_Barrier(MPI_COMM_WORLD);
    std::chrono::duration<double, std::milli> const took = std::chrono::steady_clock::now() - begin;
    if (k >= 0) times.push_back(took.count());
  }
  std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
  return times[static_cast<std::size_t>(rounds / 2)];
}

// The products of both passes on one rank: three of each shape, forward and for two cotangents.
double products_ms(int rounds, int data, int model) {
  std::int64_t const rows = 8 / data * 256;
  std::int64_t const inner = 256 / model, hidden = 1024 / model, bytes = 256 / model;
  struct Shape {
    std::int64_t m, k, n;
    int count;
  };
  Shape const shapes[] = {{rows, 256, inner, 3 * layers},
                          {rows, inner, 256, layers},
                          {rows, 256, hidden, layers},
                          {rows, hidden, 256, layers},
                          {rows, 256, bytes, 1}};
  std::int64_t most = 0;
  for (Shape const& s : shapes) most = std::max({most, s.m * s.k, s.k * s.n, s.m * s.n});
  HostArray<float> const a(most), b(most), c(most);
  for (std::int64_t k = 0; k < most; ++k) {
    a.data()[k] = static_cast<float>(k % 97) / 97;
    b.data()[k] = static_cast<float>(k % 89) / 89;
  }
  return median_ms(rounds, [&](int) {
    for (Shape const& s : shapes)
      for (int k = 0; k < s.count; ++k) {
        sgemm(s.m, s.n, s.k, a.data(), b.data(), c.data());  // y = x w
        sgemm(s.m, s.k, s.n, a.data(), b.data(), c.data());  // x' = y' w^T
        sgemm(s.k, s.n, s.m, a.data(), b.data(), c.data());  // w' = x^T y'
      }
  });
}

template <class P, class T>
void measure(std::string const& name, int rounds, int data, int model_ranks) {
  using G = Gpt<P, T>;
  using Model = typename G::template Model<value_t>;
  typename P::On const mesh(MPI_COMM_WORLD);
  auto model = train::initialize<Model>(mesh, RandomKey{5}, [](std::string_view path, auto) {
    if (path.ends_with("gain")) return train::Initial::ones();
    return path.ends_with("bias") || path.ends_with("b1") || path.ends_with("b2")
               ? train::Initial::zeros()
               : train::Initial::normal(0.02);
  });
  static constexpr train::AdamW adam{{.rate = 1e-3, .decay = 0.1, .clip = 1}};
  static constexpr auto step = train::step(adam, value_and_grad<0>(G::loss));
  static constexpr StepPlan planned =
      plan(step, type<Model>, type<typename G::Ids>, type<typename G::Ids>);
  auto state = adam.init(model);
  auto const tokens = [&](int key) {
    return integers<typename G::Ids>(mesh, {8, 256},
                                     RandomKey{static_cast<std::uint64_t>(key + 10)}, 0, 256);
  };
  double loss = 0;
  double const took = median_ms(rounds, [&](int k) {
    auto const ids = tokens(2 * k);
    loss = static_cast<double>(item(step(model, state, ids, tokens(2 * k + 1)).loss));
  });
  double const products = products_ms(rounds, data, model_ranks);
  if (rank_here() == 0)
    std::printf("took %s %.3f\nproducts %s %.3f\nplanned %s %lld sent, %lld peak; loss %.3f\n",
                name.c_str(), took, name.c_str(), products, name.c_str(),
                static_cast<long long>(planned.bytes_per_rank()),
                static_cast<long long>(planned.peak_bytes()), loss);
}

}  // namespace

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  std::string const name = option(argc, argv, "case", std::string("single"));
  int const rounds = static_cast<int>(option(argc, argv, "rounds", std::int64_t{21}));
  if (env.size() != (name == "single" || name == "bfloat16" ? 1 : 2))
    stop("single and bfloat16 are of one rank, the others of two");
  if (name == "single") measure<Parallelism<1, 1, false>, float>(name, rounds, 1, 1);
  if (name == "bfloat16") measure<Parallelism<1, 1, false>, bfloat16>(name, rounds, 1, 1);
  if (name == "data") measure<Parallelism<2, 1, false>, float>(name, rounds, 2, 1);
  if (name == "fsdp") measure<Parallelism<2, 1, true>, float>(name, rounds, 2, 1);
  if (name == "tensor") measure<Parallelism<1, 2, false>, float>(name, rounds, 1, 2);
}
