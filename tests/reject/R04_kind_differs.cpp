// A sum that is unreduced does not become a maximum.
// EXPECT: \[shardtype R04\] .*unreduced with different kinds
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, Y>, shardtype::Dim<J>, shardtype::Unreduced<X> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, Y>, Dim<J>, Unreduced<X>>;

#ifdef LEGAL
using Out = Tensor<float, Dim<I>, Dim<J>, Unreduced<X>>;
#else
using Out = Tensor<float, Dim<I>, Dim<J>, Unreduced<Max, X>>;
#endif

void change(A const& a) { (void)reshard<Out>(a); }
