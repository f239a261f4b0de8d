// One layer of a network, sigmoid(x W + b), in three modes: automatic (jax.jit), strict (explicit
// shardings in the types) and manual (jax.shard_map). The results have the same bits. On 8 ranks.
// SHOWN: docs
// RANKS: 8
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include <shardtype/shardtype.hpp>

using namespace shardtype;

// docs: names
struct Data : Axis<"data", 2> {};
struct Model : Axis<"model", 4> {};
struct Sample : Index<"S", 16> {};
struct In : Index<"I", 32> {};
struct Out : Index<"O", 8> {};

// The samples are split over one axis, the contracted index over the other.
using Inputs = Tensor<float, Dim<Sample, Data>, Dim<In, Model>>;
using Weights = Tensor<float, Dim<In, Model>, Dim<Out>>;
using Bias = Tensor<float, Dim<Out>>;
using Outputs = Tensor<float, Dim<Sample, Data>, Dim<Out>>;
// docs: end

// Applies to an expression, a tensor or a block. Together with the preceding + it is one kernel.
auto sigmoid(auto const& z) { return 1.0F / (1.0F + exp(-z)); }

// docs: layer-automatic
// Automatic: the formula and the sharding of the result.
constexpr auto layer = [](auto x, auto w, auto b) { return evaluate<Outputs>(sigmoid(x * w + b)); };
// docs: end

// docs: layer-strict
// Strict: a product over a split index is unreduced until all_reduce is called. Without the
// all_reduce the code does not compile: b cannot be added to an unreduced tensor.
auto strict_layer(Inputs const& x, Weights const& w, Bias const& b) {
  auto const partial = matmul(x, w);
  using Partial = Tensor<float, Dim<Sample, Data>, Dim<Out>, Unreduced<Model>>;
  static_assert(same_spec<decltype(partial), Partial>);
  return sigmoid(all_reduce<Model>(partial) + b).tensor();
}
// docs: end

// docs: layer-manual
// Manual: the function that one rank applies to its blocks.
auto manual_layer(Inputs const& x, Weights const& w, Bias const& b) {
  auto const of_blocks = [](auto x_block, auto w_block, auto b_block) {
    return sigmoid(all_reduce<Model>(matmul(x_block, w_block)) + b_block);
  };
  return shard_map<Outputs>(of_blocks, x, w, b);
}
// docs: end

// The three results have the same bits for this reason: automatic mode plans the steps that the
// other two modes write down, one AllReduce of the product of the local blocks. So each rank
// multiplies the same blocks by the same kernel, the same collective adds the summands in the same
// order, and the elements pass through the same operations. A plan that gathered x, or used a
// ReduceScatter, would add in another order; its result would agree only up to rounding.
constexpr auto plan_of_layer = plan_traced<Inputs, Weights, Bias>(layer);
static_assert(plan_of_layer.collectives() == 1);
static_assert(plan_of_layer.count(Collective::all_reduce) == 1);

bool same_bits(std::vector<float> const& a, std::vector<float> const& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  Mesh<Data, Model> const mesh(env.world());
  auto const f = [](std::int64_t i, std::int64_t j) {
    return std::sin(static_cast<double>(i * 31 + j * 7)) / 2;
  };
  auto const x = from_function<Inputs>(mesh, f);
  auto const w = from_function<Weights>(mesh, f);
  auto const b = from_function<Bias>(mesh, [&](std::int64_t i) { return f(i, 5); });

  auto const automatic = evaluate<Outputs>(mesh, sigmoid(lazy(x) * w + b));
  std::vector<float> const values = to_host(automatic);
  if (!same_bits(values, to_host(strict_layer(x, w, b))))
    throw Error("example", "strict mode gave other bits", FailedOn::every_rank);
  if (!same_bits(values, to_host(manual_layer(x, w, b))))
    throw Error("example", "manual mode gave other bits", FailedOn::every_rank);

  double apart = 0;
  for (std::int64_t s = 0; s < 16; ++s)
    for (std::int64_t o = 0; o < 8; ++o) {
      double z = f(o, 5);
      for (std::int64_t i = 0; i < 32; ++i) z += f(s, i) * f(i, o);
      double const got = values[static_cast<std::size_t>(s * 8 + o)];
      apart = std::max(apart, std::abs(got - 1 / (1 + std::exp(-z))));
    }
  if (apart > 1e-6) throw Error("example", "the layer differs from the dense one");
  if (env.rank() == 0)
    std::printf("== plan\n%s== together\nin three modes: the same bits\n",
                explain(dry_run<Inputs, Weights, Bias>(layer).planned()).c_str());
}
