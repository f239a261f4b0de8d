// A layer norm along a dim that X splits.
// EXPECT: \[shardtype D03\] this operation works along one dim, and a mesh axis splits that dim
// EXPECT: all_gather the axis first
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/nn/norm.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};
using Vec = Tensor<float, Dim<D>>;

#ifdef LEGAL
using A = Tensor<float, Dim<B, X>, Dim<D>>;
#else
using A = Tensor<float, Dim<B>, Dim<D, X>>;
#endif

void norm(A const& x, Vec const& gain, Vec const& bias) { (void)nn::layer_norm<D>(x, gain, bias); }
