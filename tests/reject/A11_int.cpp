// A total as an int.
// EXPECT: \[shardtype A11\] .*item\(sum<Tensor<float>>\(a\)\)
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
using W = Tensor<float, Dim<J>>;
using M = Mesh<X, Y>;

#ifdef LEGAL
int ask(A const& a) { return static_cast<int>(item(sum<Tensor<float>>(a))); }
#else
int ask(A const& a) {
  int n = sum(a);
  return n;
}
#endif
