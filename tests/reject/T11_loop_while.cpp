// A body with a number of the round, which there is none of.
// EXPECT: \[shardtype T11\] the function given here cannot be called
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
using A = Local<float>;

#ifdef LEGAL
auto ask(A const& a) {
  return loop_while([](auto c) { return c < 9; }, a, [](auto c) { return c * 2; });
}
#else
auto ask(A const& a) {
  return loop_while([](auto c) { return c < 9; }, a, [](auto, auto c) { return c * 2; });
}
#endif
