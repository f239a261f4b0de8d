// The function summed over J.
// EXPECT: \[shardtype V09\] the output does not have the dims of the block that becomes part of it
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I>, shardtype::Varying<X> ?>, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?> ?>
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
  (void)shard_map<Dim<I, X>>([](auto b) { return sum<J>(b); }, a);
#else
  (void)shard_map<Dim<I, X>, Dim<J>>([](auto b) { return sum<J>(b); }, a);
#endif
}
