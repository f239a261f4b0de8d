// A new dim cannot be split over an axis that splits another.
// EXPECT: \[shardtype T01\] a mesh axis is listed twice
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

#ifdef LEGAL
using New = Dim<K, Y>;
#else
using New = Dim<K, X>;
#endif

void ask() { (void)plan(op::Broadcast<New>{}, type<A>); }
