// A new dim cannot be split over an axis over which the value is unreduced.
// EXPECT: \[shardtype T01\] a mesh axis is listed twice
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Unreduced<X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
#ifdef LEGAL
using A = Tensor<float, Dim<I>, Reduced<X>>;
#else
using A = Tensor<float, Dim<I>, Unreduced<X>>;
#endif

void ask() { (void)plan(op::Broadcast<Dim<K, X>>{}, type<A>); }
