// A loss that writes what it captured.
// EXPECT: \[shardtype T11\] .*grad each argument
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
  return grad<0>([n = 1.0F](auto const& v) { return sum(v * n); })(w);
}
#else
auto ask(W const& w) {
  return grad<0>([n = 1.0F](auto const& v) mutable { return sum(v * (n += 1.0F)); })(w);
}
#endif
