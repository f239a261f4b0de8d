// A sum next to a value.
// EXPECT: \[shardtype D13\] the operands must be unreduced over the same mesh axes
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Unreduced<X> ?>, shardtype::Tensor<float, shardtype::Dim<I> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
using A = Tensor<float, Dim<I>, Unreduced<X>>;

#ifdef LEGAL
using B = A;
#else
using B = Tensor<float, Dim<I>>;
#endif

void ask() { (void)plan(op::Concat<I>{}, type<A>, type<B>); }
