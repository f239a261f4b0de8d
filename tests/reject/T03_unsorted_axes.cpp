// The axes of Unreduced are not sorted by name.
// EXPECT: \[shardtype T03\] this tensor type is not in canonical form
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Unreduced<Y, X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};

#ifdef LEGAL
using Mine = Tensor<float, Dim<I>, Unreduced<X, Y>>;
#else
using Mine = Tensor<float, Dim<I>, Unreduced<Y, X>>;
#endif

void ask() { (void)plan(op::Reshard<Mine>{}, type<Mine>); }
