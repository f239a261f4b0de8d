// X splits different contracted indices.
// EXPECT: \[shardtype C05\] a mesh axis splits one index in one operand and another
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J, X>, shardtype::Dim<L> ?>, shardtype::Tensor<float, shardtype::Dim<J>, shardtype::Dim<L, X>, shardtype::Dim<K> ?>, J, L, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};
using A = Tensor<float, Dim<I>, Dim<J, X>, Dim<L>>;

#ifdef LEGAL
using B = Tensor<float, Dim<J, X>, Dim<L>, Dim<K>>;
#else
using B = Tensor<float, Dim<J>, Dim<L, X>, Dim<K>>;
#endif

void ask() { (void)plan(op::Einsum<I, K>{}, type<A>, type<B>); }
