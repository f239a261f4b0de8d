// X splits nothing here.
// EXPECT: \[shardtype K01\] .*takes a mesh axis off a dim, but the axis does not split it
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, Y>, shardtype::Dim<J> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<I, X>, Dim<J>>;
#else
using A = Tensor<float, Dim<I, Y>, Dim<J>>;
#endif

void send(A const& a) { (void)all_gather<X>(a); }
