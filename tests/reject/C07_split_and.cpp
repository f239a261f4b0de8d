// b is unreduced over X, which splits a.
// EXPECT: \[shardtype C07\] .*a product of sums is not the sum of products
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, shardtype::Tensor<float, shardtype::Dim<J>, shardtype::Dim<K>, shardtype::Unreduced<X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

#ifdef LEGAL
using B = Tensor<float, Dim<J>, Dim<K>, Unreduced<Y>>;
#else
using B = Tensor<float, Dim<J>, Dim<K>, Unreduced<X>>;
#endif

void ask() { (void)plan(op::Matmul<>{}, type<A>, type<B>); }
