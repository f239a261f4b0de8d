// A replicated value does not become unreduced.
// EXPECT: \[shardtype R02\] .*never makes a replicated value unreduced
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I>, Dim<J>>;

#ifdef LEGAL
using Out = Tensor<float, Dim<I, X>, Dim<J>>;
#else
using Out = Tensor<float, Dim<I>, Dim<J>, Unreduced<X>>;
#endif

void change(A const& a) { (void)reshard<Out>(a); }
