// X splits J, not I.
// EXPECT: \[shardtype K01\] .*takes a mesh axis off a dim, but the axis does not split it
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J, X> ?>, I, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<I, X>, Dim<J>>;
#else
using A = Tensor<float, Dim<I>, Dim<J, X>>;
#endif

void ask() { (void)plan(op::AllToAll<X, I, J>{}, type<A>); }
