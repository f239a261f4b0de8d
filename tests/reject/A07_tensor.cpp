// A tensor as the condition of an if.
// EXPECT: \[shardtype A07\] .*item\(p\) reads one without dims
// EXPECT: false, shardtype::Tensor<bool> ?>
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
using A = Tensor<bool>;

#ifdef LEGAL
bool ask(A const& a) {
  if (item(a)) return true;
  return false;
}
#else
bool ask(A const& a) {
  if (a) return true;
  return false;
}
#endif
