// A replicated value must not be reduced: it would be multiplied.
// EXPECT: \[shardtype K03\] .*the tensor is not unreduced over it
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<I>, Dim<J>, Unreduced<X>>;
#else
using A = Tensor<float, Dim<I>, Dim<J>>;
#endif

void send(A const& a) { (void)all_reduce<X>(a); }
