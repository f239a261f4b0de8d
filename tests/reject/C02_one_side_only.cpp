// X splits the contracted index in a; b holds all of it.
// EXPECT: \[shardtype C02\] .*split over a mesh axis in one operand
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J, X> ?>, shardtype::Tensor<float, shardtype::Dim<J>, shardtype::Dim<K> ?>, J, X>
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
using B = Tensor<float, Dim<J>, Dim<K>>;
#endif

void multiply(A const& a, B const& b) { (void)matmul(a, b); }
