// Rows and columns of images that are both split.
// EXPECT: \[shardtype D26\] mesh axes split two of the dims along which windows move
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/nn/pool.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct H : Index<"H"> {};
struct W : Index<"W"> {};
struct C : Index<"C"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<H, X, Y>, Dim<W>, Dim<C>>;
#else
using A = Tensor<float, Dim<H, X>, Dim<W, Y>, Dim<C>>;
#endif

void pool(A const& a) { (void)nn::avg_pool<nn::Pool<H, 2>, nn::Pool<W, 2>>(a); }
