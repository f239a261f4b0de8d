// A total as a C++ number.
// EXPECT: \[shardtype A11\] a tensor is no C\+\+ number
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
using M = Mesh<X, Y>;

#ifdef LEGAL
float ask(A const& a) { return item(sum<Tensor<float>>(a)); }
#else
float ask(A const& a) {
  float l = sum(a);
  return l;
}
#endif
