// The result keeps J, which matmul multiplies over.
// EXPECT: \[shardtype N06\] the named result keeps the index that matmul multiplies over
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J> ?>, shardtype::Tensor<float, shardtype::Dim<J>, shardtype::Dim<K> ?>, J>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I>, Dim<J>>;
using B = Tensor<float, Dim<J>, Dim<K>>;

#ifdef LEGAL
using Out = Tensor<float, Dim<I, X>, Dim<K>>;
#else
using Out = Tensor<float, Dim<I, X>, Dim<J>, Dim<K>>;
#endif

void multiply(A const& a, B const& b) { (void)matmul<Out>(a, b); }
