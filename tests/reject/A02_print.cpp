// The ranks hold summands of the values.
// EXPECT: \[shardtype A02\] .*the tensor is still unreduced
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<I>>;
#else
using A = Tensor<float, Dim<I>, Unreduced<X>>;
#endif

void show(A const& a) { print(a); }
