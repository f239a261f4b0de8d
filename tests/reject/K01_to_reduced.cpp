// An all_gather to reduced, where X splits nothing.
// EXPECT: \[shardtype K01\] .*takes a mesh axis off a dim, but the axis does not split it
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, Y> ?>, X
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
#ifdef LEGAL
using A = Tensor<float, Dim<I, X>>;
#else
using A = Tensor<float, Dim<I, Y>>;
#endif

void send(A const& a) { (void)all_gather<X>(a, to_reduced); }
