// Sums of updates that are unreduced maxima.
// EXPECT: \[shardtype I07\] the operand is an unreduced maximum or minimum
// EXPECT: false, .*, K, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using Ids = Tensor<std::int32_t, Dim<J>>;

#ifdef LEGAL
using A = Tensor<float, Dim<J>, Unreduced<X>>;
#else
using A = Tensor<float, Dim<J>, Unreduced<Max, X>>;
#endif

void ask() { (void)plan(op::ScatterAlong<K, J>{7}, type<A>, type<Ids>); }
