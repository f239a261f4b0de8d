// A dim split into one.
// EXPECT: \[shardtype D23\] split_dim and reshape make two dims or more
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct I : Index<"I", 24> {};
struct J : Index<"J", 8> {};
struct K : Index<"K", 3> {};
using A = Tensor<float, Dim<I>>;

#ifdef LEGAL
auto parts(A const& a) { return split_dim<I, J, K>(a, {8, 3}); }
#else
auto parts(A const& a) { return split_dim<I, J>(a, {24}); }
#endif
