// The result lacks I, which only a has; einsum sums over it.
// EXPECT: \[shardtype N02\] the named result lacks an index
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J> ?>, shardtype::Tensor<float, shardtype::Dim<J>, shardtype::Dim<K> ?>, I>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I>, Dim<J>>;
using B = Tensor<float, Dim<J>, Dim<K>>;

#ifdef LEGAL
void ask() { (void)plan(op::Einsum<Dim<K, X>>{}, type<A>, type<B>); }
#else
void ask() { (void)plan(op::Matmul<Dim<K, X>>{}, type<A>, type<B>); }
#endif
