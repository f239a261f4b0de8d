// A picture of a vector.
// EXPECT: \[shardtype A20\] a picture shows real numbers along two dims
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>
#include <shardtype/visualize/png.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<I, X>, Dim<J>>;
#else
using A = Tensor<float, Dim<I, X>>;
#endif

void ask(A const& a) { (void)0, save_png(a, "a.png"); }
