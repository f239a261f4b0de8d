// The dims of a block are whole.
// EXPECT: \[shardtype V02\] Varying stands in a Tensor, or mesh axes split a dim of a Local
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

#ifdef LEGAL
using Mine = Local<float, Dim<I>, Dim<J>, Varying<X>>;
#else
using Mine = Local<float, Dim<I, X>, Dim<J>>;
#endif

static_assert(Mine::spec.rank >= 0);
