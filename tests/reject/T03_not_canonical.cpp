// Reduced stands before Unreduced.
// EXPECT: \[shardtype T03\] this tensor type is not in canonical form
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Reduced<Y>, shardtype::Unreduced<X> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};

#ifdef LEGAL
using Mine = Tensor<float, Dim<I>, Unreduced<X>, Reduced<Y>>;
#else
using Mine = Tensor<float, Dim<I>, Reduced<Y>, Unreduced<X>>;
#endif

static_assert(Mine::spec.rank >= 0);
