// A step of training, by hand and as a plan, whose optimizer's state is free. scripts/check_nvcc
// compiles it; nothing runs.
#include <shardtype/nn/nn.hpp>
#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>

using namespace shardtype;

struct X : Axis<"X"> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};
struct M : Index<"M"> {};

template <template <class> class As>
struct Model {
  As<Tensor<float, Dim<D>, Dim<M>>> up;
  As<Tensor<float, Dim<M>>> bias;
};

inline constexpr auto loss = [](auto const& m, auto const& x) {
  return mean(square(nn::dropout(gelu_tanh(matmul(x, m.up) + m.bias).tensor(), RandomKey{1}, 0.1)));
};

void steps(Mesh<X> const& mesh, Model<value_t>& model, Tensor<float, Dim<B, X>, Dim<D>> const& x) {
  train::AdamW const adam{{.rate = 1e-3, .clip = 1.0}};
  auto state = adam.init_free(model);
  evaluate(mesh, train::step(adam, value_and_grad<0>(loss)), model, state, x);
  auto whole = state.as(model);
  adam.update(model, model, whole);
}
