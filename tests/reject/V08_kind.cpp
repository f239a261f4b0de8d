// A maximum is unreduced, and not a sum.
// EXPECT: \[shardtype V08\] the block is unreduced \(or reduced\) over the mesh axis and the named output is not
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Unreduced<shardtype::Max, X> ?>, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Unreduced<X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I>, Dim<J>, Unreduced<Max, X>>;

void ask(A const& a) {
#ifdef LEGAL
  (void)shard_map<Dim<I>, Dim<J>, Unreduced<Max, X>>([](auto b) { return b; }, a);
#else
  (void)shard_map<Dim<I>, Dim<J>, Unreduced<X>>([](auto b) { return b; }, a);
#endif
}
