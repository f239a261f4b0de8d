// An index without its Dim.
// EXPECT: \[shardtype T04\] a tensor type has a part that is no Dim and no attribute
// EXPECT: false, shardtype::Tensor<float, I, J> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct I : Index<"I"> {};
struct J : Index<"J"> {};

#ifdef LEGAL
using Mine = Tensor<float, Dim<I>, Dim<J>>;
#else
using Mine = Tensor<float, I, J>;
#endif

void ask() { (void)plan(op::Reshard<Mine>{}, type<Mine>); }
