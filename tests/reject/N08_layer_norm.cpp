// A layer_norm without its dim.
// EXPECT: \[shardtype N08\] no function of nn is called like this. The dim that it works along is a template argument
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/nn/nn.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};
using A = Tensor<float, Dim<B, X>, Dim<D>>;
using W = Tensor<float, Dim<D>>;

#ifdef LEGAL
auto normed(A const& x, W const& gain, W const& bias) { return nn::layer_norm<D>(x, gain, bias); }
#else
auto normed(A const& x, W const& gain, W const& bias) { return nn::layer_norm(x, gain, bias); }
#endif
