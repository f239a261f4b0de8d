// The result is named as double, the operands are float.
// EXPECT: \[shardtype N05\] .*another element type or memory than the operands
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J> ?>, shardtype::Tensor<float, shardtype::Dim<J>, shardtype::Dim<K> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I>, Dim<J>>;
using B = Tensor<float, Dim<J>, Dim<K>>;

#ifdef LEGAL
using Out = Tensor<float, Dim<I>, Dim<K>>;
#else
using Out = Tensor<double, Dim<I>, Dim<K>>;
#endif

void multiply(A const& a, B const& b) { (void)matmul<Out>(a, b); }
