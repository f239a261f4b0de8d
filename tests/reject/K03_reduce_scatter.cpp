// Nothing to reduce over X.
// EXPECT: \[shardtype K03\] .*the tensor is not unreduced over it
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Unreduced<Y> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<I>, Dim<J>, Unreduced<X>>;
#else
using A = Tensor<float, Dim<I>, Dim<J>, Unreduced<Y>>;
#endif

void ask() { (void)plan(op::ReduceScatter<X, J>{}, type<A>); }
