// A checkpoint of a struct that does not say how it holds its tensors, of which nothing would be
// saved.
// EXPECT: \[shardtype X10\] an argument whose gradient is wanted .* and so no model of an optimizer or checkpoint
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/checkpoint/checkpoint.hpp>
#include <shardtype/shardtype.hpp>

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
#else
using M = Plain;
#endif

void keep(M const& m) { checkpoint::save("run", 1, m); }
