// Training that is interrupted and goes on from a checkpoint, with other types: the parameters were
// split, and are replicated from then on. The losses are those of a training that nobody
// interrupted. A thread writes the checkpoints while the training goes on.
// RANKS: 1 2 4
// NEEDS: JSON
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include <shardtype/checkpoint/checkpoint.hpp>
#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>

using namespace shardtype;

struct X : Axis<"data"> {};
struct B : Index<"B", 64> {};  // points of a batch
struct D : Index<"D", 12> {};  // coordinates
struct H : Index<"H", 20> {};  // hidden features

// A parameter is used whole: its gradient is reduced to where it is stored.
template <class... Parts>
using Used = Tensor<double, Parts..., Reduced<X>>;

struct Replicated {
  template <class I>
  using Stored = Dim<I>;
};
struct Split {
  template <class I>
  using Stored = Dim<I, X>;
};

template <class P>
struct Regression {
  template <template <class> class As>
  struct Layers {
    As<Tensor<double, typename P::template Stored<D>, Dim<H>>> w1;
    As<Tensor<double, typename P::template Stored<H>>> b1;
    As<Tensor<double, typename P::template Stored<H>>> w2;
  };
  using Model = Layers<value_t>;

  static constexpr auto loss = [](auto const& m, auto const& points, auto const& values) {
    auto const hidden =
        tanh(matmul(points, used_as<Used<Dim<D>, Dim<H>>>(m.w1)) + used_as<Used<Dim<H>>>(m.b1));
    auto const error = (sum<H>(hidden * used_as<Used<Dim<H>>>(m.w2)) - values).tensor();
    return sum<Tensor<double>>(error * error) / 64.0;
  };

  // Trains from step `first` to `last`, and returns the last loss. Each step has a batch of its
  // own, drawn from a key that the checkpoint has.
  static double run(Mesh<X> const& mesh, Model& model, auto& state, train::AdamW const& adam,
                    RandomKey const& key, std::int64_t first, std::int64_t last,
                    checkpoint::Saver* saver) {
    double out = 0;
    for (std::int64_t step = first; step < last; ++step) {
      auto const points =
          normal<double, Dim<B, X>, Dim<D>>(mesh, key.fold_in(static_cast<std::uint64_t>(step)));
      auto const values = sum<D>(sin(points)).tensor();
      auto const [value, gradient] = value_and_grad<0>(loss)(model, points, values);
      adam.update(model, gradient, state);
      out = item(value);
      // docs: save
      if (saver != nullptr && (step + 1) % 10 == 0)
        saver->save(step + 1, model, state, {{"key", key.bits()}, {"loss", out}});
      // docs: end
    }
    return out;
  }
};

int main(int argc, char** argv) {
  Environment env(argc, argv);
  Mesh<X> const mesh(env.world());
  auto const init = [](std::string_view path, auto) {
    return path == "b1" ? train::Initial::zeros() : train::Initial::normal(0.3);
  };
  train::AdamW const adam{{.rate = train::Rate::cosine(0.02, 5, 60, 0.001), .clip = 1}};
  std::string const folder = "resume_" + std::to_string(env.size());
  if (env.rank() == 0) std::filesystem::remove_all(folder);
  RandomKey const key{11};

  using First = Regression<Split>;
  double whole = 0;
  {
    auto model = train::initialize<First::Model>(mesh, key, init);
    auto state = adam.init(model);
    // docs: saver
    checkpoint::Saver saver(folder, {.keep = 2});  // a thread writes; two checkpoints stay
    // docs: end
    First::run(mesh, model, state, adam, key, 0, 37, &saver);  // interrupted after 37 steps
    saver.wait();
    whole = First::run(mesh, model, state, adam, key, 37, 60, nullptr);
  }

  // A new program: it knows the folder.
  using Then = Regression<Replicated>;
  // docs: load
  auto model = train::initialize<Then::Model>(mesh, RandomKey{0}, init);
  auto state = adam.init(model);
  checkpoint::Loaded const loaded = checkpoint::load(folder, model, state);
  RandomKey const saved(loaded.extra.get<std::uint64_t>("key"));
  // docs: end
  double const resumed = Then::run(mesh, model, state, adam, saved, loaded.step, 60, nullptr);
  if (env.rank() == 0) {
    std::printf("step %lld of %s, loss %.6f\n", static_cast<long long>(loaded.step),
                loaded.folder.c_str(), loaded.extra.get<double>("loss"));
    std::printf("after 60 steps: %.12f, interrupted %.12f\n", whole, resumed);
  }
  bool const good = loaded.step == 30 && std::abs(whole - resumed) < 1e-9 * std::abs(whole) &&
                    resumed < loaded.extra.get<double>("loss");
  return good ? 0 : 1;
}
