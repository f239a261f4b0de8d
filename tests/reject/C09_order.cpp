// The batch index N is split over the same axes in another order.
// EXPECT: \[shardtype C09\] a batch index is split differently in both operands
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<N, X, Y>, shardtype::Dim<I>, shardtype::Dim<J> ?>, shardtype::Tensor<float, shardtype::Dim<N, Y, X>, shardtype::Dim<J>, shardtype::Dim<K> ?>, N>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct N : Index<"N"> {};
using A = Tensor<float, Dim<N, X, Y>, Dim<I>, Dim<J>>;

#ifdef LEGAL
using B = Tensor<float, Dim<N, X>, Dim<J>, Dim<K>>;
#else
using B = Tensor<float, Dim<N, Y, X>, Dim<J>, Dim<K>>;
#endif

void ask() { (void)plan(op::Einsum<N, I, K>{}, type<A>, type<B>); }
