// float next to double.
// EXPECT: \[shardtype C10\] the operands have different element types
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, shardtype::Tensor<double, shardtype::Dim<I, X>, shardtype::Dim<J> ?> ?>
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
using B = Tensor<double, Dim<I, X>, Dim<J>>;
#endif

void ask() { (void)plan(op::Concat<J>{}, type<A>, type<B>); }
