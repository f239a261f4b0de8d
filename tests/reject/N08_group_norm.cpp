// A group_norm without the number of its groups.
// EXPECT: \[shardtype N08\] no function of nn is called like this
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/nn/nn.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct B : Index<"B"> {};
struct C : Index<"C"> {};
struct H : Index<"H"> {};
using A = Tensor<float, Dim<B, X>, Dim<C>, Dim<H>>;

#ifdef LEGAL
auto normed(A const& x) { return nn::group_norm<6, C, H>(x); }
#else
auto normed(A const& x) { return nn::group_norm<C, H>(x); }
#endif
