// Naming the result does not say which index is summed over.
// EXPECT: \[shardtype C03\] the operands share several indices
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<B>, shardtype::Dim<I>, shardtype::Dim<J> ?>, shardtype::Tensor<float, shardtype::Dim<B>, shardtype::Dim<J>, shardtype::Dim<K> ?>, B, J>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct B : Index<"B"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<B>, Dim<I>, Dim<J>>;
using C = Tensor<float, Dim<B>, Dim<J>, Dim<K>>;

#ifdef LEGAL
void ask() { (void)plan(op::Einsum<Dim<B>, Dim<I>, Dim<K>>{}, type<A>, type<C>); }
#else
void ask() { (void)plan(op::Matmul<Dim<B>, Dim<I>, Dim<K>>{}, type<A>, type<C>); }
#endif
