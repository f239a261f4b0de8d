// A slice along a dim that X splits.
// EXPECT: \[shardtype D03\] this operation works along one dim, and a mesh axis splits that dim
// EXPECT: halo_exchange<I>
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, I, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

#ifdef LEGAL
using Along = J;
#else
using Along = I;
#endif

void ask() { (void)plan(op::Slice<Along>{}, type<A>); }
