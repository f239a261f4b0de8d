// a is still an unreduced maximum over X.
// EXPECT: \[shardtype C08\] an operand is an unreduced maximum or minimum
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Unreduced<shardtype::Max, X> ?>, shardtype::Tensor<float, shardtype::Dim<J>, shardtype::Dim<K> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using B = Tensor<float, Dim<J>, Dim<K>>;

#ifdef LEGAL
using A = Tensor<float, Dim<I>, Dim<J>, Unreduced<X>>;
#else
using A = Tensor<float, Dim<I>, Dim<J>, Unreduced<Max, X>>;
#endif

void multiply(A const& a, B const& b) { (void)matmul(a, b); }
