// The destination has K where the source has J.
// EXPECT: \[shardtype R01\] a reshard keeps the indices
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, K>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

#ifdef LEGAL
using Out = Tensor<float, Dim<I>, Dim<J, X>>;
#else
using Out = Tensor<float, Dim<I>, Dim<K, X>>;
#endif

void change(A const& a) { (void)reshard<Out>(a); }
