// Both operands are unreduced over X.
// EXPECT: \[shardtype C07\] .*a product of sums is not the sum of products
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Unreduced<X> ?>, shardtype::Tensor<float, shardtype::Dim<J>, shardtype::Dim<K>, shardtype::Unreduced<X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I>, Dim<J>, Unreduced<X>>;

#ifdef LEGAL
using B = Tensor<float, Dim<J>, Dim<K>>;
#else
using B = Tensor<float, Dim<J>, Dim<K>, Unreduced<X>>;
#endif

void multiply(A const& a, B const& b) { (void)matmul(a, b); }
