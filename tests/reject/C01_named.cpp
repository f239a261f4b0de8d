// Naming the result does not switch the check off.
// EXPECT: \[shardtype C01\] the operands share no index
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J> ?>, shardtype::Tensor<float, shardtype::Dim<K>, shardtype::Dim<L> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};
using A = Tensor<float, Dim<I>, Dim<J>>;

#ifdef LEGAL
using B = Tensor<float, Dim<J>, Dim<L>>;
#else
using B = Tensor<float, Dim<K>, Dim<L>>;
#endif

void ask() { (void)plan(op::Matmul<Dim<I>, Dim<L>>{}, type<A>, type<B>); }
