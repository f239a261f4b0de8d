// An optimizer's state in shardings of its own, in automatic mode: the parameters are whole on all
// ranks, the moments are split by types (ZeRO), or lie where the plan of the first step computes
// the updates. On 4 ranks.
// SHOWN: docs
// RANKS: 4
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>

using namespace shardtype;

// docs: model
struct X : Axis<"X", 4> {};
struct S : Index<"S", 2048> {};  // samples
struct D : Index<"D", 256> {};   // features
struct F : Index<"F", 512> {};   // hidden units
template <template <class> class As>
struct Model {  // whole on all ranks
  As<Tensor<float, Dim<D>, Dim<F>>> up;
  As<Tensor<float, Dim<F>>> bias;
  As<Tensor<float, Dim<F>, Dim<D>>> down;
};
template <template <class> class As>
struct Split {  // the same tensors, in parts
  As<Tensor<float, Dim<D, X>, Dim<F>>> up;
  As<Tensor<float, Dim<F, X>>> bias;
  As<Tensor<float, Dim<F, X>, Dim<D>>> down;
};
// docs: end
using Values = Model<value_t>;
using In = Tensor<float, Dim<S, X>, Dim<D>>;

constexpr auto loss = [](auto const& m, auto const& x) {
  auto const off = matmul(tanh(matmul(x, m.up) + m.bias), m.down) - x;
  return mean(off * off);
};

namespace {

Values initial(Mesh<X> const& mesh) {
  return train::initialize<Values>(mesh, RandomKey(1), [](std::string_view path, auto) {
    return path == "bias" ? train::Initial::zeros() : train::Initial::normal(0.05);
  });
}
// The bytes of a state on this rank.
template <class State>
std::int64_t bytes(State const& state) {
  std::int64_t out = 0;
  State::each_part(state, [&](std::string const&, auto const& part) {
    train::for_each_tensor([&](std::string_view, auto const& a) { out += 4 * a.local_size(); },
                           part);
  });
  return out;
}
// Losses of four steps.
template <class State>
std::vector<float> train_with(Mesh<X> const& mesh, train::AdamW const& adam, Values model,
                              State& state) {
  // docs: step
  auto const step = train::step(adam, value_and_grad<0>(loss));
  // docs: end
  std::vector<float> out;
  for (std::uint64_t k = 0; k < 4; ++k) {
    auto const x = normal<In>(mesh, RandomKey(2 + k));
    // docs: one-step
    auto const done = evaluate(mesh, step, model, state, x);  // done.loss, done.norm
    // docs: end
    out.push_back(item(done.loss));
  }
  return out;
}
bool alike(std::vector<float> const& a, std::vector<float> const& b) {
  for (std::size_t k = 0; k < a.size(); ++k)
    if (!(std::abs(a[k] - b[k]) <= 1e-5F * std::abs(a[k]))) return false;
  return a.back() < a.front();
}

}  // namespace

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  Mesh<X> const mesh(env.world());
  auto const model = initial(mesh);
  // docs: states
  train::AdamW const adam{{.rate = 0.01, .clip = 1}};
  auto whole = adam.init(model);                     // as the parameters
  auto split = adam.init_as<Split<value_t>>(model);  // as the types say
  auto chosen = adam.init_free(model);               // as the plan chooses
  // docs: end
  auto const losses = train_with(mesh, adam, model, whole);
  if (!alike(losses, train_with(mesh, adam, initial(mesh), split)) ||
      !alike(losses, train_with(mesh, adam, initial(mesh), chosen)))
    throw Error("example", "the losses differ");
  // docs: typed
  auto const typed = chosen.as<Split<value_t>>(model);  // a train::State, to be saved
  // docs: end
  if (bytes(typed) != bytes(split)) throw Error("example", "a state of other bytes");

  // docs: plan
  auto const step = train::step(adam, value_and_grad<0>(loss));
  using State = train::AdamW::StateOf<Split<value_t>>;
  PlannedProgram const planned =
      dry_run<Values, State, In>(step).on(machines::epyc_cluster).planned();
  // docs: end
  if (env.rank() == 0) {
    std::printf("== plan\n");
    std::printf("state: %lld bytes whole, %lld split\n", static_cast<long long>(bytes(whole)),
                static_cast<long long>(bytes(split)));
    std::istringstream lines(explain(planned));
    for (std::string line; std::getline(lines, line);)
      if (line.find("update ") != line.npos || line.find("norm ") != line.npos ||
          line.find("Scatter ") != line.npos || line.find("Gather ") != line.npos ||
          line.find("Reduce ") != line.npos)
        std::printf("%s\n", line.c_str());
  }
}
