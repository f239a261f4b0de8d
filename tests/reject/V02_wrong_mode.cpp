// Tensors are split, blocks vary.
// EXPECT: \[shardtype V02\] Varying stands in a Tensor, or mesh axes split a dim of a Local
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Varying<X> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};

#ifdef LEGAL
using Mine = Local<float, Dim<I>, Varying<X>>;
#else
using Mine = Tensor<float, Dim<I>, Varying<X>>;
#endif

static_assert(Mine::spec.rank >= 0);
