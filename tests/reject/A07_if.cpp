// A comparison of elements as the condition of an if.
// EXPECT: \[shardtype A07\] a tensor is neither true nor false
// EXPECT: false, shardtype::Tensor<bool, shardtype::Dim<I, X>, shardtype::Dim<J> ?> ?>
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

#ifdef LEGAL
int ask(A const& a) { return item(any<Tensor<bool>>(a > 1)) ? 1 : 0; }
#else
int ask(A const& a) { return (a > 1) ? 1 : 0; }
#endif
