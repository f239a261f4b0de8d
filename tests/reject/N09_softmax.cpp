// A softmax of nn.
// EXPECT: \[shardtype N09\] nn has this function by another name, or shardtype itself has it: softmax<I>\(a\)
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
auto shares(A const& x) { return softmax<D>(x); }
#else
auto shares(A const& x) { return nn::softmax<D>(x); }
#endif
