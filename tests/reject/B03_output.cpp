// The blocks of shard_map are slices.
// EXPECT: \[shardtype B03\]
// EXPECT: shardtype::Tensor<float, shardtype::Dim<I, shardtype::Cyclic<X, 2> ?> ?>, I, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
using A = Tensor<float, Dim<I, X>>;

#ifdef LEGAL
using B = Tensor<float, Dim<I, X>>;
#else
using B = Tensor<float, Dim<I, Cyclic<X, 2>>>;
#endif

void ask(A const& a) {
  (void)shard_map<B>([](auto b) { return b; }, a);
}
