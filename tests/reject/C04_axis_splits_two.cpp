// X would split both I and K of the product.
// EXPECT: \[shardtype C04\] a mesh axis would split two dims of the product
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, shardtype::Tensor<float, shardtype::Dim<J>, shardtype::Dim<K, X> ?>, I, K, X>
// FORBID: Resolve<|basic_type|Pack<
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

#ifdef LEGAL
using B = Tensor<float, Dim<J>, Dim<K, Y>>;
#else
// docs: refused
using B = Tensor<float, Dim<J>, Dim<K, X>>;  // X splits the rows of A, too
// docs: end
#endif

void multiply(A const& a, B const& b) { (void)matmul(a, b); }
