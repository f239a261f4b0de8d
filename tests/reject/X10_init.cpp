// The state of an optimizer of a struct that does not say how it holds its tensors.
// EXPECT: \[shardtype X10\] an argument whose gradient is wanted is neither a tensor nor a vector
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>

using namespace shardtype;
struct D : Index<"D", 8> {};
using W = Tensor<float, Dim<D>>;
template <template <class> class As>
struct Model {
  As<W> w;
};
struct Plain {
  W w;
};

#ifdef LEGAL
using M = Model<value_t>;
using G = Model<gradient_t>;
#else
using M = Plain;
using G = Plain;
#endif

void step(M& m, G const& g) {
  train::AdamW const adam{{.rate = 1e-3}};
  auto state = adam.init(m);
  adam.update(m, g, state);
}
