// A strict group norm over split positions.
// EXPECT: \[shardtype S03\] the reduction runs over a split dim and cannot stay unreduced
// EXPECT: Name the result
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/nn/nn.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct B : Index<"B"> {};
struct C : Index<"C", 12> {};
struct H : Index<"H"> {};
using A = Tensor<float, Dim<B>, Dim<C>, Dim<H, X>>;

#ifdef LEGAL
void norm(A const& x) { (void)nn::group_norm<6, C, H, Dim<B>, Dim<C>, Dim<H, X>>(x); }
#else
void norm(A const& x) { (void)nn::group_norm<6, C, H>(x); }
#endif
