// reshard of an array of the host.
// EXPECT: \[shardtype T09\] an operand is not a Tensor
// EXPECT: false, double ?(\*|\[4\])>
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
using A = double[4];
#endif

void change(A const& a) { (void)reshard<Dim<I, X>>(a); }
