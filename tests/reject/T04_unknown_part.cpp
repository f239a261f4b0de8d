// int is no part of a tensor type.
// EXPECT: \[shardtype T04\] a tensor type has a part that is no Dim and no attribute
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, int> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};

#ifdef LEGAL
using Mine = Tensor<float, Dim<I, X>>;
#else
using Mine = Tensor<float, Dim<I, X>, int>;
#endif

static_assert(Mine::spec.rank >= 0);
