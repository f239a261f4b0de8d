// A model as a struct of tensors, trained by AdamW with a warm-up, clipping and no decay of biases:
// points of four clusters are told apart. One source, two parallelisms that differ in type aliases,
// one loss curve. With FSDP's types the optimizer's state is split too. The argument is the number
// of steps, 60 if there is none.
// RANKS: 1 2 4
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>

using namespace shardtype;

struct X : Axis<"data"> {};
struct B : Index<"B", 256> {};  // points
struct D : Index<"D", 16> {};   // coordinates
struct H : Index<"H", 32> {};   // hidden features
struct C : Index<"C", 4> {};    // clusters

// How a parameter [I, J] is stored, and used.
struct Replicated {
  static constexpr char name[] = "one copy per rank";
  template <class I>
  using Stored = Dim<I>;
  template <class... Parts>
  using Used = Tensor<double, Parts..., Reduced<X>>;
};
struct Fsdp : Replicated {
  static constexpr char name[] = "split parameters";
  template <class I>
  using Stored = Dim<I, X>;
};

template <class P>
struct Classifier {
  // docs: model
  template <class I>
  using S = typename P::template Stored<I>;
  template <template <class> class As>
  struct Layers {
    As<Tensor<double, S<D>, Dim<H>>> w1;
    As<Tensor<double, S<H>>> b1;
    As<Tensor<double, S<H>, Dim<C>>> w2;
    As<Tensor<double, S<C>>> b2;
  };
  // docs: end
  using Points = Tensor<double, Dim<B, X>, Dim<D>>;
  using Labels = Tensor<std::int64_t, Dim<B, X>>;

  // The mean cross entropy.
  static constexpr auto loss = [](auto const& m, auto const& points, auto const& labels) {
    using UsedW1 = typename P::template Used<Dim<D>, Dim<H>>;
    using UsedW2 = typename P::template Used<Dim<H>, Dim<C>>;
    using UsedB1 = typename P::template Used<Dim<H>>;
    using UsedB2 = typename P::template Used<Dim<C>>;
    auto const hidden = gelu_tanh(matmul(points, used_as<UsedW1>(m.w1)) + used_as<UsedB1>(m.b1));
    auto const logits = (matmul(hidden, used_as<UsedW2>(m.w2)) + used_as<UsedB2>(m.b2)).tensor();
    auto const picked = sum<C>(logits * one_hot<C, double>(labels));
    return sum<Tensor<double>>(logsumexp<C>(logits) - picked) / 256.0;
  };
};

template <class P>
double train_on(Mesh<X> const& mesh, bool first, int steps) {
  using Task = Classifier<P>;
  RandomKey const key{7};
  // the centers are far apart, and the noise is not small
  auto const labels = integers<std::int64_t, Dim<B, X>>(mesh, key.fold_in(1), 0, 4);
  auto const centers = normal<double, Dim<C>, Dim<D>>(mesh, key.fold_in(2));
  auto const noise = normal<double, Dim<B, X>, Dim<D>>(mesh, key.fold_in(3));
  auto const points = (take<C>(centers, labels) + noise).tensor();

  // docs: initialize
  using Model = typename Task::template Layers<value_t>;
  auto model = train::initialize<Model>(mesh, key, [](std::string_view path, auto) {
    return path[0] == 'b' ? train::Initial::zeros() : train::Initial::normal(0.1);
  });
  // docs: end
  // docs: steps
  train::AdamW const adam{{.rate = train::Rate::cosine(0.05, 5, steps, 0.001),
                           .decay = 0.01,
                           .decays = &train::matrices_decay,
                           .clip = 1}};
  auto state = adam.init(model);
  double last = 0;
  for (int k = 0; k < steps; ++k) {
    auto const [loss, gradient] = value_and_grad<0>(Task::loss)(model, points, labels);
    auto const stepped = adam.update(model, gradient, state);
    last = item(loss);
    if (first && (k % 20 == 0 || k + 1 == steps))
      std::printf("  step %3d  loss %.6f  norm %.3f  rate %.4f\n", k, last, stepped.norm,
                  stepped.rate);
  }
  // docs: end
  return last;
}

int main(int argc, char** argv) {
  Environment env(argc, argv);
  int const steps = argc > 1 ? std::atoi(argv[1]) : 60;
  Mesh<X> const mesh(env.world());
  double losses[2];
  int k = 0;
  auto const report = [&]<class P>(P) {
    if (env.rank() == 0) std::printf("%s\n", P::name);
    losses[k++] = train_on<P>(mesh, env.rank() == 0, steps);
  };
  report(Replicated{});
  report(Fsdp{});
  return std::abs(losses[0] - losses[1]) < 1e-9 && losses[0] < 0.2 ? 0 : 1;
}
