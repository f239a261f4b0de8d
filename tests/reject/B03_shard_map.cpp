// The blocks of a block-cyclic dim are no slices.
// EXPECT: \[shardtype B03\]
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, shardtype::Cyclic<X, 2> ?> ?>, I, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<I, X>>;
#else
using A = Tensor<float, Dim<I, Cyclic<X, 2>>>;
#endif

void ask(A const& a) {
  (void)shard_map<Dim<I, X>>([](auto b) { return b; }, a);
}
