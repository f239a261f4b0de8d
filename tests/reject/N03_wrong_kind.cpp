// A product cannot be an unreduced maximum.
// EXPECT: \[shardtype N03\] a product is a sum
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J, X> ?>, shardtype::Tensor<float, shardtype::Dim<J, X>, shardtype::Dim<K> ?> ?>
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
using B = Tensor<float, Dim<J, X>, Dim<K>>;

#ifdef LEGAL
using Out = Tensor<float, Dim<I>, Dim<K>, Unreduced<X>>;
#else
using Out = Tensor<float, Dim<I>, Dim<K>, Unreduced<Max, X>>;
#endif

void multiply(A const& a, B const& b) { (void)matmul<Out>(a, b); }
