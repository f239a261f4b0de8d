// The destination lacks J.
// EXPECT: \[shardtype R01\] a reshard keeps the indices
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, J>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

#ifdef LEGAL
using Out = Tensor<float, Dim<J>, Dim<I>>;
#else
using Out = Tensor<float, Dim<I>>;
#endif

void ask() { (void)plan(op::Reshard<Out>{}, type<A>); }
