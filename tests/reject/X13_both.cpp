// A step with the value and the gradient, of which the gradient is meant.
// EXPECT: \[shardtype X13\] a step of an optimizer takes the model, its gradient and the state, in this order
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct B : Index<"B"> {};
struct D : Index<"D", 8> {};
struct V : Index<"V", 4> {};
template <template <class> class As>
struct Model {
  As<Tensor<float, Dim<D>, Dim<V>>> w;
  As<Tensor<float, Dim<V>>> b;
};
using Values = Model<value_t>;
using A = Tensor<float, Dim<B, X>, Dim<D>>;
constexpr auto loss = [](auto const& m, auto const& x) {
  auto const y = matmul(x, used_as<Reduced<X>>(m.w)) + used_as<Reduced<X>>(m.b);
  return sum<Tensor<float>>(square(y));
};

#ifdef LEGAL
auto const& of(auto const& both) { return both.grad; }
#else
auto const& of(auto const& both) { return both; }
#endif

void step(Values& m, A const& x) {
  train::AdamW const adam{{.rate = 1e-3}};
  auto state = adam.init(m);
  auto const both = value_and_grad<0>(loss)(m, x);
  adam.update(m, of(both), state);
}
