// b has its dims in another order.
// EXPECT: \[shardtype D12\] the operands must have the same indices
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, shardtype::Tensor<float, shardtype::Dim<J>, shardtype::Dim<I, X> ?>, I>
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
using B = A;
#else
using B = Tensor<float, Dim<J>, Dim<I, X>>;
#endif

void ask() { (void)plan(op::Stack<K>{}, type<A>, type<B>); }
