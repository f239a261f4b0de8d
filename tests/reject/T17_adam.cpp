// An optimizer by its name in PyTorch; what is done with it adds no message.
// EXPECT: \[shardtype T17\] train has this by another name, or not: Adam is AdamW
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
using Adam = train::AdamW;
#else
using Adam = train::Adam;
#endif

void step(Values& m, Model<gradient_t> const& g) {
  Adam const adam{{.rate = 1e-3}};
  auto state = adam.init(m);
  adam.update(m, g, state);
}
