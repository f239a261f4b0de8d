// X splits the free I in a and the contracted J in b.
// EXPECT: \[shardtype C05\] a mesh axis splits one index in one operand and another
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, shardtype::Tensor<float, shardtype::Dim<J, X>, shardtype::Dim<K> ?>, I, J, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

#ifdef LEGAL
using B = Tensor<float, Dim<J>, Dim<K>>;
#else
using B = Tensor<float, Dim<J, X>, Dim<K>>;
#endif

void ask() { (void)plan(op::Matmul<>{}, type<A>, type<B>); }
