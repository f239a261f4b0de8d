// Nor can the parts of a split be block-cyclic.
// EXPECT: \[shardtype B03\] this operation does not support block-cyclic dims
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X> ?>, J, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I, X>>;

#ifdef LEGAL
using Outer = Dim<J, X>;
#else
using Outer = Dim<J, Cyclic<X, 16>>;
#endif

void ask() { (void)plan(op::SplitDim<I, Outer, Dim<K>>{}, type<A>); }
