// all_gather takes off a split; what is unreduced over X is reduced instead.
// EXPECT: \[shardtype K01\] .*takes a mesh axis off a dim, but the axis does not split it
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Unreduced<X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<I, X>, Dim<J>>;
#else
using A = Tensor<float, Dim<I>, Dim<J>, Unreduced<X>>;
#endif

void ask() { (void)plan(op::AllGather<X>{}, type<A>); }
