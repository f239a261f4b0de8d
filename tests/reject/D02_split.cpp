// A part of a split cannot be called like another dim.
// EXPECT: \[shardtype D02\] the tensor already has an index
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, J>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

#ifdef LEGAL
using New = K;
#else
using New = J;
#endif

void ask() { (void)plan(op::SplitDim<I, L, New>{}, type<A>); }
