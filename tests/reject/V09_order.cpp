// The dims stand in another order.
// EXPECT: \[shardtype V09\] the output does not have the dims of the block that becomes part of it
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Varying<X> ?>, shardtype::Tensor<float, shardtype::Dim<J>, shardtype::Dim<I, X> ?> ?>
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
  (void)shard_map<Dim<J>, Dim<I, X>>([](auto b) { return transpose<J, I>(b); }, a);
#else
  (void)shard_map<Dim<J>, Dim<I, X>>([](auto b) { return b; }, a);
#endif
}
