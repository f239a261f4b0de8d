// An attribute stands before a dim.
// EXPECT: \[shardtype T03\] this tensor type is not in canonical form
// EXPECT: false, shardtype::Tensor<float, shardtype::Unreduced<X>, shardtype::Dim<I> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};

#ifdef LEGAL
using Mine = Tensor<float, Dim<I>, Unreduced<X>>;
#else
using Mine = Tensor<float, Unreduced<X>, Dim<I>>;
#endif

void ask() { (void)plan(op::Reshard<Mine>{}, type<Mine>); }
