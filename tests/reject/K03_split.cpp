// A split value is no sum of its parts.
// EXPECT: \[shardtype K03\] .*the tensor is not unreduced over it
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<I>, Dim<J>, Unreduced<X>>;
#else
using A = Tensor<float, Dim<I, X>, Dim<J>>;
#endif

void ask() { (void)plan(op::AllReduce<X>{}, type<A>); }
