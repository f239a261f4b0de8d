// A number is no block.
// EXPECT: \[shardtype V15\] the function of shard_map must return a Local
// EXPECT: false, double ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<double, Dim<I, X>, Dim<J>>;

void ask(A const& a) {
#ifdef LEGAL
  (void)shard_map<Dim<I, X>, Dim<J>>([](auto b) { return b + 2.0; }, a);
#else
  (void)shard_map<Dim<I, X>, Dim<J>>([](auto) { return 2.0; }, a);
#endif
}
