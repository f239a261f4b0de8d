// A convolutional network learns to tell horizontal, vertical and diagonal stripes. The rows of its
// images are split over the ranks, which fetch rows from their neighbours for each convolution and
// pool.
// RANKS: 1 4 8
// NEEDS: Random123
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include <shardtype/nn/nn.hpp>
#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;

struct X : Axis<"X"> {};
struct N : Index<"N"> {};  // images
struct H : Index<"H"> {};
struct W : Index<"W"> {};
struct KH : Index<"KH", 3> {};
struct KW : Index<"KW", 3> {};
struct C : Index<"C", 1> {};   // channels
struct F : Index<"F", 8> {};   // and features
struct G : Index<"G", 16> {};  // of two layers
struct V : Index<"V", 3> {};   // kinds of stripes

using Images = Tensor<float, Dim<N>, Dim<H, X>, Dim<W>, Dim<C>>;
using First = Tensor<float, Dim<KH>, Dim<KW>, Dim<C>, Dim<F>>;
using Second = Tensor<float, Dim<KH>, Dim<KW>, Dim<F>, Dim<G>>;
using Head = Tensor<float, Dim<G>, Dim<V>>;
using Ids = Tensor<std::int64_t, Dim<N>>;

// docs: network
using Rows = nn::Window<H, KH, nn::same>;
using Columns = nn::Window<W, KW, nn::same>;
using HalfRows = nn::Pool<H, 2>;
using HalfColumns = nn::Pool<W, 2>;

// f32[N, H@X, W, C] -> f32[N, V]; the gradients of kernels are sums over X.
auto network(auto const& images, auto const& first, auto const& second, auto const& head) {
  auto const f = relu(nn::conv<Rows, Columns>(images, used_as<Reduced<X>>(first)));
  auto const half = nn::max_pool<HalfRows, HalfColumns>(f);
  auto const g = relu(nn::conv<Rows, Columns>(half, used_as<Reduced<X>>(second)));
  return matmul(mean<Dim<N>, Dim<G>>(g), head);
}
// docs: end

constexpr auto loss = [](auto const& first, auto const& second, auto const& head,
                         auto const& images, auto const& kinds) {
  return nn::mean_cross_entropy<V, Tensor<float>>(network(images, first, second, head), kinds);
};

// Image n has stripes of kind n % 3, at a distance and a place of its own, and noise.
Images stripes(Mesh<X> const& mesh, std::int64_t count, RandomKey const& key) {
  std::array<std::int64_t, 4> const extents{count, 19, 16, 1};
  auto const bands = from_function<Images>(
      mesh, extents, [](std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t) {
        std::int64_t const along = n % 3 == 0 ? h : n % 3 == 1 ? w : h + w;
        std::int64_t const wide = 2 + n % 2;
        return (along + n / 6) % (2 * wide) < wide ? 1.0F : -1.0F;
      });
  return bands + 0.5F * normal<Images>(mesh, extents, key);
}

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  Mesh<X> const mesh(env.world());
  RandomKey const key{1};
  std::int64_t const count = 60;
  auto const images = stripes(mesh, count, key);
  auto const kinds = from_function<Ids>(mesh, {count}, [](std::int64_t n) { return n % 3; });
  auto first = (0.5F * normal<First>(mesh, key.fold_in(1))).tensor();
  auto second = (0.2F * normal<Second>(mesh, key.fold_in(2))).tensor();
  auto head = (0.3F * normal<Head>(mesh, key.fold_in(3))).tensor();

  // the same loss on every number of ranks, but for rounding
  float last = 0;
  for (int step = 0; step < 60; ++step) {
    auto const [value, gradients] =
        value_and_grad<0, 1, 2>(loss)(first, second, head, images, kinds);
    auto const& [to_first, to_second, to_head] = gradients;
    first = (first - 0.3F * to_first).tensor();
    second = (second - 0.3F * to_second).tensor();
    head = (head - 0.3F * to_head).tensor();
    last = item(value);
    if (env.rank() == 0 && step % 20 == 0)
      std::printf("step %2d  loss %.4f\n", step, static_cast<double>(last));
  }
  auto const unseen = stripes(mesh, count, key.fold_in(4));
  auto const read_as = argmax<V>(network(unseen, first, second, head));
  auto const right = item(sum<Tensor<std::int64_t>>(cast<std::int64_t>(read_as == kinds)));
  if (env.rank() == 0)
    std::printf("loss %.4f, %lld of %lld others are read rightly\n", static_cast<double>(last),
                static_cast<long long>(right), static_cast<long long>(count));
  return right * 10 > count * 9 ? 0 : 1;
}
