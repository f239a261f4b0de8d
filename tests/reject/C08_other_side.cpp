// b is still an unreduced minimum over X.
// EXPECT: \[shardtype C08\] an operand is an unreduced maximum or minimum
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J> ?>, shardtype::Tensor<float, shardtype::Dim<J>, shardtype::Dim<K>, shardtype::Unreduced<shardtype::Min, X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I>, Dim<J>>;

#ifdef LEGAL
using B = Tensor<float, Dim<J>, Dim<K>, Unreduced<X>>;
#else
using B = Tensor<float, Dim<J>, Dim<K>, Unreduced<Min, X>>;
#endif

void ask() { (void)plan(op::Matmul<>{}, type<A>, type<B>); }
