// A window that does not move.
// EXPECT: \[shardtype D25\] the stride, the dilation and the extent of a window are at least 1
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
using A = Tensor<float, Dim<N>, Dim<H, X>, Dim<C>>;
using B = Tensor<float, Dim<KH>, Dim<C>, Dim<F>>;

#ifdef LEGAL
using Rows = nn::Window<H, KH, nn::WindowOptions{.stride = 2}>;
#else
using Rows = nn::Window<H, KH, nn::WindowOptions{.stride = 0}>;
#endif

void convolve(A const& a, B const& b) { (void)nn::conv<Rows>(a, b); }
