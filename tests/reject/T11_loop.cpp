// A body without the number of the round.
// EXPECT: \[shardtype T11\] .*loop the round and the carry
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
auto ask(A const& a) {
  return loop(3, a, [](auto, auto c) { return c * 2; });
}
#else
auto ask(A const& a) {
  return loop(3, a, [](auto c) { return c * 2; });
}
#endif
