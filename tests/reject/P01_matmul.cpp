// Matrices that are to be multiplied.
// EXPECT: \[shardtype P01\] .*For a product of matrices use matmul\(a, b\)
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;
using B = Tensor<float, Dim<J>, Dim<K>>;

#ifdef LEGAL
void ask(A const& a, B const& b) { (void)matmul(a, b); }
#else
void ask(A const& a, B const& b) { (void)(a * b); }
#endif
