// Each operand is within the bounds, the product of both is not.
// EXPECT: \[shardtype T07\] .*more than 8 indices, 8 operands or 6 mesh axes
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<B>, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Dim<K>, shardtype::Dim<L> ?>, shardtype::Tensor<float, shardtype::Dim<L>, shardtype::Dim<M>, shardtype::Dim<N>, shardtype::Dim<O>, shardtype::Dim<P> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct B : Index<"B"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};
struct M : Index<"M"> {};
struct N : Index<"N"> {};
struct O : Index<"O"> {};
struct P : Index<"P"> {};
using A = Tensor<float, Dim<B>, Dim<I>, Dim<J>, Dim<K>, Dim<L>>;

#ifdef LEGAL
using C = Tensor<float, Dim<L>, Dim<M>, Dim<N>, Dim<O>>;
#else
using C = Tensor<float, Dim<L>, Dim<M>, Dim<N>, Dim<O>, Dim<P>>;
#endif

void ask() { (void)plan(op::Matmul<>{}, type<A>, type<C>); }
