// Both factors are unreduced.
// EXPECT: \[shardtype P07\] .*a product of sums is not the sum of products
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Unreduced<X> ?>, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Unreduced<X> ?>, X
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
using A = Tensor<float, Dim<I>, Unreduced<X>>;

#ifdef LEGAL
using B = Tensor<float, Dim<I>>;
#else
using B = Tensor<float, Dim<I>, Unreduced<X>>;
#endif

void ask(A const& a, B const& b) { (void)(a * b); }
