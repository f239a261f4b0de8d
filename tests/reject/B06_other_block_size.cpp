// Or block-cyclic with another block size.
// EXPECT: \[shardtype B06\] the contracted index is block-cyclic in one operand
// EXPECT: shardtype::Tensor<float, shardtype::Dim<J, shardtype::Cyclic<X, 8> ?>, shardtype::Dim<K> ?>, J, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I>, Dim<J, Cyclic<X, 16>>>;

#ifdef LEGAL
using B = Tensor<float, Dim<J, Cyclic<X, 16>>, Dim<K>>;
#else
using B = Tensor<float, Dim<J, Cyclic<X, 8>>, Dim<K>>;
#endif

void multiply(A const& a, B const& b) { (void)matmul(a, b); }
