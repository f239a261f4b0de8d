// Naming the result does not convert the operands.
// EXPECT: \[shardtype C10\] .*different element types or memories
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J> ?>, shardtype::Tensor<double, shardtype::Dim<J>, shardtype::Dim<K> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I>, Dim<J>>;

#ifdef LEGAL
using B = Tensor<float, Dim<J>, Dim<K>>;
#else
using B = Tensor<double, Dim<J>, Dim<K>>;
#endif

void ask() { (void)plan(op::Matmul<Dim<I>, Dim<K>>{}, type<A>, type<B>); }
