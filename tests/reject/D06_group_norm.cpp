// Groups of channels that do not divide them.
// EXPECT: \[shardtype D06\] group_norm divides the channels into equal groups
// EXPECT: Groups<5>
// EXPECT: Name one that does
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/nn/group_norm.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct B : Index<"B"> {};
struct C : Index<"C", 12> {};
struct H : Index<"H"> {};
using A = Tensor<float, Dim<B, X>, Dim<C>, Dim<H>>;

#ifdef LEGAL
void norm(A const& x) { (void)nn::group_norm<6, C, H>(x); }
#else
void norm(A const& x) { (void)nn::group_norm<5, C, H>(x); }
#endif
