// A named result of bare indices; einsum<I, K> takes those, matmul takes dims.
// EXPECT: \[shardtype T04\] a tensor type has a part that is no Dim and no attribute
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J> ?>, shardtype::Tensor<float, shardtype::Dim<J>, shardtype::Dim<K> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I>, Dim<J>>;
using B = Tensor<float, Dim<J>, Dim<K>>;

#ifdef LEGAL
using First = Dim<I>;
using Second = Dim<K>;
#else
using First = I;
using Second = K;
#endif

void ask() { (void)plan(op::Matmul<First, Second>{}, type<A>, type<B>); }
