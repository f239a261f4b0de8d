// A variable that auto made an expression.
// EXPECT: \[shardtype A09\] this variable is an expression
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
void ask(A const& a, A const& g) {
  auto w = (a * 2).tensor();
  w = w - g;
}
#else
void ask(A const& a, A const& g) {
  auto w = a * 2;
  w = w - g;
}
#endif
