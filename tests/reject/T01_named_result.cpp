// The named result splits two dims over X.
// EXPECT: \[shardtype T01\] a mesh axis is listed twice
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, shardtype::Tensor<float, shardtype::Dim<J>, shardtype::Dim<K> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;
using B = Tensor<float, Dim<J>, Dim<K>>;

#ifdef LEGAL
using Result = Dim<K>;
#else
using Result = Dim<K, X>;
#endif

void ask() { (void)plan(op::Matmul<Dim<I, X>, Result>{}, type<A>, type<B>); }
