// Nor does a reduced one.
// EXPECT: \[shardtype R02\] .*never makes a replicated value unreduced
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Reduced<X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I>, Dim<J>, Reduced<X>>;

#ifdef LEGAL
using Out = Tensor<float, Dim<I>, Dim<J>>;
#else
using Out = Tensor<float, Dim<I>, Dim<J>, Unreduced<X>>;
#endif

void ask() { (void)plan(op::Reshard<Out>{}, type<A>); }
