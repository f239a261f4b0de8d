// A kernel that is longer than the rows.
// EXPECT: \[shardtype D27\] the window is longer than the rows and their padding
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/nn/conv.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct N : Index<"N"> {};
struct H : Index<"H", 4> {};
struct O : Index<"O"> {};
struct K : Index<"K", 5> {};
struct C : Index<"C"> {};
struct F : Index<"F"> {};
using A = Tensor<float, Dim<N>, Dim<H, X>, Dim<C>>;
using B = Tensor<float, Dim<K>, Dim<C>, Dim<F>>;

#ifdef LEGAL
using Rows = nn::Window<H, K, nn::WindowOptions{.before = 1}, O>;
#else
using Rows = nn::Window<H, K, nn::valid, O>;
#endif

void convolve(A const& a, B const& b) { (void)nn::conv<Rows>(a, b); }
