// An MLP learns to read handwritten digits: mpiexec -n 4 digits images.npy labels.npy, f32[N, 64]
// from 0 to 1 and i64[N], of which the last fifth is held out. scripts/digits writes both files of
// scikit-learn's digits; without them it learns ten clouds of points. Rows are split over "data",
// hidden features over "model".
// RANKS: 1 2 4
// NEEDS: Random123
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include <shardtype/nn/nn.hpp>
#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>

using namespace shardtype;

struct X : Axis<"data"> {};
struct Y : Axis<"model"> {};
struct N : Index<"N"> {};       // rows of the files
struct B : Index<"B"> {};       // rows of a batch
struct D : Index<"D", 64> {};   // pixels
struct M : Index<"M", 128> {};  // hidden features
struct C : Index<"C", 10> {};   // digits

using Activations = train::Shardings<train::Split<B, X>, train::Split<N, X>, train::Split<M, Y>>;
template <class T, class... Is>
using A = train::Placed<Activations, T, Is...>;
template <class... Is>
using W = train::Placed<train::Shardings<train::Split<M, Y>>, float, Is...>;

template <template <class> class As>
using Model = nn::Mlp<As, W<D, M>, W<M>, W<M, C>, W<C>>;
using Images = A<float, N, D>;
using Labels = A<std::int64_t, N>;
using Ids = A<std::int64_t, B>;

// f32[B@data, C]: one AllReduce over "model" each way.
auto logits(auto const& m, auto const& x) {
  return nn::mlp<A<float, B, C>>(used_as<Reduced<Y>>(x), m, nn::Use<Reduced<X>>{});
}
constexpr auto loss = [](auto const& m, auto const& x, auto const& labels) {
  return nn::mean_cross_entropy<C, Tensor<float>>(logits(m, x), labels);
};

// Point n lies around corner n % 10 of a cube; its first coordinates are bits of a hash.
Images clouds(Mesh<X, Y> const& mesh, std::int64_t n, RandomKey const& key) {
  auto const corner = from_function<Images>(mesh, {n, 64}, [](std::int64_t i, std::int64_t j) {
    return ((i % 10 + 1) * (2 * j + 7) * 2654435761 >> 13) % 2 == 0 ? 0.0F : 1.0F;
  });
  return corner + 0.9F * normal<Images>(mesh, {n, 64}, key);
}

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  Mesh<X, Y> const mesh(env.world(), {env.size() % 4 == 0 ? env.size() / 2 : env.size(),
                                      env.size() % 4 == 0 ? 2 : 1});
  RandomKey const key{1};
  bool const read = argc > 2;
  Images const images = read ? load_npy<Images>(mesh, argv[1]) : clouds(mesh, 600, key);
  Labels const labels =
      read ? load_npy<Labels>(mesh, argv[2])
           : from_function<Labels>(mesh, {600}, [](std::int64_t i) { return i % 10; });
  std::int64_t const rows = images.extents()[0];
  std::int64_t const learnt = rows * 4 / 5;
  constexpr std::int64_t batch = 96;

  auto model = train::initialize<Model<value_t>>(mesh, key, [](std::string_view path, auto) {
    return path == "w1" || path == "w2" ? train::Initial::normal(0.1) : train::Initial::zeros();
  });
  train::AdamW const adam{
      {.rate = train::Rate::cosine(0.01, 10, 20 * (learnt / batch)), .decay = 0.01}};
  auto state = adam.init(model);

  // How many of the rows that are held out are read rightly.
  auto const held_out =
      from_function<Ids>(mesh, {rows - learnt}, [=](std::int64_t i) { return learnt + i; });
  auto const seen = take<N, A<float, B, D>>(images, held_out);
  auto const right = take<N, Ids>(labels, held_out);
  auto const accuracy = [&] {
    auto const read_as = argmax<C>(logits(model, seen));
    return static_cast<double>(
               item(sum<Tensor<std::int64_t>>(cast<std::int64_t>(read_as == right)))) /
           static_cast<double>(rows - learnt);
  };

  if (env.rank() == 0)
    std::printf("%lld rows, %lld parameters\n", static_cast<long long>(rows),
                static_cast<long long>(train::parameters(model)));
  for (std::int64_t epoch = 0; epoch < 20; ++epoch) {
    auto const order = permutation<std::int64_t, Dim<N>>(
        mesh, {learnt}, key.fold_in(static_cast<std::uint64_t>(epoch + 1)));
    float last = 0;
    for (std::int64_t k = 0; k + batch <= learnt; k += batch) {
      Ids const ids = reshard<Ids>(slice<N, B>(order, k, k + batch));
      auto const [value, gradient] = value_and_grad<0>(loss)(
          model, take<N, A<float, B, D>>(images, ids), take<N, Ids>(labels, ids));
      adam.update(model, gradient, state);
      last = item(value);
    }
    double const part = accuracy();
    if (env.rank() == 0 && (epoch % 5 == 4 || epoch == 0))
      std::printf("epoch %2lld  loss %.4f  held out: %.1f %% right\n",
                  static_cast<long long>(epoch) + 1, static_cast<double>(last), 100 * part);
  }
  return accuracy() > 0.9 ? 0 : 1;
}
