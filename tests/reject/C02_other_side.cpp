// X splits the contracted index in b; a holds all of it.
// EXPECT: \[shardtype C02\] .*split over a mesh axis in one operand
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J> ?>, shardtype::Tensor<float, shardtype::Dim<J, X>, shardtype::Dim<K> ?>, J, X>
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
using B = Tensor<float, Dim<J>, Dim<K, X>>;
#else
using B = Tensor<float, Dim<J, X>, Dim<K>>;
#endif

void ask() { (void)plan(op::Matmul<>{}, type<A>, type<B>); }
