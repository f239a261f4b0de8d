// A GPT on bytes: rotary positions, causal attention, tied embedding, AdamW. One source, three
// parallelisms that differ in the rules which mesh axis splits which index: data parallel, tensor
// parallel (heads, hidden features and bytes split), and both with split parameters (FSDP). The
// fourth names no sharding but those of data and parameters: automatic mode chooses the others, of
// both passes together. Their losses are equal. The argument is the number of steps, 30 if there is
// none.
// SHOWN: docs
// RANKS: 1 2 4
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <type_traits>
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

// docs: rules
// The rules of a parallelism: what splits the indices of parameters as they are stored, those of
// activations, and how activations are used where heads, hidden features and bytes are split; and
// what a step sends.
using train::Split;
struct Collectives {
  int all_reduce, all_gather, reduce_scatter;
};
struct DataParallel {
  static constexpr char name[] = "data parallel";
  static constexpr bool ahead = false;
  static constexpr Collectives of_a_step{5, 0, 0};
  using Parameters = train::Shardings<>;
  using Activations = train::Shardings<Split<B, X>>;
  using In = nn::Use<>;
  static std::array<std::int64_t, 2> mesh(int ranks) { return {ranks, 1}; }
};
struct TensorParallel {
  static constexpr char name[] = "tensor parallel";
  static constexpr bool ahead = false;
  static constexpr Collectives of_a_step{15, 1, 0};
  using Parameters = train::Shardings<Split<H, Y>, Split<M, Y>, Split<V, Y>>;
  using Activations = train::Shardings<Split<B, X>, Split<H, Y>, Split<M, Y>, Split<V, Y>>;
  using In = nn::Use<Reduced<Y>>;
  static std::array<std::int64_t, 2> mesh(int ranks) { return {1, ranks}; }
};
struct Both : TensorParallel {
  static constexpr char name[] = "split parameters, data and tensor parallel";
  static constexpr bool ahead = true;  // a layer's parameters are gathered one layer ahead
  static constexpr Collectives of_a_step{18, 48, 2};  // each block twice
  using Parameters = train::Shardings<Split<D, X>, Split<H, Y>, Split<M, Y>, Split<V, Y>>;
  static std::array<std::int64_t, 2> mesh(int ranks) {
    return {ranks % 2 == 0 ? 2 : 1, ranks % 2 == 0 ? ranks / 2 : ranks};
  }
};
// docs: end
struct Automatic : Both {
  static constexpr char name[] = "split parameters, automatic";
};

template <class P>
struct Gpt {
  // docs: placed
  template <class... Is>
  using W = train::Placed<typename P::Parameters, double, Is...>;
  template <class... Is>
  using A = train::Placed<typename P::Activations, double, Is...>;
  using Ids = train::Placed<typename P::Activations, std::int64_t, B, S>;

  template <template <class> class As>
  struct Block {
    nn::Norm<As, W<D>> norm1;
    nn::Attention<As, W<D, H, F>, W<D, H, F>, W<H, F, D>> attention;
    nn::Norm<As, W<D>> norm2;
    nn::Mlp<As, W<D, M>, W<M>, W<M, D>, W<D>> mlp;
  };
  // docs: end
  template <template <class> class As>
  struct Model {
    As<W<V, D>> table;
    std::array<Block<As>, layers> blocks;
    nn::Norm<As, W<D>> norm;
  };

  // docs: ahead
  // The parameters of the next block are gathered while one computes.
  static constexpr auto ahead(auto const& x, auto const& blocks) {
    auto const layer = [](auto const& y, auto const& b) { return block(y, b); };
    return prefetch_layers<Reduced<X>>(layer)(x, blocks);
  }
  // docs: end
  // docs: block
  static constexpr auto block(auto const& x, auto const& b) {
    nn::Use<Reduced<X>> const use;
    typename P::In const in;
    auto const a = in(nn::layer_norm<D>(x, b.norm1, use));
    auto const q = nn::rotary<S, F>(matmul(a, use(b.attention.q)));
    auto const k = nn::rotary<S, F>(matmul(a, use(b.attention.k)));
    auto const mixed = nn::attention(q, k, matmul(a, use(b.attention.v)));
    auto const y = x + einsum<A<B, S, D>>(mixed, use(b.attention.out));
    auto const c = in(nn::layer_norm<D>(y, b.norm2, use));
    return (y + nn::mlp<A<B, S, D>>(c, b.mlp, use)).tensor();
  }
  static constexpr auto loss = [](auto const& m, auto const& ids, auto const& targets) {
    nn::Use<Reduced<X>> const use;
    auto const table = use(m.table);
    auto x = nn::embedding<V, A<B, S, D>>(table, ids);
    if constexpr (P::ahead) {
      x = ahead(x, m.blocks);
    } else {
      for (auto const& b : m.blocks) x = block(x, b);
    }
    auto const last = typename P::In{}(nn::layer_norm<D>(x, m.norm, use));
    return nn::mean_cross_entropy<V, Tensor<double>>(matmul(last, table), targets);
  };
  // docs: end
};

