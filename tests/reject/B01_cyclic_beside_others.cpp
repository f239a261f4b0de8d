// Y cuts what X splits block-cyclically.
// EXPECT: \[shardtype B01\] a block-cyclic dim has exactly one mesh axis
// EXPECT: Dim<I, Cyclic<X, 64>>, or blocks, Dim<I, X, Y>
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, shardtype::Cyclic<X, 16> ?, Y> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};

#ifdef LEGAL
using Mine = Tensor<float, Dim<I, Cyclic<X, 16>>>;
#else
using Mine = Tensor<float, Dim<I, Cyclic<X, 16>, Y>>;
#endif

static_assert(Mine::spec.rank >= 0);
