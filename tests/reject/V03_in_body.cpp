// In the function of shard_map, of an argument that X does not split.
// EXPECT: \[shardtype V03\] this needs a block that differs between the ranks of the mesh axis
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I>, shardtype::Dim<J> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// MAX-LINES: 11
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<I, X>, Dim<J>>;
#else
using A = Tensor<float, Dim<I>, Dim<J>>;
#endif

void ask(A const& a) {
  (void)shard_map<Dim<I>, Dim<J>>([](auto b) { return all_reduce<X>(b); }, a);
}
