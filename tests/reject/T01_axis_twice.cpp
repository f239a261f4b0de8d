// X splits two dims of one tensor.
// EXPECT: \[shardtype T01\] a mesh axis is listed twice in one tensor type
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J, X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

#ifdef LEGAL
using Mine = Tensor<float, Dim<I, X>, Dim<J, Y>>;
#else
using Mine = Tensor<float, Dim<I, X>, Dim<J, X>>;
#endif

static_assert(Mine::spec.rank >= 0);
