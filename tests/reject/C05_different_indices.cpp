// X splits the contracted J in a and the free K in b.
// EXPECT: \[shardtype C05\] a mesh axis splits one index in one operand and another
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J, X> ?>, shardtype::Tensor<float, shardtype::Dim<J>, shardtype::Dim<K, X> ?>, J, K, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I>, Dim<J, X>>;

#ifdef LEGAL
using B = Tensor<float, Dim<J, X>, Dim<K>>;
#else
using B = Tensor<float, Dim<J>, Dim<K, X>>;
#endif

void multiply(A const& a, B const& b) { (void)matmul(a, b); }
