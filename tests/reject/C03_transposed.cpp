// A matrix times its transpose.
// EXPECT: \[shardtype C03\] the operands share several indices.* Of a matrix with itself give one operand another index, matmul\(a, relabel<I, K>\(a\)\)
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I>, Dim<J>>;

#ifdef LEGAL
auto gram(A const& a) { return matmul(a, relabel<I, K>(a)); }
#else
auto gram(A const& a) { return matmul(a, transpose<J, I>(a)); }
#endif
