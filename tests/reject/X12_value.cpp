// The gradient of a loss, of no function.
// EXPECT: \[shardtype X12\] a gradient is one of a function
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
auto ask(W const& w) {
  return grad<0>([](auto const& v) { return sum(v * v); })(w);
}
#else
auto ask(W const& w) { return grad(sum(w * w)); }
#endif
