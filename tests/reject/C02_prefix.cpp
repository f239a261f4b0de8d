// b splits the contracted index over X only, a over X and Y.
// EXPECT: \[shardtype C02\] .*split over a mesh axis in one operand
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J, X, Y> ?>, shardtype::Tensor<float, shardtype::Dim<J, X>, shardtype::Dim<K> ?>, J, Y>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I>, Dim<J, X, Y>>;

#ifdef LEGAL
using B = Tensor<float, Dim<J, X, Y>, Dim<K>>;
#else
using B = Tensor<float, Dim<J, X>, Dim<K>>;
#endif

void ask() { (void)plan(op::Matmul<>{}, type<A>, type<B>); }
