// An outer product sums nothing that could be unreduced.
// EXPECT: \[shardtype N04\] .*unreduced over a mesh axis, but nothing is summed
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X> ?>, shardtype::Tensor<float, shardtype::Dim<J> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>>;
using B = Tensor<float, Dim<J>>;

#ifdef LEGAL
using Out = Tensor<float, Dim<I, X>, Dim<J>>;
#else
using Out = Tensor<float, Dim<I>, Dim<J>, Unreduced<X>>;
#endif

void multiply(A const& a, B const& b) { (void)einsum<Out>(a, b); }
