// The contracted index is split over X then Y, and over Y then X.
// EXPECT: \[shardtype C06\] .*split over the same mesh axes in another order
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J, X, Y> ?>, shardtype::Tensor<float, shardtype::Dim<J, Y, X>, shardtype::Dim<K> ?>, J, X>
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
using A = Tensor<float, Dim<I>, Dim<J, X, Y>>;

#ifdef LEGAL
using B = Tensor<float, Dim<J, X, Y>, Dim<K>>;
#else
using B = Tensor<float, Dim<J, Y, X>, Dim<K>>;
#endif

void multiply(A const& a, B const& b) { (void)matmul(a, b); }
