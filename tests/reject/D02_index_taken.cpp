// J cannot be renamed to I, which a has.
// EXPECT: \[shardtype D02\] the tensor already has an index
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, I>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

#ifdef LEGAL
using New = K;
#else
using New = I;
#endif

void ask() { (void)plan(op::Relabel<J, New>{}, type<A>); }
