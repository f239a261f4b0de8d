// X splits the batch index N in a and the free K in b.
// EXPECT: \[shardtype C05\] a mesh axis splits one index in one operand and another
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<N, X>, shardtype::Dim<I>, shardtype::Dim<J> ?>, shardtype::Tensor<float, shardtype::Dim<N>, shardtype::Dim<J>, shardtype::Dim<K, X> ?>, N, K, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct N : Index<"N"> {};
using A = Tensor<float, Dim<N, X>, Dim<I>, Dim<J>>;

#ifdef LEGAL
using B = Tensor<float, Dim<N, X>, Dim<J>, Dim<K>>;
#else
using B = Tensor<float, Dim<N>, Dim<J>, Dim<K, X>>;
#endif

void ask() { (void)plan(op::Einsum<N, I, K>{}, type<A>, type<B>); }
