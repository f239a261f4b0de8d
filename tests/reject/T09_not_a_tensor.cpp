// matmul with a number.
// EXPECT: \[shardtype T09\] an operand is not a Tensor
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J> ?>, double>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I>, Dim<J>>;

#ifdef LEGAL
using B = Tensor<float, Dim<J>, Dim<K>>;
#else
using B = double;
#endif

void multiply(A const& a, B const& b) { (void)matmul(a, b); }
