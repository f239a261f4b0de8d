// Of I@(X,Y) only Y can move to J.
// EXPECT: \[shardtype K02\] .*minor-most
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X, Y>, shardtype::Dim<J> ?>, I, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<I, Y, X>, Dim<J>>;
#else
using A = Tensor<float, Dim<I, X, Y>, Dim<J>>;
#endif

void ask() { (void)plan(op::AllToAll<X, I, J>{}, type<A>); }
