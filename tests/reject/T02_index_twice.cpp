// Both dims have index I.
// EXPECT: \[shardtype T02\] two dims have the same index
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<I> ?>, I>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

#ifdef LEGAL
using Mine = Tensor<float, Dim<I, X>, Dim<J>>;
#else
using Mine = Tensor<float, Dim<I, X>, Dim<I>>;
#endif

static_assert(Mine::spec.rank >= 0);
