// Both operands have J and K.
// EXPECT: \[shardtype C03\] the operands share several indices
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Dim<K> ?>, shardtype::Tensor<float, shardtype::Dim<J>, shardtype::Dim<K>, shardtype::Dim<L> ?>, J, K>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};
using A = Tensor<float, Dim<I>, Dim<J>, Dim<K>>;

#ifdef LEGAL
using B = Tensor<float, Dim<K>, Dim<L>>;
#else
using B = Tensor<float, Dim<J>, Dim<K>, Dim<L>>;
#endif

void multiply(A const& a, B const& b) { (void)matmul(a, b); }
