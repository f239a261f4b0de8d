// Rows and columns of images that are both split.
// EXPECT: \[shardtype D26\] mesh axes split two of the dims along which windows move
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/nn/conv.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct N : Index<"N"> {};
struct H : Index<"H"> {};
struct W : Index<"W"> {};
struct KH : Index<"KH"> {};
struct KW : Index<"KW"> {};
struct C : Index<"C"> {};
struct F : Index<"F"> {};
using B = Tensor<float, Dim<KH>, Dim<KW>, Dim<C>, Dim<F>>;

#ifdef LEGAL
using A = Tensor<float, Dim<N>, Dim<H, X, Y>, Dim<W>, Dim<C>>;
#else
using A = Tensor<float, Dim<N>, Dim<H, X>, Dim<W, Y>, Dim<C>>;
#endif

void convolve(A const& a, B const& b) {
  (void)nn::conv<nn::Window<H, KH>, nn::Window<W, KW>>(a, b);
}
