// A GPT on bytes: rotary positions, causal attention, tied embedding, AdamW. One source, three parallelisms that differ
// in type aliases: data parallel, tensor parallel (heads, hidden features and bytes split), and both with split
// parameters (FSDP). Their losses are equal. The argument is the number of steps, 30 if there is none.
// RANKS: 1 2 4
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <shardtype/nn/nn.hpp>
#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>

using namespace shardtype;

struct X : Axis<"data"> {};
struct Y : Axis<"model"> {};
struct B : Index<"B", 8> {};    // sequences
struct S : Index<"S", 32> {};   // positions
struct D : Index<"D", 32> {};   // features
struct H : Index<"H", 4> {};    // heads
struct F : Index<"F", 8> {};    // features of a head
struct M : Index<"M", 64> {};   // hidden features
struct V : Index<"V", 128> {};  // bytes
constexpr int layers = 2;

template <class... Parts>
using T = Tensor<double, Parts...>;

// How features are stored, what splits heads, hidden features and bytes, and what activations are used as there.
struct DataParallel {
  static constexpr char name[] = "data parallel";
  using Ds = Dim<D>;
  using Hs = Dim<H>;
  using Ms = Dim<M>;
  using Vs = Dim<V>;
  using In = nn::Use<>;
  static std::array<std::int64_t, 2> mesh(int ranks) { return {ranks, 1}; }
};
struct TensorParallel {
  static constexpr char name[] = "tensor parallel";
  using Ds = Dim<D>;
  using Hs = Dim<H, Y>;
  using Ms = Dim<M, Y>;
  using Vs = Dim<V, Y>;
  using In = nn::Use<Reduced<Y>>;
  static std::array<std::int64_t, 2> mesh(int ranks) { return {1, ranks}; }
};
struct Both : TensorParallel {
  static constexpr char name[] = "split parameters, data and tensor parallel";
  using Ds = Dim<D, X>;
  static std::array<std::int64_t, 2> mesh(int ranks) {
    return {ranks % 2 == 0 ? 2 : 1, ranks % 2 == 0 ? ranks / 2 : ranks};
  }
};

template <class P>
struct Gpt {
  using Ds = typename P::Ds;
  using Hs = typename P::Hs;
  using Ms = typename P::Ms;
  using Vs = typename P::Vs;
  using Ids = Tensor<std::int64_t, Dim<B, X>, Dim<S>>;

  template <template <class> class As>
  struct Block {
    nn::Norm<As, T<Ds>> norm1;
    nn::Attention<As, T<Ds, Hs, Dim<F>>, T<Ds, Hs, Dim<F>>, T<Hs, Dim<F>, Ds>> attention;
    nn::Norm<As, T<Ds>> norm2;
    nn::Mlp<As, T<Ds, Ms>, T<Ms>, T<Ms, Ds>, T<Ds>> mlp;
  };
  template <template <class> class As>
  struct Model {
    As<T<Vs, Ds>> table;
    std::array<Block<As>, layers> blocks;
    nn::Norm<As, T<Ds>> norm;
  };

  static constexpr auto block(auto const& x, auto const& b) {
    nn::Use<Reduced<X>> const use;
    typename P::In const in;
    auto const a = in(nn::layer_norm<D>(x, b.norm1, use));
    auto const q = nn::rotary<S, F>(matmul(a, use(b.attention.q)));
    auto const k = nn::rotary<S, F>(matmul(a, use(b.attention.k)));
    auto const mixed = nn::attention(q, k, matmul(a, use(b.attention.v)));
    auto const y = x + einsum<Dim<B, X>, Dim<S>, Dim<D>>(mixed, use(b.attention.out));
    auto const c = in(nn::layer_norm<D>(y, b.norm2, use));
    return (y + nn::mlp<Dim<B, X>, Dim<S>, Dim<D>>(c, b.mlp, use)).tensor();
  }
  static constexpr auto loss = [](auto const& m, auto const& ids, auto const& targets) {
    nn::Use<Reduced<X>> const use;
    auto const table = use(m.table);
    auto x = nn::embedding<V, Dim<B, X>, Dim<S>, Dim<D>>(table, ids);
    for (auto const& b : m.blocks) x = block(x, b);
    auto const last = typename P::In{}(nn::layer_norm<D>(x, m.norm, use));
    return nn::mean_cross_entropy<V, T<>>(matmul(last, table), targets);
  };
};

constexpr std::string_view text =
    "Whan that Aprille with his shoures soote, the droghte of March hath perced to the roote, "
    "and bathed every veyne in swich licour of which vertu engendred is the flour; ";

template <class P>
std::vector<double> train_on(Environment const& env, int steps) {
  Mesh<X, Y> const mesh(env.world(), P::mesh(env.size()));
  using Model = typename Gpt<P>::template Model<value_t>;
  auto model = train::initialize<Model>(mesh, RandomKey{5}, [](std::string_view path, auto) {
    if (path.ends_with("gain")) return train::Initial::ones();
    return path.ends_with("bias") || path.ends_with("b1") || path.ends_with("b2")
               ? train::Initial::zeros()
               : train::Initial::normal(0.1);
  });
  train::AdamW const adam{{.rate = train::Rate::cosine(0.01, 5, steps, 0.001),
                           .decay = 0.01,
                           .decays = &train::matrices_decay,
                           .clip = 1}};
  auto state = adam.init(model);
  if (env.rank() == 0)
    std::printf("%s, %lld parameters\n", P::name, static_cast<long long>(train::parameters(model)));
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    auto const bytes = [&](std::int64_t ahead) {
      return from_function<typename Gpt<P>::Ids>(mesh, [=](std::int64_t b, std::int64_t s) {
        auto const at = static_cast<std::size_t>(37 * (8 * step + b) + s + ahead);
        return static_cast<std::int64_t>(text[at % text.size()]);
      });
    };
    auto const [loss, gradient] = value_and_grad<0>(Gpt<P>::loss)(model, bytes(0), bytes(1));
    adam.update(model, gradient, state);
    losses.push_back(item(loss));
    if (env.rank() == 0 && (step % 10 == 0 || step + 1 == steps))
      std::printf("  step %3d  loss %.6f\n", step, losses.back());
  }
  return losses;
}

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  int const steps = argc > 1 ? std::atoi(argv[1]) : 30;
  auto const a = train_on<DataParallel>(env, steps);
  auto const b = train_on<TensorParallel>(env, steps);
  auto const c = train_on<Both>(env, steps);
  bool same = a.back() < a.front() - 1;
  for (std::size_t k = 0; k < a.size(); ++k)
    same = same && std::abs(a[k] - b[k]) < 1e-9 && std::abs(a[k] - c[k]) < 1e-9;
  return same ? 0 : 1;
}
