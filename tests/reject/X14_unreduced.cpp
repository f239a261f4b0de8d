// A step with an unreduced gradient, that of a parameter which is stored as a Reduced one.
// EXPECT: \[shardtype X14\] the gradient of a parameter .* is unreduced or has another sharding than the parameter
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct D : Index<"D", 8> {};
template <class W>
struct With {
  template <template <class> class As>
  struct Model {
    As<Tensor<float>> scale;
    As<W> w;
  };
};

#ifdef LEGAL
using W = Tensor<float, Dim<D, X>>;
#else
using W = Tensor<float, Dim<D>, Reduced<X>>;
#endif

template <template <class> class As>
using Model = With<W>::Model<As>;
void step(Model<value_t>& m, Model<gradient_t> const& g) {
  train::Lion const lion{{.rate = 1e-3}};
  auto state = lion.init(m);
  lion.update(m, g, state);
}
