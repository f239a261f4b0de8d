// A slice along a dim that X splits block-cyclically.
// EXPECT: \[shardtype B03\] this operation does not support block-cyclic dims
// EXPECT: reshard it to blocks first, Dim<I, X> \(one all_to_all
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, shardtype::Cyclic<X, 16> ?>, shardtype::Dim<J> ?>, I, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, Cyclic<X, 16>>, Dim<J>>;

#ifdef LEGAL
using Along = J;
#else
using Along = I;
#endif

void ask() { (void)plan(op::Slice<Along>{}, type<A>); }
