// J is an index and cannot split a dim.
// EXPECT: \[shardtype T05\] a mesh axis stands where an index belongs
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, J> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

#ifdef LEGAL
using Mine = Tensor<float, Dim<I, X>, Dim<J>>;
#else
using Mine = Tensor<float, Dim<I, J>>;
#endif

static_assert(Mine::spec.rank >= 0);
