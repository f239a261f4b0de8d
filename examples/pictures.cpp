// Pictures of split tensors and of losses: waves.png, weights.png and loss.svg.
// NEEDS: PNG
// RANKS: 4
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>
#include <shardtype/visualize/curves.hpp>
#include <shardtype/visualize/png.hpp>

using namespace shardtype;

struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I", 300> {};
struct J : Index<"J", 400> {};
struct N : Index<"N", 64> {};  // samples
struct D : Index<"D", 32> {};  // features
struct F : Index<"F", 8> {};   // results

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  Mesh<X, Y> const mesh(env.world());

  // docs: waves
  auto const waves = from_function<float, Dim<I, X>, Dim<J, Y>>(mesh, [](double i, double j) {
    return std::sin(std::hypot(i - 100, j - 120) / 8) + std::sin(std::hypot(i - 220, j - 300) / 11);
  });
  save_png(waves, "waves.png", {.colors = visualizing::ColorMap::diverging});
  // docs: end

  // Least squares by steps along the gradient; the loss of each step is a number of the curve.
  auto const x = normal<float, Dim<N, X>, Dim<D>>(mesh, RandomKey{1});
  auto const y = matmul(x, normal<float, Dim<D>, Dim<F>>(mesh, RandomKey{2}));
  auto w = zeros<float, Dim<D>, Dim<F>>(mesh);
  auto const loss = [](auto const& weights, auto const& in, auto const& out) {
    return mean<Tensor<float>>(
        square(matmul(in, used_as<Dim<D>, Dim<F>, Reduced<X>>(weights)) - out));
  };
  // docs: losses
  std::vector<double> losses;
  for (int step = 0; step < 50; ++step) {
    auto const [value, gradient] = value_and_grad<0>(loss)(w, x, y);
    losses.push_back(item(value));
    w = w - gradient * 2.0F;
  }
  save_png(w, "weights.png");
  if (env.rank() == 0)
    write_svg({{"training", losses}}, "loss.svg", {.title = "loss", .logarithmic = true});
  // docs: end
  if (env.rank() == 0)
    std::printf("loss %.3f at first, %.6f at last\n", losses.front(), losses.back());
  return losses.back() < 1e-3 * losses.front() ? 0 : 1;
}
