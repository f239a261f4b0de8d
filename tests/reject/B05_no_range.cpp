// The rows of a cyclic dim are no range.
// EXPECT: \[shardtype B05\] the indices that a rank has of a block-cyclic dim are no range
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, shardtype::Cyclic<X, 16> ?>, shardtype::Dim<J> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<I, X>, Dim<J>>;
#else
using A = Tensor<float, Dim<I, Cyclic<X, 16>>, Dim<J>>;
#endif

std::int64_t read(A const& a) { return a.ranges()[1].end; }
