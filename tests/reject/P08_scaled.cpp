// A maximum that is unreduced is negated.
// EXPECT: \[shardtype P08\] .*max keeps maxima
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Unreduced<shardtype::Max, X> ?>, X
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
using A = Tensor<float, Dim<I>>;

#ifdef LEGAL
using B = Tensor<float, Dim<I>, Unreduced<X>>;
#else
using B = Tensor<float, Dim<I>, Unreduced<Max, X>>;
#endif

void ask(A const& a, B const& b) { (void)(-b), (void)a; }
