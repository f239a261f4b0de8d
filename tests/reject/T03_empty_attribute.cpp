// Unreduced over no axis says nothing; the canonical form leaves it out.
// EXPECT: \[shardtype T03\] this tensor type is not in canonical form
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Unreduced<> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct I : Index<"I"> {};

#ifdef LEGAL
using Mine = Tensor<float, Dim<I>>;
#else
using Mine = Tensor<float, Dim<I>, Unreduced<>>;
#endif

void ask() { (void)plan(op::Reshard<Mine>{}, type<Mine>); }
