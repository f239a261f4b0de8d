// A step with the state before the gradient.
// EXPECT: \[shardtype X13\] a step of an optimizer takes the model, its gradient and the state, in this order
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>

using namespace shardtype;
struct D : Index<"D", 8> {};
struct V : Index<"V", 4> {};
template <template <class> class As>
struct Model {
  As<Tensor<float, Dim<D>, Dim<V>>> w;
  As<Tensor<float, Dim<V>>> b;
};
using Values = Model<value_t>;

#ifdef LEGAL
void step(auto const& o, auto& m, auto const& g, auto& state) { o.update(m, g, state); }
#else
void step(auto const& o, auto& m, auto const& g, auto& state) { o.update(m, state, g); }
#endif

void train_once(Values& m, Model<gradient_t> const& g) {
  train::Adafactor const adafactor{{.rate = 1e-3}};
  auto state = adafactor.init(m);
  step(adafactor, m, g, state);
}
