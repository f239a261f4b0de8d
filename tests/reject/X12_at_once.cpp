// The function and its argument at once.
// EXPECT: \[shardtype X12\] .*value_and_grad<0>\(f\)\(w, x\)
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
auto ask(Tensor<float, Dim<J>> const& w) {
  return value_and_grad<0>([](auto const& v) { return sum(v * v); })(w);
}
#else
auto ask(Tensor<float, Dim<J>> const& w) {
  return value_and_grad<0>([](auto const& v) { return sum(v * v); }, w);
}
#endif
