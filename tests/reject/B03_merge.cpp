// Its rows do not lie as those of a merged dim.
// EXPECT: \[shardtype B03\] this operation does not support block-cyclic dims
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, shardtype::Cyclic<X, 16> ?>, shardtype::Dim<J> ?>, I, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<I, X>, Dim<J>>;
#else
using A = Tensor<float, Dim<I, Cyclic<X, 16>>, Dim<J>>;
#endif

void ask() { (void)plan(op::MergeDims<I, J, K>{}, type<A>); }
