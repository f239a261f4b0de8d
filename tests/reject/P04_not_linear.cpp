// A function that is not linear, of a sum that is unreduced.
// EXPECT: \[shardtype P04\] .*f of a sum is not the sum of f
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Unreduced<X> ?>, X
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
using A = Tensor<float, Dim<I>>;

#ifdef LEGAL
using B = Tensor<float, Dim<I>>;
#else
using B = Tensor<float, Dim<I>, Unreduced<X>>;
#endif

void ask(A const& a, B const& b) { (void)exp(b), (void)a; }
