// A reshard does not convert.
// EXPECT: \[shardtype N05\] .*another element type or memory than the operands
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I>, Dim<J>>;

#ifdef LEGAL
using Out = Tensor<float, Dim<I, X>, Dim<J>>;
#else
using Out = Tensor<double, Dim<I, X>, Dim<J>>;
#endif

void ask() { (void)plan(op::Reshard<Out>{}, type<A>); }
