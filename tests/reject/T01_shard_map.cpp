// The output names X twice.
// EXPECT: \[shardtype T01\] a mesh axis is listed twice
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Varying<X> ?>, X>
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
  (void)shard_map<Dim<I, X>, Dim<J, X>>([](auto b) { return b; }, a);
#endif
}
