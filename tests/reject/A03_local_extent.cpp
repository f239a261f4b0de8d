// a has no J.
// EXPECT: \[shardtype A03\] the tensor has no dim with this index
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<K> ?>, J>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<I>, Dim<J>>;
#else
using A = Tensor<float, Dim<I, X>, Dim<K>>;
#endif

void read(A const& a) { (void)a.local_extent<J>(); }
