// Reduced counts as replicated: X splits the contracted index in a only.
// EXPECT: \[shardtype C02\] .*split over a mesh axis in one operand
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J, X> ?>, shardtype::Tensor<float, shardtype::Dim<J>, shardtype::Dim<K>, shardtype::Reduced<X> ?>, J, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I>, Dim<J, X>>;

#ifdef LEGAL
using B = Tensor<float, Dim<J, X>, Dim<K>>;
#else
using B = Tensor<float, Dim<J>, Dim<K>, Reduced<X>>;
#endif

void ask() { (void)plan(op::Matmul<>{}, type<A>, type<B>); }
