// Bits of floating numbers.
// EXPECT: \[shardtype P14\] .*of integers and bools
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I>>;

#ifdef LEGAL
using B = Tensor<bool, Dim<I>>;
#else
using B = Tensor<float, Dim<I>>;
#endif

void ask(A const& a, B const& b) { (void)(b ^ b), (void)a; }
