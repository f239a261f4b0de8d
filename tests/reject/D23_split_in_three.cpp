// A dim split into three.
// EXPECT: \[shardtype D23\] split_dim makes two dims of one, and merge_dims one of two
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I", 24> {};
struct J : Index<"J", 8> {};
struct J1 : Index<"J1", 2> {};
struct J2 : Index<"J2", 4> {};
struct K : Index<"K", 3> {};
using A = Tensor<float, Dim<I>>;

#ifdef LEGAL
auto parts(A const& a) { return split_dim<J, J1, J2>(split_dim<I, J, K>(a, {8, 3}), {2, 4}); }
#else
auto parts(A const& a) { return split_dim<I, J1, J2, K>(a, {2, 4, 3}); }
#endif
