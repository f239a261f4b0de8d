// Every summand would get the pad.
// EXPECT: \[shardtype D11\] the tensor is still unreduced, so a pad value
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Unreduced<X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<I>, Unreduced<Max, X>>;
#else
using A = Tensor<float, Dim<I>, Unreduced<X>>;
#endif

void ask() { (void)plan(op::PadValue<float, I>{}, type<A>); }
