// A tensor does not vary.
// EXPECT: \[shardtype V01\] a Tensor stands where a Local belongs, or a Local where a Tensor does
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I, X>>;

#ifdef LEGAL
void send(A const& a) { (void)all_gather<X>(a, to_reduced); }
#else
void send(A const& a) { (void)all_gather<X>(a, to_varying); }
#endif
