// A network of two layers is trained in automatic mode. Its loss names no sharding; one call plans
// the forward and the backward pass together. The plan that is shown has the sizes of a large
// layer; the run is small. On 4 ranks.
// SHOWN: docs
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <tuple>

#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>
#include <shardtype/visualize/choices.hpp>

using namespace shardtype;

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct S : Index<"S"> {};  // samples
struct D : Index<"D"> {};  // features
struct F : Index<"F"> {};  // hidden units
struct E : Index<"E"> {};  // outputs

// docs: loss
// No axis is named here. The same text is strict mode's, which would refuse products whose
// shardings do not match.
struct Loss {
  auto operator()(auto const& x, auto const& up, auto const& down, auto const& target) const {
    auto const off = matmul(tanh(matmul(x, up)), down) - target;
    return mean(off * off);
  }
};
using In = Tensor<float, Dim<S, X>, Dim<D>>;
using Up = Tensor<float, Dim<D, X>, Dim<F, Y>>;
using Down = Tensor<float, Dim<F, Y>, Dim<E, X>>;
using Out = Tensor<float, Dim<S, X>, Dim<E>>;
// docs: end

void show_plan() {
  // docs: plan
  PlannedProgram const both = dry_run<In, Up, Down, Out>(value_and_grad<1, 2>(Loss{}))
                                  .extent<S>(8192)
                                  .extent<D>(2048)
                                  .extent<F>(8192)
                                  .extent<E>(2048)
                                  .ranks<X>(2)
                                  .ranks<Y>(4)
                                  .planned();
  std::printf("== both-passes\n%s\n", explain(both).c_str());
  // docs: end
  // docs: choices
  std::printf("== choices\n%s\n", explain_choices(both).c_str());
  // docs: end
}

double largest_difference(auto const& a, auto const& b) {
  auto const x = to_host(a);
  auto const y = to_host(b);
  double most = 0;
  for (std::size_t k = 0; k < x.size(); ++k)
    most = std::max(most, std::abs(static_cast<double>(x[k]) - static_cast<double>(y[k])));
  return most;
}

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  if (env.rank() == 0) show_plan();
  Mesh<X, Y> const mesh(env.world(), {2, 2});
  auto const x = normal<In>(mesh, {64, 8}, RandomKey(1));
  auto const target = tanh(normal<Out>(mesh, {64, 3}, RandomKey(2))).tensor();
  auto up = (normal<Up>(mesh, {8, 32}, RandomKey(3)) * 0.3F).tensor();
  auto down = (normal<Down>(mesh, {32, 3}, RandomKey(4)) * 0.3F).tensor();

  // the gradients are those of strict mode, on tensors that are not split
  auto const [value, grads] = evaluate(mesh, value_and_grad<1, 2>(Loss{}), x, up, down, target);
  auto const strict =
      value_and_grad<1, 2>(Loss{})(reshard<Dim<S>, Dim<D>>(x), reshard<Dim<D>, Dim<F>>(up),
                                   reshard<Dim<F>, Dim<E>>(down), reshard<Dim<S>, Dim<E>>(target));
  if (largest_difference(value, strict.value) > 1e-6 ||
      largest_difference(std::get<0>(grads), std::get<0>(strict.grad)) > 1e-5 ||
      largest_difference(std::get<1>(grads), std::get<1>(strict.grad)) > 1e-5)
    throw Error("example", "automatic and strict mode gave other gradients");

  float first = 0;
  float last = 0;
  // docs: train
  for (int step = 0; step < 200; ++step) {
    auto const [loss, g] = evaluate(mesh, value_and_grad<1, 2>(Loss{}), x, up, down, target);
    up = (up - std::get<0>(g) * 0.5F).tensor();
    down = (down - std::get<1>(g) * 0.5F).tensor();
    last = item(loss);
    if (step == 0) first = last;
  }
  // docs: end
  if (!(last < 0.6F * first)) throw Error("example", "the loss does not fall");
  if (env.rank() == 0) std::printf("== trained\nloss %.2f -> %.2f\n", first, last);
}
