// Loss curves of a GPT of nn functions, in double: parameters whole or split (FSDP) over X, or X
// splits the sequence (a ring of keys and values); heads, hidden features and bytes split over Y,
// on every mesh of the job's ranks; with 8 heads, and with 6. gpt_reference.py computes the same
// with NumPy. Arguments: the number of steps. Prints "curve TYPES MESH HEADS: losses".
// NEEDS: Random123
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <shardtype/nn/nn.hpp>
#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>

using namespace shardtype;

namespace {

struct X : Axis<"data"> {};
struct Y : Axis<"model"> {};
struct B : Index<"B", 8> {};
struct S : Index<"S", 24> {};
struct D : Index<"D", 40> {};
struct F : Index<"F", 8> {};
struct M : Index<"M", 56> {};
struct V : Index<"V", 64> {};
template <int heads>
struct H : Index<"H", heads> {};
constexpr int layers = 4;

template <class... Parts>
using T = Tensor<double, Parts...>;

// What X splits: the batch, and features as they are stored; or the sequence.
template <int Heads>
struct Whole {
  static constexpr char name[] = "whole";
  static constexpr int heads = Heads;
  using Bs = Dim<B, X>;
  using Ss = Dim<S>;
  using Ds = Dim<D>;
};
template <int Heads>
struct Fsdp : Whole<Heads> {
  static constexpr char name[] = "fsdp";
  using Ds = Dim<D, X>;
};
template <int Heads>
struct Ring : Whole<Heads> {
  static constexpr char name[] = "ring";
  using Bs = Dim<B>;
  using Ss = Dim<S, X>;
};

template <class P>
struct Gpt {
  using Bs = typename P::Bs;
  using Ss = typename P::Ss;
  using Ds = typename P::Ds;
  using Hs = Dim<H<P::heads>, Y>;
  using Ms = Dim<M, Y>;
  using Vs = Dim<V, Y>;
  using Ids = Tensor<std::int64_t, Bs, Ss>;
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
    nn::Use<Reduced<Y>> const whole;
    auto const a = whole(nn::layer_norm<D>(x, b.norm1, use));
    auto const q = nn::rotary<S, F>(matmul(a, use(b.attention.q)));
    auto const k = nn::rotary<S, F>(matmul(a, use(b.attention.k)));
    auto const mixed = nn::attention<Bs, Ss, Hs, Dim<F>>(q, k, matmul(a, use(b.attention.v)));
    auto const y = x + einsum<Bs, Ss, Dim<D>>(mixed, use(b.attention.out));
    auto const c = whole(nn::layer_norm<D>(y, b.norm2, use));
    return (y + nn::mlp<Bs, Ss, Dim<D>>(c, b.mlp, use)).tensor();
  }
  static constexpr auto loss = [](auto const& m, auto const& ids, auto const& targets) {
    nn::Use<Reduced<X>> const use;
    auto const table = use(m.table);
    auto x = nn::embedding<V, Bs, Ss, Dim<D>>(table, ids);
    for (auto const& b : m.blocks) x = block(x, b);
    auto const last = nn::Use<Reduced<Y>>{}(nn::layer_norm<D>(x, m.norm, use));
    return nn::mean_cross_entropy<V, T<>>(matmul(last, table), targets);
  };
};

// Every parameter is a wave: the same numbers in NumPy. `number` counts the parameters.
template <class A>
A wave(Mesh<X, Y> const& mesh, std::string_view path, int number) {
  bool const gain = path.ends_with("gain");
  double const height = path == "table" ? 0.5 : 0.15;
  auto const value = [=](auto... at) {
    std::int64_t const places[] = {at...};
    double sum = 1 + number;
    for (std::size_t d = 0; d < sizeof...(at); ++d)
      sum += static_cast<double>(places[d] * static_cast<std::int64_t>(3 + 2 * d));
    return (gain ? 1.0 : 0.0) + height * std::sin(0.7 * sum + 0.01 * sum * sum);
  };
  return from_function<A>(mesh, value);
}

template <class P>
void curve(Environment const& env, std::array<std::int64_t, 2> const& shape, int steps) {
  Mesh<X, Y> const mesh(env.world(), shape);
  using Model = typename Gpt<P>::template Model<value_t>;
  auto model =
      train::initialize<Model>(mesh, RandomKey{1}, [](auto...) { return train::Initial::zeros(); });
  int number = 0;
  train::for_each_tensor(
      [&]<class A>(std::string_view path, A& a) { a = wave<A>(mesh, path, number++); }, model);
  train::AdamW const adam{{.rate = train::Rate::cosine(0.01, 5, steps, 0.001),
                           .decay = 0.1,
                           .decays = &train::matrices_decay,
                           .clip = 1},
                          0.9,
                          0.95};
  auto state = adam.init(model);
  if (env.rank() == 0)
    std::printf("curve %s %ldx%ld %d:", P::name, static_cast<long>(shape[0]),
                static_cast<long>(shape[1]), P::heads);
  for (std::int64_t step = 0; step < steps; ++step) {
    auto const bytes = [&](std::int64_t ahead) {
      return from_function<typename Gpt<P>::Ids>(mesh, [=](std::int64_t b, std::int64_t s) {
        std::int64_t const at = 37 * (8 * step + b) + s + ahead;
        return at * at % 61 + at % 3;
      });
    };
    auto const [loss, gradient] = value_and_grad<0>(Gpt<P>::loss)(model, bytes(0), bytes(1));
    adam.update(model, gradient, state);
    double const l = item(loss);
    if (env.rank() == 0) std::printf(" %.15g", l);
  }
  if (env.rank() == 0) std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  int const steps = argc > 1 ? std::atoi(argv[1]) : 10;
  std::int64_t const n = env.size();
  for (std::int64_t data = 1; data <= n; ++data) {
    if (n % data != 0) continue;
    curve<Whole<8>>(env, {data, n / data}, steps);
    curve<Fsdp<8>>(env, {data, n / data}, steps);
    curve<Ring<8>>(env, {data, n / data}, steps);
  }
  curve<Fsdp<6>>(env, {1, n}, steps);
}
