// norm_1 of what is unreduced: the sizes of the parts are not those of the whole.
// EXPECT: \[shardtype S02\] the tensor is already unreduced by another kind
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

void ask(A const& a) { (void)norm_1(a); }
