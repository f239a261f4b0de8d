// Loading into a model that is const.
// EXPECT: \[shardtype A18\] no function of checkpoint .* load fills the tensors of a model that is there and not const
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/checkpoint/checkpoint.hpp>
#include <shardtype/shardtype.hpp>

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
void fill(Values& m) { (void)checkpoint::load("run", m); }
#else
void fill(Values const& m) { (void)checkpoint::load("run", m); }
#endif
