// A block size of zero.
// EXPECT: \[shardtype B02\] the block size of a Cyclic is from 1 to 2147483647
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, shardtype::Cyclic<X, 0> ?> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};

#ifdef LEGAL
using Mine = Tensor<float, Dim<I, Cyclic<X, 1>>>;
#else
using Mine = Tensor<float, Dim<I, Cyclic<X, 0>>>;
#endif

static_assert(Mine::spec.rank >= 0);
