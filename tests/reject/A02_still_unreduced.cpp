// The ranks hold summands.
// EXPECT: \[shardtype A02\] .*the tensor is still unreduced
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Unreduced<X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<I, X>, Dim<J>>;
#else
using A = Tensor<float, Dim<I>, Dim<J>, Unreduced<X>>;
#endif

void read(A const& a) { (void)to_host(a); }
