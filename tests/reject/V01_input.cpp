// shard_map takes tensors, and makes blocks of them.
// EXPECT: \[shardtype V01\] a Tensor stands where a Local belongs, or a Local where a Tensor does
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I>, shardtype::Dim<J> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct I : Index<"I"> {};
struct J : Index<"J"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<I>, Dim<J>>;
#else
using A = Local<float, Dim<I>, Dim<J>>;
#endif

void ask(A const& a) {
  (void)shard_map<Dim<I>, Dim<J>>([](auto b) { return b; }, a);
}
