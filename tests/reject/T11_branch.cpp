// A branch with a parameter, and no argument.
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
  return branch(a > 0, [](auto c) { return c; }, [](auto c) { return c * 2; }, a);
}
#else
auto ask(A const& a) {
  return branch(a > 0, [](auto c) { return c; }, [] { return 2; }, a);
}
#endif
