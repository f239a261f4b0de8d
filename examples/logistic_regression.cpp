// A hundred steps of logistic regression, data parallel: the batch is split, the weights are on
// every rank, and one AllReduce per parameter adds up their gradients. On 8 ranks.
// SHOWN: docs
// RANKS: 8
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <tuple>
#include <vector>

#include <shardtype/shardtype.hpp>

using namespace shardtype;

struct X : Axis<"X", 8> {};
struct B : Index<"B", 128 * 8> {};
struct D : Index<"D", 32> {};

// docs: types
using Inputs = Tensor<double, Dim<B, X>, Dim<D>>;
using Labels = Tensor<double, Dim<B, X>>;
using Weights = Tensor<double, Dim<D>>;
using Bias = Tensor<double>;

// A parameter is used as a Reduced one, so that its gradient stays unreduced until the end.
inline constexpr auto loss = [](auto const& w, auto const& b, auto const& x, auto const& y) {
  auto const predicted = sigmoid(matmul(x, used_as<Reduced<X>>(w)) + used_as<Reduced<X>>(b));
  return all_reduce<X>(sum(square(predicted - y))) / 1024.0;
};
constexpr auto both_passes =
    plan(value_and_grad<0, 1>(loss), type<Weights>, type<Bias>, type<Inputs>, type<Labels>);
static_assert(both_passes.forward.collectives() == 1);
static_assert(both_passes.backward.count(Collective::all_reduce) == 2);
static_assert(both_passes.collectives() == 3);
// docs: end

constexpr double rate = 0.01;
double input(std::int64_t i, std::int64_t j) {
  return 1.7 * std::sin(12.9 * static_cast<double>(i) + 78.2 * static_cast<double>(j * j + j));
}
// Which side of a plane the input is on.
double label(std::int64_t i) {
  double side = 0;
  for (std::int64_t j = 0; j < D::extent; ++j)
    side += input(i, j) * std::cos(static_cast<double>(j));
  return side > 0 ? 1 : 0;
}

// The same by loops, without tensors: the loss of each step.
std::vector<double> reference(int steps) {
  std::vector<double> w(32), losses;
  double b = 0;
  for (int step = 0; step < steps; ++step) {
    std::vector<double> to_w(32);
    double to_b = 0, total = 0;
    for (std::int64_t i = 0; i < B::extent; ++i) {
      double z = b;
      for (std::size_t j = 0; j < 32; ++j) z += input(i, static_cast<std::int64_t>(j)) * w[j];
      double const p = 1 / (1 + std::exp(-z));
      double const off = p - label(i);
      total += off * off / 1024;
      double const to_z = 2 * off * p * (1 - p) / 1024;
      for (std::size_t j = 0; j < 32; ++j) to_w[j] += to_z * input(i, static_cast<std::int64_t>(j));
      to_b += to_z;
    }
    losses.push_back(total);
    for (std::size_t j = 0; j < 32; ++j) w[j] -= rate * to_w[j];
    b -= rate * to_b;
  }
  return losses;
}

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  Mesh<X> const mesh(env.world());
  auto const x = from_function<Inputs>(mesh, input);
  auto const y = from_function<Labels>(mesh, label);
  auto w = zeros<Weights>(mesh);
  auto b = zeros<Bias>(mesh);

  if (env.rank() == 0) std::printf("== losses\n");
  // docs: steps
  std::vector<double> losses;
  for (int step = 1; step <= 100; ++step) {
    auto const [value, gradients] = value_and_grad<0, 1>(loss)(w, b, x, y);
    auto const& [to_w, to_b] = gradients;
    w = w - rate * to_w;
    b = b - rate * to_b;
    losses.push_back(item(value));
    if (env.rank() == 0 && step % 10 == 0) std::printf("step %d: loss %.6f\n", step, losses.back());
  }
  // docs: end
  std::vector<double> const expected = reference(100);
  for (std::size_t k = 0; k < expected.size(); ++k)
    if (std::abs(losses[k] - expected[k]) > 1e-10 * expected[k])
      throw Error("example", "the loss differs from the reference's", FailedOn::every_rank);
}
