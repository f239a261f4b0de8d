// J is block-cyclic in one operand, in nested blocks in the other.
// EXPECT: \[shardtype B06\] the contracted index is block-cyclic in one operand
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J, shardtype::Cyclic<X, 16> ?> ?>, shardtype::Tensor<float, shardtype::Dim<J, X>, shardtype::Dim<K> ?>, J, X>
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
using B = Tensor<float, Dim<J, X>, Dim<K>>;
#endif

void multiply(A const& a, B const& b) { (void)matmul(a, b); }
