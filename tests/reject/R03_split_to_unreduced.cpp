// A split value does not become unreduced.
// EXPECT: \[shardtype R03\] .*never makes a split value unreduced
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

#ifdef LEGAL
using Out = Tensor<float, Dim<I>, Dim<J>>;
#else
using Out = Tensor<float, Dim<I>, Dim<J>, Unreduced<X>>;
#endif

void change(A const& a) { (void)reshard<Out>(a); }
