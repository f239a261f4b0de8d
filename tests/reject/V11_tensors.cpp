// A loop of Tensors whose sharding changes.
// EXPECT: \[shardtype V11\] .*of Tensors reshard<Dim<...>...>\(a\) what comes out
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
auto ask(A const& a) {
  return loop(3, a, [](auto, auto c) { return reshard<Dim<I, X>, Dim<J>>(all_gather<X>(c)); });
}
#else
auto ask(A const& a) {
  return loop(3, a, [](auto, auto c) { return reshard<Dim<I>, Dim<J>>(c); });
}
#endif
