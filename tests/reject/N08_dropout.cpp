// The rate of a dropout before its key.
// EXPECT: \[shardtype N08\] no function of nn .* Operands go by their place: dropout\(x, RandomKey{1}, 0.1\)
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
auto dropped(A const& x) { return nn::dropout(x, RandomKey{1}, 0.1); }
#else
auto dropped(A const& x) { return nn::dropout(x, 0.1, RandomKey{1}); }
#endif
