// Seven axes split one dim.
// EXPECT: \[shardtype T07\] .*more than 8 indices, 8 operands or 6 mesh axes
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, T, U, V, W, X, Y, Z> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct T : Axis<"T", 2> {};
struct U : Axis<"U", 2> {};
struct V : Axis<"V", 2> {};
struct W : Axis<"W", 2> {};
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct Z : Axis<"Z", 2> {};
struct I : Index<"I"> {};

#ifdef LEGAL
using Mine = Tensor<float, Dim<I, U, V, W, X, Y, Z>>;
#else
using Mine = Tensor<float, Dim<I, T, U, V, W, X, Y, Z>>;
#endif

void ask() { (void)plan(op::Reshard<Mine>{}, type<Mine>); }
