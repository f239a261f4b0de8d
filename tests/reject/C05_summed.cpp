// X splits the free I in a and the summed L in b.
// EXPECT: \[shardtype C05\] a mesh axis splits one index in one operand and another
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, shardtype::Tensor<float, shardtype::Dim<J>, shardtype::Dim<K>, shardtype::Dim<L, X> ?>, I, L, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

#ifdef LEGAL
using B = Tensor<float, Dim<J>, Dim<K>, Dim<L, Y>>;
#else
using B = Tensor<float, Dim<J>, Dim<K>, Dim<L, X>>;
#endif

void ask() { (void)plan(op::Einsum<I, K>{}, type<A>, type<B>); }
