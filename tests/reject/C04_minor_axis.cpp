// Y, minor on I, would split K as well.
// EXPECT: \[shardtype C04\] a mesh axis would split two dims of the product
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X, Y>, shardtype::Dim<J> ?>, shardtype::Tensor<float, shardtype::Dim<J>, shardtype::Dim<K, Y> ?>, I, K, Y>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I, X, Y>, Dim<J>>;

#ifdef LEGAL
using B = Tensor<float, Dim<J>, Dim<K>>;
#else
using B = Tensor<float, Dim<J>, Dim<K, Y>>;
#endif

void ask() { (void)plan(op::Matmul<>{}, type<A>, type<B>); }
