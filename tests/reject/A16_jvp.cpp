// Forward mode.
// EXPECT: \[shardtype A16\] .*grad or vjp
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
void ask(W const& w) {
  (void)vjp([](auto const& v) { return sum(v); }, w);
}
#else
void ask(W const& w) {
  (void)jvp([](auto const& v) { return sum(v); }, w);
}
#endif
