// b is not split over X.
// EXPECT: \[shardtype D12\] the operands must have the same indices
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J> ?>, I>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

#ifdef LEGAL
using B = A;
#else
using B = Tensor<float, Dim<I>, Dim<J>>;
#endif

void ask() { (void)plan(op::Concat<J>{}, type<A>, type<B>); }
