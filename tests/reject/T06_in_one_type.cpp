// Two different indices of one tensor type are called "I".
// EXPECT: \[shardtype T06\] two different types of one operation have the same name
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<other::I> ?>, other::I>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct I : Index<"I"> {};
struct J : Index<"J"> {};
namespace other {
struct I : Index<"I"> {};
}  // namespace other

#ifdef LEGAL
using Mine = Tensor<float, Dim<I>, Dim<J>>;
#else
using Mine = Tensor<float, Dim<I>, Dim<other::I>>;
#endif

static_assert(Mine::spec.rank >= 0);