// docs: automatic
// The same model without a sharding.
struct Planned {
  static auto block(auto const& x, auto const& b) {
    auto const a = nn::layer_norm<D>(x, b.norm1);
    auto const q = nn::rotary<S, F>(matmul(a, b.attention.q));
    auto const k = nn::rotary<S, F>(matmul(a, b.attention.k));
    auto const mixed = nn::attention(q, k, matmul(a, b.attention.v));
    auto const y = x + einsum<B, S, D>(mixed, b.attention.out);
    return (y + nn::mlp(nn::layer_norm<D>(y, b.norm2), b.mlp)).tensor();
  }
  static constexpr auto loss = [](auto const& m, auto const& ids, auto const& targets) {
    auto x = nn::embedding<V>(m.table, ids);
    for (auto const& b : m.blocks) x = block(x, b);
    return mean(nn::cross_entropy<V>(matmul(nn::layer_norm<D>(x, m.norm), m.table), targets));
  };
};
// docs: end

constexpr std::string_view text =
    "Whan that Aprille with his shoures soote, the droghte of March hath perced to the roote, "
    "and bathed every veyne in swich licour of which vertu engendred is the flour; ";

template <class P>
std::vector<double> train_on(Environment const& env, int steps) {
  constexpr bool automatic = std::is_same_v<P, Automatic>;
  Mesh<X, Y> const mesh(env.world(), P::mesh(env.size()));
  using Model = typename Gpt<P>::template Model<value_t>;
  using Ids = typename Gpt<P>::Ids;
  if constexpr (!automatic) {
    // docs: plan
    static constexpr auto planned = plan(
        train::step(train::AdamW{{.clip = 1}}, value_and_grad<0>(Gpt<P>::loss, join_grad_reduce)),
        type<Model>, type<Ids>, type<Ids>);
    static_assert(planned.count(Collective::all_reduce) == P::of_a_step.all_reduce);
    static_assert(planned.count(Collective::all_gather) == P::of_a_step.all_gather);
    static_assert(planned.count(Collective::reduce_scatter) == P::of_a_step.reduce_scatter);
    // docs: end
  }
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
  // docs: step-of
  auto const step_of = train::step(adam, value_and_grad<0>(Gpt<P>::loss, join_grad_reduce));
  auto state = adam.init(model);
  // docs: end
  if (env.rank() == 0)
    std::printf("%s, %lld parameters\n", P::name, static_cast<long long>(train::parameters(model)));
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    auto const bytes = [&](std::int64_t ahead) {
      return from_function<Ids>(mesh, [=](std::int64_t b, std::int64_t s) {
        auto const at = static_cast<std::size_t>(37 * (8 * step + b) + s + ahead);
        return static_cast<std::int64_t>(text[at % text.size()]);
      });
    };
    if constexpr (automatic) {
      // docs: automatic-step
      auto const planned = train::step(adam, value_and_grad<0>(Planned::loss));
      losses.push_back(item(evaluate(mesh, planned, model, state, bytes(0), bytes(1)).loss));
      // docs: end
    } else {
      // docs: whole-step
      losses.push_back(item(step_of(model, state, bytes(0), bytes(1)).loss));
      // docs: end
    }
    if (env.rank() == 0 && (step % 10 == 0 || step + 1 == steps))
      std::printf("  step %3d  loss %.6f\n", step, losses.back());
  }
  return losses;
}

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  int const steps = argc > 1 ? std::atoi(argv[1]) : 30;
  if (env.rank() == 0) std::printf("== losses\n");
  auto const a = train_on<DataParallel>(env, steps);
  auto const b = train_on<TensorParallel>(env, steps);
  auto const c = train_on<Both>(env, steps);
  auto const d = train_on<Automatic>(env, steps);
  bool same = a.back() < a.front() - 1;
  for (std::size_t k = 0; k < a.size(); ++k)
    same = same && std::abs(a[k] - b[k]) < 1e-9 && std::abs(a[k] - c[k]) < 1e-9 &&
           std::abs(a[k] - d[k]) < 1e-9;
  return same ? 0 : 1;
}
