// A function that returns nothing.
// EXPECT: \[shardtype V15\] the function of shard_map must return a Local
// EXPECT: false, void ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

void ask(A const& a) {
#ifdef LEGAL
  (void)shard_map<Dim<I, X>, Dim<J>>([](auto b) { return b; }, a);
#else
  (void)shard_map<Dim<I, X>, Dim<J>>([](auto b) { (void)b; }, a);
#endif
}
