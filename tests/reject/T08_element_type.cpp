// A tensor of strings.
// EXPECT: \[shardtype T08\] a tensor cannot hold this element type
// EXPECT: false, shardtype::Tensor<(char const|const char) ?\*, shardtype::Dim<I, X> ?> ?>
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
using Mine = Tensor<char const*, Dim<I, X>>;
#endif

static_assert(Mine::spec.rank >= 0);
