// all_to_all from K, which the tensor does not have.
// EXPECT: \[shardtype K04\] .*names an index that the tensor does not have
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, K, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<K, X>, Dim<J>>;
#else
using A = Tensor<float, Dim<I, X>, Dim<J>>;
#endif

void ask() { (void)plan(op::AllToAll<X, K, J>{}, type<A>); }
