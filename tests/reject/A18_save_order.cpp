// The model before the run.
// EXPECT: \[shardtype A18\] no function of checkpoint is called like this. The run or file comes first
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
void keep(Values const& m) { checkpoint::save("run", 1, m); }
#else
void keep(Values const& m) { checkpoint::save(m, "run", 1); }
#endif
